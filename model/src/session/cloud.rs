//! The cloud's host: where a session's identity, database, runtime and neighbours come from.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::cap::CAP_REQUEST;
use super::host::{HookFuture, Runtime, SessionDb, SessionHost};
use super::interaction::Response;
use super::meta::SessionMeta;
use super::model_resume::FALLBACK_FORWARD;
use super::owner_object::{OWNER_CLASS, OwnerRecord};
use super::upstream::DbHandle;
use super::{CLASS, NAME_PREFIX, SessionObject, cap, report};
use crate::fx::{Exit, Fiber};
use crate::operation::Operation;
use crate::platform::{JsError, LocalFuture, ObjectKey, Stub};
use crate::telemetry::{self, Span};

mod build;
mod identity;

/// The host.
pub(super) struct Cloud;

impl SessionHost for Cloud {
    fn resolve_session_meta<'a>(
        &'a self,
        session: &'a Rc<SessionObject>,
        token: &'a Map<String, Value>,
        reusable: Option<Rc<SessionMeta>>,
        fiber: &'a Fiber,
        parent: &'a Span,
    ) -> HookFuture<'a, Exit<Map<String, Value>>> {
        Box::pin(identity::resolve(session, token, reusable, fiber, parent))
    }

    fn open_session_db(&self, session: Rc<SessionObject>) -> LocalFuture<Result<Rc<dyn SessionDb>, JsError>> {
        Box::pin(build::open_session_db(session))
    }

    fn build_runtime<'a>(
        &'a self,
        session: &'a Rc<SessionObject>,
        meta: &'a Rc<SessionMeta>,
        db: &'a Rc<dyn SessionDb>,
        fiber: &'a Fiber,
        parent: &'a Span,
    ) -> HookFuture<'a, Exit<Runtime>> {
        Box::pin(build::build_runtime(session, meta, db, fiber, parent))
    }

    fn footprint(&self, _: &SessionObject, span: &Span) {
        span.set("mcp.session.integration_count", 0);
    }

    fn owner_directory(
        &self,
        _: &SessionObject,
        operation: &'static Operation,
        id: &Arc<str>,
        method: &'static str,
        arguments: Value,
    ) -> LocalFuture<Result<Value, JsError>> {
        let stub = Stub::new(ObjectKey::named(OWNER_CLASS, Arc::clone(id)));
        Box::pin(async move { stub.rpc(operation, method, arguments).await })
    }

    fn forward_model_resume(
        &self,
        _: &SessionObject,
        record: &OwnerRecord,
        response: &Response,
    ) -> LocalFuture<Result<Value, JsError>> {
        let stub = Stub::new(ObjectKey::named(CLASS, format!("{NAME_PREFIX}{}", record.session_id)));
        let arguments = json!({
            "executionId": &*record.execution_id,
            "accountId": &*record.account_id,
            "organizationId": &*record.organization_id,
            "response": response.to_json(),
        });
        Box::pin(async move { stub.rpc(&FALLBACK_FORWARD, "resumeExecutionForModel", arguments).await })
    }

    /// Through the candidate's own stub, so that it is torn down in its own context and not in that of the session whose
    /// init runs here.
    fn request_self_eviction<'a>(&'a self, candidate: &'a Rc<SessionObject>) -> HookFuture<'a, Result<(), JsError>> {
        let stub = Stub::new(candidate.ctx().key().clone());
        Box::pin(async move { stub.rpc(&CAP_REQUEST, cap::REQUEST, Value::Null).await.map(drop) })
    }

    fn capture(&self, session: &SessionObject, error: &JsError) {
        telemetry::capture(session.label(), error);
    }

    fn claim(&self, session: &SessionObject, error: &JsError) {
        report::claim(session, error);
    }
}

impl SessionDb for DbHandle {
    fn query<'a>(&'a self, operation: &'static Operation, who: &'a Arc<str>) -> HookFuture<'a, Result<(), JsError>> {
        Box::pin(DbHandle::query(self, operation, who))
    }

    fn end(&self) -> HookFuture<'_, Result<(), JsError>> {
        Box::pin(DbHandle::end(self))
    }
}
