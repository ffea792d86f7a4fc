//! The transport of an MCP server over the sockets of a session's bridges.
//!
//! Every POST and every GET of a client is one socket to the object. What a socket serves stands in its attachment, as
//! `{"streamId", "requestIds"?, "_standaloneSse"?, "_attachedAt"?}`, and survives with it. Frames in both directions
//! are the texts of [`Frame`]: the object sends SSE text, the bridge acknowledges delivery.
//!
//! A POST's stream has the id of its connection; all standalone listeners share one stream. An answer is stored before
//! it is written; once every request of a stream is answered, the stream is marked undelivered and its request row is
//! deleted. Its events stay until the bridge of a GET acknowledges them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::STREAM_REQUESTS_PREFIX;
use super::event_store::{EventStore, stream_of};
use crate::config::HostConfig;
use crate::defect::defect;
use crate::js::{Promise, js};
use crate::mcp::{self, Frame};
use crate::platform::{JsError, ObjectContext, Socket, micro};

pub mod get;
pub mod send;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod test_object;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

crate::operations! {
    POST_PUT_ROW = "post · storage.put stream-reqs", Storage, 4; "storage; the same row that the connect wrote"
    POST_INTERCEPTOR = "post · interceptor", Micro, 1; "a settled value, before each message"
    ACK_DELETE_ROW = "ack · storage.delete stream-reqs", Storage, 4; "storage"
    ACK_DELETE_UNDELIVERED = "ack · storage.delete undelivered", Storage, 4; "storage; the replay guard is cleared after it"
}

/// Storage key prefix of the markers of answered streams whose delivery nobody has acknowledged.
pub const UNDELIVERED_PREFIX: &str = "__mcp_undelivered_stream__:";
/// Stream id shared by all standalone listeners.
pub const STANDALONE_STREAM: &str = "_GET_stream";
/// Close code and reason of every connection of a transport that closes.
const CLOSE: (u16, &str) = (1000, "Session closed");
/// SSE event type of the frame that gives a client its first cursor; clients do not dispatch it.
const PRIMING: &str = "mcp-priming";
const MESSAGE: &str = "message";

/// What comes with a message: whose session, over which connection, and its request id (null for a notification).
#[derive(Clone, Debug)]
pub struct RequestExtra {
    /// The session id.
    pub session_id: Arc<str>,
    /// Number of the socket it came on; none for a message that was fed in.
    pub connection: Option<u64>,
    /// The JSON-RPC id.
    pub request_id: Value,
}

/// A POST or GET whose handling broke off.
#[derive(Clone, Debug)]
pub struct Unhandled {
    /// What it failed with.
    pub error: JsError,
    /// Ids of the requests that were not given to their handlers; none of a GET.
    pub request_ids: Vec<Value>,
}

impl From<JsError> for Unhandled {
    fn from(error: JsError) -> Self {
        Unhandled { error, request_ids: Vec::new() }
    }
}

/// What a message of the server belongs to.
#[derive(Clone, Debug, Default)]
pub struct Related {
    /// The request that a message which is no response belongs to.
    pub request: Option<Value>,
    /// The connection whose handler produces it: it wins when several wait for the same request id.
    pub connection: Option<u64>,
}

/// What takes the messages that come in.
pub type Handler = Rc<dyn Fn(Value, RequestExtra)>;

/// What one connection serves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConnectionState {
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_ids: Option<Vec<Value>>,
    #[serde(rename = "_standaloneSse", skip_serializing_if = "Option::is_none")]
    standalone: Option<bool>,
    #[serde(rename = "_attachedAt", skip_serializing_if = "Option::is_none")]
    attached_at_ms: Option<u64>,
}

impl ConnectionState {
    fn of(socket: &Socket) -> Self {
        serde_json::from_value(socket.attachment()).unwrap_or_default()
    }

    fn put_on(&self, socket: &Socket) {
        socket.set_attachment(serde_json::to_value(self).expect("a connection's state is plain JSON"));
    }
}

/// Connection id of a socket, which is also the stream id of a POST.
pub fn connection_id(socket: &Socket) -> String {
    format!("c{}", socket.number())
}

/// The transport.
pub struct Transport {
    ctx: ObjectContext,
    config: Rc<HostConfig>,
    events: EventStore,
    handler: RefCell<Option<Handler>>,
    /// Answered request ids, as JSON texts, of streams that have further ones.
    answered: RefCell<BTreeMap<String, BTreeSet<String>>>,
    /// Who waits for all answers of a stream.
    due: RefCell<BTreeMap<String, Promise<()>>>,
    /// The connection that replays an undelivered stream.
    replaying: RefCell<BTreeMap<String, u64>>,
}

impl Transport {
    /// A transport that nobody is attached to yet, with an event store of its own.
    pub fn new(ctx: ObjectContext, config: Rc<HostConfig>) -> Rc<Self> {
        Rc::new(Transport {
            events: EventStore::new(ctx.clone(), Rc::clone(&config)),
            ctx,
            config,
            due: RefCell::default(),
            handler: RefCell::new(None),
            answered: RefCell::default(),
            replaying: RefCell::default(),
        })
    }

    /// Sets what takes the messages. It stays after [`Transport::close`].
    pub fn set_handler(&self, handler: Handler) {
        *self.handler.borrow_mut() = Some(handler);
    }

    /// Feeds in a message that no connection sent: the stored initialize request of a restored session.
    pub fn feed(&self, message: Value) {
        self.dispatch(message, None);
    }

    /// Handles the messages of a POST. The framework does not wait for it.
    ///
    /// # Errors
    /// When its request row cannot be written or its interceptor fails, with the requests that nobody will answer.
    pub async fn handle_post(self: Rc<Self>, socket: Socket, messages: Vec<Value>) -> Result<(), Unhandled> {
        let ids = |messages: &[Value]| -> Vec<Value> {
            let requests = messages.iter().filter(|message| mcp::is_request(message));
            requests.map(|request| request["id"].clone()).collect()
        };
        let request_ids = ids(&messages);
        if !request_ids.is_empty() {
            let is_call = |message: &Value| mcp::is_request(message) && message["method"] == "tools/call";
            let is_primed = messages.iter().any(is_call);
            let accepted = self.accept(&socket, request_ids.clone(), is_primed).await;
            accepted.map_err(|error| Unhandled { error, request_ids })?;
        }
        let mut left = messages.into_iter();
        while !left.as_slice().is_empty() {
            let intercepted = micro(&POST_INTERCEPTOR).await;
            intercepted.map_err(|error| Unhandled { error, request_ids: ids(left.as_slice()) })?;
            left.next().into_iter().for_each(|message| self.dispatch(message, Some(socket.number())));
        }
        Ok(())
    }

    /// Writes the row of a POST's requests, and primes its stream if a call is among them.
    async fn accept(&self, socket: &Socket, request_ids: Vec<Value>, is_primed: bool) -> Result<(), JsError> {
        let stream = connection_id(socket);
        let state = ConnectionState {
            stream_id: Some(stream.clone()),
            request_ids: Some(request_ids.clone()),
            ..ConnectionState::default()
        };
        state.put_on(socket);
        let (label, first) = (self.ctx.label(), rpc_of(&request_ids[0]));
        state_event!("post.accepted", label, socket = socket.number(), stream = &*stream, rpc = &*first);
        // Fact: 196. A running call has a row of its request ids and one socket, and the package holds no reference
        // for it. [RA:MC2]
        let key = format!("{STREAM_REQUESTS_PREFIX}{stream}");
        self.ctx.storage().put(&POST_PUT_ROW, key, Value::Array(request_ids)).await?;
        // Fact: 207. With the patch an abort in a call ends its POST cleanly after the priming event. [RP:MC6]
        if is_primed && !defect!(self.config, NoPrimingEvent) {
            js(self.prime(socket, &stream)).await;
        }
        Ok(())
    }

    /// Deletes everything kept of a delivered stream.
    ///
    /// # Errors
    /// A storage failure; the stream is partly acknowledged then.
    pub async fn acknowledge(&self, stream: &str) -> Result<(), JsError> {
        let storage = self.ctx.storage();
        storage.delete(&ACK_DELETE_ROW, format!("{STREAM_REQUESTS_PREFIX}{stream}")).await?;
        storage.delete(&ACK_DELETE_UNDELIVERED, format!("{UNDELIVERED_PREFIX}{stream}")).await?;
        self.replaying.borrow_mut().remove(stream);
        js(self.events.clear(stream)).await
    }

    /// Closes every connection, synchronously.
    ///
    /// # Errors
    /// From another context, at the first connection.
    pub fn close(&self) -> Result<(), JsError> {
        self.ctx.sockets().iter().try_for_each(|socket| socket.close(CLOSE.0, CLOSE.1))
    }

    fn dispatch(&self, message: Value, connection: Option<u64>) {
        let handler = self.handler.borrow().clone();
        if let Some(handler) = handler {
            let request_id = message["id"].clone();
            let session_id = Arc::clone(self.ctx.label());
            handler(message, RequestExtra { session_id, connection, request_id });
        }
    }

    /// The first frame of a call's stream: without an id seen, a client never asks for a lost answer. A failure means
    /// no such frame.
    async fn prime(&self, socket: &Socket, stream: &str) {
        let message = Arc::new(json!({
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "debug", "data": "mcp-stream-priming"},
        }));
        if let Ok(Some(id)) = js(self.events.store(stream, Arc::clone(&message))).await {
            drop(self.write_event(socket, (PRIMING, "priming"), &message, Some(&id), false));
        }
    }

    /// All answers of a POST's stream have been sent.
    pub async fn all_answered(&self, stream: String) {
        let due = self.due.borrow_mut().entry(stream).or_default().clone();
        due.wait().await;
    }

    /// Writes one SSE event to a bridge, synchronously; `kind` is its type, and how it comes to be sent. Gives its bytes.
    fn write_event(
        &self,
        socket: &Socket,
        (kind, how): (&str, &str),
        message: &Value,
        event_id: Option<&str>,
        close: bool,
    ) -> Result<usize, JsError> {
        let rpc = mcp::is_response(message).then(|| rpc_of(&message["id"]));
        let (label, number) = (self.ctx.label(), socket.number());
        state_event!("event.sent", label, socket = number, id = event_id, rpc = rpc.as_deref(), how = how);
        send_event(socket, kind, message, event_id, close)
    }
}

/// A JSON-RPC id as traces show it.
fn rpc_of(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn send_event(
    socket: &Socket,
    kind: &str,
    message: &Value,
    event_id: Option<&str>,
    close: bool,
) -> Result<usize, JsError> {
    let (id_name, id, id_end) = event_id.map_or(("", "", ""), |id| ("id: ", id, "\n"));
    let event = ["event: ", kind, "\n", id_name, id, id_end, "data: ", &mcp::text_of(message), "\n\n"].concat();
    let bytes = event.len();
    let frame = Frame::AgentEvent {
        event,
        event_id: event_id.map(str::to_owned),
        stream_id: event_id.and_then(stream_of).map(str::to_owned),
        ack_stream_ids: None,
        close,
    };
    socket.send(frame.to_text())?;
    Ok(bytes)
}
