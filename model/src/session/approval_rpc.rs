//! The RPC methods of approvals: what the console shows of a paused execution, and a person's decision about it.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::engine::Pause;
use super::execution::ExecutionEngine;
use super::interaction::{Action, Response};
use super::leases::Deadline;
use super::rpc::{RPC_HOPS, text};
use super::tools::results;
use super::{SessionObject, approvals, meta, owner_directory, ownership};
use crate::fx::{Cause, Exit, Fiber, or_die};
use crate::js::{hops, rooted};
use crate::platform::{JsError, micro};
use crate::telemetry::{self, Span};

crate::operations! {
    RPC_START = "rpc · start", Io, 0; "the start, outside any section; may join or be joined"
    RPC_DIR_GET = "rpc · dir.get", Io, 0, assumed; "the directory's RPC, without a deadline"
    RPC_FLUSH = "rpc · flush", Micro, 1; "nothing: the exporter's flush is handed to waitUntil"
}

/// Who asks about which execution, and in which trace.
pub(super) struct Approver {
    pub execution_id: Arc<str>,
    account_id: Arc<str>,
    organization_id: Arc<str>,
    traceparent: Option<String>,
}

impl Approver {
    /// Reads them from the arguments of an RPC call.
    pub fn from_arguments(arguments: &Value) -> Result<Approver, JsError> {
        Ok(Approver {
            execution_id: text(arguments, "executionId")?,
            account_id: text(arguments, "accountId")?,
            organization_id: text(arguments, "organizationId")?,
            traceparent: arguments.pointer("/propagation/traceparent").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

/// The response among the arguments of an RPC call.
pub(super) fn response_of(arguments: &Value) -> Result<Response, JsError> {
    Response::from_json(&arguments["response"]).ok_or_else(|| JsError::type_error("`response` must be a response"))
}

/// Why an approver is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// No such session, runtime or pause.
    NotFound,
    /// Another owner's session.
    Forbidden,
}

impl Denied {
    fn to_json(self) -> Value {
        json!({"status": if self == Denied::Forbidden { "forbidden" } else { "not_found" }})
    }
}

/// The effect around an entry point: a span under the caller's, and the flush always.
pub(super) async fn entry<T>(
    name: &'static str,
    root: &'static str,
    approver: &Approver,
    body: impl AsyncFnOnce(&Span) -> Exit<T>,
) -> Result<T, JsError> {
    let span = Span::remote(name, approver.traceparent.as_deref());
    span.set("mcp.execution.id", &*approver.execution_id);
    let exit = rooted(root, async {
        let exit = body(&span).await;
        span.end_with(&exit);
        telemetry::flush();
        drop(micro(&RPC_FLUSH).await);
        exit
    })
    .await;
    hops(RPC_HOPS).await;
    exit.map_err(Cause::into_error)
}

/// Compares the approver with the stored identity; none when it is the owner. Before any restore, unlike the owner
/// check, and without a look at the destroy marker.
pub(super) async fn validate_identity(
    session: &Rc<SessionObject>,
    approver: &Approver,
    fiber: &Fiber,
    parent: &Span,
) -> Exit<Option<Denied>> {
    let span = parent.child("mcp.session.validate_approval_identity");
    let meta = meta::load(session, fiber, &span).await;
    span.end_with(&meta);
    Ok(match meta? {
        None => Some(Denied::NotFound),
        Some(meta) if meta.user_id == approver.account_id && meta.organization_id == approver.organization_id => None,
        Some(_) => Some(Denied::Forbidden),
    })
}

/// The engine of the session, built again if need be; a fresh one knows no pause. None for a session without identity.
pub(super) async fn ensure_runtime(
    session: &Rc<SessionObject>,
    fiber: &Fiber,
    parent: &Span,
) -> Exit<Option<Rc<dyn ExecutionEngine>>> {
    let span = parent.child("McpSessionDO.ensure_runtime_for_approval");
    let ensured = restore(session, fiber, &span).await;
    span.end_with(&ensured);
    ensured?;
    Ok(session.engine.borrow().clone().filter(|_| session.initialized.get()))
}

async fn restore(session: &Rc<SessionObject>, fiber: &Fiber, span: &Span) -> Exit<()> {
    let is_there = session.initialized.get() && session.engine.borrow().is_some();
    if is_there || meta::load(session, fiber, span).await?.is_none() {
        return Ok(());
    }
    ownership::restore(session, &RPC_START, "McpSessionDO.restore_runtime_for_approval", span).await
}

/// The checks of both methods: the owner asks, there is a runtime, and it knows the pause.
async fn find(session: &Rc<SessionObject>, approver: &Approver, span: &Span) -> Exit<Result<Rc<Pause>, Denied>> {
    let fiber = Fiber::new();
    if let Some(denied) = validate_identity(session, approver, &fiber, span).await? {
        return Ok(Err(denied));
    }
    let engine = ensure_runtime(session, &fiber, span).await?;
    let pause = engine.and_then(|engine| engine.paused(&approver.execution_id));
    Ok(pause.ok_or(Denied::NotFound))
}

/// `getPausedExecutionForApproval`: what a person is to decide.
///
/// # Errors
/// What the identity check or a restore fails with.
pub(super) async fn get_paused(session: Rc<SessionObject>, arguments: Value) -> Result<Value, JsError> {
    let approver = Approver::from_arguments(&arguments)?;
    entry("McpSessionDO.getPausedExecutionForApproval", "get-paused", &approver, async |span| {
        let pause = match find(&session, &approver, span).await? {
            Ok(pause) => pause,
            Err(denied) => return Ok(denied.to_json()),
        };
        let record = owner_directory::get(&session, &RPC_DIR_GET, &approver.execution_id, Some(span)).await;
        let deadline = record.map(|record| Deadline { ttl_ms: record.ttl_ms, expires_at: record.expires_at });
        let result = results::paused(&pause, deadline.as_ref());
        let text = &result["content"][0]["text"];
        Ok(json!({"status": "ok", "text": text, "structured": result["structuredContent"]}))
    })
    .await
}

/// `resumeExecutionForApproval`: records the decision and says so. What resumes the execution is the tool call that
/// waits for it.
///
/// # Errors
/// What the identity check, a restore or the record fails with.
pub(super) async fn approve(session: Rc<SessionObject>, arguments: Value) -> Result<Value, JsError> {
    let approver = Approver::from_arguments(&arguments)?;
    let response = response_of(&arguments)?;
    entry("McpSessionDO.resumeExecutionForApproval", "approve", &approver, async |span| {
        if let Err(denied) = find(&session, &approver, span).await? {
            return Ok(denied.to_json());
        }
        let (text, word) = match response.action {
            Action::Accept => ("I've approved it", "approved"),
            Action::Decline => ("I've denied it", "denied"),
            Action::Cancel => ("I've canceled it", "canceled"),
        };
        or_die(approvals::record(&session, &approver.execution_id, response).await)?;
        let structured = json!({"status": word, "executionId": &*approver.execution_id});
        let status = "completed";
        Ok(json!({"status": "ok", "executionStatus": status, "text": text, "structured": structured, "isError": false}))
    })
    .await
}
