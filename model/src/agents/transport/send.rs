//! Sending: which stream a message belongs to, storing it, writing it live, and closing an answered stream's books.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::{
    ConnectionState, MESSAGE, Related, STANDALONE_STREAM, Transport, UNDELIVERED_PREFIX, connection_id, rpc_of,
};
use crate::agents::STREAM_REQUESTS_PREFIX;
use crate::config::{LIST_LIMIT, MAX_STORABLE_EVENT_BYTES};
use crate::defect::defect;
use crate::js::{call, js, try_all};
use crate::mcp;
use crate::platform::{JsError, ListRange, Socket};
use crate::telemetry::log_event;

crate::operations! {
    SEND_LIST_ROWS = "send · storage.list stream-reqs", Storage, 4; "storage; only if no live connection has the id"
    SEND_PUT_UNDELIVERED = "send · storage.put undelivered", Storage, 4; "storage; the frame is held by the output gate"
    SEND_DELETE_ROW = "send · storage.delete stream-reqs", Storage, 4; "storage"
}

/// Type of an event that goes out as it is made.
const LIVE: (&str, &str) = (MESSAGE, "live");

/// Where a message of a request goes.
struct Stream {
    id: String,
    request_ids: Vec<Value>,
    live: Option<Socket>,
}

impl Transport {
    /// Sends a message of the server: a response or a message of a request on that request's stream, any other on the
    /// newest standalone listener.
    ///
    /// # Errors
    /// No stream for the request; a storage failure after the frame was written (the request row stays then), or,
    /// standalone, before it.
    pub async fn send(self: Rc<Self>, message: Value, related: Related) -> Result<(), JsError> {
        let is_response = mcp::is_response(&message);
        let request_id = if is_response { message.get("id").cloned() } else { related.request };
        match request_id {
            Some(request_id) => self.send_for_request(message, request_id, related.connection).await,
            None if is_response => Err(JsError::new(
                "Cannot send a response on a standalone SSE stream unless resuming a previous client request",
            )),
            None => self.send_standalone(message).await,
        }
    }

    async fn send_standalone(&self, message: Value) -> Result<(), JsError> {
        let message = Arc::new(message);
        let event_id = js(self.events.store(STANDALONE_STREAM, Arc::clone(&message))).await?;
        let mut newest: Option<(u64, Socket)> = None;
        for socket in self.ctx.sockets() {
            let state = ConnectionState::of(&socket);
            let attached_at_ms = state.attached_at_ms.unwrap_or(0);
            let is_newer = newest.as_ref().is_none_or(|(newest_ms, _)| attached_at_ms > *newest_ms);
            if state.standalone == Some(true) && is_newer {
                newest = Some((attached_at_ms, socket));
            }
        }
        match newest {
            Some((_, socket)) => self.write_event(&socket, LIVE, &message, event_id.as_deref(), false).map(drop),
            None => Ok(()),
        }
    }

    async fn send_for_request(
        self: Rc<Self>,
        message: Value,
        request_id: Value,
        origin: Option<u64>,
    ) -> Result<(), JsError> {
        let mut waiting: Vec<(Socket, ConnectionState)> = Vec::new();
        for socket in self.ctx.sockets() {
            let state = ConnectionState::of(&socket);
            if state.request_ids.as_ref().is_some_and(|ids| ids.contains(&request_id)) {
                waiting.push((socket, state));
            }
        }
        let originating = waiting.iter().position(|(socket, _)| Some(socket.number()) == origin);
        let stream = match (originating, waiting.len()) {
            (Some(index), _) => live_stream(waiting.swap_remove(index)),
            (None, 1) => live_stream(waiting.swap_remove(0)),
            (None, 0) => self.persisted_stream(&request_id).await?,
            (None, _) => return self.refuse_ambiguous(waiting, request_id).await,
        };
        js(self.send_on_stream(stream, message, request_id)).await
    }

    /// The stream of a request whose connection is gone, from the rows of unanswered requests.
    async fn persisted_stream(&self, request_id: &Value) -> Result<Stream, JsError> {
        let range = ListRange::prefix(STREAM_REQUESTS_PREFIX).limit(LIST_LIMIT);
        let rows = self.ctx.storage().list(&SEND_LIST_ROWS, range).await?;
        for (key, row) in rows.iter() {
            let Some(ids) = row.as_array().filter(|ids| ids.contains(request_id)) else { continue };
            let id = key[STREAM_REQUESTS_PREFIX.len()..].to_owned();
            return Ok(Stream { id, request_ids: ids.clone(), live: None });
        }
        let shown = request_id.as_str().map_or_else(|| request_id.to_string(), str::to_owned);
        Err(JsError::new(format!("No active stream found for request ID: {shown}")))
    }

    /// Several connections wait for the id and none of them is the origin: each gets an error instead of a guess.
    async fn refuse_ambiguous(
        self: Rc<Self>,
        waiting: Vec<(Socket, ConnectionState)>,
        request_id: Value,
    ) -> Result<(), JsError> {
        let error = mcp::error_response(&request_id, mcp::INTERNAL_ERROR, "Internal error");
        let sent = waiting.into_iter().map(|candidate| {
            let transport = Rc::clone(&self);
            let (error, request_id) = (error.clone(), request_id.clone());
            call(async move { transport.send_on_stream(live_stream(candidate), error, request_id).await })
        });
        try_all(sent.collect()).wait().await.map(drop)
    }

    /// Stores first; a failure costs only the id. Then the live frame, and after it, if that was the last answer of the
    /// stream, the marker and the deletion of the row.
    async fn send_on_stream(&self, stream: Stream, message: Value, request_id: Value) -> Result<(), JsError> {
        if mcp::is_response(&message) {
            let (label, socket) = (self.ctx.label(), stream.live.as_ref().map(Socket::number));
            state_event!("response.due", label, socket = socket, stream = &*stream.id, rpc = &*rpc_of(&request_id));
        }
        if defect!(self.config, OversizePutFatal) && mcp::text_length(&message) > MAX_STORABLE_EVENT_BYTES {
            return Err(JsError::new("Values cannot be larger than 131072 bytes."));
        }
        let message = Arc::new(message);
        let event_id = match js(self.events.store(&stream.id, Arc::clone(&message))).await {
            Ok(event_id) => event_id,
            Err(error) => {
                let error = error.to_string();
                let label = self.ctx.label();
                log_event!(warn, "mcp_event_store_put_failed", label, streamId = &*stream.id, error = &*error);
                None
            }
        };
        let is_last = mcp::is_response(&message) && self.answered_all(&stream, &request_id);
        if let Some(socket) = &stream.live {
            // A throw is ignored: a dead socket must not keep the books open.
            drop(self.write_event(socket, LIVE, &message, event_id.as_deref(), is_last));
        }
        if defect!(self.config, AnswerOnEveryListener) {
            self.send_to_listeners(&message, event_id.as_deref());
        }
        if !is_last {
            return Ok(());
        }
        if let Some(due) = self.due.borrow_mut().remove(&stream.id) {
            due.settle(());
        }
        let (storage, id) = (self.ctx.storage(), &stream.id);
        // Fact: 205. The host's patch keeps answers until a GET acknowledges them, primes calls, replays, trims, and
        // rotates streams. [RP:MC1, RP:MC2, RP:MC3, RP:MC4, RP:MC5, RP:MC6, RP:MC7, RP:MC8, RP:MC9, RP:MC10]
        storage.put(&SEND_PUT_UNDELIVERED, format!("{UNDELIVERED_PREFIX}{id}"), Value::Bool(true)).await?;
        storage.delete(&SEND_DELETE_ROW, format!("{STREAM_REQUESTS_PREFIX}{id}")).await.map(drop)
    }

    /// The same frame on every standalone listener.
    fn send_to_listeners(&self, message: &Value, event_id: Option<&str>) {
        let is_listener = |socket: &Socket| ConnectionState::of(socket).standalone == Some(true);
        for socket in self.ctx.sockets().into_iter().filter(is_listener) {
            drop(self.write_event(&socket, LIVE, message, event_id, false));
        }
    }

    /// Counts an answer; true when every request of the stream has one now.
    fn answered_all(&self, stream: &Stream, request_id: &Value) -> bool {
        let mut answered = self.answered.borrow_mut();
        let ids = answered.entry(stream.id.clone()).or_default();
        ids.insert(request_id.to_string());
        let is_complete = stream.request_ids.iter().all(|id| ids.contains(&id.to_string()));
        if is_complete {
            answered.remove(&stream.id);
        }
        is_complete
    }
}

fn live_stream((socket, state): (Socket, ConnectionState)) -> Stream {
    let id = state.stream_id.unwrap_or_else(|| connection_id(&socket));
    Stream { id, request_ids: state.request_ids.unwrap_or_default(), live: Some(socket) }
}
