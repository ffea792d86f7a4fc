//! Resuming a paused execution for the model: in this session, or in the session that owns it.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::approval_rpc::{self, Approver, Denied};
use super::engine::Outcome;
use super::execution::ExecutionEngine;
use super::interaction::Response;
use super::leases::{self, Deadline};
use super::owner_directory::{self, strict_session_id};
use super::owner_object::OwnerRecord;
use super::report::record_cause;
use super::tools::results;
use super::{SessionObject, meta};
use crate::config::{MODEL_RESUME_FORWARD_TIMEOUT_MS, PAUSED_APPROVAL_TIMEOUT_MS};
use crate::defect::defect;
use crate::fx::{Exit, Fiber, or_die, within};
use crate::js::{call, rooted};
use crate::platform::{JsError, io};
use crate::telemetry::{Span, log_event};

crate::operations! {
    RESUME_ENGINE = "resume · engine", Io, 0, assumed; "the engine's resume; begin hook before, finish hook always"
    FALLBACK_GET = "fallback · dir.get", Io, 0, assumed; "the directory's RPC"
    FALLBACK_DELETE = "fallback · dir.delete", Io, 0, assumed; "the directory's RPC"
    FALLBACK_FORWARD = "fallback · stub.resume", Io, 0, assumed; "the owner's RPC, together with a timer of 10 s"
    RPC_DIR_DELETE = "rpc · dir.delete", Io, 0, assumed; "the directory's RPC"
}

/// What a resume comes to that gives no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Nobody knows the execution.
    NotFound,
    /// Its approval window of so many milliseconds is over.
    Expired(u64),
    /// Another account or organisation owns it.
    Forbidden,
    /// It is over, and its result is not kept any more.
    AlreadySettled,
}

/// What the owner answers: the result of a tool call, or a refusal.
pub(crate) enum Resumed {
    /// The result.
    Result(Value),
    /// There is none.
    Refused(Refusal),
}

impl Resumed {
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Resumed::Result(result) => json!({"status": "result", "result": result}),
            Resumed::Refused(Refusal::NotFound) => json!({"status": "execution_not_found"}),
            Resumed::Refused(Refusal::Expired(ttl_ms)) => json!({"status": "execution_expired", "ttlMs": ttl_ms}),
            Resumed::Refused(Refusal::Forbidden) => json!({"status": "execution_forbidden"}),
            Resumed::Refused(Refusal::AlreadySettled) => json!({"status": "execution_already_settled"}),
        }
    }

    fn from_json(value: &Value) -> Resumed {
        let ttl_ms = value["ttlMs"].as_u64().unwrap_or(PAUSED_APPROVAL_TIMEOUT_MS);
        Resumed::Refused(match value["status"].as_str() {
            Some("result") => return Resumed::Result(value["result"].clone()),
            Some("execution_forbidden") => Refusal::Forbidden,
            Some("execution_already_settled") => Refusal::AlreadySettled,
            Some("execution_not_found") => Refusal::NotFound,
            _ => Refusal::Expired(ttl_ms),
        })
    }
}

/// The engine's resume between the two hooks of a lease; the second runs whatever came of it.
pub(crate) async fn resume_here(
    session: &Rc<SessionObject>,
    engine: &Rc<dyn ExecutionEngine>,
    id: &Arc<str>,
    response: Response,
    span: Option<&Span>,
) -> Result<Option<Outcome>, JsError> {
    leases::begin_resume(session, id, span);
    let resume = Rc::clone(engine).resume(Arc::clone(id), response, span.cloned());
    let outcome = io(&RESUME_ENGINE, || call(resume)).await;
    leases::finish(session, id, span).await;
    outcome
}

/// Looks for the session that owns an execution and has it resumed there. None when nobody is recorded.
pub(crate) async fn fallback(
    session: &Rc<SessionObject>,
    id: &Arc<str>,
    response: &Response,
    span: Option<&Span>,
) -> Option<Resumed> {
    rooted("fallback", find_owner(session, id, response, span)).await
}

async fn find_owner(
    session: &Rc<SessionObject>,
    id: &Arc<str>,
    response: &Response,
    span: Option<&Span>,
) -> Option<Resumed> {
    let record = owner_directory::get(session, &FALLBACK_GET, id, span).await?;
    let Some(own) = meta::load(session, &Fiber::new(), span).await.ok()? else {
        return Some(Resumed::Refused(Refusal::Forbidden));
    };
    let is_owner = own.user_id == record.account_id && own.organization_id == record.organization_id;
    if !is_owner && !defect!(session.config, ResumeByAnybody) {
        return Some(Resumed::Refused(Refusal::Forbidden));
    }
    if strict_session_id(session).ok()? == record.session_id {
        // The entry is stale: this session has just said that it knows nothing.
        owner_directory::delete(session, &FALLBACK_DELETE, id, span).await;
        return Some(Resumed::Refused(Refusal::Expired(record.ttl_ms)));
    }
    let resumed = forward(session, &record, response, span).await;
    if let Resumed::Refused(Refusal::Expired(_) | Refusal::NotFound | Refusal::AlreadySettled) = resumed {
        owner_directory::delete(session, &FALLBACK_DELETE, id, span).await;
    }
    match resumed {
        Resumed::Refused(Refusal::NotFound) => Some(Resumed::Refused(Refusal::Expired(record.ttl_ms))),
        resumed => Some(resumed),
    }
}

/// Asks the owner, for at most 10 s; the owner may finish all the same. A failure counts as expired.
async fn forward(session: &SessionObject, record: &OwnerRecord, response: &Response, span: Option<&Span>) -> Resumed {
    let asked = session.host.forward_model_resume(session, record, response);
    let answered = within(MODEL_RESUME_FORWARD_TIMEOUT_MS, |fiber| async move { fiber.or_die(asked).await });
    let error = match answered.await {
        Ok(Some(answer)) => return Resumed::from_json(&answer),
        Ok(None) => None,
        Err(cause) => Some(cause.into_error()),
    };
    report_forward(session, record, error.as_ref(), span);
    Resumed::Refused(Refusal::Expired(record.ttl_ms))
}

fn report_forward(session: &SessionObject, record: &OwnerRecord, error: Option<&JsError>, span: Option<&Span>) {
    let owner = &*record.session_id;
    span.into_iter().for_each(|span| span.set("mcp.execution_owner.forward.owner_session_id", owner));
    let session_id = session.session_id_for_telemetry();
    match error {
        None => {
            span.into_iter().for_each(|span| span.set("mcp.execution_owner.forward.error", "timeout"));
            log_event!(
                error,
                "mcp_model_resume_forward_error",
                session.label(),
                reason = "timeout",
                executionId = &*record.execution_id,
                sessionId = &*session_id,
                ownerSessionId = &*record.session_id,
                timeoutMs = MODEL_RESUME_FORWARD_TIMEOUT_MS,
            );
        }
        Some(error) => {
            span.into_iter().for_each(|span| record_cause(span, error));
            log_event!(
                error,
                "mcp_model_resume_forward_error",
                session.label(),
                executionId = &*record.execution_id,
                sessionId = &*session_id,
                ownerSessionId = &*record.session_id,
                exceptionType = error.name,
                exceptionMessage = &*error.message,
                cause = &*error.to_string(),
            );
        }
    }
}

/// `resumeExecutionForModel`: the owner's side. It does not mark activity by itself.
///
/// # Errors
/// What the identity check, a restore, the engine or an inline lease fails with.
pub(super) async fn resume_for_model(session: Rc<SessionObject>, arguments: Value) -> Result<Value, JsError> {
    let approver = Approver::from_arguments(&arguments)?;
    let response = approval_rpc::response_of(&arguments)?;
    let name = "McpSessionDO.resumeExecutionForModel";
    let resumed = approval_rpc::entry(name, "model-resume", &approver, async |span| {
        resume_as_owner(&session, &approver, response, span).await
    });
    resumed.await.map(|resumed| resumed.to_json())
}

async fn resume_as_owner(
    session: &Rc<SessionObject>,
    approver: &Approver,
    response: Response,
    span: &Span,
) -> Exit<Resumed> {
    let fiber = Fiber::new();
    let id = &approver.execution_id;
    let expired = Resumed::Refused(Refusal::Expired(PAUSED_APPROVAL_TIMEOUT_MS));
    match approval_rpc::validate_identity(session, approver, &fiber, span).await? {
        Some(Denied::Forbidden) => return Ok(Resumed::Refused(Refusal::Forbidden)),
        Some(Denied::NotFound) => return Ok(expired),
        None => {}
    }
    let Some(engine) = approval_rpc::ensure_runtime(session, &fiber, span).await? else {
        owner_directory::delete(session, &RPC_DIR_DELETE, id, Some(span)).await;
        return Ok(expired);
    };
    match or_die(resume_here(session, &engine, id, response, Some(span)).await)? {
        None => {
            let is_settled = engine.is_execution_settled(id);
            owner_directory::delete(session, &RPC_DIR_DELETE, id, Some(span)).await;
            Ok(if is_settled { Resumed::Refused(Refusal::AlreadySettled) } else { expired })
        }
        Some(Outcome::Completed(result)) => Ok(Resumed::Result(results::completed(result))),
        Some(Outcome::Paused(pause)) => {
            let deadline = Deadline::from_now();
            rooted("lease", leases::start(session, &pause.id, &deadline, Some(span))).await?;
            Ok(Resumed::Result(results::paused(&pause, Some(&deadline))))
        }
    }
}
