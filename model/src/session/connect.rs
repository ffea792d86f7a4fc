//! Sockets from the bridge: accepted in a started object, kept alive while they are handed over, acknowledged.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::{SessionObject, alarm};
use crate::agents::mcp_agent::{self, Opening};
use crate::agents::schedule::keep_alive;
use crate::agents::transport::{Related, Transport, Unhandled, connection_id};
use crate::agents::{STREAM_REQUESTS_PREFIX, party_server};
use crate::defect::defect;
use crate::js::{Promise, call, hops, js, rooted};
use crate::mcp::{self, Frame};
use crate::platform::{FetchRequest, FetchResponse, JsError, Socket, join, micro};
use crate::telemetry::log_event;

crate::operations! {
    CONNECT_MARKER = "connect · storage.get destroy-pending", Storage, 4; "storage; only without a runtime, not in the described version: see the defect `connect-without-runtime`"
    CONNECT_START = "connect · start", Io, 0; "the start, outside any section; only without a runtime, not in the described version"
    CONNECT_CHECKS = "connect · sdk-checks", Micro, 1, assumed; "the framework's wrapper, nothing found"
    CONNECT_ROW = "connect · storage.put stream-reqs", Storage, 4; "storage"
    CONNECT_SDK = "connect · sdk", Micro, 2; "starts the transport's handler and does not wait for it"
}

/// `fetch` with an upgrade: starts the object if it is cold, accepts the socket, runs all of onConnect.
///
/// A failure comes back as an accepted socket that closes 1011 (platform fact 170).
pub(super) async fn fetch(session: Rc<SessionObject>, request: FetchRequest) -> Result<FetchResponse, JsError> {
    let started = rooted("connect", js(party_server::ensure_initialized(Rc::clone(&session)))).await;
    let started = match started {
        Ok(()) => rooted("connect", ensure_runtime(&session)).await,
        failed => failed,
    };
    party_server::accept(session, request, started).await
}

/// Found here: between the owner check of a request and its connect the cap may take the runtime away, and nothing of
/// the request is there yet for the eviction to see. The status is still *started*, so nobody else builds it again, and
/// the client would get a 200 that ends without an answer. A condemned session is left to its end.
async fn ensure_runtime(session: &Rc<SessionObject>) -> Result<(), JsError> {
    if session.initialized.get() || defect!(session.config, ConnectWithoutRuntime) {
        return Ok(());
    }
    if alarm::is_condemned(session, &CONNECT_MARKER).await? {
        return Ok(());
    }
    let start = call(party_server::wrapped_on_start(Rc::clone(session), None));
    join(&CONNECT_START, &start).await.and_then(|started| started)
}

/// `onConnect`.
pub(super) async fn on_connect(
    session: Rc<SessionObject>,
    socket: Socket,
    request: FetchRequest,
) -> Result<(), JsError> {
    micro(&CONNECT_CHECKS).await?;
    let is_post = request.header(mcp::METHOD_HEADER) == Some("POST");
    let payload = if is_post { parse_messages(&session, request.header(mcp::MESSAGE_HEADER)) } else { None };
    let ids = payload.as_deref().map(request_ids).unwrap_or_default();
    let opening = if is_post {
        // The framework parses the header again, and throws where the product has only warned.
        payload.map(Opening::Post).ok_or_else(mcp_agent::unreadable)
    } else {
        mcp_agent::opening(&request)
    };
    if ids.is_empty() {
        return sdk_connect(&session, socket, opening).await;
    }
    // Fact: 204. The package holds no reference during a call; the host wraps each connect in one. [S:agents
    // mcp/index.js]
    let keep = js(keep_alive(Rc::clone(&session))).await?;
    let handed_over = dispatch(&session, socket, opening, ids).await;
    // Given back as soon as the dispatch returns, not when the answer is there: the row is what marks running work.
    keep.give_back();
    handed_over
}

async fn dispatch(
    session: &Rc<SessionObject>,
    socket: Socket,
    opening: Result<Opening, JsError>,
    ids: Vec<Value>,
) -> Result<(), JsError> {
    let stream = connection_id(&socket);
    let key = format!("{STREAM_REQUESTS_PREFIX}{stream}");
    session.ctx().storage().put(&CONNECT_ROW, key, Value::Array(ids)).await?;
    sdk_connect(session, socket, opening).await?;
    let transport = session.agent.transport.borrow().clone();
    if let Some(transport) = transport.filter(|_| defect!(session.config, ConnectWaitsForAnswer)) {
        transport.all_answered(stream).await;
    }
    Ok(())
}

/// The framework's onConnect; without a usable transport the socket is closed 1011.
async fn sdk_connect(
    session: &Rc<SessionObject>,
    socket: Socket,
    opening: Result<Opening, JsError>,
) -> Result<(), JsError> {
    let transport = session.agent.transport.borrow().clone();
    match transport {
        Some(transport) => {
            let handled = mcp_agent::connect(&transport, socket.clone(), opening?);
            if !defect!(session.config, FailedHandlerUnanswered) {
                end_if_unhandled(session, transport, socket, handled);
            }
        }
        None if defect!(session.config, SilentConnectWithoutTransport) => {}
        None => drop(socket.close(1011, mcp_agent::NO_TRANSPORT)),
    }
    micro(&CONNECT_SDK).await
}

/// Found here: nobody waits for the transport's handler, so what fails in it leaves the client waiting until it gives
/// up. Its requests are answered with an error instead, and a connection without any is closed.
fn end_if_unhandled(
    session: &Rc<SessionObject>,
    transport: Rc<Transport>,
    socket: Socket,
    handled: Promise<Result<(), Unhandled>>,
) {
    let session = Rc::clone(session);
    drop(call(async move {
        let Err(Unhandled { error, request_ids }) = handled.wait_hops(0).await else { return };
        party_server::print_error(&session.agent, "onConnect", &error);
        let related = Related { request: None, connection: Some(socket.number()) };
        for id in &request_ids {
            let refusal = mcp::error_response(id, mcp::INTERNAL_ERROR, "Internal error");
            // The frame is written whatever becomes of storage; more cannot be done for the client.
            drop(Rc::clone(&transport).send(refusal, related.clone()).await);
        }
        if request_ids.is_empty() {
            drop(socket.close(1011, party_server::SETUP_FAILED));
        }
    }));
}

/// The JSON-RPC messages of the internal header; what cannot be read is warned of.
fn parse_messages(session: &SessionObject, header: Option<&str>) -> Option<Vec<Value>> {
    match mcp_agent::messages_of(header) {
        Ok(messages) => Some(messages),
        Err(reason) => {
            let reason = reason.word();
            log_event!(warn, "mcp_active_post_response_wait_parse_failed", session.label(), reason = reason);
            None
        }
    }
}

/// Ids of the requests among the messages: notifications and responses have none.
fn request_ids(messages: &[Value]) -> Vec<Value> {
    messages.iter().filter(|message| mcp::is_request(message)).map(|message| message["id"].clone()).collect()
}

/// A frame from the bridge: a delivery acknowledgement. It passes the lazy start first.
pub(super) async fn message(session: Rc<SessionObject>, socket: Socket, text: Arc<str>) -> Result<(), JsError> {
    if let Err(error) = js(party_server::ensure_initialized(Rc::clone(&session))).await {
        party_server::print_error(&session.agent, "webSocketMessage", &error);
        return Ok(());
    }
    let Some(Frame::DeliveryAck { stream_id, .. }) = Frame::parse(&text) else { return Ok(()) };
    state_event!("delivery.acknowledged", session.label(), socket = socket.number(), stream = &*stream_id);
    let transport = session.agent.transport.borrow().clone();
    if let Some(transport) = transport {
        // A failing acknowledgement is swallowed: the stream stays partly acknowledged.
        drop(rooted("ack", transport.acknowledge(&stream_id)).await);
    }
    hops(1).await;
    Ok(())
}

/// The bridge closed a socket: that too passes the lazy start, and a cold object builds a runtime for it.
pub(super) async fn closed(session: Rc<SessionObject>) -> Result<(), JsError> {
    if let Err(error) = js(party_server::ensure_initialized(Rc::clone(&session))).await {
        party_server::print_error(&session.agent, "webSocketClose", &error);
    }
    Ok(())
}
