//! The world of one replay: one isolate with the probes' classes, a worker in front, and who drives both.

use super::agents::{self, Client};
use super::front::{self, Answer, Peer};
use super::object::{Probe, Server};
use super::probe::{self, Drawn, Steps};
use super::record::Suite;
use crate::capture::{self, Caught};
use crate::error::Error;
use crate::habits;
use crate::run::STACK_BYTES;
use crate::world::run_bare;
use model::js::Lane;
use model::net::server;
use model::operation::{Intervention, OperationPoint};
use model::platform::{
    Class, Cluster, ClusterConfig, Control, DurableObject, JsError, LocalFuture, ObjectContext, ObjectKey, Switches,
    Worker,
};
use model::{rt, serve};
use scenarios::plan::{self, AfterReset, DeleteAll, Runtime};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

/// Virtual time that a replay may take: the longest recorded one takes four minutes.
const VIRTUAL_MS_MAX: u64 = 60 * 60 * 1_000;
/// Where the worker stands.
const WORKER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 3, 0, 1));

/// Where its HTTP server listens.
const FRONT: SocketAddr = SocketAddr::new(WORKER_ADDRESS, 8787);

/// The world of a replay, as its driver sees it.
pub struct World {
    /// The platform.
    pub cluster: Cluster,
    worker: Worker,
    client: RefCell<Option<Rc<Client>>>,
}

/// Replays a probe on the build and with the flags of a suite, on a thread of its own.
///
/// # Errors
/// A harness error when no thread is to be had; inside, the panic of the model or of the replay.
pub fn replay(probe: &'static probe::Probe, suite: &Suite) -> Result<Result<Value, Caught>, Error> {
    let suite = suite.clone();
    let work = move || capture::guarded(|| run_bare(VIRTUAL_MS_MAX, move || play(probe, suite)));
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let thread = thread.map_err(|error| Error::harness(format!("no thread for a replay: {error}")))?;
    thread.join().map_err(|_| Error::harness("the thread of a replay panicked while it ended"))
}

/// Takes the decisions that a probe names as it says, and all others calmly.
struct Decisions(Vec<Drawn>);

impl Decisions {
    fn value(&self, what: &str) -> u64 {
        self.0.iter().find(|drawn| drawn.what == what).map_or(0, |drawn| drawn.value)
    }
}

impl rt::Director for Decisions {
    fn decide(&self, _: &str, what: &str, below: u64) -> u64 {
        self.value(what).min(below.saturating_sub(1))
    }

    fn delay_ms(&self, _: &str, what: &str) -> u64 {
        self.value(what)
    }

    fn stray(&self, _: &str, what: &str) -> u64 {
        self.value(what)
    }

    fn round_up_ms(&self, at_ms: u64) -> u64 {
        at_ms
    }

    fn at_operation(&self, _: &OperationPoint<'_>) -> Option<Box<Intervention>> {
        None
    }
}

async fn play(probe: &'static probe::Probe, suite: Suite) -> Value {
    rt::begin_run(Some(Rc::new(Decisions(probe.drawn_in(&suite.name)))), u64::MAX);
    let world = Rc::new(World::start(&suite));
    let answer = match probe.steps {
        Steps::Front(steps) => world.request(steps).await,
        Steps::Driver(steps) => steps(Rc::clone(&world)).await,
    };
    world.stop();
    rt::sleep_ms(1).await;
    match answer {
        Ok(value) => value,
        Err(error) => json!({ "error": front::described(&error) }),
    }
}

fn class(make: impl Fn(ObjectContext) -> Rc<dyn DurableObject> + Send + Sync + 'static) -> Class {
    Arc::new(make)
}

impl World {
    fn start(suite: &Suite) -> World {
        let mut classes: BTreeMap<&'static str, Class> = BTreeMap::new();
        for (name, has_alarm) in [("Probe", true), ("ProbeKv", true), ("NoAlarm", false)] {
            classes.insert(name, class(move |ctx| Probe::construct(ctx, has_alarm)));
        }
        classes.insert("Server", class(|ctx| Rc::new(Server(ctx))));
        classes.extend(agents::classes());
        // A developer's machine of the record's build; what the builds do differently is left to it.
        let deletes_alarm = suite.flags.delete_all_deletes_alarm;
        let of_record = plan::Switches {
            delete_all: if deletes_alarm { DeleteAll::DeletesAlarm } else { DeleteAll::KeepsAlarm },
            after_reset: AfterReset::ByBuild,
            runtime: Runtime::Local,
            ..plan::Switches::default()
        };
        let (build, switches) = habits::of(suite.build, of_record);
        let switches = Switches { keeps_errors: suite.flags.enhanced_error_serialization, ..switches };
        let config = ClusterConfig { isolate_count: 1, build, classes };
        let cluster = Cluster::start_with(config, switches);
        let worker = Worker::start(&cluster, "worker", WORKER_ADDRESS);
        World { cluster, worker, client: RefCell::new(None) }
    }

    /// A client of the worker, which serves the MCP class of the probes' agents.
    pub fn client(&self) -> Rc<Client> {
        let inlet = serve(self.worker.handle(), Arc::default(), agents::MCP, json!({ "who": "probe" }));
        self.worker.node().run(move || async move {
            let Err(error) = server::serve(FRONT, inlet).await;
            panic!("the worker cannot listen on {FRONT}: {error}");
        });
        let client = Rc::new(Client::start(FRONT));
        *self.client.borrow_mut() = Some(Rc::clone(&client));
        client
    }

    fn stop(&self) {
        self.worker.stop();
        self.cluster.stop();
        if let Some(client) = self.client.take() {
            client.stop();
        }
    }

    /// Runs `start` as a request of the worker and waits for what it comes to.
    pub async fn request(&self, start: impl FnOnce() -> LocalFuture<Answer> + Send + 'static) -> Answer {
        let (tell, told) = tokio::sync::oneshot::channel();
        let task = move || -> LocalFuture<()> {
            let work = start();
            Box::pin(async move { drop(tell.send(work.await)) })
        };
        self.worker.handle().request("w".into(), &Lane::named(&"w".into(), "http", 0), Box::new(task));
        told.await.expect("a request is answered")
    }

    /// The same, and nobody waits for it.
    pub fn post(&self, start: impl FnOnce() -> LocalFuture<()> + Send + 'static) {
        self.worker.handle().request("w".into(), &Lane::named(&"w".into(), "http", 0), Box::new(start));
    }

    /// Has the object of that name run `code`, through a stub of its own, in a request of its own.
    pub async fn call<F>(&self, name: &str, code: impl FnOnce(Rc<Probe>) -> F + Send + 'static) -> Answer
    where
        F: Future<Output = Answer> + 'static,
    {
        let name = name.to_owned();
        self.request(move || Box::pin(async move { Peer::named(&name).run(code).wait().await })).await
    }

    /// `ping`: number of the instance that answers.
    pub async fn ping(&self, name: &str) -> Answer {
        let name = name.to_owned();
        self.request(move || Box::pin(async move { Peer::named(&name).ping().wait().await })).await
    }

    /// Has the object of that name set an alarm `ms` ahead that does `todo`.
    pub async fn set_alarm(&self, name: &str, ms: i64, todo: &'static str) -> Answer {
        let name = name.to_owned();
        let set = move || -> LocalFuture<Answer> {
            Box::pin(async move { Peer::named(&name).set_alarm_doing(ms, todo).wait().await })
        };
        self.request(set).await
    }

    /// The process is killed and started again: its isolate ends, another takes its place.
    pub fn restart(&self) {
        self.cluster.isolates().into_iter().for_each(|isolate| self.cluster.end_isolate(isolate));
    }
}

/// `abortAllDurableObjects()`, the local stand-in for a code update.
pub(super) fn abort_all(cluster: &Cluster) {
    let control = Control::new(cluster.clone());
    let error = JsError::new("Application called abortAllDurableObjects().");
    for key in cluster.objects().into_iter().filter(|key: &ObjectKey| key.class != "Server") {
        control.reset(&key, error.clone(), || ());
    }
}
