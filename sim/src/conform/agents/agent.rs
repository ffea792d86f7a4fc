//! The probes' class of an agent: it writes down its starts and what its alarm saw before and after the framework's.

use super::super::front::{Answer, described, sleep};
use super::super::memory;
use super::behaviours::{self, Probed, alarm_in, log, set_alarm, stored};
use model::agents::mcp_server::Server;
use model::agents::schedule::KeepAlive;
use model::agents::{AgentHost, AgentState, NAME_KEY, mcp_agent, party_server};
use model::config::HostConfig;
use model::platform::{
    AlarmInfo, DurableObject, FetchRequest, FetchResponse, JsError, LocalFuture, ObjectContext, Socket,
};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// One incarnation.
pub struct Agent {
    state: AgentState,
    config: Rc<HostConfig>,
    instance: u64,
    start_count: Cell<u64>,
    kept: RefCell<Vec<KeepAlive<Agent>>>,
}

impl Agent {
    /// The constructor, with another interval of the heartbeat if one is given.
    pub fn construct(ctx: ObjectContext, beat_ms: Option<u64>) -> Rc<dyn DurableObject> {
        let mut state = AgentState::new(ctx);
        state.keep_alive_interval_ms = beat_ms.unwrap_or(state.keep_alive_interval_ms);
        let instance = behaviours::construct(&state);
        Rc::new(Agent { state, config: Rc::default(), instance, start_count: Cell::new(0), kept: RefCell::default() })
    }

    async fn start(&self) -> Result<(), JsError> {
        self.start_count.set(self.start_count.get() + 1);
        log(&self.state, "onStart", json!({ "idName": self.state.ctx.id_name().as_deref() }));
        let name = &self.state.ctx.key().name;
        if memory::take_note(&format!("failStart:{name}")).is_some() {
            return Err(JsError::new("onStart boom"));
        }
        if memory::noted(&format!("slowStart:{name}")).is_some() {
            sleep(150).await;
        }
        Ok(())
    }

    /// Its name, or what reading it throws.
    fn told_name(&self) -> Value {
        party_server::name(&self.state).map_or_else(|error| json!(&*error.message), |name| json!(&*name))
    }

    async fn alarm(self: Rc<Self>) -> Result<(), JsError> {
        let state = &self.state;
        let mut seen = json!({ "before": { "name": self.told_name(), "idName": state.ctx.id_name().as_deref() } });
        seen["psName"] = stored(state, NAME_KEY).await?;
        seen["onStartsBefore"] = json!(self.start_count.get());
        if let Some(ms) = stored(state, "alarm-pre").await?.as_u64() {
            set_alarm(state, ms).await?;
        }
        if !stored(state, "skip-super").await?.is_null() {
            seen["skipped"] = json!(true);
            log(state, "alarm", seen);
            return Ok(());
        }
        if let Err(error) = mcp_agent::alarm(Rc::clone(&self)).await {
            seen["superThrew"] = described(&error);
            log(state, "alarm", seen);
            return Err(error);
        }
        seen["after"] = self.told_name();
        seen["onStartsAfter"] = json!(self.start_count.get());
        seen["alarmAfter"] = alarm_in(state).await.unwrap_or(Value::Null);
        log(state, "alarm", seen);
        Ok(())
    }
}

impl Probed for Agent {
    fn instance(&self) -> u64 {
        self.instance
    }

    fn start_count(&self) -> u64 {
        self.start_count.get()
    }

    fn kept(&self) -> &RefCell<Vec<KeepAlive<Agent>>> {
        &self.kept
    }
}

impl AgentHost for Agent {
    fn agent(&self) -> &AgentState {
        &self.state
    }

    fn config(&self) -> &Rc<HostConfig> {
        &self.config
    }

    fn on_start(self: Rc<Self>, _: Option<Value>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move { self.start().await })
    }

    fn init(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn server(&self) -> Option<Rc<dyn Server>> {
        None
    }

    fn on_connect(self: Rc<Self>, _: Socket, _: FetchRequest) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn scheduled(self: Rc<Self>, callback: &str, _: Value) -> Option<LocalFuture<Result<(), JsError>>> {
        let (tag, outcome) = match callback {
            "tick" => ("tick", Ok(())),
            "boom" => ("boom", Err(JsError::new("schedule boom"))),
            _ => return None,
        };
        Some(Box::pin(async move {
            log(&self.state, tag, Value::Null);
            outcome
        }))
    }
}

impl DurableObject for Agent {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Answer> {
        Box::pin(behaviours::behave(self, method, arguments))
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        Box::pin(party_server::fetch(self, request))
    }

    fn alarm(self: Rc<Self>, _: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        Some(Box::pin(Agent::alarm(self)))
    }

    fn socket_message(self: Rc<Self>, _: Socket, _: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn socket_close(self: Rc<Self>, _: Socket, _: u16) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
