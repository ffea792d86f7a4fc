//! Naming and lazy start: where a name comes from, and the section around the first start of an incarnation.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::{AgentHost, AgentState, NAME_KEY, Status, mcp_agent};
use crate::platform::{JsError, micro};

crate::operations! {
    NAME_GET = "name · storage.get __ps_name", Storage, 4; "storage"
    NAME_PUT = "name · storage.put __ps_name", Storage, 4; "storage"
    NAME_SECTION = "name · section", Section, 1; "blockConcurrencyWhile around onStart"
    START_FACETS = "start · storage.get facet", Storage, 3; "storage, three keys one after the other"
    START_RESTORE = "start · sdk-restore", Micro, 1; "four framework steps that find nothing"
}

const FACET_KEYS: [&str; 3] = ["cf_agents_facet_name", "cf_agents_facet_parent", "cf_agents_facet_props"];
const RESTORE_STEPS: u32 = 4;

/// The `name` getter: the id's name, else the one in memory, else it throws (platform facts 163, 164). It never reads
/// storage.
pub fn name(agent: &AgentState) -> Result<Arc<str>, JsError> {
    let known = agent.ctx.id_name().or_else(|| agent.name.borrow().clone());
    known.ok_or_else(|| {
        JsError::new(
            "Attempting to read .name on McpSessionDO, but this.ctx.id.name is not set and no __ps_name fallback \
             record is available.",
        )
    })
}

/// `setName(name, props)`: keeps the props in memory before it looks at the status, then starts if need be.
pub async fn set_name<H: AgentHost>(host: Rc<H>, given: Arc<str>, props: Option<Value>) -> Result<(), JsError> {
    let agent = host.agent();
    if props.is_some() {
        *agent.given_props.borrow_mut() = props;
    }
    if agent.status.get() == Status::Started {
        return Ok(());
    }
    match agent.ctx.id_name() {
        Some(own) if own != given => {
            return Err(JsError::new(format!(
                "This server's Durable Object id was created for name \"{own}\", cannot setName to \"{given}\"."
            )));
        }
        Some(_) => {}
        None => {
            *agent.name.borrow_mut() = Some(Arc::clone(&given));
            agent.ctx.storage().put(&NAME_PUT, NAME_KEY, Value::from(&*given)).await?;
        }
    }
    ensure_initialized(host).await
}

/// The start that every fetch, socket event, framework alarm and `setName` passes: at once when started, else the name
/// is persisted or read, and the start runs in a section.
pub async fn ensure_initialized<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    if host.agent().status.get() == Status::Started {
        return Ok(());
    }
    hydrate_name(host.agent()).await?;
    let ctx = host.agent().ctx.clone();
    let inside = Rc::clone(&host);
    ctx.block_concurrency_while(&NAME_SECTION, move || start_once(inside)).await?
}

async fn hydrate_name(agent: &AgentState) -> Result<(), JsError> {
    if agent.name.borrow().is_some() {
        return Ok(());
    }
    let storage = agent.ctx.storage();
    let record = storage.get(&NAME_GET, NAME_KEY).await?;
    let record = record.and_then(|value| value.as_str().map(Arc::<str>::from));
    match agent.ctx.id_name() {
        Some(own) => {
            if record.as_ref() != Some(&own) {
                storage.put(&NAME_PUT, NAME_KEY, Value::from(&*own)).await?;
            }
            *agent.name.borrow_mut() = Some(own);
        }
        None => *agent.name.borrow_mut() = record,
    }
    Ok(())
}

/// Inside the section. A throwing start does not reset the object: the status goes back and the error is carried out
/// (platform fact 168).
async fn start_once<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    let agent = host.agent();
    if agent.status.get() == Status::Started {
        return Ok(());
    }
    agent.status.set(Status::Starting);
    let props = agent.given_props.borrow().clone();
    let started = wrapped_on_start(Rc::clone(&host), props).await;
    agent.status.set(if started.is_ok() { Status::Started } else { Status::Zero });
    started
}

/// `this.onStart(props)` as everybody calls it: the framework's wrapper takes 13 hops before the class's own begins.
pub async fn wrapped_on_start<H: AgentHost>(host: Rc<H>, props: Option<Value>) -> Result<(), JsError> {
    let storage = host.agent().ctx.storage();
    for key in FACET_KEYS {
        storage.get(&START_FACETS, key).await?;
    }
    for _ in 0..RESTORE_STEPS {
        micro(&START_RESTORE).await?;
    }
    mcp_agent::read_tables(host.agent())?;
    host.on_start(props).await
}
