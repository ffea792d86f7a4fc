//! The framework's classes on a stand: a start, an alarm and an end without any wrapper, section or table.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::state::StandState;
use crate::agents::base::AgentBase;
use crate::agents::mcp_agent::{
    ALARM_MARKER, BODY_GET_PROPS, DESTROY_ALARM, DESTROY_ALL, DESTROY_MARKER, update_props,
};
use crate::agents::transport::Transport;
use crate::agents::{AgentHost, AgentState, DESTROY_PENDING_KEY, PROPS_KEY, Status};
use crate::js::js;
use crate::platform::{JsError, LocalFuture, ObjectState};
use crate::session::SessionObject;

/// The framework.
pub(super) struct StandBase(Rc<StandState>);

impl StandBase {
    pub fn new(state: &Rc<StandState>) -> Self {
        StandBase(Rc::clone(state))
    }
}

impl AgentBase<SessionObject> for StandBase {
    /// No name in memory is ever read from storage.
    fn name(&self, _: &AgentState) -> Result<Arc<str>, JsError> {
        self.0.id_name().ok_or_else(|| JsError::new("name unavailable"))
    }

    fn start_body(&self, session: Rc<SessionObject>, props: Option<Value>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(start_body(session, props))
    }

    fn restart(&self, session: Rc<SessionObject>) -> LocalFuture<Result<(), JsError>> {
        session.on_start(None)
    }

    fn alarm(&self, session: Rc<SessionObject>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(alarm(session))
    }

    /// The object lives on.
    fn destroy(&self, session: Rc<SessionObject>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move {
            let storage = session.ctx().storage();
            storage.put(&DESTROY_MARKER, DESTROY_PENDING_KEY, Value::Bool(true)).await?;
            storage.delete_alarm(&DESTROY_ALARM).await?;
            storage.delete_all(&DESTROY_ALL).await
        })
    }

    fn connection_count(&self, _: &AgentState) -> usize {
        self.0.connections.borrow().len()
    }

    fn close_connections(&self, _: &AgentState, code: u16, reason: &str) {
        let closed = std::mem::take(&mut *self.0.connections.borrow_mut());
        for number in closed {
            (self.0.shared.tell)(json!(["connClose", self.0.index, number, code, reason]));
        }
    }
}

async fn start_body(session: Rc<SessionObject>, props: Option<Value>) -> Result<(), JsError> {
    let agent = &session.agent;
    match props {
        Some(props) => js(update_props(agent, props)).await?,
        None => {
            let stored = agent.ctx.storage().get(&BODY_GET_PROPS, PROPS_KEY).await?;
            *agent.props.borrow_mut() = stored.map(|props| (*props).clone());
        }
    }
    Rc::clone(&session).init().await?;
    let server = session.server.borrow().clone();
    let server =
        server.ok_or_else(|| JsError::type_error("Cannot read properties of undefined (reading 'connect')"))?;
    let transport = Transport::new(agent.ctx.clone(), Rc::clone(&session.config));
    *agent.transport.borrow_mut() = Some(Rc::clone(&transport));
    server.connect(transport).await
}

async fn alarm(session: Rc<SessionObject>) -> Result<(), JsError> {
    let storage = session.ctx().storage();
    let marker = storage.get(&ALARM_MARKER, DESTROY_PENDING_KEY).await?;
    if marker.is_some_and(|marker| marker.as_bool() == Some(true)) {
        return AgentHost::destroy(session).await;
    }
    let status = &session.agent.status;
    if status.get() == Status::Zero {
        status.set(Status::Starting);
        let started = Rc::clone(&session).on_start(None).await;
        status.set(if started.is_ok() { Status::Started } else { Status::Zero });
        started?;
    }
    js(Rc::clone(&session).schedule_next_alarm()).await
}
