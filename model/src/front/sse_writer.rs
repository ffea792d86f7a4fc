//! The writer of one server-sent event stream: a serial chain of frames with a bounded backlog.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;

use super::exchange::Exchange;
use crate::config::{MAX_PENDING_SSE_BYTES, SSE_KEEPALIVE_MS};
use crate::js::{EventLoop, Promise, TimerHandle, call};
use crate::platform::{ClientSocket, JsError, io};

crate::operations! {
    WRITE = "bridge · writer.write", Io, 0, assumed; "the client drains; own serial chain, all frames and keepalives"
    DRAIN = "bridge · writer.drain", Io, 0, assumed; "the last write of the chain"
    CLOSE = "bridge · writer.close", Io, 0, assumed; "the client's stream closed"
}

/// The comment that keeps an idle stream alive.
const KEEPALIVE: &str = ": keepalive\n\n";

/// The writer of a stream over one exchange and one socket to the session's object.
pub(super) struct SseWriter {
    exchange: Rc<Exchange>,
    socket: ClientSocket,
    chain: RefCell<Promise<()>>,
    pending_bytes: Cell<usize>,
    keepalive: RefCell<Option<TimerHandle>>,
    over: Cell<bool>,
}

impl SseWriter {
    /// A writer; the keepalive starts now.
    pub fn new(exchange: Rc<Exchange>, socket: ClientSocket) -> Rc<Self> {
        let writer = Rc::new(SseWriter {
            exchange,
            socket,
            chain: RefCell::new(Promise::settled(())),
            pending_bytes: Cell::new(0),
            keepalive: RefCell::new(None),
            over: Cell::new(false),
        });
        let leaving = Rc::clone(&writer);
        writer.exchange.on_gone(move || leaving.client_left());
        writer
    }

    /// Sends a keepalive comment every 25 s, each after `before` (which may end the stream).
    pub fn keep_alive(self: &Rc<Self>, before: Rc<dyn Fn() -> bool>) {
        let writer = Rc::clone(self);
        let timer = EventLoop::current().set_timer(
            SSE_KEEPALIVE_MS,
            Box::new(move || {
                if !writer.over.get() && before() {
                    writer.append(KEEPALIVE.to_owned());
                    writer.keep_alive(before);
                }
            }),
        );
        *self.keepalive.borrow_mut() = Some(timer);
    }

    /// Appends a frame to the chain. Over the backlog's limit the client is not draining: the stream is aborted.
    pub fn append(self: &Rc<Self>, frame: String) {
        let size = frame.len();
        if self.pending_bytes.get() + size > MAX_PENDING_SSE_BYTES {
            return self.abort();
        }
        self.pending_bytes.set(self.pending_bytes.get() + size);
        let (writer, before) = (Rc::clone(self), self.chain.borrow().clone());
        let written = call(async move {
            before.wait().await;
            let result = writer.write(frame).await;
            writer.pending_bytes.set(writer.pending_bytes.get() - size);
            if result.is_err() {
                writer.abort();
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

    /// True while the client is attached.
    pub fn is_attached(&self) -> bool {
        !self.over.get() && !self.exchange.is_gone()
    }

    /// Stops the keepalive, waits for the chain, closes the stream: true when the client was attached to the end.
    pub async fn finish(self: &Rc<Self>) -> bool {
        self.stop_keepalive();
        let chain = self.chain.borrow().clone();
        let drained = crate::platform::join(&DRAIN, &chain).await;
        if drained.is_err() || !self.is_attached() {
            return false;
        }
        self.over.set(true);
        self.exchange.close();
        io(&CLOSE, || Promise::settled(Ok(()))).await.is_ok()
    }

    /// The session's object closed the socket: the client sees its stream end, possibly without an answer.
    pub fn end(self: &Rc<Self>) {
        let writer = Rc::clone(self);
        drop(call(async move { writer.finish().await }));
    }

    fn abort(&self) {
        if self.over.replace(true) {
            return;
        }
        self.stop_keepalive();
        self.socket.close(1013, "SSE client not draining");
        self.exchange.close();
    }

    fn client_left(&self) {
        if self.over.replace(true) {
            return;
        }
        self.stop_keepalive();
        self.socket.close(1013, "SSE client not draining");
    }

    fn stop_keepalive(&self) {
        if let Some(timer) = self.keepalive.borrow_mut().take() {
            timer.clear();
        }
    }
}
