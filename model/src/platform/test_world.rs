//! A small world for the platform's own tests: one probe class, driven by closures, on madsim or on paused tokio.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::rt;

/// What the probe object does when called: decided by the test, by method name.
pub(crate) type Handler =
    Arc<dyn Fn(ObjectContext, &'static str, Value) -> LocalFuture<Result<Value, JsError>> + Send + Sync>;

struct Probe {
    ctx: ObjectContext,
    handler: Handler,
    has_alarm: bool,
}

impl DurableObject for Probe {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Result<Value, JsError>> {
        (self.handler)(self.ctx.clone(), method, arguments)
    }

    /// `/socket` accepts a socket; everything else is the handler's `fetch`.
    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        if request.path == "/socket" {
            let socket = self.ctx.accept_web_socket(&request, "probe").map(|socket| Some(socket.number()));
            return Box::pin(async { socket.map(|socket| FetchResponse { status: 101, body: String::new(), socket }) });
        }
        let call = (self.handler)(self.ctx.clone(), "fetch", Value::from(request.path));
        Box::pin(async { call.await.map(|value| FetchResponse { status: 200, body: value.to_string(), socket: None }) })
    }

    fn alarm(self: Rc<Self>, info: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        let told = serde_json::json!({ "retryCount": info.retry_count, "scheduledTime": info.scheduled_ms });
        let call = (self.handler)(self.ctx.clone(), "alarm", told);
        Some(Box::pin(async move { call.await.map(drop) }))
    }

    fn socket_message(self: Rc<Self>, socket: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        let call = (self.handler)(self.ctx.clone(), "message", Value::from(&*text));
        Box::pin(async move { call.await.and_then(|answer| socket.send(answer.to_string())) })
    }

    fn socket_close(self: Rc<Self>, _: Socket, code: u16) -> LocalFuture<Result<(), JsError>> {
        let call = (self.handler)(self.ctx.clone(), "close", Value::from(code));
        Box::pin(async move { call.await.map(drop) })
    }

    fn has_alarm(&self) -> bool {
        self.has_alarm
    }
}

/// The world: a cluster with the probe classes, and a worker to call from. `Built` is told of its construction too.
pub(crate) struct TestWorld {
    pub cluster: Cluster,
    worker: Worker,
}

thread_local! {
    static MARKS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Writes a mark; the test compares the order.
pub(crate) fn mark(text: impl Into<String>) {
    MARKS.with_borrow_mut(|marks| marks.push(text.into()));
}

/// The marks so far, joined by blanks; none are left.
pub(crate) fn marks() -> String {
    MARKS.with_borrow_mut(std::mem::take).join(" ")
}

impl TestWorld {
    pub fn new(build: RuntimeBuild, handler: Handler) -> Self {
        Self::with_isolates(1, build, handler)
    }

    /// A world whose objects are spread over so many isolates.
    pub fn with_isolates(isolate_count: u32, build: RuntimeBuild, handler: Handler) -> Self {
        Self::with(isolate_count, build, Switches::default(), handler)
    }

    /// The same with other habits.
    pub fn with(isolate_count: u32, build: RuntimeBuild, switches: Switches, handler: Handler) -> Self {
        let mut classes: BTreeMap<&'static str, super::cluster::Class> = BTreeMap::new();
        for (name, has_alarm) in [("Probe", true), ("NoAlarm", false), ("Built", true)] {
            let handler = Arc::clone(&handler);
            let class = move |ctx: ObjectContext| -> Rc<dyn DurableObject> {
                if name == "Built" {
                    drop(crate::js::call(handler(ctx.clone(), "constructor", Value::Null)));
                }
                Rc::new(Probe { ctx, handler: Arc::clone(&handler), has_alarm })
            };
            classes.insert(name, Arc::new(class));
        }
        let cluster = Cluster::start_with(ClusterConfig { isolate_count, build, classes }, switches);
        let worker = Worker::start(&cluster, "worker", IpAddr::V4(Ipv4Addr::new(10, 3, 0, 1)));
        TestWorld { cluster, worker }
    }

    /// Runs `start` as a request of the worker.
    pub fn post(&self, start: impl FnOnce() -> LocalFuture<()> + Send + 'static) {
        self.worker.handle().request("w".into(), &crate::js::Lane::named(&"w".into(), "http", 0), Box::new(start));
    }

    /// Runs `start` as a request of the worker and waits `ms` for the world to go on.
    pub async fn request(&self, ms: u64, start: impl FnOnce() -> LocalFuture<()> + Send + 'static) {
        self.post(start);
        rt::sleep_ms(ms).await;
    }

    pub async fn stop(&self) {
        self.worker.stop();
        self.cluster.stop();
        rt::sleep_ms(1).await;
    }
}

/// Runs a test in a world of virtual time.
pub(crate) fn run<F: Future<Output = ()> + 'static>(make: impl FnOnce() -> F + Send + 'static) {
    #[cfg(madsim)]
    {
        #[expect(clippy::disallowed_methods, reason = "a fresh thread a run is the reference")]
        let thread = std::thread::spawn(move || {
            let runtime = madsim::runtime::Runtime::with_seed_and_config(1, madsim::Config::default());
            runtime.block_on(async move {
                rt::begin_run(None, 10_000_000);
                make().await;
                rt::end_run();
            });
        });
        thread.join().expect("the test's world ran");
    }
    #[cfg(not(madsim))]
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime.expect("a runtime"), async move {
            rt::begin_run(None, 10_000_000);
            make().await;
            rt::end_run();
        });
    }
}
