//! What the tests of transport, event store, server and engine share: a world with one session object, and bridges that
//! log what reaches them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::test_object::Session;
use crate::js::{Ctx, EventLoop, call, hops, timer};
use crate::mcp::Frame;
use crate::net::testkit::{Latency, in_world, log, untimed};
use crate::operation::{Kind, Operation};
use crate::platform::{
    ClientSocket, Cluster, ClusterConfig, DurableObject, FetchRequest, JsError, LocalFuture, ObjectContext, ObjectKey,
    RuntimeBuild, SocketEvent, Stub, Worker,
};
use crate::rt;
use crate::script::{Rule, Script};

static CALL: Operation = Operation { name: "test · call", kind: Kind::Io, hops: 0, assumed: false, waits_on: "" };

/// What a test makes fail: every operation of these names, at its begin.
pub(crate) type Failing = &'static [&'static str];

/// An extra method of the session object, for one test.
pub(crate) type Method = fn(ObjectContext) -> LocalFuture<Value>;

/// Runs a story in a world with one session and gives the log.
pub(crate) fn in_session<F, Fut>(failing: Failing, method: Option<Method>, story: F) -> Vec<String>
where
    F: FnOnce(Rc<World>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let lines = in_world(1, Latency::Calm, move || async move {
        let rules = failing.iter().map(|name| Rule::fail(name, JsError::new("no storage")).always());
        rt::begin_run(Some(Rc::new(Script::new(rules.collect()))), u64::MAX);
        let world = Rc::new(World::start(method));
        story(Rc::clone(&world)).await;
        BRIDGES.with_borrow_mut(BTreeMap::clear);
        world.worker.stop();
        world.cluster.stop();
    });
    untimed(&lines)
}

thread_local! {
    static BRIDGES: RefCell<BTreeMap<&'static str, (Ctx, ClientSocket)>> = const { RefCell::new(BTreeMap::new()) };
}

/// A cluster with one session object and a worker with bridges.
pub(crate) struct World {
    cluster: Cluster,
    worker: Worker,
}

impl World {
    fn start(method: Option<Method>) -> Self {
        let class = move |ctx: ObjectContext| -> Rc<dyn DurableObject> { Rc::new(Session::new(ctx, method)) };
        let mut classes: BTreeMap<&'static str, crate::platform::Class> = BTreeMap::new();
        classes.insert("Session", Arc::new(class));
        let cluster = Cluster::start(ClusterConfig { isolate_count: 1, build: RuntimeBuild::May2026, classes });
        let worker = Worker::start(&cluster, "worker", IpAddr::from([10, 3, 0, 1]));
        World { cluster, worker }
    }

    async fn request(&self, ms: u64, start: impl FnOnce() -> LocalFuture<()> + Send + 'static) {
        self.worker.handle().request("w".into(), &crate::js::Lane::named(&"w".into(), "http", 0), Box::new(start));
        rt::sleep_ms(ms).await;
    }

    /// Opens a POST's socket called `name` and lets `ms` pass.
    pub(crate) async fn post(&self, name: &'static str, messages: Value, ms: u64) {
        self.open(name, vec![("method", "POST".to_owned()), ("message", messages.to_string())], ms).await;
    }

    /// Opens a GET's socket. A bridge whose name ends in `!` has lost its client.
    pub(crate) async fn get(&self, name: &'static str, cursor: Option<&str>, ms: u64) {
        let cursor = cursor.map(|cursor| ("cursor", cursor.to_owned()));
        self.open(name, cursor.into_iter().collect(), ms).await;
    }

    async fn open(&self, name: &'static str, headers: Vec<(&'static str, String)>, ms: u64) {
        let headers = headers.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        self.request(ms, move || Box::pin(open_bridge(name, headers))).await;
    }

    /// The client behind a socket goes away and its bridge notices.
    pub(crate) async fn leave(&self, name: &'static str, ms: u64) {
        self.request(ms, move || {
            let bridge = BRIDGES.with_borrow_mut(|bridges| bridges.remove(name));
            bridge.into_iter().for_each(|(ctx, bridge)| {
                let close = || bridge.close(1013, "SSE client not draining");
                EventLoop::current().with_ctx(ctx, close).expect("in its own context");
            });
            Box::pin(std::future::ready(()))
        })
        .await;
    }

    /// Calls a method of the object and logs its answer.
    pub(crate) async fn rpc(&self, method: &'static str, arguments: Value, ms: u64) {
        self.request(ms, move || {
            Box::pin(async move {
                let answer = Stub::new(key()).rpc(&CALL, method, arguments).await;
                let text = answer.map_or_else(|error| error.to_string(), |value| short(&text_of(&value)));
                log(format_args!("{method} {text}"));
            })
        })
        .await;
    }

    /// Logs the rows of the transport.
    pub(crate) async fn rows(&self) {
        self.rpc("rows", Value::Null, 10).await;
    }
}

fn key() -> ObjectKey {
    ObjectKey::named("Session", "streamable-http:s1")
}

async fn open_bridge(name: &'static str, headers: Vec<(String, String)>) {
    let is_get = headers.iter().all(|(key, _)| key != "method");
    let stub = Stub::new(key());
    let answer = stub.fetch(&CALL, FetchRequest::new("/", headers)).await.expect("the object accepts");
    let socket = stub.socket(answer.socket.expect("an upgrade"));
    BRIDGES.with_borrow_mut(|bridges| bridges.insert(name, (EventLoop::current().ctx(), socket.clone())));
    let bridge = socket.clone();
    socket.listen(move |event| match event {
        SocketEvent::Message(text) => {
            let frame = Frame::parse(&text).expect("a frame");
            log(format_args!("{name} {}", shown(&frame)));
            if let Frame::AgentEvent { ack_stream_ids, close: true, .. } = frame {
                deliver(&bridge, name, if is_get { ack_stream_ids } else { None });
            }
        }
        SocketEvent::Close(code, reason) => log(format_args!("{name} closed {code} {reason}")),
    });
    // The request goes on for as long as its body does.
    timer(60_000).wait().await;
}

/// The client's body ended: a GET is acknowledged, then the socket is closed; nothing of it when the client is gone.
fn deliver(bridge: &ClientSocket, name: &str, streams: Option<Vec<String>>) {
    if name.ends_with('!') {
        return;
    }
    for stream_id in streams.into_iter().flatten() {
        let ack = Frame::DeliveryAck { event_id: None, stream_id };
        bridge.send(ack.to_text()).expect("in its own context");
    }
    bridge.close(1000, "SSE response delivered").expect("in its own context");
}

/// `kind id data` or the comment, then what the bridge is told.
fn shown(frame: &Frame) -> String {
    let Frame::AgentEvent { event, ack_stream_ids, close, .. } = frame else { return "an ack".to_owned() };
    let fields = event.trim_end().lines().map(|line| line.split_once(": ").map_or(line, |(_, value)| value));
    let mut text = short(&fields.collect::<Vec<_>>().join(" "));
    if let Some(streams) = ack_stream_ids {
        text += &format!(" ack {}", streams.join(","));
    }
    if *close { text + " close" } else { text }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Without what every message has, without quotes, with short sequence numbers and texts.
fn short(text: &str) -> String {
    let text = text.replace('"', "").replace(",jsonrpc:2.0", "").replace("jsonrpc:2.0,", "");
    let priming = "{method:notifications/message,params:{data:mcp-stream-priming,level:debug}}";
    let text = text.replace(priming, "{prime}").replace("00000000000000", "");
    if text.len() > 300 { format!("{}… {} bytes", &text[..40], text.len()) } else { text }
}

/// Trips of another chain through the queue until `work` is done.
pub(crate) async fn counted(work: impl Future<Output = ()>) -> u64 {
    let (count, over) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let (counting, stop) = (Rc::clone(&count), Rc::clone(&over));
    drop(call(async move {
        while !stop.get() {
            hops(1).await;
            counting.set(counting.get() + 1);
        }
    }));
    work.await;
    over.set(true);
    count.get()
}

/// A call of a tool as a JSON-RPC request.
pub(crate) fn tool_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
}

/// Any other request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}
