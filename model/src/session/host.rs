//! What a concrete host brings to the session class: the hooks that its subclass overrides.

use std::any::Any;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::SessionObject;
use super::execution::ExecutionEngine;
use super::interaction::Response;
use super::meta::SessionMeta;
use super::owner_object::OwnerRecord;
use crate::agents::mcp_server::Server;
use crate::fx::{Exit, Fiber};
use crate::operation::Operation;
use crate::platform::{JsError, LocalFuture};
use crate::telemetry::Span;

/// A future that borrows from the call.
pub(crate) type HookFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What a build makes.
pub(crate) struct Runtime {
    /// The server object, attached to nothing.
    pub server: Rc<dyn Server>,
    /// The engine, without any execution.
    pub engine: Rc<dyn ExecutionEngine>,
}

/// A session's handle on its database.
pub(crate) trait SessionDb: Any {
    /// A query that answers nothing of interest here.
    fn query<'a>(&'a self, operation: &'static Operation, who: &'a Arc<str>) -> HookFuture<'a, Result<(), JsError>>;

    /// `end()`.
    fn end(&self) -> HookFuture<'_, Result<(), JsError>>;
}

/// The hooks of a host.
pub(crate) trait SessionHost {
    /// `resolveSessionMeta(token, stored)`: what the connect carries, completed to a record.
    fn resolve_session_meta<'a>(
        &'a self,
        session: &'a Rc<SessionObject>,
        token: &'a Map<String, Value>,
        reusable: Option<Rc<SessionMeta>>,
        fiber: &'a Fiber,
        parent: &'a Span,
    ) -> HookFuture<'a, Exit<Map<String, Value>>>;

    /// `openSessionDb()`.
    fn open_session_db(&self, session: Rc<SessionObject>) -> LocalFuture<Result<Rc<dyn SessionDb>, JsError>>;

    /// `buildMcpServer(meta, db)`.
    fn build_runtime<'a>(
        &'a self,
        session: &'a Rc<SessionObject>,
        meta: &'a Rc<SessionMeta>,
        db: &'a Rc<dyn SessionDb>,
        fiber: &'a Fiber,
        parent: &'a Span,
    ) -> HookFuture<'a, Exit<Runtime>>;

    /// `sessionFootprintAttributes()`, put on the span of an init.
    fn footprint(&self, session: &SessionObject, span: &Span);

    /// A call of the owner directory's object of an execution.
    fn owner_directory(
        &self,
        session: &SessionObject,
        operation: &'static Operation,
        id: &Arc<str>,
        method: &'static str,
        arguments: Value,
    ) -> LocalFuture<Result<Value, JsError>>;

    /// `forwardModelResumeToOwner`: `resumeExecutionForModel` of the session that owns an execution.
    fn forward_model_resume(
        &self,
        session: &SessionObject,
        record: &OwnerRecord,
        response: &Response,
    ) -> LocalFuture<Result<Value, JsError>>;

    /// `requestSelfEviction` of a candidate.
    fn request_self_eviction<'a>(&'a self, candidate: &'a Rc<SessionObject>) -> HookFuture<'a, Result<(), JsError>>;

    /// `captureCause`: reports a failure that nobody recognised.
    fn capture(&self, session: &SessionObject, error: &JsError);

    /// `claimCauseHandled`: the session has decided what to do about a failure.
    fn claim(&self, session: &SessionObject, error: &JsError);
}
