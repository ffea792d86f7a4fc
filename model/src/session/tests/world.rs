//! A world with one real session object: calls from a worker, work inside the object, scripted trouble, and what was
//! recorded.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::events::{self, Recorded};
use super::script::{Rule, Script};
use crate::config::HostConfig;
use crate::defect::{Defect, DefectSet};
use crate::fx::Fiber;
use crate::js::Lane;
use crate::operation::{Kind, Operation};
use crate::platform::{
    AlarmInfo, Cluster, ClusterConfig, Control, DurableObject, FetchRequest, FetchResponse, JsError, LocalFuture,
    ObjectContext, ObjectKey, RuntimeBuild, Socket, Stub, Worker,
};
use crate::rt;
use crate::session::owner_object::{OWNER_CLASS, OwnerObject};
use crate::session::{CLASS, NAME_PREFIX, SessionObject};

static CALL: Operation = Operation { name: "test · call", kind: Kind::Io, hops: 0, assumed: false, waits_on: "" };

/// Idle timeout of the sessions here, in milliseconds, unless a test sets its own.
pub(crate) const TIMEOUT_MS: u64 = 60_000;

type Work = Rc<dyn Fn(Rc<SessionObject>) -> LocalFuture<()>>;

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static WORK: RefCell<BTreeMap<&'static str, Work>> = const { RefCell::new(BTreeMap::new()) };
}

/// Writes a line of the test's log.
pub(crate) fn log(text: impl std::fmt::Display) {
    LOG.with_borrow_mut(|lines| lines.push(text.to_string()));
}

/// How a world is made up.
pub(crate) struct Setup {
    /// Build of the runtime.
    pub build: RuntimeBuild,
    /// Idle timeout.
    pub timeout_ms: u64,
    /// Defects that are switched on.
    pub defects: Vec<Defect>,
    /// False for an object whose id never had a name.
    pub named: bool,
    /// How a person is asked.
    pub mode: &'static str,
    /// Idle ceiling of a session that is paused.
    pub max_paused_ms: u64,
    /// What goes wrong.
    pub rules: Vec<Rule>,
    /// Runtimes an isolate tries not to exceed.
    pub cap: u32,
    /// Whether the host supports cap eviction.
    pub supports_cap_eviction: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            build: RuntimeBuild::May2026,
            timeout_ms: TIMEOUT_MS,
            defects: Vec::new(),
            named: true,
            mode: "model",
            max_paused_ms: 540_000,
            rules: Vec::new(),
            cap: 32,
            supports_cap_eviction: true,
        }
    }
}

/// The object under test; methods that the session does not have are the test's work inside of it.
struct Probe(Rc<SessionObject>);

impl DurableObject for Probe {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Result<Value, JsError>> {
        let work = WORK.with_borrow(|work| work.get(method).cloned());
        match work {
            Some(work) => {
                let running = work(Rc::clone(&self.0));
                Box::pin(async move {
                    running.await;
                    Ok(Value::Null)
                })
            }
            None => Rc::clone(&self.0).rpc(method, arguments),
        }
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        Rc::clone(&self.0).fetch(request)
    }

    fn alarm(self: Rc<Self>, info: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        Rc::clone(&self.0).alarm(info)
    }

    fn socket_message(self: Rc<Self>, socket: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        Rc::clone(&self.0).socket_message(socket, text)
    }

    fn socket_close(self: Rc<Self>, socket: Socket, code: u16) -> LocalFuture<Result<(), JsError>> {
        Rc::clone(&self.0).socket_close(socket, code)
    }

    fn running(&self, what: &str) -> Option<Fiber> {
        self.0.running(what)
    }
}

/// The world: session objects in one isolate, a worker to call them from; and which of them is spoken to.
pub(crate) struct World {
    cluster: Cluster,
    worker: Rc<Worker>,
    named: bool,
    id: &'static str,
    organization: &'static str,
    mode: &'static str,
}

/// What a story left behind.
pub(crate) struct Played {
    /// The test's own log.
    pub log: Vec<String>,
    /// What the model recorded.
    pub recorded: Recorded,
}

/// Runs a story in a fresh world.
pub(crate) fn play<F, Fut>(setup: Setup, story: F) -> Played
where
    F: FnOnce(Rc<World>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    on_a_fresh_clock(move || async move {
        LOG.take();
        WORK.take();
        let recording = events::record();
        let script = Script::new(setup.rules);
        rt::begin_run(Some(Rc::new(script)), u64::MAX);
        let config = HostConfig {
            session_timeout_ms: setup.timeout_ms,
            resident_runtime_soft_cap: setup.cap,
            supports_cap_eviction: setup.supports_cap_eviction,
            max_paused_session_idle_ms: setup.max_paused_ms,
            defects: DefectSet::of(setup.defects),
            ..HostConfig::default()
        };
        let world = Rc::new(World { mode: setup.mode, ..World::start(config, setup.build, setup.named) });
        story(Rc::clone(&world)).await;
        world.worker.stop();
        world.cluster.stop();
        rt::sleep_ms(1).await;
        rt::end_run();
        WORK.take();
        Played { log: LOG.take(), recorded: recording.take() }
    })
}

fn on_a_fresh_clock<T, Fut>(run: impl FnOnce() -> Fut + Send + 'static) -> T
where
    T: Send + 'static,
    Fut: Future<Output = T> + 'static,
{
    #[cfg(madsim)]
    {
        #[expect(clippy::disallowed_methods, reason = "a fresh thread a run is the reference")]
        let thread = std::thread::spawn(move || {
            let runtime = madsim::runtime::Runtime::with_seed_and_config(1, madsim::Config::default());
            runtime.block_on(run())
        });
        thread.join().expect("the world ends without a panic")
    }
    #[cfg(not(madsim))]
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        tokio::task::LocalSet::new().block_on(&runtime.expect("a runtime"), run())
    }
}

impl World {
    fn start(config: HostConfig, build: RuntimeBuild, named: bool) -> Self {
        let of_owner = config.clone();
        let class = move |ctx: ObjectContext| -> Rc<dyn DurableObject> {
            Rc::new(Probe(SessionObject::new(ctx, Rc::new(config.clone()))))
        };
        let mut classes: BTreeMap<&'static str, crate::platform::Class> = BTreeMap::new();
        classes.insert(CLASS, Arc::new(class));
        let owner =
            move |ctx: ObjectContext| -> Rc<dyn DurableObject> { OwnerObject::new(ctx, Rc::new(of_owner.clone())) };
        classes.insert(OWNER_CLASS, Arc::new(owner));
        let cluster = Cluster::start(ClusterConfig { isolate_count: 1, build, classes });
        let worker = Worker::start(&cluster, "worker", IpAddr::V4(Ipv4Addr::new(10, 3, 0, 1)));
        World { cluster, worker: Rc::new(worker), named, id: "s1", organization: "org-1", mode: "model" }
    }

    /// The same world, to speak to another of its sessions.
    pub fn at(&self, id: &'static str) -> World {
        World { cluster: self.cluster.clone(), worker: Rc::clone(&self.worker), id, ..*self }
    }

    /// The same, for another organisation.
    pub fn of(&self, organization: &'static str) -> World {
        World { organization, ..self.at(self.id) }
    }

    /// The key of the object.
    pub fn key(&self) -> ObjectKey {
        if self.named { ObjectKey::named(CLASS, self.name()) } else { ObjectKey::unique(CLASS, "0f0f") }
    }

    fn name(&self) -> String {
        format!("{NAME_PREFIX}{}", self.id)
    }

    /// The harness's handle.
    pub fn handle(&self) -> Control {
        Control::new(self.cluster.clone())
    }

    /// Runs a request of the worker's own.
    pub(super) fn post(&self, label: &'static str, call: Box<dyn FnOnce() -> LocalFuture<()> + Send>) {
        let label = Arc::<str>::from(label);
        let lane = Lane::named(&self.id.into(), &format!("http.{label}"), 0);
        self.worker.handle().request(label, &lane, call);
    }

    /// Calls a method of the session and logs `label` with its answer; goes on `ms` later, whatever became of the call.
    pub async fn rpc(&self, label: &'static str, method: &'static str, arguments: Value, ms: u64) {
        self.rpc_of(self.key(), label, method, arguments, ms).await;
    }

    /// The same for any object.
    pub async fn rpc_of(&self, key: ObjectKey, label: &'static str, method: &'static str, arguments: Value, ms: u64) {
        let call = move || -> LocalFuture<()> {
            Box::pin(async move {
                let answer = Stub::new(key).rpc(&CALL, method, arguments).await;
                log(format_args!("{label} {}", answer.map_or_else(|error| error.to_string(), shown)));
            })
        };
        self.post(label, Box::new(call));
        rt::sleep_ms(ms).await;
    }

    /// What a bridge does first: the name, and what the connect carries. Starts the object in its section.
    pub async fn open(&self, ms: u64) {
        let mut props = props(self.organization);
        props["session"]["elicitationMode"] = self.mode.into();
        props["session"]["webOrigin"] = "https://host".into();
        self.rpc("open", "setName", json!({"name": self.name(), "props": props}), ms).await;
    }

    /// An owner check by the owner.
    pub async fn validate(&self, label: &'static str, ms: u64) {
        let owner = json!({"accountId": "user-1", "organizationId": self.organization});
        self.rpc(label, "validateMcpSessionOwner", owner, ms).await;
    }

    /// Runs work inside the object, as a call of its own.
    pub async fn inside<Fut>(&self, label: &'static str, ms: u64, work: impl Fn(Rc<SessionObject>) -> Fut + 'static)
    where
        Fut: Future<Output = ()> + 'static,
    {
        let work: Work = Rc::new(move |session| Box::pin(work(session)));
        WORK.with_borrow_mut(|all| all.insert(label, work));
        let key = self.key();
        let call = move || -> LocalFuture<()> {
            Box::pin(async move {
                if let Err(error) = Stub::new(key).rpc(&CALL, label, Value::Null).await {
                    log(format_args!("{label} {error}"));
                }
            })
        };
        self.post(label, Box::new(call));
        rt::sleep_ms(ms).await;
    }

    /// Opens a socket to the session, as a bridge's GET does, and leaves it open for a minute.
    pub async fn listen(&self, label: &'static str, ms: u64) {
        let key = self.key();
        let call = move || -> LocalFuture<()> {
            Box::pin(async move {
                let stub = Stub::new(key);
                let headers = vec![(crate::mcp::METHOD_HEADER.to_owned(), "GET".to_owned())];
                let answer = stub.fetch(&CALL, FetchRequest::new("/mcp", headers)).await.expect("the object accepts");
                let socket = stub.socket(answer.socket.expect("an upgrade"));
                socket.listen(move |event| log(format_args!("{label} {event:?}")));
                crate::js::timer(60_000).wait().await;
            })
        };
        self.post(label, Box::new(call));
        rt::sleep_ms(ms).await;
    }
}

fn shown(answer: Value) -> String {
    answer.as_str().map_or_else(|| answer.to_string(), str::to_owned)
}

/// The name of the first session's object here.
pub(crate) fn name() -> String {
    format!("{NAME_PREFIX}s1")
}

/// What a connect of an organisation carries.
pub(crate) fn props(organization: &str) -> Value {
    let session = json!({
        "organizationId": organization,
        "organizationName": format!("Organization {organization}"),
        "userId": "user-1",
        "elicitationMode": "model",
        "resource": {"kind": "default"},
    });
    json!({"session": session})
}
