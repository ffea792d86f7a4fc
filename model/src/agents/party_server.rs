//! Naming and lazy start: where a name comes from, and the section around the first start of an incarnation.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{AgentHost, AgentState, NAME_KEY, Status, tables};
use crate::js::{js, rooted};
use crate::platform::{FetchRequest, FetchResponse, JsError, micro};
use crate::telemetry::console_error;

crate::operations! {
    NAME_GET = "name · storage.get __ps_name", Storage, 3; "storage"
    NAME_PUT = "name · storage.put __ps_name", Storage, 3; "storage; after the get if the record differs"
    NAME_SECTION = "name · section", Section, 1; "blockConcurrencyWhile around onStart"
    START_FACETS = "start · storage.get facet", Storage, 3; "storage, three keys one after the other"
    START_RESTORE = "start · sdk-restore", Micro, 1; "four framework steps that find nothing"
}

/// Close reason of a socket whose set-up failed.
pub const SETUP_FAILED: &str = "Uncaught exception during session setup";
const FACET_KEYS: [&str; 3] = ["cf_agents_is_facet", "cf_agents_facet_name", "cf_agents_parent_path"];

/// The `name` getter: the id's name, else the one in memory, else it throws (platform facts 163, 164). It never reads
/// storage.
pub fn name(agent: &AgentState) -> Result<Arc<str>, JsError> {
    // Fact: 163. The name is the id's, else one in memory, else reading it throws; storage is not asked.
    // [S:partyserver index.js, RA:AG9]
    // Fact: 164. That throw begins with a text of its own. [RA:AG9]
    let known = agent.ctx.id_name().or_else(|| agent.name.borrow().clone());
    known.ok_or_else(|| {
        let class = agent.ctx.key().class;
        JsError::new(format!(
            "Attempting to read .name on {class}, but this.ctx.id.name is not set and no __ps_name fallback record is \
             available. PartyServer requires DOs to be addressed via idFromName()/getByName(), or explicitly \
             bootstrapped with setName() when using idFromString()/newUniqueId(). If this happens in an alarm handler \
             firing on a stale alarm record, initialize the DO from a fetch/RPC entry point first so PartyServer can \
             persist the fallback name."
        ))
    })
}

/// `setName(name, props)`: keeps the props in memory, whatever the status (a later start that is given none uses them),
/// then starts if need be.
///
/// # Errors
/// Another name than the object has (platform fact 169), a storage failure, and whatever the start fails with.
pub async fn set_name<H: AgentHost>(host: Rc<H>, given: Arc<str>, props: Option<Value>) -> Result<(), JsError> {
    let agent = host.agent();
    let own = agent.ctx.id_name();
    // Fact: 169. Another name than the object has is refused. [RA:AG9b]
    if let Some(own) = own.as_ref().filter(|own| **own != given) {
        return Err(JsError::new(format!(
            "This server's Durable Object id was created for name \"{own}\", cannot setName to \"{given}\"."
        )));
    }
    let known = agent.name.borrow().clone();
    if let Some(known) = known.as_ref().filter(|known| **known != given) {
        return Err(JsError::new(format!("This server already has a name: {known}, attempting to set to: {given}")));
    }
    if props.is_some() {
        *agent.given_props.borrow_mut() = props;
    }
    if own.is_none() && known.is_none() {
        agent.ctx.storage().put(&NAME_PUT, NAME_KEY, Value::from(&*given)).await?;
        *agent.name.borrow_mut() = Some(given);
    }
    js(ensure_initialized(host)).await
}

/// The start that every fetch, socket event, framework alarm and `setName` passes: at once when started, else the name
/// is persisted or read, and the start runs in a section.
///
/// # Errors
/// A storage failure (no section is entered then), and whatever the start fails with.
pub async fn ensure_initialized<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    let agent = host.agent();
    // Fact: 166. Fetch, socket events, the framework's alarm and setName start an object; a plain call does not.
    // [RA:AG1b]
    if agent.status.get() == Status::Started {
        return Ok(());
    }
    match agent.ctx.id_name() {
        Some(own) => js(persist_name(agent, own)).await?,
        None if agent.name.borrow().is_none() => js(hydrate_name(agent)).await?,
        None => {}
    }
    let ctx = agent.ctx.clone();
    let inside = Rc::clone(&host);
    ctx.block_concurrency_while(&NAME_SECTION, move || start_in_section(inside)).await?
}

/// Keeps a record of the id's name, for incarnations that do not know it (platform fact 165).
async fn persist_name(agent: &AgentState, own: Arc<str>) -> Result<(), JsError> {
    // Fact: 165. The record of the name is written at a start by name or by setName, and read only by a start without
    // one. [S:partyserver index.js, RA:AG1, RA:AG9]
    if agent.name.borrow().is_some() {
        return Ok(());
    }
    let storage = agent.ctx.storage();
    let record = storage.get(&NAME_GET, NAME_KEY).await?;
    if record.as_deref().and_then(Value::as_str) != Some(&*own) {
        storage.put(&NAME_PUT, NAME_KEY, Value::from(&*own)).await?;
    }
    *agent.name.borrow_mut() = Some(own);
    Ok(())
}

/// An incarnation without a name reads the record; only here, so only a start in a section does.
async fn hydrate_name(agent: &AgentState) -> Result<(), JsError> {
    let record = agent.ctx.storage().get(&NAME_GET, NAME_KEY).await?;
    let record = record.as_deref().and_then(Value::as_str).filter(|name| !name.is_empty());
    if let Some(name) = record {
        *agent.name.borrow_mut() = Some(name.into());
    }
    Ok(())
}

/// Inside the section. A throwing start does not reset the object: the status goes back and the error is carried out
/// (platform fact 168). The status is not looked at again: two sections that wait both start.
async fn start_in_section<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    let agent = host.agent();
    // Fact: 168. A start runs in a section, once for concurrent calls; one that throws resets nothing and is tried by
    // the next call. [RA:AG11, RA:AG10]
    agent.status.set(Status::Starting);
    let props = agent.given_props.borrow().clone();
    let started = wrapped_on_start(Rc::clone(&host), props).await;
    agent.status.set(if started.is_ok() { Status::Started } else { Status::Zero });
    started
}

/// `this.onStart(props)` as everybody calls it: the framework's wrapper takes 13 hops before the class's own begins.
///
/// # Errors
/// A storage failure; no name in memory; missing tables; whatever the class's start fails with. All but the first pass
/// the framework's error printer.
pub async fn wrapped_on_start<H: AgentHost>(host: Rc<H>, props: Option<Value>) -> Result<(), JsError> {
    let storage = host.agent().ctx.storage();
    for key in FACET_KEYS {
        storage.get(&START_FACETS, key).await?;
    }
    micro(&START_RESTORE).await?;
    let started = restore_and_start(Rc::clone(&host), props).await;
    if let Err(error) = &started {
        console_error(host.agent().ctx.label(), "Error on server:", error);
    }
    started
}

/// The framework looks for connections to restore, which takes the name and its tables, then the class's start runs.
async fn restore_and_start<H: AgentHost>(host: Rc<H>, props: Option<Value>) -> Result<(), JsError> {
    let agent = host.agent();
    name(agent)?;
    let restored = if agent.restored.get() { Ok(()) } else { tables::read(agent, tables::MCP_SERVERS) };
    agent.restored.set(restored.is_ok());
    micro(&START_RESTORE).await?;
    restored?;
    let servers = tables::read(agent, tables::MCP_SERVERS);
    micro(&START_RESTORE).await?;
    servers?;
    micro(&START_RESTORE).await?;
    host.on_start(props).await
}

/// `fetch`: a start, then what the class does with a connection or a request; a class without `onRequest` answers 404.
///
/// # Errors
/// When an upgrade is asked for and cannot be accepted.
pub async fn fetch<H: AgentHost>(host: Rc<H>, request: FetchRequest) -> Result<FetchResponse, JsError> {
    let started = rooted("connect", js(ensure_initialized(Rc::clone(&host)))).await;
    if request.header("upgrade") == Some("websocket") {
        return accept(host, request, started).await;
    }
    // Fact: 170. A failing fetch is answered 500 with its stack, or as a socket that says so and closes with 1011.
    // [S:partyserver index.js, RA:AG9]
    let (status, body) = match started {
        Ok(()) => (404, "Not implemented".to_owned()),
        Err(error) => {
            print_error(host.agent(), "fetch", &error);
            (500, error.to_string())
        }
    };
    Ok(FetchResponse { status, body, socket: None })
}

/// Accepts the socket of an upgrade and runs all of `onConnect`, if the object has started. A failure comes back as an
/// accepted socket that closes 1011 (platform fact 170).
///
/// # Errors
/// When the socket cannot be accepted.
pub async fn accept<H: AgentHost>(
    host: Rc<H>,
    request: FetchRequest,
    started: Result<(), JsError>,
) -> Result<FetchResponse, JsError> {
    let method = request.header(crate::mcp::METHOD_HEADER).unwrap_or("GET").to_owned();
    let socket = host.agent().ctx.accept_web_socket(&request, &method)?;
    let connected = match started {
        Ok(()) => rooted("connect", js(Rc::clone(&host).on_connect(socket.clone(), request))).await,
        Err(error) => Err(error),
    };
    // Fact: 170. A failing fetch is answered 500 with its stack, or as a socket that says so and closes with 1011.
    // [S:partyserver index.js, RA:AG9]
    if let Err(error) = connected {
        print_error(host.agent(), "fetch", &error);
        drop(socket.send(json!({"error": error.to_string()}).to_string()));
        drop(socket.close(1011, SETUP_FAILED));
    }
    Ok(FetchResponse { status: 101, body: String::new(), socket: Some(socket.number()) })
}

/// What the framework prints about an event of its own that failed; nobody else hears of it.
pub fn print_error(agent: &AgentState, event: &str, error: &JsError) {
    let (name, class) = (name(agent).unwrap_or_else(|_| "<unnamed>".into()), agent.ctx.key().class);
    console_error(agent.ctx.label(), &format!("Error in {class}:{name} {event}:"), error);
}
