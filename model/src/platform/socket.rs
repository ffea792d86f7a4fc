//! WebSockets between a worker's request and an object, as frames in order.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::error::JsError;
use super::isolate::{Isolate, WokenBy};
use super::object::{Instance, ObjectContext, ObjectKey};
use super::operate;
use super::stub::FetchRequest;
use crate::js::{Ctx, EventLoop, Inbox, IoContext, Lane, Letter, SectionId};
use crate::rt;

/// What comes in on a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    /// A text frame.
    Message(Arc<str>),
    /// The other side closed it, or is gone (1006).
    Close(u16, Arc<str>),
}

/// The object's end of a socket. Clones share it.
#[derive(Clone)]
pub struct Socket(Rc<ObjectEnd>);

struct ObjectEnd {
    number: u64,
    owner: Rc<IoContext>,
    instance: std::rc::Weak<Instance>,
    peer: Arc<Inbox>,
    tag: Arc<str>,
    attachment: RefCell<Value>,
    open: Cell<bool>,
    last_due_ms: Cell<u64>,
}

impl ObjectContext {
    /// `ctx.acceptWebSocket(pair[1], [tag])` for the upgrade in `request`; the answer carries the socket's number.
    ///
    /// # Errors
    /// When the request did not come through a call.
    pub fn accept_web_socket(&self, request: &FetchRequest, tag: &str) -> Result<Socket, JsError> {
        let peer = request.caller.clone().ok_or_else(|| JsError::new("no peer to upgrade"))?;
        let number = Isolate::current(|isolate| isolate.cluster.open_socket(isolate.id, Arc::clone(&peer)));
        let socket = Socket(Rc::new(ObjectEnd {
            number,
            owner: Rc::clone(self.io()),
            instance: Rc::downgrade(&self.instance),
            peer,
            tag: tag.into(),
            attachment: RefCell::new(Value::Null),
            open: Cell::new(true),
            last_due_ms: Cell::new(0),
        }));
        self.instance.sockets.borrow_mut().insert(number, socket.clone());
        platform_event!("socket.opened", self.label(), socket = number, method = tag);
        Ok(socket)
    }
}

impl Socket {
    /// Its number.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// True while frames can be sent.
    pub fn is_open(&self) -> bool {
        self.0.open.get()
    }

    /// The tag it was accepted with.
    pub fn tag(&self) -> &str {
        &self.0.tag
    }

    /// The attachment, which survives hibernation with the socket.
    pub fn attachment(&self) -> Value {
        self.0.attachment.borrow().clone()
    }

    /// Replaces the attachment.
    pub fn set_attachment(&self, value: Value) {
        *self.0.attachment.borrow_mut() = value;
    }

    /// Sends a text frame; it leaves when earlier writes are durable.
    ///
    /// # Errors
    /// From another context (platform fact 118), or when the socket is closed.
    pub fn send(&self, text: impl Into<Arc<str>>) -> Result<(), JsError> {
        // Fact: 118. The text ends in the type of the I/O object, which differs between builds. [R:X1, R:X2, R:X3,
        // R:X4, R:X5, R:X6, R:X7, R:X8, R:X9]
        operate::owned_by(&self.0.owner, "Native")?;
        if !self.0.open.get() {
            return Err(JsError::type_error("Can't call WebSocket send() after close()."));
        }
        self.post_gated(SocketEvent::Message(text.into()));
        Ok(())
    }

    /// Closes it; again is a no-op.
    ///
    /// # Errors
    /// From another context (platform fact 118).
    pub fn close(&self, code: u16, reason: &str) -> Result<(), JsError> {
        operate::owned_by(&self.0.owner, "Native")?;
        if self.0.open.get() {
            self.leave(code, reason, "object");
            // Until the frame leaves the connection is the platform's to cut: a peer must not wait for ever.
            if let Some(instance) = self.0.instance.upgrade() {
                instance.closing.borrow_mut().insert(self.0.number, self.clone());
            }
            self.post_gated(SocketEvent::Close(code, reason.into()));
        }
        Ok(())
    }

    /// The same socket in the hands of the incarnation that comes after an eviction; the attachment comes with it.
    pub(super) fn woken(&self, instance: &Rc<Instance>) -> Socket {
        Socket(Rc::new(ObjectEnd {
            number: self.0.number,
            owner: Rc::clone(&instance.io),
            instance: Rc::downgrade(instance),
            peer: Arc::clone(&self.0.peer),
            tag: Arc::clone(&self.0.tag),
            attachment: RefCell::new(self.attachment()),
            open: Cell::new(self.is_open()),
            last_due_ms: Cell::new(self.0.last_due_ms.get()),
        }))
    }

    fn leave(&self, code: u16, reason: &str, by: &str) {
        self.0.open.set(false);
        if let Some(instance) = self.0.instance.upgrade() {
            instance.sockets.borrow_mut().remove(&self.0.number);
        }
        let (socket, code) = (self.0.number, u64::from(code));
        platform_event!("socket.closed", self.0.owner.label, socket = socket, code = code, reason = reason, by = by);
    }

    fn post_gated(&self, event: SocketEvent) {
        let end = Rc::clone(&self.0);
        let post = Box::new(move || {
            let event_loop = EventLoop::current();
            if matches!(event, SocketEvent::Close(..)) {
                end.forget(&event_loop);
            }
            end.post(&event_loop, event);
        });
        Isolate::current(|isolate| isolate.send(&self.0.owner, post));
    }

    /// The incarnation is gone: the peer sees 1006 and no close handler runs (platform fact 143).
    pub(super) fn drop_by_platform(&self, event_loop: &EventLoop) {
        // Fact: 143. A reset drops every socket with 1006, and no close handler runs. [R:WS3, R:WS4,
        // D:troubleshooting]
        if self.0.open.replace(false) {
            let (socket, code) = (self.0.number, 1006_u64);
            platform_event!(
                "socket.closed",
                self.0.owner.label,
                socket = socket,
                code = code,
                reason = "",
                by = "platform"
            );
        }
        // Also where it was closed and the close still waited for writes that are lost now (platform fact 46).
        self.0.forget(event_loop);
        if Isolate::of(event_loop, |isolate| isolate.switches.drops_sockets_silently) {
            platform_event!("stream.silenced", self.0.owner.label);
        } else {
            self.0.post(event_loop, SocketEvent::Close(1006, "".into()));
        }
    }
}

impl ObjectEnd {
    /// Nobody has to tell the peer any more that it is closed.
    fn forget(&self, event_loop: &EventLoop) {
        Isolate::of(event_loop, |isolate| isolate.cluster.close_socket(self.number));
        if let Some(instance) = self.instance.upgrade() {
            instance.closing.borrow_mut().remove(&self.number);
        }
    }

    fn post(&self, event_loop: &EventLoop, event: SocketEvent) {
        let delay = rt::decide_delay(&self.owner.label, "latency.frame-out");
        let due_ms = rt::round_up_ms(event_loop.now_ms() + 1 + delay).max(self.last_due_ms.get());
        self.last_due_ms.set(due_ms);
        let lane = Lane::named(&self.owner.label, "frames-out", self.number);
        self.peer.post(due_ms, lane, Box::new(ToClient { number: self.number, event }));
    }
}

/// The end of a socket in the request that opened it. Clones share it.
#[derive(Clone)]
pub struct ClientSocket(Rc<ClientEnd>);

type Handler = Rc<dyn Fn(SocketEvent)>;

struct ClientEnd {
    number: u64,
    key: ObjectKey,
    ctx: Ctx,
    open: Cell<bool>,
    last_due_ms: Cell<u64>,
}

/// Sockets of an isolate on the request's side: their handlers, and frames that came before a handler was there.
#[derive(Default)]
pub(super) struct ClientSockets {
    handlers: RefCell<BTreeMap<u64, (Ctx, Handler)>>,
    early: RefCell<BTreeMap<u64, Vec<SocketEvent>>>,
}

impl ClientSockets {
    /// The loop has ended: nobody listens any more.
    pub fn clear(&self) {
        drop((self.handlers.take(), self.early.take()));
    }
}

impl ClientSocket {
    pub(super) fn new(number: u64, key: ObjectKey) -> Self {
        let ctx = EventLoop::current().ctx();
        ClientSocket(Rc::new(ClientEnd { number, key, ctx, open: Cell::new(true), last_due_ms: Cell::new(0) }))
    }

    /// `socket.accept()` with the handler of all its events; frames that came before are given to it now.
    pub fn listen(&self, handler: impl Fn(SocketEvent) + 'static) {
        let handler: Handler = Rc::new(handler);
        let scope = Isolate::current(Isolate::client_sockets);
        scope.handlers.borrow_mut().insert(self.0.number, (self.0.ctx.clone(), Rc::clone(&handler)));
        let early = scope.early.borrow_mut().remove(&self.0.number).unwrap_or_default();
        for event in early {
            handler(event);
        }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Label of the object at the other end.
    pub fn label(&self) -> Arc<str> {
        self.0.key.label()
    }

    /// True until this side closed it.
    pub fn is_open(&self) -> bool {
        self.0.open.get()
    }

    /// Sends a text frame.
    ///
    /// # Errors
    /// From another request (platform fact 118).
    pub fn send(&self, text: impl Into<Arc<str>>) -> Result<(), JsError> {
        operate::owned_by(&self.0.ctx.context, "Native")?;
        if self.0.open.get() {
            self.post(SocketEvent::Message(text.into()));
        }
        Ok(())
    }

    /// Closes it and stops listening; again is a no-op.
    ///
    /// # Errors
    /// From another context (platform fact 118).
    pub fn close(&self, code: u16, reason: &str) -> Result<(), JsError> {
        operate::owned_by(&self.0.ctx.context, "Native")?;
        if self.0.open.replace(false) {
            self.post(SocketEvent::Close(code, reason.into()));
            Isolate::current(Isolate::client_sockets).handlers.borrow_mut().remove(&self.0.number);
        }
        Ok(())
    }

    fn post(&self, event: SocketEvent) {
        let event_loop = EventLoop::current();
        let label = self.0.key.label();
        let delay = rt::decide_delay(&label, "latency.frame-in");
        let due_ms = rt::round_up_ms(event_loop.now_ms() + 1 + delay).max(self.0.last_due_ms.get());
        self.0.last_due_ms.set(due_ms);
        let lane = Lane::named(&label, "frames-in", self.0.number);
        let (_, inbox) = Isolate::current(|isolate| isolate.cluster().route(&self.0.key));
        inbox.post(due_ms, lane, Box::new(ToObject { key: self.0.key.clone(), number: self.0.number, event }));
    }
}

/// A frame on its way to the request's side.
pub(super) struct ToClient {
    number: u64,
    event: SocketEvent,
}

impl ToClient {
    /// The other side is gone with its isolate.
    pub fn lost(number: u64) -> Self {
        ToClient { number, event: SocketEvent::Close(1006, "".into()) }
    }
}

impl Letter for ToClient {
    fn context(&self, event_loop: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        let ctx = client_ctx(event_loop, self.number)?;
        Some((ctx.context, ctx.section))
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        let scope = Isolate::of(event_loop, Isolate::client_sockets);
        let handler = scope.handlers.borrow().get(&self.number).cloned();
        match handler {
            Some((ctx, _)) if ctx.context.is_dead() => {
                scope.handlers.borrow_mut().remove(&self.number);
            }
            Some((ctx, handler)) => {
                if matches!(self.event, SocketEvent::Close(..)) {
                    scope.handlers.borrow_mut().remove(&self.number);
                }
                event_loop.with_ctx(ctx, || handler(self.event));
            }
            None => scope.early.borrow_mut().entry(self.number).or_default().push(self.event),
        }
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}
}

fn client_ctx(event_loop: &EventLoop, number: u64) -> Option<Ctx> {
    let scope = Isolate::of(event_loop, Isolate::client_sockets);
    scope.handlers.borrow().get(&number).map(|(ctx, _)| ctx.clone())
}

/// A frame on its way to the object.
struct ToObject {
    key: ObjectKey,
    number: u64,
    event: SocketEvent,
}

impl Letter for ToObject {
    fn context(&self, event_loop: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        Isolate::of(event_loop, |isolate| isolate.context_of(&self.key)).map(|context| (context, 0))
    }

    /// A frame wakes an object that was evicted, and its constructor knows the name (platform fact 140).
    fn prepare(&self, event_loop: &Rc<EventLoop>) {
        Isolate::of(event_loop, |isolate| {
            if isolate.keeps_sockets_of(&self.key) {
                drop(isolate.instance(event_loop, &self.key, WokenBy::Name));
            }
        });
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        let found = Isolate::of(event_loop, |isolate| isolate.living_instance(&self.key));
        let Some(instance) = found else { return };
        let socket = instance.sockets.borrow().get(&self.number).cloned();
        let Some(socket) = socket else { return };
        instance.event_begins();
        let object = instance.object();
        let root = if matches!(self.event, SocketEvent::Close(..)) { "socket-close" } else { "socket-message" };
        let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root };
        let handler = event_loop.with_ctx(ctx.clone(), || match self.event {
            SocketEvent::Message(text) => object.socket_message(socket, text),
            SocketEvent::Close(code, reason) => {
                // Fact: 142. A client's close reaches the object, which must close in turn. [R:WS1]
                socket.leave(code, &reason, "peer");
                Isolate::current(|isolate| isolate.cluster.close_socket(self.number));
                object.socket_close(socket, code)
            }
        });
        // Nobody waits for these handlers; their failure is an unhandled rejection (platform fact 126).
        // Fact: 126. Background work that fails resets nothing. [R:W3]
        event_loop.start_in(
            ctx,
            Box::pin(async move {
                drop(handler.await);
                instance.event_ends(&EventLoop::current());
            }),
        );
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}
}
