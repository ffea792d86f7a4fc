//! The agents framework between platform and product: naming and lazy start, the alarm's scheduler, the MCP agent.
//!
//! It knows nothing of residency. What the product's class overrides is behind [`AgentHost`].

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::config::{HostConfig, KEEP_ALIVE_INTERVAL_MS};
use crate::platform::{FetchRequest, JsError, LocalFuture, ObjectContext, Socket};

pub mod base;
pub mod event_store;
pub mod mcp_agent;
pub mod mcp_server;
pub mod party_server;
pub mod schedule;
pub mod tables;
pub mod transport;

use mcp_server::Server;
use transport::Transport;

/// Storage key of the object's name.
pub const NAME_KEY: &str = "__ps_name";
/// Storage key of the destroy marker.
pub const DESTROY_PENDING_KEY: &str = "cf_agents_destroy_pending";
/// Storage key of the props.
pub const PROPS_KEY: &str = "props";
/// Storage key of the client's initialize request.
pub const INITIALIZE_KEY: &str = "initializeRequest";
/// Prefix of the rows of requests that have no answer yet.
pub const STREAM_REQUESTS_PREFIX: &str = "__mcp_stream_reqs__:";

/// Start status of an incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not started, or its start failed.
    Zero,
    /// The section around its start runs.
    Starting,
    /// Started; it stays so after a disposal.
    Started,
}

/// What the framework keeps in an incarnation.
pub struct AgentState {
    /// The object's context.
    pub ctx: ObjectContext,
    /// Start status.
    pub status: Cell<Status>,
    /// The name it was given in memory, when its id has none.
    pub name: RefCell<Option<Arc<str>>>,
    /// Props that a `setName` brought, kept for later starts of this incarnation.
    pub given_props: RefCell<Option<Value>>,
    /// Props of the running session.
    pub props: RefCell<Option<Value>>,
    /// Keep-alive references.
    pub keep_alive_refs: Cell<u32>,
    /// How far ahead the heartbeat of a kept object is, in milliseconds.
    pub keep_alive_interval_ms: u64,
    /// The transport in use.
    pub transport: RefCell<Option<Rc<Transport>>>,
    /// The framework's SQL tables exist; `destroy` drops them.
    pub has_tables: Cell<bool>,
    /// The framework has looked for connections to restore; it does so once an incarnation.
    pub restored: Cell<bool>,
}

impl AgentState {
    /// The state of a new incarnation; its constructor makes the tables.
    pub fn new(ctx: ObjectContext) -> Self {
        AgentState {
            ctx,
            status: Cell::new(Status::Zero),
            name: RefCell::new(None),
            given_props: RefCell::new(None),
            props: RefCell::new(None),
            keep_alive_refs: Cell::new(0),
            keep_alive_interval_ms: KEEP_ALIVE_INTERVAL_MS,
            transport: RefCell::new(None),
            // Fact: 188. The constructor makes the framework's tables. [RA:AG1]
            has_tables: Cell::new(true),
            restored: Cell::new(false),
        }
    }
}

/// What the product's class brings to the framework, and what it overrides.
pub trait AgentHost: 'static {
    /// The framework's state.
    fn agent(&self) -> &AgentState;
    /// What the operator set.
    fn config(&self) -> &Rc<HostConfig>;
    /// The class's `onStart`, behind the framework's wrapper.
    fn on_start(self: Rc<Self>, props: Option<Value>) -> LocalFuture<Result<(), JsError>>;
    /// The class's `init`, with the hops up to its awaiting caller.
    fn init(self: Rc<Self>) -> LocalFuture<Result<(), JsError>>;
    /// The class's `_scheduleNextAlarm` (wrapped or not).
    fn schedule_next_alarm(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move { schedule::schedule_next_alarm(self.agent()).await })
    }
    /// The class's `destroy`.
    fn destroy(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move { mcp_agent::destroy(self.agent()).await })
    }
    /// The `server` field.
    fn server(&self) -> Option<Rc<dyn Server>>;
    /// The class's `onConnect`, behind the framework's wrapper.
    fn on_connect(self: Rc<Self>, socket: Socket, request: FetchRequest) -> LocalFuture<Result<(), JsError>>;
    /// Runs a method that a schedule row names; none when the class lacks it.
    fn scheduled(self: Rc<Self>, _callback: &str, _payload: Value) -> Option<LocalFuture<Result<(), JsError>>> {
        None
    }
}
