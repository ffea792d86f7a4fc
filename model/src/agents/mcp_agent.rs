//! The MCP agent: the body of a start, connecting a bridge's socket, the framework's alarm, condemning and destroying.

use std::rc::Rc;

use base64::Engine as _;
use serde_json::Value;

use super::transport::{Transport, Unhandled};
use super::{AgentHost, AgentState, DESTROY_PENDING_KEY, INITIALIZE_KEY, PROPS_KEY, party_server, schedule};
use crate::config::DESTROY_ALARM_DELAY_MS;
use crate::js::{EventLoop, Promise, call, hops, js, rooted};
use crate::mcp::{self, Frame};
use crate::platform::{FetchRequest, JsError, Socket, micro};

crate::operations! {
    BODY_PUT_PROPS = "body · storage.put props", Storage, 3; "storage"
    BODY_GET_PROPS = "body · storage.get props", Storage, 3; "storage"
    BODY_SERVER_FIELD = "body · server.field", Micro, 1; "a settled value"
    BODY_GET_INITIALIZE = "body · storage.get initializeRequest", Storage, 4; "storage; the message is fed in, not awaited"
    ALARM_MARKER = "alarm.sdk · storage.get destroy-pending", Storage, 4; "storage, before any section"
    ALARM_HOUSEKEEPING = "alarm.sdk · housekeeping", Micro, 1, assumed; "recovery scan"
    ALARM_STRIKES = "alarm.sdk · storage.get oom-strikes", Storage, 4; "storage, last"
    RPC_GET_INITIALIZE = "rpc · storage.get initializeRequest", Storage, 3; "storage"
    RPC_PUT_INITIALIZE = "rpc · storage.put initializeRequest", Storage, 3; "storage"
    CONDEMN_MARKER = "condemn · storage.put destroy-pending", Storage, 3; "storage"
    CONDEMN_ALARM = "condemn · storage.setAlarm destroy", Storage, 3; "storage"
    DESTROY_MARKER = "destroy · storage.put destroy-pending", Storage, 3; "storage"
    DESTROY_ALARM = "destroy · storage.deleteAlarm", Storage, 3; "storage"
    DESTROY_ALL = "destroy · storage.deleteAll", Storage, 3; "storage; acts at once, outside the open transaction"
    DESTROY_DISPOSE = "destroy · sdk.dispose", Micro, 1, assumed; "the framework's client manager, nothing held"
    DESTROY_ABORT = "destroy · abort", Io, 0; "a 0 ms timer, not awaited"
}

/// The body of a start: props, `init`, a new transport, connect, and the stored initialize request fed in.
///
/// # Errors
/// Of each of its steps; the last one fails a start whose runtime is complete.
pub async fn start_body<H: AgentHost>(host: Rc<H>, props: Option<Value>) -> Result<(), JsError> {
    let agent = host.agent();
    // Fact: 194. A start takes props from the call or storage, and replays the stored handshake into a new transport.
    // [RA:MC4, RA:MC9]
    match props {
        Some(props) => js(update_props(agent, props)).await?,
        None => {
            let stored = agent.ctx.storage().get(&BODY_GET_PROPS, PROPS_KEY).await?;
            *agent.props.borrow_mut() = stored.map(|props| (*props).clone());
        }
    }
    rooted("init", Rc::clone(&host).init()).await?;
    micro(&BODY_SERVER_FIELD).await?;
    let server = host.server();
    let transport = Transport::new(agent.ctx.clone(), Rc::clone(host.config()));
    *agent.transport.borrow_mut() = Some(Rc::clone(&transport));
    let Some(server) = server else {
        return Err(JsError::type_error("Cannot read properties of undefined (reading 'connect')"));
    };
    server.connect(transport).await?;
    js(reinitialize(agent)).await
}

/// `updateProps(props)`: stored, then in use.
///
/// # Errors
/// A storage failure; the old props stay in use then.
pub async fn update_props(agent: &AgentState, props: Value) -> Result<(), JsError> {
    agent.ctx.storage().put(&BODY_PUT_PROPS, PROPS_KEY, props.clone()).await?;
    *agent.props.borrow_mut() = Some(props);
    Ok(())
}

/// Feeds the stored initialize request to the transport in use, if there is one. Its answer goes nowhere.
async fn reinitialize(agent: &AgentState) -> Result<(), JsError> {
    let stored = agent.ctx.storage().get(&BODY_GET_INITIALIZE, INITIALIZE_KEY).await?;
    let transport = agent.transport.borrow().clone();
    if let (Some(message), Some(transport)) = (stored, transport) {
        transport.feed((*message).clone());
    }
    Ok(())
}

/// The framework's onConnect: hands the socket to the transport's handler, and does not wait for what is given back.
///
/// The caller has checked that there is a transport.
pub fn connect(transport: &Rc<Transport>, socket: Socket, opening: Opening) -> Promise<Result<(), Unhandled>> {
    let transport = Rc::clone(transport);
    match opening {
        Opening::Post(messages) => call(rooted("post", Box::pin(transport.handle_post(socket, messages)))),
        Opening::Get(cursor) => {
            let handling = async move { transport.handle_get(socket, cursor).await.map_err(Unhandled::from) };
            call(rooted("get", Box::pin(handling)))
        }
    }
}

/// `onConnect(connection, request)`: the transport's handler is started and not waited for. Without a transport the socket
/// is closed 1011.
///
/// # Errors
/// When the messages of a POST cannot be read.
pub async fn on_connect<H: AgentHost>(host: Rc<H>, socket: Socket, request: FetchRequest) -> Result<(), JsError> {
    let transport = host.agent().transport.borrow().clone();
    match transport {
        Some(transport) => drop(connect(&transport, socket, opening(&request)?)),
        None => drop(socket.close(1011, NO_TRANSPORT)),
    }
    hops(1).await;
    Ok(())
}

/// `onMessage`: the acknowledgement of a delivered stream, whose failure leaves it partly acknowledged.
pub async fn on_message(agent: &AgentState, text: &str) {
    let Some(Frame::DeliveryAck { stream_id, .. }) = Frame::parse(text) else { return };
    let transport = agent.transport.borrow().clone();
    if let Some(transport) = transport {
        drop(rooted("ack", transport.acknowledge(&stream_id)).await);
    }
}

/// Close reason of a connection to an object that has no transport.
pub const NO_TRANSPORT: &str = "MCP transport not initialized";

/// What a connection of a bridge is for, by its headers.
///
/// # Errors
/// When the messages of a POST cannot be read.
pub fn opening(request: &FetchRequest) -> Result<Opening, JsError> {
    if request.header(mcp::METHOD_HEADER) == Some("POST") {
        return messages_of(request.header(mcp::MESSAGE_HEADER)).map(Opening::Post).map_err(|_| unreadable());
    }
    Ok(Opening::Get(request.header(mcp::LAST_EVENT_ID_HEADER).map(str::to_owned)))
}

/// What is thrown for messages that cannot be read.
pub fn unreadable() -> JsError {
    JsError { name: "SyntaxError", ..JsError::new("Unexpected token in JSON") }
}

/// Why the internal header of messages cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not base64.
    Base64,
    /// What it holds is not JSON.
    Json,
}

impl Unreadable {
    /// The word used in logs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Base64 => "invalid_base64",
            Self::Json => "invalid_json",
        }
    }
}

/// The JSON-RPC messages of the internal header; an absent one has none.
///
/// # Errors
/// When they cannot be read.
pub fn messages_of(header: Option<&str>) -> Result<Vec<Value>, Unreadable> {
    let Some(encoded) = header.filter(|encoded| !encoded.is_empty()) else { return Ok(Vec::new()) };
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|_| Unreadable::Base64)?;
    match serde_json::from_slice(&bytes).map_err(|_| Unreadable::Json)? {
        Value::Array(messages) => Ok(messages),
        message => Ok(vec![message]),
    }
}

/// `getInitializeRequest()`: the stored one, or null. Starts nothing.
///
/// # Errors
/// A storage failure.
pub async fn get_initialize_request(agent: &AgentState) -> Result<Value, JsError> {
    let stored = agent.ctx.storage().get(&RPC_GET_INITIALIZE, INITIALIZE_KEY).await?;
    Ok(stored.map_or(Value::Null, |message| (*message).clone()))
}

/// `setInitializeRequest(message)`. Starts nothing.
///
/// # Errors
/// A storage failure.
pub async fn set_initialize_request(agent: &AgentState, message: Value) -> Result<(), JsError> {
    // Fact: 195. After the handshake three keys are kept, and no alarm, reference or socket of the package's.
    // [RA:MC1]
    agent.ctx.storage().put(&RPC_PUT_INITIALIZE, INITIALIZE_KEY, message).await
}

/// What a bridge's socket was opened for.
pub enum Opening {
    /// A POST with its messages.
    Post(Vec<Value>),
    /// A GET, with the cursor of the stream it resumes.
    Get(Option<String>),
}

/// The framework's `alarm()`: destroys a condemned object before any start, else starts, keeps house, recomputes.
///
/// # Errors
/// Of each of its steps but the last.
pub async fn alarm<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    let storage = host.agent().ctx.storage();
    // Fact: 187. The framework's alarm looks for the marker first, before any start. [S:agents index.js]
    let marker = storage.get(&ALARM_MARKER, DESTROY_PENDING_KEY).await?;
    if marker.is_some_and(|marker| marker.as_bool() == Some(true)) {
        return host.destroy().await;
    }
    js(alarm_body(Rc::clone(&host))).await?;
    // Its failure is swallowed: a strike that cannot be read is no strike.
    drop(storage.get(&ALARM_STRIKES, "cf_agents_oom_strikes").await);
    Ok(())
}

/// The lazy start with a hook that does nothing, then due schedules and the alarm that comes next.
async fn alarm_body<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    let started = Rc::clone(&host);
    let naming = async move {
        js(party_server::ensure_initialized(started)).await?;
        hops(1).await;
        Ok(())
    };
    js(naming).await?;
    schedule::run_due(&host).await?;
    micro(&ALARM_HOUSEKEEPING).await?;
    // Fact: 179. An own alarm set before the framework's alarm() is erased by it. [RA:AG6, RA:AG7, RA:AG7b]
    js(host.schedule_next_alarm()).await
}

/// `_cf_scheduleDestroy()`: starts the object if it is cold, then marker and alarm. Repeatable.
///
/// # Errors
/// Of the start (no marker is written then) and of both writes.
pub async fn condemn<H: AgentHost>(host: Rc<H>) -> Result<(), JsError> {
    js(js(party_server::ensure_initialized(Rc::clone(&host)))).await?;
    let storage = host.agent().ctx.storage();
    // Fact: 185. Condemning writes the marker and an alarm a second ahead; until then the object answers normally.
    // [RA:AG14, RA:MC7]
    storage.put(&CONDEMN_MARKER, DESTROY_PENDING_KEY, Value::Bool(true)).await?;
    state_event!("condemned", host.agent().ctx.label());
    // Fact: 203. A DELETE is answered at once; the session serves for a second more and is then gone. [RA:MC7]
    let at_ms = EventLoop::current().now_ms() + DESTROY_ALARM_DELAY_MS;
    storage.set_alarm(&CONDEMN_ALARM, schedule::signed(at_ms)).await
}

/// The framework's `destroy()`: marker, tables, alarm, everything, then an abort on the next turn (platform fact 184).
///
/// # Errors
/// Of each of its steps; no abort is scheduled then.
pub async fn destroy(agent: &AgentState) -> Result<(), JsError> {
    let storage = agent.ctx.storage();
    // Fact: 184. Destroying writes a marker, drops tables, alarm and everything, and aborts from a 0 ms timer.
    // [RA:AG13]
    storage.put(&DESTROY_MARKER, DESTROY_PENDING_KEY, Value::Bool(true)).await?;
    agent.has_tables.set(false);
    storage.delete_alarm(&DESTROY_ALARM).await?;
    storage.delete_all(&DESTROY_ALL).await?;
    micro(&DESTROY_DISPOSE).await?;
    let ctx = agent.ctx.clone();
    drop(call(async move {
        if crate::platform::sleep(&DESTROY_ABORT, 0).await.is_ok() {
            ctx.abort("destroyed")?;
            hops(1).await;
        }
        Ok::<(), JsError>(())
    }));
    Ok(())
}
