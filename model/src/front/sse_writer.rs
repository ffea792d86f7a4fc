//! The writer of one server-sent event stream: a serial chain of frames with a bounded backlog.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;

use super::exchange::Exchange;
use crate::config::{MAX_PENDING_SSE_BYTES, SSE_KEEPALIVE_MS};
use crate::defect::defect;
use crate::js::{EventLoop, Promise, TimerHandle, call};
use crate::platform::{ClientSocket, JsError, io};

crate::operations! {
    WRITE = "bridge · writer.write", Io, 0, assumed; "the client drains; own serial chain, all frames and keepalives"
    DRAIN = "bridge · writer.drain", Io, 0, assumed; "the last write of the chain"
    CLOSE = "bridge · writer.close", Io, 0, assumed; "the client's stream closed"
}

/// The comment that keeps an idle stream alive.
const KEEPALIVE: &str = ": keepalive\n\n";
/// A backlog is told each time it has grown by so many bytes.
const TOLD_BYTES: usize = 1 << 20;
/// Close code and reason of the socket behind a stream that was given up.
const GIVEN_UP: (u16, &str) = (1013, "SSE client not draining");

/// The writer of a stream over one exchange and one socket to the session's object.
pub(super) struct SseWriter {
    exchange: Rc<Exchange>,
    socket: ClientSocket,
    chain: RefCell<Promise<()>>,
    pending_bytes: Cell<usize>,
    keepalive: RefCell<Option<TimerHandle>>,
    ending: Cell<bool>,
    over: Cell<bool>,
}

impl SseWriter {
    /// A writer. If the client has left already, the stream is given up now.
    pub fn new(exchange: Rc<Exchange>, socket: ClientSocket) -> Rc<Self> {
        let writer = Rc::new(SseWriter {
            exchange,
            socket,
            chain: RefCell::new(Promise::settled(())),
            pending_bytes: Cell::new(0),
            keepalive: RefCell::new(None),
            ending: Cell::new(false),
            over: Cell::new(false),
        });
        // Weak: the exchange keeps this listener, and the writer keeps the exchange.
        let leaving = Rc::downgrade(&writer);
        writer.exchange.on_gone(move || {
            if let Some(writer) = leaving.upgrade() {
                writer.give_up();
            }
        });
        writer
    }

    /// Sends a keepalive comment every 25 s from now on; `after` is called behind each.
    pub fn keep_alive(self: &Rc<Self>, after: Rc<dyn Fn()>) {
        if self.ending.get() || self.over.get() {
            return;
        }
        let writer = Rc::clone(self);
        let beat = Box::new(move || {
            writer.append(KEEPALIVE.to_owned());
            after();
            writer.keep_alive(after);
        });
        let timer = EventLoop::current().set_timer(SSE_KEEPALIVE_MS, beat);
        *self.keepalive.borrow_mut() = Some(timer);
    }

    /// Appends a frame to the chain. Over the backlog's limit the client is not draining: the stream is given up.
    pub fn append(self: &Rc<Self>, frame: String) {
        let size = frame.len();
        let pending_bytes = self.pending_bytes.get() + size;
        if pending_bytes > MAX_PENDING_SSE_BYTES && !defect!(self.exchange.config, BacklogUnbounded) {
            return self.give_up();
        }
        if pending_bytes / TOLD_BYTES > self.pending_bytes.get() / TOLD_BYTES {
            let number = self.socket.number();
            state_event!("sse.backlog", self.socket.label(), socket = number, bytes = pending_bytes);
        }
        self.pending_bytes.set(pending_bytes);
        let (writer, before) = (Rc::clone(self), self.chain.borrow().clone());
        let written = call(async move {
            before.wait().await;
            let result = writer.write(frame).await;
            writer.pending_bytes.set(writer.pending_bytes.get() - size);
            if result.is_err() {
                writer.give_up();
            }
        });
        *self.chain.borrow_mut() = written;
    }

    async fn write(&self, frame: String) -> Result<(), JsError> {
        if self.over.get() {
            return Ok(());
        }
        io(&WRITE, || self.exchange.write(Bytes::from(frame))).await
    }

    /// Bytes that wait in the chain.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes.get()
    }

    /// True the first time: the stream is going to end, and the keepalive stops.
    pub fn begin_ending(&self) -> bool {
        self.stop_keepalive();
        !self.ending.replace(true) && !self.over.get()
    }

    /// Stops the keepalive, waits for the chain, closes the stream: true when the client was attached to the end. What
    /// fails on the way breaks the stream off.
    pub async fn finish(self: &Rc<Self>) -> bool {
        self.begin_ending();
        let chain = self.chain.borrow().clone();
        if crate::platform::join(&DRAIN, &chain).await.is_err() {
            self.give_up();
        }
        if self.over.get() {
            return false;
        }
        let closed = io(&CLOSE, || {
            let is_first = !self.over.replace(true);
            if is_first {
                self.exchange.close();
            }
            Promise::settled(Ok(is_first))
        });
        let closed = closed.await;
        if closed.is_err() && !self.over.replace(true) {
            self.exchange.cut();
        }
        let is_attached = closed == Ok(true) && !self.exchange.is_gone();
        state_event!("sse.closed", self.socket.label(), socket = self.socket.number(), attached = is_attached);
        is_attached
    }

    /// The session's object closed the socket: the client sees its stream end, possibly without an answer.
    pub fn end(self: &Rc<Self>) {
        let writer = Rc::clone(self);
        drop(call(async move { writer.finish().await }));
    }

    /// The session's object is lost and the client's stream breaks off.
    pub fn break_off(&self) {
        if !self.over.replace(true) {
            self.stop_keepalive();
            self.exchange.cut();
        }
    }

    /// The client is not draining, a write was refused, or the client has left: the body is cut and the session's object
    /// told so.
    fn give_up(&self) {
        if self.over.replace(true) {
            return;
        }
        self.stop_keepalive();
        self.exchange.cut();
        drop(self.socket.close(GIVEN_UP.0, GIVEN_UP.1));
    }

    fn stop_keepalive(&self) {
        if let Some(timer) = self.keepalive.borrow_mut().take() {
            timer.clear();
        }
    }
}
