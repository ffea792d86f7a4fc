//! The execution engine as a session sees it: what is paused, what is over, and taking up what is paused.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use super::engine::{Engine, Outcome, Pause};
use super::interaction::Response;
use crate::platform::{JsError, LocalFuture};
use crate::telemetry::Span;

/// An engine of a runtime.
pub(crate) trait ExecutionEngine: Any {
    /// Its number in traces.
    fn number(&self) -> u64;

    /// Executions that wait for somebody's answer. Synchronous: whether a session can be evicted depends on it.
    fn paused_execution_count(&self) -> usize;

    /// The pause of an id, while it waits.
    fn paused(&self, id: &str) -> Option<Rc<Pause>>;

    /// Whether a pause is known to be over.
    fn is_execution_settled(&self, id: &str) -> bool;

    /// Delivers a response to a pause and runs on until completion or the next pause. None for a pause that the engine
    /// does not know.
    ///
    /// # Errors
    /// When the sandbox itself fails.
    fn resume(
        self: Rc<Self>,
        id: Arc<str>,
        response: Response,
        parent: Option<Span>,
    ) -> LocalFuture<Result<Option<Outcome>, JsError>>;
}

impl ExecutionEngine for Engine {
    fn number(&self) -> u64 {
        self.number
    }

    fn paused_execution_count(&self) -> usize {
        Engine::paused_execution_count(self)
    }

    fn paused(&self, id: &str) -> Option<Rc<Pause>> {
        Engine::paused(self, id)
    }

    fn is_execution_settled(&self, id: &str) -> bool {
        Engine::is_execution_settled(self, id)
    }

    fn resume(
        self: Rc<Self>,
        id: Arc<str>,
        response: Response,
        parent: Option<Span>,
    ) -> LocalFuture<Result<Option<Outcome>, JsError>> {
        Box::pin(async move { Engine::resume(&self, &id, response, parent.as_ref()).await })
    }
}
