//! What the framework's classes do for the class that extends them: its name, its start, its alarm, its end.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::{AgentHost, AgentState, mcp_agent, party_server};
use crate::platform::{JsError, LocalFuture};

/// The framework under a class: what it calls on `super`, and what it inherits.
pub trait AgentBase<H: AgentHost> {
    /// The `name` getter.
    ///
    /// # Errors
    /// When no name is known.
    fn name(&self, agent: &AgentState) -> Result<Arc<str>, JsError>;

    /// `super.onStart(props)`: the body of a start.
    fn start_body(&self, host: Rc<H>, props: Option<Value>) -> LocalFuture<Result<(), JsError>>;

    /// `this.onStart()` as the class itself calls it, with whatever the framework has wrapped around it.
    fn restart(&self, host: Rc<H>) -> LocalFuture<Result<(), JsError>>;

    /// `super.alarm()`.
    fn alarm(&self, host: Rc<H>) -> LocalFuture<Result<(), JsError>>;

    /// `super.destroy()`.
    fn destroy(&self, host: Rc<H>) -> LocalFuture<Result<(), JsError>>;

    /// How many connections live.
    fn connection_count(&self, agent: &AgentState) -> usize;

    /// Closes all of them; a throw is ignored.
    fn close_connections(&self, agent: &AgentState, code: u16, reason: &str);
}

/// The agents framework.
pub struct Agents;

impl<H: AgentHost> AgentBase<H> for Agents {
    fn name(&self, agent: &AgentState) -> Result<Arc<str>, JsError> {
        party_server::name(agent)
    }

    fn start_body(&self, host: Rc<H>, props: Option<Value>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(mcp_agent::start_body(host, props))
    }

    fn restart(&self, host: Rc<H>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(party_server::wrapped_on_start(host, None))
    }

    fn alarm(&self, host: Rc<H>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(mcp_agent::alarm(host))
    }

    fn destroy(&self, host: Rc<H>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move { mcp_agent::destroy(host.agent()).await })
    }

    fn connection_count(&self, agent: &AgentState) -> usize {
        agent.ctx.sockets().len()
    }

    fn close_connections(&self, agent: &AgentState, code: u16, reason: &str) {
        for socket in agent.ctx.sockets() {
            drop(socket.close(code, reason));
        }
    }
}
