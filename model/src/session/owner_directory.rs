//! The directory of execution owners as a session sees it: which session holds a paused execution. Its failures are
//! logged and go no further.

use std::sync::Arc;

use serde_json::{Value, json};

use super::meta::SessionMeta;
use super::owner_object::OwnerRecord;
use super::report::record_cause;
use super::{SessionObject, leases};
use crate::operation::Operation;
use crate::platform::JsError;
use crate::telemetry::{Span, log_event};

/// The session id as identities need it, by the framework's getter if need be.
///
/// # Errors
/// When the session has no name.
pub(super) fn strict_session_id(session: &SessionObject) -> Result<Arc<str>, JsError> {
    let name = session.session_name_or_undefined();
    let id = name.as_ref().and_then(|name| name.split(':').nth(1)).filter(|id| !id.is_empty());
    id.map_or_else(|| session.base.name(&session.agent), |id| Ok(id.into()))
}

/// The owner of a paused execution; none when nobody is recorded, the directory is not bound, or the call failed.
pub(super) async fn get(
    session: &SessionObject,
    operation: &'static Operation,
    id: &Arc<str>,
    span: Option<&Span>,
) -> Option<OwnerRecord> {
    let found = ask(session, operation, id, "get", json!({"executionId": &**id}), span).await?;
    OwnerRecord::from_json(&found)
}

/// Records this session as the owner.
///
/// # Errors
/// Only when the session has no id of its own.
pub(super) async fn put(
    session: &SessionObject,
    operation: &'static Operation,
    id: &Arc<str>,
    meta: &SessionMeta,
    deadline: &leases::Deadline,
    span: &Span,
) -> Result<(), JsError> {
    let record = OwnerRecord {
        execution_id: Arc::clone(id),
        session_id: strict_session_id(session)?,
        account_id: Arc::clone(&meta.user_id),
        organization_id: Arc::clone(&meta.organization_id),
        expires_at: deadline.expires_at.clone(),
        ttl_ms: deadline.ttl_ms,
    };
    ask(session, operation, id, "put", json!({"record": record.to_json()}), Some(span)).await;
    Ok(())
}

/// Forgets the owner.
pub(super) async fn delete(session: &SessionObject, operation: &'static Operation, id: &Arc<str>, span: Option<&Span>) {
    ask(session, operation, id, "delete", json!({"executionId": &**id}), span).await;
}

async fn ask(
    session: &SessionObject,
    operation: &'static Operation,
    id: &Arc<str>,
    method: &'static str,
    arguments: Value,
    span: Option<&Span>,
) -> Option<Value> {
    if !session.config.execution_owner_bound {
        return None;
    }
    match session.host.owner_directory(session, operation, id, method, arguments).await {
        Ok(answer) => Some(answer),
        Err(error) => {
            report(session, id, method, &error, span);
            None
        }
    }
}

fn report(session: &SessionObject, id: &str, method: &'static str, error: &JsError, span: Option<&Span>) {
    log_event!(
        error,
        "mcp_execution_owner_directory_error",
        session.label(),
        operation = method,
        executionId = id,
        sessionId = &*session.session_id_for_telemetry(),
        exceptionType = error.name,
        exceptionMessage = &*error.message,
        cause = &*error.to_string(),
    );
    if let Some(span) = span {
        span.set("mcp.execution_owner.directory.operation", method);
        record_cause(span, error);
    }
}
