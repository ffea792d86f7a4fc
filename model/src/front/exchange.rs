//! One HTTP exchange as the edge's code sees it: the request, its body when it has come, the answer, the client's leaving.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::config::HostConfig;
use crate::js::{Ctx, EventLoop, Lane, Promise};
use crate::net::server::{ExchangeId, RequestHead};
use crate::net::{BodyError, Reply};
use crate::platform::{JsError, module_scope};
use crate::rt;

/// Lanes of the exchanges in progress, one a connection of a client, for the connections that have mail for them.
#[derive(Clone, Default)]
pub(super) struct Lanes(Arc<Mutex<BTreeMap<ExchangeId, Lane>>>);

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ExchangeId, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An exchange begins.
    pub fn add(&self, id: ExchangeId, lane: Lane) {
        self.lock().insert(id, lane);
    }

    /// The lane of an exchange, as long as it is in progress.
    pub fn of(&self, id: ExchangeId) -> Option<Lane> {
        self.lock().get(&id).cloned()
    }

    /// An exchange is over.
    pub fn remove(&self, id: ExchangeId) -> Option<Lane> {
        self.lock().remove(&id)
    }
}

/// Exchanges in progress in this worker.
#[derive(Default)]
struct Exchanges(RefCell<BTreeMap<ExchangeId, Rc<Exchange>>>);

/// When it is noticed that a client has left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notices {
    AtOnce,
    AtNextWrite,
    Never,
}

type Listener = Box<dyn Fn()>;

/// One exchange.
pub(super) struct Exchange {
    id: ExchangeId,
    lanes: Lanes,
    /// How the host is configured.
    pub config: Arc<HostConfig>,
    /// The request.
    pub head: RequestHead,
    ctx: Ctx,
    reply: RefCell<Option<Reply>>,
    body: Promise<Result<Bytes, BodyError>>,
    gone: Cell<bool>,
    /// When the platform notices that the client has left.
    notices: Cell<Notices>,
    on_gone: RefCell<Option<Listener>>,
    written: Cell<u64>,
    drains: RefCell<BTreeMap<u64, Promise<Result<(), JsError>>>>,
}

/// Runs `f` with an exchange in its own context, if it is still there.
pub(super) fn with_exchange(event_loop: &Rc<EventLoop>, id: ExchangeId, f: impl FnOnce(&Rc<Exchange>)) {
    let host = event_loop.host();
    let isolate = host.as_any().downcast_ref::<crate::platform::Isolate>();
    let exchanges = isolate.map(crate::platform::Isolate::module_scope::<Exchanges>);
    let exchange = exchanges.and_then(|exchanges| exchanges.0.borrow().get(&id).cloned());
    if let Some(exchange) = exchange {
        event_loop.with_ctx(exchange.ctx.clone(), || f(&exchange));
    }
}

impl Exchange {
    /// Begins an exchange in the running request's context.
    pub fn begin(id: ExchangeId, head: RequestHead, reply: Reply, lanes: Lanes, config: Arc<HostConfig>) -> Rc<Self> {
        let exchange = Rc::new(Exchange {
            id,
            lanes,
            config,
            head,
            ctx: EventLoop::current().ctx(),
            reply: RefCell::new(Some(reply)),
            body: Promise::new(),
            gone: Cell::new(false),
            notices: Cell::new(Notices::AtOnce),
            on_gone: RefCell::new(None),
            written: Cell::new(0),
            drains: RefCell::default(),
        });
        module_scope::<Exchanges>().0.borrow_mut().insert(id, Rc::clone(&exchange));
        exchange
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Label of the client.
    pub fn peer(&self) -> &Arc<str> {
        &self.head.peer
    }

    /// The whole body, once it has come.
    pub fn body(&self) -> Promise<Result<Bytes, BodyError>> {
        self.body.clone()
    }

    /// True once the client has left.
    pub fn is_gone(&self) -> bool {
        self.gone.get()
    }

    /// Called when the client leaves; at once if it has.
    pub fn on_gone(&self, listener: impl Fn() + 'static) {
        if self.gone.get() {
            return listener();
        }
        *self.on_gone.borrow_mut() = Some(Box::new(listener));
    }

    /// The whole answer.
    pub fn answer(&self, status: u16, headers: Vec<(String, String)>, body: String) {
        if let Some(reply) = self.reply.borrow_mut().take() {
            reply.full(status, headers, Bytes::from(body));
        }
        self.end();
    }

    /// Begins a streamed answer.
    pub fn start(&self, status: u16, headers: Vec<(String, String)>) {
        if let Some(reply) = self.reply.borrow().as_ref() {
            reply.head(status, headers);
        }
    }

    /// Writes a piece of a streamed answer; settles when the connection has taken it, and never if the client left.
    pub fn write(&self, bytes: Bytes) -> Promise<Result<(), JsError>> {
        let taken = Promise::new();
        if self.notices.get() == Notices::Never {
            taken.settle(Ok(()));
            return taken;
        }
        if let Some(reply) = self.reply.borrow().as_ref() {
            self.written.set(self.written.get() + 1);
            self.drains.borrow_mut().insert(self.written.get(), taken.clone());
            reply.write(bytes);
        }
        if self.notices.replace(Notices::AtOnce) == Notices::AtNextWrite {
            self.leaving_noticed();
        }
        taken
    }

    /// Ends a streamed answer.
    pub fn close(&self) {
        if let Some(reply) = self.reply.borrow_mut().take() {
            reply.end();
        }
        self.end();
    }

    /// Cuts a streamed answer: the client sees its body break off.
    pub fn cut(&self) {
        drop(self.reply.borrow_mut().take());
        self.end();
    }

    /// A bare 500: what an error that nobody caught looks like.
    pub fn fail(&self) {
        self.answer(500, Vec::new(), "Internal Server Error".to_owned());
    }

    fn end(&self) {
        *self.on_gone.borrow_mut() = None;
        module_scope::<Exchanges>().0.borrow_mut().remove(&self.id);
        self.lanes.remove(self.id);
    }

    pub(super) fn body_came(&self, body: Result<Bytes, BodyError>) {
        self.body.settle(body);
    }

    pub(super) fn drained(&self, written: u64) {
        let rest = self.drains.borrow_mut().split_off(&(written + 1));
        let done = std::mem::replace(&mut *self.drains.borrow_mut(), rest);
        done.into_values().for_each(|taken| taken.settle(Ok(())));
    }

    /// The client's connection is gone, which is noticed now, later, or never.
    pub(super) fn client_left(&self) {
        // Fact: 146. A client that left a stream is noticed at a later write, if at all. [R11:SSE2, R26:SSE2]
        // Fact: 225. A departed client is noticed at once, at the next write, or never. [facts 146, 199]
        match rt::stray(self.peer(), "leaving") {
            0 => self.leaving_noticed(),
            1 => self.notices.set(Notices::AtNextWrite),
            _ => self.notices.set(Notices::Never),
        }
    }

    fn leaving_noticed(&self) {
        // Fact: 19. A client that goes away does not stop the handler of its request. [R:CL1]
        if self.gone.replace(true) {
            return;
        }
        let waiting = std::mem::take(&mut *self.drains.borrow_mut());
        let error = JsError::type_error("The client disconnected");
        waiting.into_values().for_each(|taken| taken.settle(Err(error.clone())));
        let listener = self.on_gone.borrow_mut().take();
        if let Some(listener) = listener {
            listener();
        }
        self.end();
    }
}
