//! The tool `resume`: with the response that the model brings, or with the decision that a person makes in the browser.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::{RESUME, SessionTools, results};
use crate::agents::transport::RequestExtra;
use crate::config::BROWSER_APPROVAL_WAIT_TIMEOUT_MS;
use crate::defect::defect;
use crate::fx::{Cause, within};
use crate::platform::JsError;
use crate::session::execution::ExecutionEngine;
use crate::session::interaction::Response;
use crate::session::model_resume::{Refusal, Resumed, fallback, resume_here};
use crate::session::{SessionObject, approvals};
use crate::telemetry::Span;

impl SessionTools {
    /// Mode `model`: here, else in the session that owns the execution.
    pub(super) async fn resume(
        self: Rc<Self>,
        id: Arc<str>,
        response: Response,
        extra: RequestExtra,
    ) -> Result<Value, JsError> {
        let span = self.resume_span("mcp.host.tool.resume", &id, Some(&response), &extra);
        let marker = self.marker("mcp.host.tool.resume.start", &span, &id, Some(&response), &extra);
        marker.end();
        let answer = self.resume_by_model(&id, response, &span).await;
        end(&span, answer)
    }

    async fn resume_by_model(&self, id: &Arc<str>, response: Response, span: &Span) -> Result<Value, JsError> {
        let session = self.session()?;
        if let Some(outcome) = resume_here(&session, &self.engine(), id, response.clone(), Some(span)).await? {
            return Ok(self.answer(outcome, "resume", span));
        }
        if self.engine.is_execution_settled(id) {
            return Ok(results::refused(id, Refusal::AlreadySettled));
        }
        Ok(match fallback(&session, id, &response, Some(span)).await {
            Some(Resumed::Result(result)) => result,
            Some(Resumed::Refused(refusal)) => results::refused(id, refusal),
            None => results::refused(id, Refusal::NotFound),
        })
    }

    /// Mode `browser`: waits for a decision, then resumes here.
    pub(super) async fn resume_in_browser(self: Rc<Self>, id: Arc<str>, extra: RequestExtra) -> Result<Value, JsError> {
        let span = self.resume_span("mcp.host.tool.resume.browser_approval", &id, None, &extra);
        let marker = self.marker("mcp.host.tool.resume.browser_approval.start", &span, &id, None, &extra);
        marker.end();
        let answer = self.resume_by_decision(&id, &span, &extra).await;
        end(&span, answer)
    }

    async fn resume_by_decision(&self, id: &Arc<str>, span: &Span, extra: &RequestExtra) -> Result<Value, JsError> {
        let session = self.session()?;
        // Found here: what nobody waits for any more, or never did, was waited for, and asked about again.
        let is_open = self.engine.paused(id).is_some() || defect!(session.config, BrowserResumeWaitsForNothing);
        let waiting = within(BROWSER_APPROVAL_WAIT_TIMEOUT_MS, |fiber| {
            let (session, id) = (Rc::clone(&session), Arc::clone(id));
            async move { approvals::wait(&session, &id, is_open, &fiber).await }
        });
        // No decision in time, or another waiter was quicker to take it.
        let decided = waiting.await.map_err(Cause::into_error)?.flatten();
        if decided.is_none() && is_open {
            let name = "mcp.host.tool.resume.user_approval_required";
            self.marker(name, span, id, None, extra).end();
            return Ok(self.approval_required(id, None));
        }
        if let Some(response) = &decided {
            span.set("mcp.execute.resume.action", response.action.word());
        }
        self.resume_known(&session, id, decided.unwrap_or_else(Response::none), span).await
    }

    /// What a resume in this session comes to, where no other is asked.
    async fn resume_known(
        &self,
        session: &Rc<SessionObject>,
        id: &Arc<str>,
        response: Response,
        span: &Span,
    ) -> Result<Value, JsError> {
        Ok(match resume_here(session, &self.engine(), id, response, Some(span)).await? {
            Some(outcome) => self.answer(outcome, "browser_resume", span),
            None => results::refused(id, Refusal::NotFound),
        })
    }

    fn engine(&self) -> Rc<dyn ExecutionEngine> {
        Rc::clone(&self.engine) as Rc<dyn ExecutionEngine>
    }

    /// The session; it is there for as long as a call of its tools runs.
    fn session(&self) -> Result<Rc<SessionObject>, JsError> {
        self.session.upgrade().ok_or_else(|| JsError::new("the session is gone"))
    }

    fn resume_span(&self, name: &'static str, id: &str, response: Option<&Response>, extra: &RequestExtra) -> Span {
        let span = self.span(name);
        self.annotate_resume(&span, id, response, extra);
        span
    }

    /// A span that only marks a point of a call.
    fn marker(
        &self,
        name: &'static str,
        span: &Span,
        id: &str,
        response: Option<&Response>,
        extra: &RequestExtra,
    ) -> Span {
        let marker = span.child(name);
        self.annotate_resume(&marker, id, response, extra);
        marker
    }

    fn annotate_resume(&self, span: &Span, id: &str, response: Option<&Response>, extra: &RequestExtra) {
        self.annotate(span, RESUME, extra);
        span.set("mcp.execute.execution_id", id);
        if let Some(response) = response {
            span.set("mcp.execute.resume.action", response.action.word());
        }
    }
}

fn end(span: &Span, answer: Result<Value, JsError>) -> Result<Value, JsError> {
    if let Err(error) = &answer {
        span.fail(error);
    }
    span.end();
    answer
}
