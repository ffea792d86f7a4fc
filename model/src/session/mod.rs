//! The session object under test: one per session id and incarnation, over durable storage that outlives it.
//!
//! Split by decision: [`start`] single flight, [`init`] the cold build, [`teardown`] giving the runtime back, [`alarm`]
//! and [`alarm_policy`], [`clock`] the idle clock, [`ownership`] the owner check and restore, [`connect`] sockets,
//! [`destroy`], [`meta`] the stored identity, [`host`] the hooks of the concrete host, which is the [`cloud`], [`apps`] a capability kept with it, [`failure`] the classifier, [`report`]
//! who captures what, [`residency`] what the isolate counts, [`registry`] whom it could ask, [`cap`] its soft cap, [`build_queue`] its builds at a
//! time, [`holding`] for how long either may be held.
//!
//! Paused executions: [`engine`] what runs and pauses, [`tools`] what the model sees of it, [`leases`] what a pause holds,
//! [`approvals`] and [`approval_rpc`] decisions in a browser, [`model_resume`] resuming, also in another session, which
//! [`owner_directory`] finds through [`owner_object`], [`elicit`] asking the client.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::agents::base::{AgentBase, Agents};
use crate::agents::mcp_server::Server;
use crate::agents::{AgentHost, AgentState, NAME_KEY, schedule};
use crate::config::HostConfig;
use crate::fx::Fiber;
use crate::js::{Promise, hops};
use crate::platform::{
    AlarmInfo, DurableObject, FetchRequest, FetchResponse, JsError, LocalFuture, ObjectContext, Socket,
};

pub mod alarm;
pub mod alarm_policy;
pub mod approval_rpc;
pub mod approvals;
mod apps;
pub mod build_queue;
pub mod cap;
pub mod clock;
mod cloud;
pub mod connect;
pub mod destroy;
pub mod elicit;
pub mod engine;
mod execution;
pub mod failure;
mod holding;
mod host;
pub mod init;
pub mod interaction;
pub mod leases;
pub mod meta;
pub mod model_resume;
mod owner_directory;
pub mod owner_object;
pub mod ownership;
pub mod registry;
mod report;
pub mod residency;
pub mod rpc;
pub mod stand;
pub mod start;
pub mod teardown;
pub mod tools;
pub mod upstream;

#[cfg(test)]
pub(crate) mod tests;

use execution::ExecutionEngine;
use host::{SessionDb, SessionHost};
use meta::SessionMeta;

/// Class name in the namespace.
pub const CLASS: &str = "McpSessionDO";
/// What the name of a session's object begins with; the session id follows.
pub const NAME_PREFIX: &str = "streamable-http:";

crate::operations! {
    SESSION_NAME = "alarm · storage.get __ps_name", Storage, 4; "storage; no read when the name is known"
}

/// The session id in an object's name as logs and spans tell it: total, `unresolved` where there is none.
pub fn telemetry_id(name: Option<&str>) -> Arc<str> {
    let id = name.and_then(|name| name.split(':').nth(1)).filter(|id| !id.is_empty());
    id.map_or_else(|| "unresolved".into(), Arc::from)
}

/// The session object.
pub struct SessionObject {
    pub(crate) agent: AgentState,
    pub(crate) config: Rc<HostConfig>,
    /// The framework's classes that this one extends.
    pub(crate) base: Rc<dyn AgentBase<SessionObject>>,
    /// The hooks of the concrete host.
    pub(crate) host: Rc<dyn SessionHost>,
    pub(crate) server: RefCell<Option<Rc<dyn Server>>>,
    pub(crate) engine: RefCell<Option<Rc<dyn ExecutionEngine>>>,
    pub(crate) db: RefCell<Option<Rc<dyn SessionDb>>>,
    pub(crate) session_meta: RefCell<Option<Rc<SessionMeta>>>,
    pub(crate) initialized: Cell<bool>,
    pub(crate) counted_as_resident: Cell<bool>,
    pub(crate) reserved_cold_build_slot: Cell<bool>,
    /// Key of its entry in the isolate's registry, while it may have one.
    pub(crate) registered_as: RefCell<Option<Arc<str>>>,
    pub(crate) init_abort: RefCell<Option<Fiber>>,
    pub(crate) dispose_abort: RefCell<Option<Fiber>>,
    pub(crate) disposing_runtime: RefCell<Option<Promise<()>>>,
    pub(crate) on_start_promise: RefCell<Option<Promise<Result<(), JsError>>>>,
    pub(crate) last_activity_ms: Cell<u64>,
    pub(crate) resolved_session_name: RefCell<Option<Arc<str>>>,
    /// Whether it was condemned, or is being, in this incarnation.
    pub(crate) condemned: Cell<bool>,
    /// Whether its end has begun: what it still has in memory is nobody's any more.
    pub(crate) destroying: Cell<bool>,
    pub(crate) claimed: report::Claimed,
    pub(crate) approvals: approvals::Approvals,
    pub(crate) leases: leases::Leases,
    /// Number of the runtime in use, for traces only.
    pub(crate) runtime: Cell<u64>,
}

impl SessionObject {
    /// The constructor, in the cloud.
    pub fn new(ctx: ObjectContext, config: Rc<HostConfig>) -> Rc<Self> {
        Self::extending(Rc::new(Agents), Rc::new(cloud::Cloud), ctx, config)
    }

    /// The constructor of the class itself, which knows neither its framework nor its host.
    pub(crate) fn extending(
        base: Rc<dyn AgentBase<SessionObject>>,
        host: Rc<dyn SessionHost>,
        ctx: ObjectContext,
        config: Rc<HostConfig>,
    ) -> Rc<Self> {
        Rc::new(SessionObject {
            agent: AgentState::new(ctx),
            config,
            base,
            host,
            server: RefCell::new(None),
            engine: RefCell::new(None),
            db: RefCell::new(None),
            session_meta: RefCell::new(None),
            initialized: Cell::new(false),
            counted_as_resident: Cell::new(false),
            reserved_cold_build_slot: Cell::new(false),
            registered_as: RefCell::new(None),
            init_abort: RefCell::new(None),
            dispose_abort: RefCell::new(None),
            disposing_runtime: RefCell::new(None),
            on_start_promise: RefCell::new(None),
            last_activity_ms: Cell::new(0),
            resolved_session_name: RefCell::new(None),
            condemned: Cell::new(false),
            destroying: Cell::new(false),
            claimed: report::Claimed::default(),
            approvals: approvals::Approvals::default(),
            leases: leases::Leases::default(),
            runtime: Cell::new(0),
        })
    }

    pub(crate) fn ctx(&self) -> &ObjectContext {
        &self.agent.ctx
    }

    pub(crate) fn label(&self) -> &Arc<str> {
        self.agent.ctx.label()
    }

    /// The object's name from what is known without I/O: the id's, the remembered one, the framework's getter.
    pub(crate) fn session_name_or_undefined(&self) -> Option<Arc<str>> {
        let known = self.ctx().id_name().or_else(|| self.resolved_session_name.borrow().clone());
        known.or_else(|| self.base.name(&self.agent).ok())
    }

    /// The same, else the stored record; an absent or empty one is none. What was found is remembered.
    pub(crate) async fn resolve_session_name(&self) -> Result<Option<Arc<str>>, JsError> {
        let known = self.session_name_or_undefined();
        if known.is_some() {
            self.resolved_session_name.borrow_mut().clone_from(&known);
            hops(1).await;
            return Ok(known);
        }
        let record = self.ctx().storage().get(&SESSION_NAME, NAME_KEY).await?;
        let name = record.as_deref().and_then(Value::as_str).filter(|name| !name.is_empty()).map(Arc::from);
        if name.is_some() {
            self.resolved_session_name.borrow_mut().clone_from(&name);
        }
        Ok(name)
    }

    /// The session id, or `unresolved`: total, it can never throw (I39).
    pub(crate) fn session_id_for_telemetry(&self) -> Arc<str> {
        telemetry_id(self.session_name_or_undefined().as_deref())
    }

    /// Anything of a runtime that holds memory, the server left out.
    pub(crate) fn has_resident_runtime(&self) -> bool {
        self.initialized.get() || self.engine.borrow().is_some() || self.db.borrow().is_some()
    }

    /// The same with the server.
    pub(crate) fn has_in_memory_runtime(&self) -> bool {
        self.has_resident_runtime() || self.server.borrow().is_some()
    }

    /// Live sockets, POST answers and GET listeners alike.
    pub(crate) fn active_stream_count(&self) -> usize {
        // Fact: 172. The connections of a hibernating server are the platform's, so they survive eviction.
        // [S:partyserver index.js]
        self.base.connection_count(&self.agent)
    }
}

impl AgentHost for SessionObject {
    fn agent(&self) -> &AgentState {
        &self.agent
    }

    fn config(&self) -> &Rc<HostConfig> {
        &self.config
    }

    fn on_start(self: Rc<Self>, props: Option<Value>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(start::on_start(self, props))
    }

    fn init(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(init::init(self))
    }

    fn schedule_next_alarm(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(clock::schedule_next_alarm(self))
    }

    fn destroy(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(destroy::destroy(self))
    }

    fn server(&self) -> Option<Rc<dyn Server>> {
        self.server.borrow().clone()
    }

    fn on_connect(self: Rc<Self>, socket: Socket, request: FetchRequest) -> LocalFuture<Result<(), JsError>> {
        Box::pin(connect::on_connect(self, socket, request))
    }
}

impl DurableObject for SessionObject {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Result<Value, JsError>> {
        Box::pin(async move {
            let outcome = rpc::dispatch(Rc::clone(&self), method, arguments).await;
            report::escaping(&self, outcome)
        })
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        Box::pin(connect::fetch(self, request))
    }

    fn alarm(self: Rc<Self>, _info: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        Some(Box::pin(async move {
            let outcome = alarm::alarm(Rc::clone(&self)).await;
            report::escaping(&self, outcome)
        }))
    }

    fn socket_message(self: Rc<Self>, socket: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(connect::message(self, socket, text))
    }

    fn socket_close(self: Rc<Self>, _socket: Socket, _code: u16) -> LocalFuture<Result<(), JsError>> {
        Box::pin(connect::closed(self))
    }

    fn running(&self, what: &str) -> Option<Fiber> {
        let slot = if what == "init" { &self.init_abort } else { &self.dispose_abort };
        slot.borrow().clone().filter(Fiber::can_be_interrupted)
    }
}

/// A time in epoch milliseconds as `setAlarm` takes it.
pub(crate) fn signed(at_ms: u64) -> i64 {
    schedule::signed(at_ms)
}
