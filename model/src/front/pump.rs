//! A streamed answer: the frames of the session's object become server-sent events of the client's body.

use std::rc::Rc;
use std::sync::Arc;

use super::answers::header;
use super::bridge::cors;
use super::exchange::Exchange;
use super::sse_writer::SseWriter;
use crate::config::{HostConfig, MAX_SSE_AGE_MS};
use crate::defect::defect;
use crate::js::{EventLoop, call};
use crate::mcp::{self, Frame};
use crate::platform::{ClientSocket, JsError, SocketEvent};
use crate::rt;
use crate::telemetry::log_event;

/// Which kind of stream is pumped.
#[derive(Clone, Copy)]
pub(super) enum Pump {
    /// The answer to a POST, begun then (epoch milliseconds).
    Post {
        /// When.
        opened_ms: u64,
    },
    /// A GET, opened then (epoch milliseconds).
    Get {
        /// When.
        opened_ms: u64,
    },
}

/// One stream between a session's object and a client.
struct Stream {
    session_id: Rc<str>,
    writer: Rc<SseWriter>,
    socket: ClientSocket,
    pump: Pump,
    config: Arc<HostConfig>,
}

/// Answers 200 with an event stream and pumps the socket's frames into it.
pub(super) fn stream(exchange: &Rc<Exchange>, session_id: &str, socket: ClientSocket, pump: Pump) {
    let mut headers = vec![
        header("content-type", "text/event-stream"),
        header("cache-control", "no-cache"),
        header(mcp::SESSION_ID_HEADER, session_id),
    ];
    headers.extend(cors());
    exchange.start(200, headers);
    let writer = SseWriter::new(Rc::clone(exchange), socket.clone());
    let config = Arc::clone(&exchange.config);
    let stream = Rc::new(Stream { session_id: session_id.into(), writer, socket, pump, config });
    let rotating = Rc::clone(&stream);
    stream.writer.keep_alive(Rc::new(move || rotating.rotate_if_old()));
    let pumping = Rc::clone(&stream);
    stream.socket.listen(move |event| match event {
        SocketEvent::Message(text) => pumping.frame_came(&text),
        // Fact: 202. An object that is aborted in a call ends its streams cleanly, and the row of the call stays.
        // [RA:MC6]
        // Fact: 224. A stream ends cleanly, breaks, or stays silent when its object or worker dies. [facts 145, 202]
        SocketEvent::Close(1006, _) => match rt::stray(pumping.socket.label().as_ref(), "stream.end") {
            0 => pumping.writer.end(),
            1 => pumping.writer.break_off(),
            // The client is told nothing: it has its keepalives until the stream is too old.
            _ => platform_event!("stream.silenced", pumping.socket.label()),
        },
        SocketEvent::Close(..) => pumping.writer.end(),
    });
}

impl Stream {
    /// One frame from the session's object: text for the client, and with `close` the end of the stream.
    fn frame_came(self: &Rc<Self>, text: &str) {
        let Some(Frame::AgentEvent { event, event_id, stream_id, ack_stream_ids, close }) = Frame::parse(text) else {
            return;
        };
        self.writer.append(event);
        if !close {
            return self.rotate_if_old();
        }
        // A POST bridge never acknowledges a delivery.
        let streams = match self.pump {
            Pump::Post { .. } if !defect!(self.config, PostAcknowledges) => Vec::new(),
            _ => ack_stream_ids.unwrap_or_else(|| stream_id.into_iter().collect()),
        };
        let stream = Rc::clone(self);
        let acknowledge = move || {
            for stream_id in streams {
                state_event!("ack.sent", stream.socket.label(), socket = stream.socket.number(), stream = &*stream_id);
                let ack = Frame::DeliveryAck { event_id: event_id.clone(), stream_id };
                // The request's own socket: it cannot be another request's.
                drop(stream.socket.send(ack.to_text()));
            }
        };
        self.finish_with(acknowledge);
    }

    /// Writes out, ends the client's body, and with the client still there acknowledges what was delivered.
    fn finish_with(self: &Rc<Self>, acknowledge: impl FnOnce() + 'static) {
        let stream = Rc::clone(self);
        let mut acknowledge = Some(acknowledge);
        if defect!(self.config, AcknowledgedOnEnqueue) {
            acknowledge.take().into_iter().for_each(|acknowledge| acknowledge());
        }
        drop(call(async move {
            if stream.writer.finish().await {
                acknowledge.into_iter().for_each(|acknowledge| acknowledge());
                stream.socket.close(1000, "SSE response delivered")?;
            }
            Ok::<(), JsError>(())
        }));
    }

    /// After each frame, keepalive included: a listener that is too old is ended gracefully. A POST stream never is.
    fn rotate_if_old(self: &Rc<Self>) {
        let (Pump::Get { opened_ms } | Pump::Post { opened_ms }) = self.pump;
        if matches!(self.pump, Pump::Post { .. }) && !defect!(self.config, MaxAgeCutsPosts) {
            return;
        }
        let age_ms = EventLoop::current().now_ms() - opened_ms;
        if age_ms <= MAX_SSE_AGE_MS || !self.writer.begin_ending() {
            return;
        }
        log_event!(
            info,
            "sse_max_age_close",
            self.session_id,
            sessionId = &*self.session_id,
            variant = "streamable-get",
            ageMs = age_ms,
            pendingBytes = self.writer.pending_bytes(),
        );
        self.writer.append(": max-age rotation, reconnect\n\n".to_owned());
        let stream = Rc::clone(self);
        drop(call(async move {
            stream.writer.finish().await;
            stream.socket.close(1000, "sse_max_age_rotation")
        }));
    }
}
