//! The MCP agent: the body of a start, connecting a bridge's socket, the framework's alarm, condemning and destroying.

use std::rc::Rc;

use serde_json::Value;

use super::transport::Transport;
use super::{AgentHost, AgentState, DESTROY_PENDING_KEY, INITIALIZE_KEY, PROPS_KEY, party_server, schedule};
use crate::config::DESTROY_ALARM_DELAY_MS;
use crate::js::{EventLoop, call, hops, js, rooted};
use crate::platform::{JsError, Socket, micro};

crate::operations! {
    BODY_PUT_PROPS = "body · storage.put props", Storage, 4; "storage"
    BODY_GET_PROPS = "body · storage.get props", Storage, 3; "storage"
    BODY_SERVER_FIELD = "body · server.field", Micro, 1; "a settled value"
    BODY_GET_INITIALIZE = "body · storage.get initializeRequest", Storage, 5; "storage; the message is fed in, not awaited"
    ALARM_MARKER = "alarm.sdk · storage.get destroy-pending", Storage, 4; "storage, before any section"
    ALARM_HOUSEKEEPING = "alarm.sdk · housekeeping", Micro, 1, assumed; "due schedules (none here), recovery scan"
    ALARM_STRIKES = "alarm.sdk · storage.get oom-strikes", Storage, 4; "storage, last"
    CONDEMN_MARKER = "condemn · storage.put destroy-pending", Storage, 3; "storage"
    CONDEMN_ALARM = "condemn · storage.setAlarm destroy", Storage, 3; "storage"
    DESTROY_MARKER = "destroy · storage.put destroy-pending", Storage, 3; "storage"
    DESTROY_ALARM = "destroy · storage.deleteAlarm", Storage, 3; "storage"
    DESTROY_ALL = "destroy · storage.deleteAll", Storage, 3; "storage; acts at once, outside the open transaction"
    DESTROY_DISPOSE = "destroy · sdk.dispose", Micro, 1, assumed; "the framework's client manager, nothing held"
    DESTROY_ABORT = "destroy · abort", Io, 0; "a 0 ms timer, not awaited"
}

/// A synchronous read of the framework's tables; a wiped object has none.
pub fn read_tables(agent: &AgentState) -> Result<(), JsError> {
    if agent.has_tables.get() {
        return Ok(());
    }
    Err(JsError::new("no such table: cf_agents_mcp_servers: SQLITE_ERROR"))
}

/// The body of a start: props, `init`, a new transport, connect, and the stored initialize request fed in.
pub async fn start_body<H: AgentHost>(host: Rc<H>, props: Option<Value>) -> Result<(), JsError> {
    let agent = host.agent();
    let storage = agent.ctx.storage();
    let props = match props {
        Some(props) => {
            storage.put(&BODY_PUT_PROPS, PROPS_KEY, props.clone()).await?;
            Some(props)
        }
        None => storage.get(&BODY_GET_PROPS, PROPS_KEY).await?.map(|props| (*props).clone()),
    };
    *agent.props.borrow_mut() = props;
    rooted("init", Rc::clone(&host).init()).await?;
    micro(&BODY_SERVER_FIELD).await?;
    let server =
        host.server().ok_or_else(|| JsError::type_error("Cannot read properties of undefined (reading 'connect')"))?;
    let transport = Transport::new(agent.ctx.clone());
    *agent.transport.borrow_mut() = Some(Rc::clone(&transport));
    server.connect(Rc::clone(&transport)).await?;
    let stored = storage.get(&BODY_GET_INITIALIZE, INITIALIZE_KEY).await?;
    if let Some(message) = stored {
        transport.feed((*message).clone());
    }
    Ok(())
}

/// The framework's onConnect: hands the socket to the transport's handler and does not wait for it.
///
/// The caller has checked that there is a transport.
pub fn connect(transport: &Rc<Transport>, socket: Socket, opening: Opening) {
    let transport = Rc::clone(transport);
    match opening {
        Opening::Post(messages) => drop(call(rooted("post", transport.handle_post(socket, messages)))),
        Opening::Get(cursor) => drop(call(rooted("get", transport.handle_get(socket, cursor)))),
    }
}

/// What a bridge's socket was opened for.
pub enum Opening {
    /// A POST with its messages.
    Post(Vec<Value>),
    /// A GET, with the cursor of the stream it resumes.
    Get(Option<String>),
}

/// The framework's `alarm()`: destroys a condemned object before any start, else starts, keeps house, recomputes.
pub async fn alarm<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    let storage = host.agent().ctx.storage();
    let marker = storage.get(&ALARM_MARKER, DESTROY_PENDING_KEY).await?;
    if marker.is_some_and(|marker| marker.as_bool() == Some(true)) {
        return host.destroy().await;
    }
    js(party_server::ensure_initialized(Rc::clone(&host))).await?;
    micro(&ALARM_HOUSEKEEPING).await?;
    js(Rc::clone(&host).schedule_next_alarm()).await?;
    // Its failure is swallowed: a strike that cannot be read is no strike.
    drop(storage.get(&ALARM_STRIKES, "cf_agents_oom_strikes").await);
    Ok(())
}

/// `_cf_scheduleDestroy()`: starts the object if it is cold, then marker and alarm. Repeatable.
pub async fn condemn<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    js(party_server::ensure_initialized(Rc::clone(&host))).await?;
    let storage = host.agent().ctx.storage();
    storage.put(&CONDEMN_MARKER, DESTROY_PENDING_KEY, Value::Bool(true)).await?;
    state_event!("condemned", host.agent().ctx.label());
    let at_ms = EventLoop::current().now_ms() + DESTROY_ALARM_DELAY_MS;
    storage.set_alarm(&CONDEMN_ALARM, schedule::signed(at_ms)).await
}

/// The framework's `destroy()`: marker, tables, alarm, everything, then an abort on the next turn (platform fact 184).
pub async fn destroy(agent: &AgentState) -> Result<(), JsError> {
    let storage = agent.ctx.storage();
    storage.put(&DESTROY_MARKER, DESTROY_PENDING_KEY, Value::Bool(true)).await?;
    agent.has_tables.set(false);
    storage.delete_alarm(&DESTROY_ALARM).await?;
    storage.delete_all(&DESTROY_ALL).await?;
    micro(&DESTROY_DISPOSE).await?;
    let ctx = agent.ctx.clone();
    drop(call(async move {
        if crate::platform::sleep(&DESTROY_ABORT, 0).await.is_ok() {
            ctx.abort("destroyed");
            hops(1).await;
        }
    }));
    Ok(())
}
