//! One Durable Object: how it is addressed, what its class provides, what it is given.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::alarm::AlarmInfo;
use super::error::JsError;
use super::fate::Fate;
use super::isolate::Isolate;
use super::object_state::ObjectState;
use super::operate;
use super::socket::Socket;
use super::storage::{Storage, Store};
use super::stub::{FetchRequest, FetchResponse, ReplyTo};
use crate::fx::Fiber;
use crate::js::{EventLoop, IoContext, Promise};
use crate::operation::Operation;

/// A future of an isolate's loop.
pub type LocalFuture<T> = Pin<Box<dyn Future<Output = T>>>;

/// Address of an object: its class and its name, or the hex digits of its id when it has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Class, as bound in the namespace.
    pub class: &'static str,
    /// The name, or 64 hex digits.
    pub name: Arc<str>,
    /// False for an id that never had a name.
    pub named: bool,
}

impl ObjectKey {
    /// The key of an object addressed by name.
    pub fn named(class: &'static str, name: impl Into<Arc<str>>) -> Self {
        ObjectKey { class, name: name.into(), named: true }
    }

    /// The key of an object with a unique id.
    pub fn unique(class: &'static str, id: impl Into<Arc<str>>) -> Self {
        ObjectKey { class, name: id.into(), named: false }
    }

    /// Who it is in decisions and traces: the part of the name after the last colon.
    pub fn label(&self) -> Arc<str> {
        match self.name.rsplit_once(':') {
            Some((_, label)) => label.into(),
            None => Arc::clone(&self.name),
        }
    }
}

/// What a class of Durable Objects provides. Every method starts at once and runs to its end whoever waits for it.
pub trait DurableObject {
    /// An RPC call.
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Result<Value, JsError>>;

    /// A fetch.
    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>>;

    /// The alarm; absent when the class has none (then `setAlarm` throws, platform fact 66).
    fn alarm(self: Rc<Self>, info: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>>;

    /// A frame on one of its sockets.
    fn socket_message(self: Rc<Self>, socket: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>>;

    /// One of its sockets was closed by the peer.
    fn socket_close(self: Rc<Self>, socket: Socket, code: u16) -> LocalFuture<Result<(), JsError>>;

    /// True when the class handles alarms.
    fn has_alarm(&self) -> bool {
        true
    }

    /// The root fiber (`init` or `disposal`) that runs and that nobody has interrupted, by its abort handle.
    fn running(&self, _what: &str) -> Option<Fiber> {
        None
    }
}

/// What work in the background comes to.
pub trait Background: Clone + 'static {
    /// Its failure, which nobody sees.
    fn failure(self) -> Option<JsError> {
        None
    }
}

impl Background for () {}

impl<T: Clone + 'static> Background for Result<T, JsError> {
    fn failure(self) -> Option<JsError> {
        self.err()
    }
}

/// What the platform gives an object (`ctx` of its constructor).
#[derive(Clone)]
pub struct ObjectContext {
    pub(super) instance: Rc<Instance>,
}

/// Something that leaves an object when its time has come.
pub(super) type Message = Box<dyn FnOnce()>;

/// One incarnation of an object in an isolate.
pub(super) struct Instance {
    pub key: ObjectKey,
    /// Whether this incarnation knows its name: decided by whoever constructed it (platform facts 3, 7, 10).
    pub knows_name: bool,
    /// What stands in the platform's place, if anything does.
    pub state: Option<Rc<dyn ObjectState>>,
    pub io: Rc<IoContext>,
    pub store: Store,
    pub object: RefCell<Option<Rc<dyn DurableObject>>>,
    pub sockets: RefCell<BTreeMap<u64, Socket>>,
    /// Sockets that were closed here and whose close frame has not left yet.
    pub closing: RefCell<BTreeMap<u64, Socket>>,
    /// Calls that wait for this incarnation, by number.
    pub calls: RefCell<BTreeMap<u64, ReplyTo>>,
    /// What must not leave before writes are durable (output gate, platform fact 46).
    pub outgoing: RefCell<VecDeque<(u64, Message)>>,
    pub alarm_running: Cell<Option<AlarmInfo>>,
    /// Since when nothing of it goes on; only looked at where idle objects leave by themselves.
    pub idle_since_ms: Cell<Option<u64>>,
    /// Whether it was reset from outside, for nothing that it did.
    pub is_blameless: Cell<bool>,
    /// What its storage rejects with, when it goes on although its object was reset.
    pub zombie: RefCell<Option<JsError>>,
    pub fate: Fate,
}

impl ObjectContext {
    /// `ctx.id.name`.
    pub fn id_name(&self) -> Option<Arc<str>> {
        if let Some(state) = &self.instance.state {
            return state.id_name();
        }
        // Fact: 3. Who constructs an instance decides whether it knows its name; later calls change nothing. [R:I1]
        // Fact: 10. An instance that a nameless alarm constructed stays nameless for life, also for calls by name.
        // [R26:RS7, I:cloudflare/partykit#391]
        self.instance.knows_name.then(|| Arc::clone(&self.instance.key.name))
    }

    /// The object's key.
    pub fn key(&self) -> &ObjectKey {
        &self.instance.key
    }

    /// Who it is in decisions and traces.
    pub fn label(&self) -> &Arc<str> {
        &self.instance.io.label
    }

    /// `ctx.storage`.
    pub fn storage(&self) -> Storage {
        Storage::new(Rc::clone(&self.instance))
    }

    /// The incarnation's context.
    pub fn io(&self) -> &Rc<IoContext> {
        &self.instance.io
    }

    /// `ctx.blockConcurrencyWhile(callback)`. A throw of the callback is the caller's to carry out: what resets the
    /// object is [`ObjectContext::reset_by_section`] (platform fact 34).
    pub async fn block_concurrency_while<F, T>(
        &self,
        operation: &'static Operation,
        callback: impl FnOnce() -> F + 'static,
    ) -> Result<T, JsError>
    where
        F: Future<Output = T> + 'static,
        T: Clone + 'static,
    {
        operate::section(operation, callback).await
    }

    /// What a throw out of `blockConcurrencyWhile` does: the object is reset and everyone gets the error.
    pub fn reset_by_section(&self, error: JsError) {
        // Fact: 34. A throw out of a section resets the object, and everybody who waits gets the error itself. [R:G7]
        // Fact: 35. Writes before and inside a section that fails are kept where they had committed. [R:G7]
        // Fact: 26. A constructor that throws, also in its section, fails the call as a reset; a new stub gets a
        // fresh instance. [R:G9]
        let error = JsError { durable_object_reset: true, ..error };
        Isolate::current(|isolate| isolate.reset(&EventLoop::current(), &self.instance.io, error));
    }

    /// `ctx.waitUntil(promise)`: the work goes on by itself and nobody sees its failure (platform facts 125-128).
    pub fn wait_until<T: Background>(&self, work: Promise<T>) {
        if let Some(state) = &self.instance.state {
            state.wait_until(Box::pin(async move { work.wait().await.failure().map_or(Ok(()), Err) }));
        }
        // Fact: 128. In an object waitUntil adds nothing. [I:cloudflare/workerd#877, D:state]
        #[cfg(test)]
        crate::observed::wait_until(&self.instance.key);
    }

    /// `ctx.getWebSockets()`.
    pub fn sockets(&self) -> Vec<Socket> {
        self.instance.sockets.borrow().values().cloned().collect()
    }

    /// `ctx.abort(reason)`: ends the incarnation at once; the caller's code never goes on (platform fact 103).
    ///
    /// # Errors
    /// From another object, whose use of it aborts nobody (platform fact 121).
    pub fn abort(&self, reason: &str) -> Result<(), JsError> {
        // Fact: 103. An abort ends the JavaScript at once: no code of it follows. [R:E4]
        // Fact: 121. Aborting through another object's context throws and aborts nobody. [R:X6]
        operate::owned_by(&self.instance.io, "ActorCacheInterface")?;
        let event_loop = EventLoop::current();
        Isolate::current(|isolate| isolate.reset(&event_loop, &self.instance.io, JsError::aborted(reason)));
        Ok(())
    }
}
