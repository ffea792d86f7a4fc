//! The SDK's bridge: checks a request, mints session ids, opens a socket to the session's object for each POST and GET.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use serde_json::{Value, json};

use super::answers::{header, refuse};
use super::exchange::Exchange;
use super::pump::{self, Pump};
use crate::config::MAX_POST_BODY_BYTES;
use crate::js::EventLoop;
use crate::mcp::{self, is_message, is_request};
use crate::platform::{ClientSocket, FetchRequest, JsError, ObjectKey, Stub, join, module_scope, sleep};
use crate::rt;
use crate::session::NAME_PREFIX;

crate::operations! {
    BODY_READ = "bridge.post · body.read", Io, 0, assumed; "the client's body"
    SET_NAME = "bridge · stub.set-name", Io, 0, assumed; "the session's RPC; section and start"
    RETRY_SLEEP = "bridge · retry.sleep", Io, 1; "a timer, 0 to min(800, 100 times 2 to the tries) ms"
    GET_INITIALIZE = "bridge · stub.get-initialize", Io, 0, assumed; "the session's RPC, no start"
    SET_INITIALIZE = "bridge.post · stub.set-initialize", Io, 0, assumed; "the session's RPC, no start"
    FETCH = "bridge · stub.fetch", Io, 0, assumed; "the session's fetch: section if cold, then all of onConnect"
    SCHEDULE_DESTROY = "bridge.delete · stub.schedule-destroy", Io, 0, assumed; "the session's RPC"
}

/// Tries of a routing call, base and cap of the pause between them.
const ROUTING_TRIES: u32 = 3;
const ROUTING_BASE_MS: u64 = 100;
const ROUTING_CAP_MS: u64 = 800;

/// Session ids that this worker has minted (module scope).
#[derive(Default)]
struct Minted(Cell<u64>);

/// Where a bridge leads.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    /// The class of the sessions' objects.
    pub class: &'static str,
    /// Status of the answer to a DELETE: the SDK's is 204.
    pub deleted: u16,
}

impl Binding {
    fn key(self, session_id: &str) -> ObjectKey {
        ObjectKey::named(self.class, format!("{NAME_PREFIX}{session_id}"))
    }
}

/// Hands a request to the bridge of its method.
pub(super) async fn handle(
    exchange: &Rc<Exchange>,
    binding: Binding,
    session_id: Option<String>,
    props: Value,
) -> Result<(), JsError> {
    match exchange.head.method.as_str() {
        "POST" => post(exchange, binding, session_id, props).await,
        "GET" => get(exchange, binding, session_id, props).await,
        _ => delete(exchange, binding, session_id).await,
    }
}

/// A refusal of the SDK: status, code, message.
struct Refusal(u16, i64, &'static str);

fn check_headers(exchange: &Exchange) -> Result<(), Refusal> {
    let accept = exchange.header("accept").unwrap_or_default();
    if !accept.contains("application/json") || !accept.contains("text/event-stream") {
        let text = "Not Acceptable: Client must accept both application/json and text/event-stream";
        return Err(Refusal(406, mcp::TRANSPORT_ERROR, text));
    }
    if !exchange.header("content-type").unwrap_or_default().contains("application/json") {
        let text = "Unsupported Media Type: Content-Type must be application/json";
        return Err(Refusal(415, mcp::TRANSPORT_ERROR, text));
    }
    let length = exchange.header("content-length").and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > MAX_POST_BODY_BYTES) {
        return Err(Refusal(413, mcp::TRANSPORT_ERROR, "Request body too large. Maximum size is 4194304 bytes"));
    }
    Ok(())
}

/// True for an initialize request with all that the protocol asks of one; anything less is a request like any other.
fn opens_session(message: &Value) -> bool {
    let params = &message["params"];
    let client = &params["clientInfo"];
    mcp::is_initialize(message)
        && is_request(message)
        && params["protocolVersion"].is_string()
        && params["capabilities"].is_object()
        && client["name"].is_string()
        && client["version"].is_string()
}

/// The messages of a body. Only a declared length was compared with the limit.
fn parse(body: &[u8], has_session: bool) -> Result<Vec<Value>, Refusal> {
    let parsed: Value =
        serde_json::from_slice(body).map_err(|_| Refusal(400, mcp::PARSE_ERROR, "Parse error: Invalid JSON"))?;
    let messages = match parsed {
        Value::Array(messages) => messages,
        message => vec![message],
    };
    if !messages.iter().all(is_message) {
        return Err(Refusal(400, mcp::PARSE_ERROR, "Parse error: Invalid JSON-RPC message"));
    }
    let initializes = messages.iter().any(opens_session);
    if initializes && has_session {
        let text = "Invalid Request: Initialization requests must not include a sessionId";
        return Err(Refusal(400, mcp::INVALID_REQUEST, text));
    }
    if initializes && messages.len() > 1 {
        let text = "Invalid Request: Only one initialization request is allowed";
        return Err(Refusal(400, mcp::INVALID_REQUEST, text));
    }
    if !initializes && !has_session {
        return Err(Refusal(400, mcp::TRANSPORT_ERROR, "Bad Request: Mcp-Session-Id header is required"));
    }
    Ok(messages)
}

async fn post(
    exchange: &Rc<Exchange>,
    binding: Binding,
    session_id: Option<String>,
    props: Value,
) -> Result<(), JsError> {
    if let Err(Refusal(status, code, text)) = check_headers(exchange) {
        refuse(exchange, status, code, text);
        return Ok(());
    }
    let body = join(&BODY_READ, &exchange.body()).await?;
    let parsed = match &body {
        Ok(body) => parse(body, session_id.is_some()),
        Err(_) => Err(Refusal(400, mcp::PARSE_ERROR, "Parse error: Invalid JSON")),
    };
    let messages = match parsed {
        Ok(messages) => messages,
        Err(Refusal(status, code, text)) => {
            refuse(exchange, status, code, text);
            return Ok(());
        }
    };
    let identity = identity_headers(&props);
    let is_known = session_id.is_some();
    let session_id = session_id.unwrap_or_else(|| mint(exchange.peer()));
    let stub = set_name(binding.key(&session_id), Some(props), is_known).await?;
    let stored = stub.rpc(&GET_INITIALIZE, "getInitializeRequest", Value::Null).await?;
    if let Some(message) = messages.iter().find(|message| opens_session(message)) {
        stub.rpc(&SET_INITIALIZE, "setInitializeRequest", json!({"message": message})).await?;
    } else if stored.is_null() {
        // Fact: 192. A POST names and starts the object first; without a stored handshake the answer is 404. [RA:MC8]
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found");
        return Ok(());
    }
    let encoded = base64::engine::general_purpose::STANDARD.encode(mcp::text_of_all(&messages));
    let mut headers = vec![header(mcp::METHOD_HEADER, "POST"), header(mcp::MESSAGE_HEADER, &encoded)];
    headers.extend(identity);
    // Fact: 191. The front worker opens one socket a POST or GET and turns its frames into server-sent events.
    // [S:agents mcp/index.js]
    let Some(socket) = open_socket(&stub, headers).await? else {
        refuse(exchange, 500, mcp::SESSION_ERROR, "Failed to establish WebSocket connection");
        return Ok(());
    };
    if !messages.iter().any(is_request) {
        socket.close(1000, "")?;
        exchange.answer(202, cors(), String::new());
        return Ok(());
    }
    let opened_ms = EventLoop::current().now_ms();
    pump::stream(exchange, &session_id, socket, Pump::Post { opened_ms });
    Ok(())
}

async fn get(
    exchange: &Rc<Exchange>,
    binding: Binding,
    session_id: Option<String>,
    props: Value,
) -> Result<(), JsError> {
    if !exchange.header("accept").unwrap_or_default().contains("text/event-stream") {
        refuse(exchange, 406, mcp::TRANSPORT_ERROR, "Not Acceptable: Client must accept text/event-stream");
        return Ok(());
    }
    let Some(session_id) = session_id else {
        refuse(exchange, 400, mcp::TRANSPORT_ERROR, "Bad Request: Mcp-Session-Id header is required");
        return Ok(());
    };
    let mut headers = vec![header(mcp::METHOD_HEADER, "GET")];
    headers.extend(identity_headers(&props));
    let stub = set_name(binding.key(&session_id), Some(props), true).await?;
    if stub.rpc(&GET_INITIALIZE, "getInitializeRequest", Value::Null).await?.is_null() {
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found");
        return Ok(());
    }
    headers.extend(exchange.header(mcp::LAST_EVENT_ID_HEADER).map(|cursor| header(mcp::LAST_EVENT_ID_HEADER, cursor)));
    let Some(socket) = open_socket(&stub, headers).await? else {
        exchange.answer(500, Vec::new(), "Failed to establish WS to DO".to_owned());
        return Ok(());
    };
    let opened_ms = EventLoop::current().now_ms();
    pump::stream(exchange, &session_id, socket, Pump::Get { opened_ms });
    Ok(())
}

async fn delete(exchange: &Rc<Exchange>, binding: Binding, session_id: Option<String>) -> Result<(), JsError> {
    let Some(session_id) = session_id else {
        refuse(exchange, 400, mcp::TRANSPORT_ERROR, "Bad Request: Mcp-Session-Id header is required");
        return Ok(());
    };
    let stub = set_name(binding.key(&session_id), None, true).await?;
    if stub.rpc(&GET_INITIALIZE, "getInitializeRequest", Value::Null).await?.is_null() {
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found");
        return Ok(());
    }
    stub.rpc(&SCHEDULE_DESTROY, "_cf_scheduleDestroy", Value::Null).await?;
    exchange.answer(binding.deleted, cors(), String::new());
    Ok(())
}

/// What the SDK lets a browser see of its answers.
pub(super) fn cors() -> Vec<(String, String)> {
    vec![header("access-control-allow-origin", "*"), header("access-control-expose-headers", "mcp-session-id")]
}

/// The verified identity, for the session's object: the client's own headers do not get there.
fn identity_headers(props: &Value) -> Vec<(String, String)> {
    let verified = |name: &str, key: &str| props["session"][key].as_str().map(|value| header(name, value));
    let names = [("x-executor-mcp-account-id", "userId"), ("x-executor-mcp-organization-id", "organizationId")];
    names.into_iter().filter_map(|(name, key)| verified(name, key)).collect()
}

/// A session id that nobody can guess: 64 hex digits.
fn mint(peer: &Arc<str>) -> String {
    // Fact: 190. A session id is 64 hex digits of the front worker's; the object is named after it. [RA:MC1, S:agents
    // mcp/index.js]
    let minted = module_scope::<Minted>();
    minted.0.set(minted.0.get() + 1);
    let draw = || rt::decide(peer, "session-id", u64::MAX);
    let id = format!("{:016x}{:016x}{:016x}{:016x}", draw(), draw(), draw(), minted.0.get());
    platform_event!("session.minted", peer, session = &*id);
    id
}

/// `getServerByName`: one `setName` call, tried again as a whole on a fresh stub when the platform says so, then a
/// fresh stub for what follows (platform fact 167). A session that `is_known` must be there already.
async fn set_name(key: ObjectKey, props: Option<Value>, is_known: bool) -> Result<Stub, JsError> {
    let mut arguments = json!({"name": &*key.name});
    arguments["props"] = props.unwrap_or(Value::Null);
    arguments["isKnown"] = Value::Bool(is_known);
    // Fact: 167. Routing is one setName and a fresh stub, tried three times where the error is retryable and not
    // overloaded. [S:partyserver index.js]
    let mut tries = 1;
    loop {
        let stub = Stub::new(key.clone());
        match stub.rpc(&SET_NAME, "setName", arguments.clone()).await {
            Ok(_) => return Ok(Stub::new(key)),
            Err(error) if error.retryable && !error.overloaded && tries < ROUTING_TRIES => {
                let most_ms = ROUTING_CAP_MS.min(ROUTING_BASE_MS << (tries - 1));
                let pause_ms = rt::decide(&key.label(), "routing.jitter", most_ms + 1);
                sleep(&RETRY_SLEEP, pause_ms).await?;
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Opens the internal socket; none when the answer comes without one.
async fn open_socket(stub: &Stub, mut headers: Vec<(String, String)>) -> Result<Option<ClientSocket>, JsError> {
    headers.push(header("upgrade", "websocket"));
    let response = stub.fetch(&FETCH, FetchRequest::new("/mcp", headers)).await?;
    Ok(response.socket.map(|number| stub.socket(number)))
}
