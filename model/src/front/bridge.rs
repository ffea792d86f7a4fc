//! The SDK's bridge: mints session ids, opens a socket to the session's object for each POST and GET, turns its frames
//! into server-sent events.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use serde_json::{Value, json};

use super::answers::{header, refuse};
use super::edge::session_key;
use super::exchange::Exchange;
use super::sse_writer::SseWriter;
use crate::config::{MAX_POST_BODY_BYTES, MAX_SSE_AGE_MS};
use crate::js::{EventLoop, call};
use crate::mcp::{self, Frame, is_initialize, is_message, is_request};
use crate::platform::{ClientSocket, FetchRequest, JsError, SocketEvent, Stub, join, module_scope, sleep};
use crate::rt;
use crate::session::NAME_PREFIX;
use crate::telemetry::log_event;

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

/// Hands a request to the bridge of its method.
pub(super) async fn handle(exchange: &Rc<Exchange>, session_id: Option<String>, props: Value) -> Result<(), JsError> {
    match exchange.head.method.as_str() {
        "POST" => post(exchange, session_id, props).await,
        "GET" => get(exchange, session_id, props).await,
        _ => delete(exchange, session_id).await,
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

fn parse(body: &[u8], has_session: bool) -> Result<Vec<Value>, Refusal> {
    if body.len() > MAX_POST_BODY_BYTES {
        return Err(Refusal(413, mcp::TRANSPORT_ERROR, "Request body too large. Maximum size is 4194304 bytes"));
    }
    let parsed: Value =
        serde_json::from_slice(body).map_err(|_| Refusal(400, mcp::PARSE_ERROR, "Parse error: Invalid JSON"))?;
    let messages = match parsed {
        Value::Array(messages) => messages,
        message => vec![message],
    };
    if !messages.iter().all(is_message) {
        return Err(Refusal(400, mcp::PARSE_ERROR, "Parse error: Invalid JSON-RPC message"));
    }
    let initializes = messages.iter().any(is_initialize);
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

async fn post(exchange: &Rc<Exchange>, session_id: Option<String>, props: Value) -> Result<(), JsError> {
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
    let session_id = session_id.unwrap_or_else(|| mint(exchange.peer()));
    let stub = set_name(&session_id, Some(props)).await?;
    let stored = stub.rpc(&GET_INITIALIZE, "getInitializeRequest", Value::Null).await?;
    if let Some(message) = messages.iter().find(|message| is_initialize(message)) {
        stub.rpc(&SET_INITIALIZE, "setInitializeRequest", json!({"message": message})).await?;
    } else if stored.is_null() {
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found");
        return Ok(());
    }
    let encoded = base64::engine::general_purpose::STANDARD.encode(Value::Array(messages.clone()).to_string());
    let headers = vec![header(mcp::METHOD_HEADER, "POST"), header(mcp::MESSAGE_HEADER, &encoded)];
    let Some(socket) = open_socket(exchange, &stub, headers).await? else { return Ok(()) };
    if !messages.iter().any(is_request) {
        socket.close(1000, "");
        exchange.answer(202, Vec::new(), String::new());
        return Ok(());
    }
    stream(exchange, &session_id, socket, Pump::Post);
    Ok(())
}

async fn get(exchange: &Rc<Exchange>, session_id: Option<String>, props: Value) -> Result<(), JsError> {
    if !exchange.header("accept").unwrap_or_default().contains("text/event-stream") {
        refuse(exchange, 406, mcp::TRANSPORT_ERROR, "Not Acceptable: Client must accept text/event-stream");
        return Ok(());
    }
    let Some(session_id) = session_id else {
        refuse(exchange, 400, mcp::TRANSPORT_ERROR, "Bad Request: Mcp-Session-Id header is required");
        return Ok(());
    };
    let stub = set_name(&session_id, Some(props)).await?;
    if stub.rpc(&GET_INITIALIZE, "getInitializeRequest", Value::Null).await?.is_null() {
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found");
        return Ok(());
    }
    let mut headers = vec![header(mcp::METHOD_HEADER, "GET")];
    headers.extend(exchange.header(mcp::LAST_EVENT_ID_HEADER).map(|cursor| header(mcp::LAST_EVENT_ID_HEADER, cursor)));
    let Some(socket) = open_socket(exchange, &stub, headers).await? else { return Ok(()) };
    let opened_ms = EventLoop::current().now_ms();
    stream(exchange, &session_id, socket, Pump::Get { opened_ms });
    Ok(())
}

async fn delete(exchange: &Rc<Exchange>, session_id: Option<String>) -> Result<(), JsError> {
    let Some(session_id) = session_id else {
        refuse(exchange, 400, mcp::TRANSPORT_ERROR, "Bad Request: Mcp-Session-Id header is required");
        return Ok(());
    };
    let stub = set_name(&session_id, None).await?;
    if stub.rpc(&GET_INITIALIZE, "getInitializeRequest", Value::Null).await?.is_null() {
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found");
        return Ok(());
    }
    stub.rpc(&SCHEDULE_DESTROY, "_cf_scheduleDestroy", Value::Null).await?;
    // The SDK answers 204 and the edge rewrites it.
    exchange.answer(200, Vec::new(), String::new());
    Ok(())
}

/// A session id that nobody can guess: 64 hex digits.
fn mint(peer: &Arc<str>) -> String {
    let minted = module_scope::<Minted>();
    minted.0.set(minted.0.get() + 1);
    let draw = || rt::decide(peer, "session-id", u64::MAX);
    let id = format!("{:016x}{:016x}{:016x}{:016x}", draw(), draw(), draw(), minted.0.get());
    platform_event!("session.minted", peer, session = &*id);
    id
}

/// `getServerByName`: one `setName` call, tried again as a whole on a fresh stub when the platform says so, then a
/// fresh stub for what follows (platform fact 167).
async fn set_name(session_id: &str, props: Option<Value>) -> Result<Stub, JsError> {
    let arguments = json!({"name": format!("{NAME_PREFIX}{session_id}"), "props": props});
    let mut tries = 1;
    loop {
        let stub = Stub::new(session_key(session_id));
        match stub.rpc(&SET_NAME, "setName", arguments.clone()).await {
            Ok(_) => return Ok(Stub::new(session_key(session_id))),
            Err(error) if error.retryable && !error.overloaded && tries < ROUTING_TRIES => {
                let most_ms = ROUTING_CAP_MS.min(ROUTING_BASE_MS << (tries - 1));
                let pause_ms = rt::decide(session_id, "routing.jitter", most_ms + 1);
                sleep(&RETRY_SLEEP, pause_ms).await?;
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Opens the internal socket; an answer without one is a 500.
async fn open_socket(
    exchange: &Rc<Exchange>,
    stub: &Stub,
    mut headers: Vec<(String, String)>,
) -> Result<Option<ClientSocket>, JsError> {
    headers.push(header("upgrade", "websocket"));
    let response = stub.fetch(&FETCH, FetchRequest::new("/mcp", headers)).await?;
    match response.socket {
        Some(number) => Ok(Some(stub.socket(number))),
        None => {
            refuse(exchange, 500, mcp::SESSION_ERROR, "Failed to establish a connection to the session");
            Ok(None)
        }
    }
}

/// Which kind of stream is pumped.
#[derive(Clone, Copy)]
enum Pump {
    Post,
    Get { opened_ms: u64 },
}

/// Answers 200 with an event stream and pumps the socket's frames into it.
fn stream(exchange: &Rc<Exchange>, session_id: &str, socket: ClientSocket, pump: Pump) {
    let headers = vec![
        header("content-type", "text/event-stream"),
        header("cache-control", "no-cache"),
        header("mcp-session-id", session_id),
        header("access-control-allow-origin", "*"),
        header("access-control-expose-headers", "mcp-session-id"),
    ];
    exchange.start(200, headers);
    let writer = SseWriter::new(Rc::clone(exchange), socket.clone());
    let session: Rc<str> = session_id.into();
    let (rotating, rotated) = (Rc::clone(&writer), socket.clone());
    let young = Rc::new(move || !rotate(&rotating, &rotated, &session, pump));
    writer.keep_alive(Rc::clone(&young) as Rc<dyn Fn() -> bool>);
    let frames = socket.clone();
    socket.listen(move |event| match event {
        SocketEvent::Message(text) => {
            if young() {
                frame_came(&writer, &frames, &text, pump);
            }
        }
        SocketEvent::Close(..) => writer.end(),
    });
}

/// A listener older than the limit is ended gracefully; a POST stream never is. True when it was ended.
fn rotate(writer: &Rc<SseWriter>, socket: &ClientSocket, session_id: &str, pump: Pump) -> bool {
    let Pump::Get { opened_ms } = pump else { return false };
    let age_ms = EventLoop::current().now_ms() - opened_ms;
    if age_ms < MAX_SSE_AGE_MS {
        return false;
    }
    let pending = writer.pending_bytes();
    log_event!(
        info,
        "sse_max_age_close",
        session_id,
        sessionId = session_id,
        variant = "streamable-get",
        ageMs = age_ms,
        pendingBytes = pending,
    );
    writer.append(": max-age rotation, reconnect\n\n".to_owned());
    let (writer, socket) = (Rc::clone(writer), socket.clone());
    drop(call(async move {
        writer.finish().await;
        socket.close(1000, "sse_max_age_rotation");
    }));
    true
}

/// One frame from the session's object: text for the client, and with `close` the end of the stream.
fn frame_came(writer: &Rc<SseWriter>, socket: &ClientSocket, text: &str, pump: Pump) {
    let Some(Frame::AgentEvent { event, event_id, stream_id, ack_stream_ids, close }) = Frame::parse(text) else {
        return;
    };
    writer.append(event);
    if !close {
        return;
    }
    let (writer, socket) = (Rc::clone(writer), socket.clone());
    drop(call(async move {
        if !writer.finish().await {
            return;
        }
        // A POST bridge never acknowledges a delivery.
        if matches!(pump, Pump::Get { .. }) {
            let streams = ack_stream_ids.unwrap_or_else(|| stream_id.into_iter().collect());
            for stream_id in streams {
                let ack = Frame::DeliveryAck { event_id: event_id.clone(), stream_id };
                // The request's own socket: it cannot be another request's.
                drop(socket.send(ack.to_text()));
            }
        }
        socket.close(1000, "SSE response delivered");
    }));
}
