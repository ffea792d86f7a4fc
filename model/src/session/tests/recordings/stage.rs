//! The stage of a replay: sessions in one isolate whose methods are called directly, and what is shown after each step.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::world::{Setup, World};
use super::start_body::{self, StartBody};
use crate::agents::NAME_KEY;
use crate::agents::transport::Transport;
use crate::defect::Defect;
use crate::js::EventLoop;
use crate::observed;
use crate::operation::{Kind, Operation};
use crate::platform::JsError;
use crate::session::init::init;
use crate::session::meta::SessionMeta;
use crate::session::upstream::DbHandle;
use crate::session::{SessionObject, residency};

static TEST_PUT: Operation =
    Operation { name: "test · storage.put", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "storage" };
static TEST_GET: Operation =
    Operation { name: "test · storage.get", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "storage" };
static TEST_DELETE: Operation =
    Operation { name: "test · storage.delete", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "storage" };
pub(super) static TEST_ALARM: Operation =
    Operation { name: "test · storage.setAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "storage" };

/// Until everything here has come to rest, in milliseconds.
const REST_MS: u64 = 60;
/// Until a call that waits for nothing has been made.
const CALL_MS: u64 = 20;
/// The session of the tests that have but one.
pub(super) const ONE: &str = "session-reconnect";

thread_local! {
    static SESSIONS: RefCell<Vec<Rc<SessionObject>>> = const { RefCell::new(Vec::new()) };
    /// Names that are drawn here, with those of the recordings.
    static ALIASES: RefCell<Vec<(Arc<str>, &'static str)>> = const { RefCell::new(Vec::new()) };
}

/// A world like that of the recorded tests: the described core, no cap eviction, an idle timeout of a minute.
pub(super) fn described() -> Setup {
    Setup { defects: Defect::described().collect(), supports_cap_eviction: false, ..Setup::default() }
}

/// Sessions of a replay.
pub(super) struct Stage(pub Rc<World>);

impl Stage {
    /// Makes sessions, in order, and shows them from now on.
    pub async fn make(&self, ids: &[&'static str]) {
        for id in ids {
            self.call(id, CALL_MS, |session| async move { SESSIONS.with_borrow_mut(|all| all.push(session)) }).await;
        }
    }

    /// Runs work in a session's own context, until it or what it waits for has come to rest.
    pub async fn run<Fut: Future<Output = ()> + 'static>(
        &self,
        id: &'static str,
        work: impl Fn(Rc<SessionObject>) -> Fut + 'static,
    ) {
        self.call(id, REST_MS, work).await;
    }

    async fn call<Fut: Future<Output = ()> + 'static>(
        &self,
        id: &'static str,
        ms: u64,
        work: impl Fn(Rc<SessionObject>) -> Fut + 'static,
    ) {
        self.0.at(id).inside("run", ms, work).await;
    }

    /// Shows what is so now.
    pub async fn step(&self, n: u32, what: &'static str) {
        let id = ONE;
        self.call(id, CALL_MS, move |_| async move { step(n, what) }).await;
    }

    /// Gives a session a live connection, and nothing else: what carries it is taken away again.
    pub async fn connect(&self, id: &'static str) {
        start_body::replace(Some(StartBody { engine: None, is_gated: false }));
        self.0.at(id).listen("stream", REST_MS).await;
        start_body::replace(None);
        self.run(id, |session| async move {
            assert_eq!(session.active_stream_count(), 1, "the connection lives");
            clear(&session);
            session.ctx().storage().delete(&TEST_DELETE, NAME_KEY).await.expect("storage works");
        })
        .await;
    }

    /// `init()` of a session of its own organisation.
    pub async fn init(&self, id: &'static str) {
        self.run(id, move |session| async move { init_of(session, id).await.expect("it succeeds") }).await;
    }
}

/// `init()` with props of an organisation.
pub(super) async fn init_of(session: Rc<SessionObject>, organization: &str) -> Result<(), JsError> {
    *session.agent.props.borrow_mut() = Some(json!({"session": record(organization)}));
    init(session).await
}

/// Puts the stage in order for another replay.
pub(super) fn clear_all() {
    start_body::replace(None);
    drop(SESSIONS.take());
    ALIASES.take();
}

/// What is called `ours` here is called `recorded` there.
pub(super) fn alias(ours: &Arc<str>, recorded: &'static str) {
    observed::tell("alias", &json!({"ours": &**ours, "recorded": recorded}));
    ALIASES.with_borrow_mut(|all| all.push((Arc::clone(ours), recorded)));
}

/// What the recordings call so, as it is called here.
pub(super) fn aliased(recorded: &str) -> Arc<str> {
    let found =
        ALIASES.with_borrow(|all| all.iter().find(|(_, name)| *name == recorded).map(|(ours, _)| Arc::clone(ours)));
    found.expect("it has an alias")
}

/// From now on what is seen counts, and the clock is taken to stand still.
pub(super) fn begin() {
    observed::tell("begin", &json!({}));
}

/// A stored identity, or what a connect carries of one.
pub(super) fn record(organization: &str) -> Value {
    json!({
        "organizationId": organization,
        "organizationName": "Org 1",
        "userId": "user-1",
        "resource": {"kind": "default"},
    })
}

/// The same as an object.
pub(super) fn token(record: &Value) -> Map<String, Value> {
    record.as_object().expect("an object").clone()
}

/// Writes into the storage of a session, as a recorded test does.
pub(super) async fn put(session: &SessionObject, key: &'static str, value: Value) {
    session.ctx().storage().put(&TEST_PUT, key, value).await.expect("storage works");
}

/// Reads it.
pub(super) async fn get(session: &SessionObject, key: &'static str) -> Option<Value> {
    let stored = session.ctx().storage().get(&TEST_GET, key).await.expect("storage works");
    stored.map(|value| (*value).clone())
}

/// Takes the fields of a runtime away.
pub(super) fn clear(session: &SessionObject) {
    session.initialized.set(false);
    *session.server.borrow_mut() = None;
    *session.engine.borrow_mut() = None;
    *session.db.borrow_mut() = None;
    *session.agent.transport.borrow_mut() = None;
}

/// A session with a runtime that was last used 10 ms ago, and that is not counted: its fields are set by hand.
pub(super) async fn resident(session: &SessionObject) {
    let server = start_body::server();
    let transport = Transport::new(session.ctx().clone(), Rc::default());
    Rc::clone(&server).connect(Rc::clone(&transport)).await.expect("a fresh server connects");
    *session.server.borrow_mut() = Some(server);
    *session.agent.transport.borrow_mut() = Some(transport);
    *session.engine.borrow_mut() = Some(start_body::engine(session));
    *session.db.borrow_mut() = Some(DbHandle::open(session.label()));
    let meta =
        SessionMeta { organization_id: "org-1".into(), user_id: "user-1".into(), record: token(&record("org-1")) };
    *session.session_meta.borrow_mut() = Some(Rc::new(meta));
    session.initialized.set(true);
    session.last_activity_ms.set(EventLoop::current().now_ms() - 10);
}

/// Shows what is so now, in the form of the recordings.
pub(super) fn step(n: u32, what: &str) {
    let (resident, in_flight) = residency::load();
    let (peak, entries) = residency::books();
    let registry: Vec<Value> = entries.iter().map(|(id, last, asked)| entry(id, *last, *asked)).collect();
    let sessions: Vec<Value> = SESSIONS.with_borrow(|all| all.iter().map(|session| state(session)).collect());
    let step = json!({
        "k": "step", "n": n, "what": what, "resident": resident, "peak": peak, "inFlight": in_flight,
        "registry": registry, "sessions": sessions,
    });
    observed::tell("step", &step);
}

fn entry(id: &Arc<str>, last_ms: u64, asked_ms: Option<u64>) -> Value {
    let mut entry = json!({"id": &**id, "last": last_ms});
    if let Some(asked_ms) = asked_ms {
        entry["evictionRequestedAt"] = json!(asked_ms);
    }
    entry
}

fn state(session: &SessionObject) -> Value {
    let (values, alarm) = session.ctx().storage().peek();
    let storage: Map<String, Value> = values.iter().map(|(key, value)| (key.to_string(), (**value).clone())).collect();
    let leases: Vec<String> = session.leases.ids().iter().map(ToString::to_string).collect();
    json!({
        "id": &*session.session_id_for_telemetry(),
        "initialized": session.initialized.get(),
        "engine": session.engine.borrow().as_ref().map(|engine| engine.number()),
        "server": session.server.borrow().is_some(),
        "handle": session.db.borrow().is_some(),
        "lastActivity": session.last_activity_ms.get(),
        "alarm": alarm,
        "storage": storage,
        "leases": leases,
        "disposing": session.disposing_runtime.borrow().is_some(),
        "starting": session.on_start_promise.borrow().is_some(),
    })
}
