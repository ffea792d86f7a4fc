//! GET streams: a listener, or the resumption of a stream after a cursor; and what was never delivered.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::{ConnectionState, MESSAGE, STANDALONE_STREAM, Transport, UNDELIVERED_PREFIX};
use crate::agents::STREAM_REQUESTS_PREFIX;
use crate::agents::event_store::{GET_STREAM_OF, stream_of};
use crate::config::{LIST_LIMIT, MAX_REPLAY_BYTES};
use crate::defect::defect;
use crate::js::{EventLoop, js};
use crate::mcp::{self, Frame};
use crate::platform::{JsError, ListRange, Socket, micro};

crate::operations! {
    GET_ROW = "get · storage.get stream-reqs", Storage, 4; "storage; for the cursor of a POST's stream, before superseding"
    GET_LIST_UNDELIVERED = "get · storage.list undelivered", Storage, 4; "storage; the live connections are read before it"
}

/// Close code and reason of a connection whose stream another one has taken over.
const SUPERSEDED: (u16, &str) = (1000, "Superseded by resumed stream");
/// SSE comment of the frame that ends a GET after a replay.
const REPLAY_COMPLETE: &str = ": replay-complete\n\n";

impl Transport {
    /// Handles a GET. The framework does not wait for it; a failure leaves the listener on keepalives.
    ///
    /// # Errors
    /// A storage failure other than that of a replay after a cursor.
    pub async fn handle_get(self: Rc<Self>, socket: Socket, cursor: Option<String>) -> Result<(), JsError> {
        if let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) {
            micro(&GET_STREAM_OF).await?;
            if let Some(stream) = stream_of(&cursor) {
                return self.resume(&socket, stream, &cursor).await;
            }
        }
        // Beside other listeners: taking over would make the listeners of one client evict each other for ever.
        // Fact: 199. A GET is one socket of its object, also for a while after its client left. [RA:MC3, RA:MC11]
        standalone(STANDALONE_STREAM).put_on(&socket);
        state_event!("listener.attached", self.ctx.label(), socket = socket.number());
        if defect!(self.config, ListenerSupersedes) {
            self.supersede(&socket, STANDALONE_STREAM)?;
        }
        let replayed = js(self.replay_undelivered(&socket)).await?.into_acknowledged();
        // Fact: 206. With the patch a GET after the handshake replays its answer and ends. [RP:MC3, RP:MC4]
        if replayed.is_empty() { Ok(()) } else { send_replay_complete(&socket, replayed) }
    }

    /// Goes on with one stream, and with that one only: what comes after the cursor, and what is still to come.
    async fn resume(&self, socket: &Socket, stream: &str, cursor: &str) -> Result<(), JsError> {
        let is_standalone = stream == STANDALONE_STREAM;
        let state = if is_standalone {
            standalone(stream)
        } else {
            let key = format!("{STREAM_REQUESTS_PREFIX}{stream}");
            let row = self.ctx.storage().get(&GET_ROW, key).await?;
            let ids = row.as_deref().and_then(Value::as_array).filter(|ids| !ids.is_empty()).cloned();
            self.supersede(socket, stream)?;
            ConnectionState { stream_id: Some(stream.to_owned()), request_ids: ids, ..ConnectionState::default() }
        };
        state.put_on(socket);
        let (label, number) = (self.ctx.label(), socket.number());
        state_event!("stream.resumed", label, socket = number, stream = stream, cursor = cursor);
        let has_response = js(self.replay_after(socket, cursor)).await;
        if defect!(self.config, CursorReplaysOthers) {
            js(self.replay_undelivered(socket)).await?;
        }
        if has_response && !is_standalone {
            return send_replay_complete(socket, vec![stream.to_owned()]);
        }
        Ok(())
    }

    /// A POST's stream has one owner.
    fn supersede(&self, socket: &Socket, stream: &str) -> Result<(), JsError> {
        for other in self.ctx.sockets() {
            let is_of_stream = ConnectionState::of(&other).stream_id.as_deref() == Some(stream);
            if is_of_stream && other.number() != socket.number() {
                other.close(SUPERSEDED.0, SUPERSEDED.1)?;
            }
        }
        Ok(())
    }

    /// Replays a stream after a cursor: whether a response was among it. A failure means that nothing was.
    async fn replay_after(&self, socket: &Socket, cursor: &str) -> bool {
        let mut has_response = false;
        let replay = self.events.replay_after(cursor, |id, message| {
            self.replay_event(socket, id, message);
            has_response |= mcp::is_response(message);
        });
        drop(js(replay).await);
        has_response
    }

    /// Replays the undelivered streams that no other live connection replays, as many as the bridge can take.
    ///
    /// Found here: the streams of a replay leave in one turn, since nothing but storage is awaited (platform fact 28), and
    /// an object is not told how much of that its bridge still has. More than a bridge holds for its client was given up
    /// each time, and never acknowledged.
    async fn replay_undelivered(&self, socket: &Socket) -> Result<Replayed, JsError> {
        let live: BTreeSet<u64> = self.ctx.sockets().iter().map(Socket::number).collect();
        let range = ListRange::prefix(UNDELIVERED_PREFIX).limit(LIST_LIMIT);
        let markers = self.ctx.storage().list(&GET_LIST_UNDELIVERED, range).await?;
        let mut replayed = Replayed::default();
        for (key, _) in markers.iter() {
            let stream = &key[UNDELIVERED_PREFIX.len()..];
            let other = self.replaying.borrow().get(stream).copied();
            let is_guarded = !defect!(self.config, ReplayUnguarded);
            if is_guarded && other.is_some_and(|other| other != socket.number() && live.contains(&other)) {
                continue;
            }
            if replayed.bytes >= MAX_REPLAY_BYTES && !defect!(self.config, ReplayUnbounded) {
                state_event!("replay.bounded", self.ctx.label(), socket = socket.number(), bytes = replayed.bytes);
                replayed.is_bounded = true;
                break;
            }
            self.replaying.borrow_mut().insert(stream.to_owned(), socket.number());
            let mut has_response = false;
            let replay = self.events.replay_all(stream, |id, message| {
                replayed.bytes += self.replay_event(socket, id, message);
                has_response |= mcp::is_response(message);
            });
            js(replay).await?;
            let list = if has_response { &mut replayed.answered } else { &mut replayed.unanswered };
            list.push(stream.to_owned());
        }
        Ok(replayed)
    }

    /// Writes a stored event, a throw ignored: its bytes.
    fn replay_event(&self, socket: &Socket, id: &str, message: &Value) -> usize {
        self.write_event(socket, (MESSAGE, "replay"), message, Some(id), false).unwrap_or(0)
    }
}

/// The undelivered streams that a GET was sent.
#[derive(Default)]
struct Replayed {
    /// Those with a response among their events.
    answered: Vec<String>,
    /// Those without: their response was too large to be stored, or could not be.
    unanswered: Vec<String>,
    bytes: usize,
    /// Whether some are left for the next GET.
    is_bounded: bool,
}

impl Replayed {
    /// What is acknowledged once it is delivered, which ends the GET. Where some are left, what is never acknowledged must
    /// not take their place again.
    fn into_acknowledged(self) -> Vec<String> {
        let mut streams = self.answered;
        if self.is_bounded {
            streams.extend(self.unanswered);
        }
        streams
    }
}

fn standalone(stream: &str) -> ConnectionState {
    ConnectionState {
        stream_id: Some(stream.to_owned()),
        request_ids: None,
        standalone: Some(true),
        attached_at_ms: Some(EventLoop::current().now_ms()),
    }
}

/// Ends a GET: the bridge writes out, ends the client's body and, with the client still there, acknowledges the
/// streams. Nothing is cleared before.
fn send_replay_complete(socket: &Socket, streams: Vec<String>) -> Result<(), JsError> {
    let frame = Frame::AgentEvent {
        event: REPLAY_COMPLETE.to_owned(),
        event_id: None,
        stream_id: None,
        ack_stream_ids: Some(streams),
        close: true,
    };
    socket.send(frame.to_text())
}
