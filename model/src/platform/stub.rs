//! Calling an object: stubs, calls in order, answers, and what the caller sees when the other side is lost.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::cluster::Cluster;
use super::error::JsError;
use super::isolate::{Isolate, WokenBy};
use super::object::{Instance, LocalFuture, ObjectKey};
use super::operate;
use crate::js::{Ctx, EventLoop, Inbox, IoContext, Lane, Letter, Promise, SectionId};
use crate::operation::Operation;
use crate::rt;

/// A request to an object's `fetch`.
#[derive(Clone)]
pub struct FetchRequest {
    /// Path and query.
    pub path: String,
    /// Headers in lower case.
    pub headers: Vec<(String, String)>,
    pub(super) caller: Option<Arc<Inbox>>,
}

impl FetchRequest {
    /// A request with headers.
    pub fn new(path: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        FetchRequest { path: path.into(), headers, caller: None }
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// An object's answer to a fetch.
#[derive(Clone, Debug, Default)]
pub struct FetchResponse {
    /// HTTP status; 101 with a socket.
    pub status: u16,
    /// The body.
    pub body: String,
    /// Number of the socket that the object accepted.
    pub socket: Option<u64>,
}

/// What comes back from a call.
#[derive(Clone)]
pub(super) enum Answer {
    Value(Value),
    Response(FetchResponse),
    Error(JsError),
}

enum Payload {
    Rpc(&'static str, Value),
    Fetch(FetchRequest),
}

/// Where an answer goes.
#[derive(Clone)]
pub(super) struct ReplyTo {
    inbox: Arc<Inbox>,
    slot: u64,
    call: u64,
    cluster: Cluster,
    label: Arc<str>,
    fetch: bool,
}

impl ReplyTo {
    /// The object was reset: an RPC caller gets the error itself, a fetch its remote form (platform fact 104).
    pub fn reset(self, event_loop: &EventLoop, error: &JsError) {
        // Fact: 104. The aborting, the running and the queued calls get the reason, or the platform's text without
        // one. [R:E2, R:E3, R:E10]
        let error = JsError { remote: error.remote || self.fetch, ..error.clone() };
        self.answer(event_loop, Answer::Error(error));
    }

    /// Sends the answer; whoever waits in a dead isolate never gets it.
    pub fn answer(self, event_loop: &EventLoop, answer: Answer) {
        self.cluster.end_call(self.call);
        let due_ms = rt::round_up_ms(event_loop.now_ms() + 1 + rt::decide_delay(&self.label, "latency.reply"));
        let lane = Lane::named(&self.label, "reply", self.slot);
        self.inbox.post(due_ms, lane, Box::new(ReplyLetter { slot: self.slot, answer }));
    }
}

type Resolver = Box<dyn FnOnce(Answer)>;

/// Calls of an isolate that wait for their answer.
#[derive(Default)]
pub(super) struct SlotTable(RefCell<BTreeMap<u64, (Ctx, Resolver)>>);

impl SlotTable {
    fn add(&self, number: u64, ctx: Ctx, resolver: Resolver) {
        self.0.borrow_mut().insert(number, (ctx, resolver));
    }

    /// The loop has ended: nobody waits any more.
    pub fn clear(&self) {
        drop(self.0.take());
    }

    /// Nobody of a dead context waits any more.
    pub fn forget(&self, context: &Rc<IoContext>) {
        self.0.borrow_mut().retain(|_, (ctx, _)| !Rc::ptr_eq(&ctx.context, context));
    }
}

/// An answer on its way to the caller's isolate. It re-enters in the section that asked.
pub(super) struct ReplyLetter {
    slot: u64,
    answer: Answer,
}

impl ReplyLetter {
    pub fn error(slot: u64, error: JsError) -> Self {
        ReplyLetter { slot, answer: Answer::Error(error) }
    }
}

impl Letter for ReplyLetter {
    fn context(&self, event_loop: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        Isolate::of(event_loop, |isolate| {
            isolate.slots.0.borrow().get(&self.slot).map(|(ctx, _)| (Rc::clone(&ctx.context), ctx.section))
        })
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        let waiting = Isolate::of(event_loop, |isolate| isolate.slots.0.borrow_mut().remove(&self.slot));
        if let Some((ctx, resolver)) = waiting.filter(|(ctx, _)| !ctx.context.is_dead()) {
            event_loop.with_ctx(ctx, || resolver(self.answer));
        }
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}
}

/// A stub: calls on one stub arrive in the order they were made, RPC among RPC, fetches among fetches (fact 38).
pub struct Stub {
    key: ObjectKey,
    label: Arc<str>,
    owner: Rc<IoContext>,
    number: u64,
    /// What a first call of it tells the object.
    wakes_by: WokenBy,
    /// Resets of the object when the stub was made: a later one breaks it (platform facts 104, 106).
    born: u64,
    rpc_due_ms: Rc<Cell<u64>>,
    fetch_due_ms: Rc<Cell<u64>>,
    /// After a failure that broke the object the same stub fails at once for ever (platform fact 100).
    broken: Rc<RefCell<Option<JsError>>>,
}

impl Stub {
    /// `namespace.get(id)`: sends nothing (platform fact 12). It belongs to the context that made it.
    pub fn new(key: ObjectKey) -> Self {
        Self::made(key, WokenBy::Name)
    }

    /// `namespace.get(namespace.idFromString(hex))`: the object of that key, which the stub tells no name (platform
    /// facts 2, 3).
    pub fn by_id(key: ObjectKey) -> Self {
        Self::made(key, WokenBy::Id)
    }

    fn made(key: ObjectKey, wakes_by: WokenBy) -> Self {
        let event_loop = EventLoop::current();
        Stub {
            // Fact: 12. A stub sends nothing; the first event constructs the object. [D:durable-object-lifecycle]
            label: key.label(),
            born: Isolate::current(|isolate| isolate.cluster.resets_of(&key).0),
            key,
            owner: event_loop.ctx().context,
            number: event_loop.next_number(),
            wakes_by,
            rpc_due_ms: Rc::default(),
            fetch_due_ms: Rc::default(),
            broken: Rc::default(),
        }
    }

    /// Calls an RPC method.
    pub async fn rpc(
        &self,
        operation: &'static Operation,
        method: &'static str,
        arguments: Value,
    ) -> Result<Value, JsError> {
        let answer = operate::io(operation, || self.send(Payload::Rpc(method, arguments))).await?;
        match answer {
            Answer::Value(value) => Ok(value),
            Answer::Response(_) => Err(JsError::new("a fetch answered an RPC call")),
            Answer::Error(error) => Err(error),
        }
    }

    /// Fetches.
    pub async fn fetch(&self, operation: &'static Operation, request: FetchRequest) -> Result<FetchResponse, JsError> {
        let answer = operate::io(operation, || self.send(Payload::Fetch(request))).await?;
        match answer {
            Answer::Response(response) => Ok(response),
            Answer::Value(_) => Err(JsError::new("an RPC method answered a fetch")),
            Answer::Error(error) => Err(error),
        }
    }

    /// The socket of an answer with status 101, on this side of it.
    pub fn socket(&self, number: u64) -> super::socket::ClientSocket {
        super::socket::ClientSocket::new(number, self.key.clone())
    }

    fn send(&self, payload: Payload) -> Promise<Result<Answer, JsError>> {
        if let Err(error) = operate::owned_by(&self.owner, "OutgoingFactory") {
            return Promise::settled(Err(error));
        }
        // Fact: 106. After an abort with no caller around, an old stub fails with the reason. [R:E5]
        let reset = Isolate::current(|isolate| isolate.cluster.reset_since(&self.key, self.born));
        let error = self.broken.borrow().clone().or(reset);
        if let Some(error) = error {
            return Promise::settled(Err(error));
        }
        let event_loop = EventLoop::current();
        let promise = Promise::new();
        let (settled, broken) = (promise.clone(), Rc::clone(&self.broken));
        let resolver: Resolver = Box::new(move |answer| {
            if let Answer::Error(error) = &answer {
                // Fact: 221. Stubs stay broken after a reset; the runtime may repeat calls or not. [facts 100, 101]
                // Fact: 100. After a failure that broke the object its stubs fail for ever; a new one does not.
                // [R:E2, R:G7, R:G9, R:E6, D:error-handling]
                if error.durable_object_reset || error.retryable {
                    // Fact: 220. Flags of a caller's error in the combinations that occur, lost over hops. [facts 96,
                    // 99]
                    *broken.borrow_mut() = Some(JsError { remote: false, ..error.clone() });
                }
                settled.settle(Err(error.clone()));
            } else {
                settled.settle(Ok(answer));
            }
        });
        let (slot, ctx) = (event_loop.next_number(), event_loop.ctx());
        let post = self.posting(slot, event_loop.inbox(), payload);
        Isolate::current(|isolate| {
            isolate.slots.add(slot, ctx.clone(), resolver);
            isolate.send(&ctx.context, post);
        });
        promise
    }

    /// The call itself, made when the output gate lets it out.
    fn posting(&self, slot: u64, inbox: Arc<Inbox>, payload: Payload) -> Box<dyn FnOnce()> {
        let (key, label) = (self.key.clone(), Arc::clone(&self.label));
        // Fact: 38. Calls of one kind on one stub arrive in order; RPC and fetch may overtake each other. [R:G10]
        let (what, last) = match payload {
            Payload::Rpc(..) => ("rpc", Rc::clone(&self.rpc_due_ms)),
            Payload::Fetch(_) => ("fetch", Rc::clone(&self.fetch_due_ms)),
        };
        let (number, born, wakes_by) = (self.number, self.born, self.wakes_by);
        Box::new(move || {
            let event_loop = EventLoop::current();
            let cluster = Isolate::current(|isolate| isolate.cluster.clone());
            let latency = rt::decide_delay(&label, if what == "rpc" { "latency.rpc" } else { "latency.fetch" });
            let due_ms = rt::round_up_ms(event_loop.now_ms() + 1 + latency).max(last.get());
            last.set(due_ms);
            let (isolate, target) = cluster.route(&key);
            let call = cluster.begin_call(isolate, Arc::clone(&inbox), slot);
            let lane = Lane::named(&label, what, number);
            let fetch = matches!(payload, Payload::Fetch(_));
            let reply = ReplyTo { inbox: Arc::clone(&inbox), slot, call, cluster: cluster.clone(), label, fetch };
            let sent = target.post(due_ms, lane, Box::new(CallLetter { key, payload, reply, born, wakes_by }));
            if !sent {
                cluster.end_call(call);
                let lost = ReplyLetter::error(slot, JsError::connection_lost());
                inbox.post(due_ms, Lane::named(&"lost".into(), "reply", slot), Box::new(lost));
            }
        })
    }
}

/// A call on its way to the object's isolate.
struct CallLetter {
    key: ObjectKey,
    payload: Payload,
    reply: ReplyTo,
    born: u64,
    wakes_by: WokenBy,
}

impl Letter for CallLetter {
    fn context(&self, event_loop: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        Isolate::of(event_loop, |isolate| isolate.context_of(&self.key)).map(|context| (context, 0))
    }

    fn prepare(&self, event_loop: &Rc<EventLoop>) {
        // Fact: 37. A section of the constructor delays every event, the one that woke the object included. [R:G8]
        if self.reply.cluster.reset_since(&self.key, self.born).is_none() {
            drop(Isolate::of(event_loop, |isolate| isolate.instance(event_loop, &self.key, self.wakes_by)));
        }
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        if let Some(error) = self.reply.cluster.reset_since(&self.key, self.born) {
            return self.reply.reset(event_loop, &error);
        }
        let instance = Isolate::of(event_loop, |isolate| isolate.instance(event_loop, &self.key, self.wakes_by));
        let CallLetter { payload, reply, .. } = *self;
        instance.event_begins();
        instance.calls.borrow_mut().insert(reply.call, reply.clone());
        let root = match &payload {
            Payload::Rpc(method, _) => method,
            Payload::Fetch(_) => "fetch",
        };
        let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root };
        let inbox = Arc::clone(&reply.inbox);
        let handler = event_loop.with_ctx(ctx.clone(), || run(&instance, payload, inbox));
        event_loop.start_in(
            ctx,
            Box::pin(async move {
                // Fact: 45. A handler that throws rolls nothing back. [R:S5, R:S6, R:A19]
                let answer = handler.await;
                let number = reply.call;
                let done = Rc::clone(&instance);
                // Fact: 125. Work goes on after the response, also after a throw, with waitUntil or without. [R:W1,
                // R:W2]
                let send = Box::new(move || {
                    if done.calls.borrow_mut().remove(&number).is_some() {
                        reply.answer(&EventLoop::current(), answer);
                        done.event_ends(&EventLoop::current());
                    }
                });
                Isolate::current(|isolate| isolate.send(&instance.io, send));
            }),
        );
    }

    fn bounce(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        let error = self.context(event_loop).and_then(|(context, _)| context.death());
        self.reply.reset(event_loop, &error.unwrap_or_else(JsError::connection_lost));
    }
}

fn run(instance: &Rc<Instance>, payload: Payload, caller: Arc<Inbox>) -> LocalFuture<Answer> {
    let object = instance.object();
    match payload {
        Payload::Rpc(method, arguments) => {
            let call = object.rpc(method, arguments);
            Box::pin(async move {
                match call.await {
                    Ok(value) => Answer::Value(value),
                    // Fact: 94. Throwing resets nothing. [R:E1]
                    Err(error) => Answer::Error(thrown(error)),
                }
            })
        }
        Payload::Fetch(request) => {
            let call = object.fetch(FetchRequest { caller: Some(caller), ..request });
            Box::pin(async move {
                match call.await {
                    Ok(response) => Answer::Response(response),
                    Err(error) => Answer::Error(thrown(error)),
                }
            })
        }
    }
}

/// What a handler threw as its caller sees it.
fn thrown(error: JsError) -> JsError {
    if Isolate::current(|isolate| isolate.switches.keeps_errors) {
        return JsError { remote: true, ..error };
    }
    // Fact: 220. Flags of a caller's error in the combinations that occur, lost over hops. [facts 96, 99]
    let keeps = error.durable_object_reset && rt::stray(&EventLoop::current().ctx().context.label, "flags.kept") > 0;
    let durable_object_reset = keeps;
    JsError { durable_object_reset, ..error.across_call() }
}
