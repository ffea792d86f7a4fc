//! The tools of a session: `execute` runs code on the engine, `resume` takes up a paused execution.
//!
//! What happens when code asks a person depends on how the session was opened: in mode `model` the model asks and calls
//! `resume` with the response, in mode `browser` a page asks and `resume` waits for it, in mode `native` the client is
//! asked while `execute` runs, and there is no `resume`.

use std::rc::{Rc, Weak};
use std::sync::Arc;

use serde_json::{Value, json};

use super::engine::{Engine, Outcome, code_length};
use super::interaction::Response;
use super::leases::{self, Deadline};
use super::meta::SessionMeta;
use super::{SessionObject, elicit};
use crate::agents::mcp_server::{Tools, tool_error};
use crate::agents::transport::RequestExtra;
use crate::mcp;
use crate::platform::{JsError, LocalFuture};
use crate::telemetry::Span;

pub(crate) mod results;
mod resume;

const EXECUTE: &str = "execute";
const RESUME: &str = "resume";

/// How a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElicitationMode {
    /// By the model.
    Model,
    /// By a page in the browser.
    Browser,
    /// By the client, in the course of the call.
    Native,
}

/// What the tools know of their session from its stored record.
#[derive(Clone, Debug)]
pub struct ToolsConfig {
    mode: ElicitationMode,
    web_origin: String,
    organization_slug: Option<String>,
}

impl ToolsConfig {
    /// From the record.
    pub fn of(meta: &SessionMeta) -> Self {
        let text = |key: &str| meta.record.get(key).and_then(Value::as_str).map(str::to_owned);
        let mode = match text("elicitationMode").as_deref() {
            Some("browser") => ElicitationMode::Browser,
            Some("native") => ElicitationMode::Native,
            _ => ElicitationMode::Model,
        };
        let slug = text("organizationSlug");
        ToolsConfig { mode, web_origin: text("webOrigin").unwrap_or_default(), organization_slug: slug }
    }

    /// The page on which a person decides.
    fn approval_url(&self, session_id: &str, id: &str) -> String {
        let slug = self.organization_slug.as_ref().map(|slug| format!("{slug}/")).unwrap_or_default();
        format!("{}/{slug}resume/{id}?mcp_session_id={session_id}", self.web_origin)
    }
}

/// The tools on one engine. They keep the engine for as long as a call runs, and the session not at all.
pub struct SessionTools {
    session: Weak<SessionObject>,
    engine: Rc<Engine>,
    config: ToolsConfig,
    session_id: Arc<str>,
    parent: Option<Span>,
}

impl SessionTools {
    /// The tools of a session; `parent` is the span under which their calls are recorded, none makes each a trace.
    pub fn new(session: &Rc<SessionObject>, engine: Rc<Engine>, config: ToolsConfig, parent: Option<Span>) -> Rc<Self> {
        let session_id = session.session_id_for_telemetry();
        Rc::new(SessionTools { session: Rc::downgrade(session), engine, config, session_id, parent })
    }

    /// A span of a call, under that of the session if it supplies one.
    fn span(&self, name: &'static str) -> Span {
        self.parent.as_ref().map_or_else(|| Span::root(name), |parent| parent.child(name))
    }

    async fn execute(self: Rc<Self>, code: String, extra: RequestExtra) -> Result<Value, JsError> {
        let span = self.span("mcp.host.tool.execute");
        self.annotate_execute(&span, &code, &extra);
        // Exported when the run begins: a marker without its span is a run that was killed.
        let marker = span.child("mcp.host.tool.execute.start");
        self.annotate_execute(&marker, &code, &extra);
        marker.end();
        let outcome = self.run(&code, &extra, &span).await;
        if let Err(error) = &outcome {
            span.fail(error);
        }
        span.end();
        outcome
    }

    async fn run(&self, code: &str, extra: &RequestExtra, span: &Span) -> Result<Value, JsError> {
        if self.config.mode == ElicitationMode::Native {
            let elicit = elicit::by_client(&self.session, extra);
            return self.engine.execute_inline(code, elicit, span).await.map(results::completed);
        }
        let outcome = self.engine.execute_with_pause(code, span).await?;
        Ok(self.answer(outcome, "execute", span))
    }

    /// The answer for an outcome. A pause gets its lease, which nobody waits for.
    fn answer(&self, outcome: Outcome, source: &'static str, span: &Span) -> Value {
        let pause = match outcome {
            Outcome::Completed(result) => return results::completed(result),
            Outcome::Paused(pause) => pause,
        };
        span.set("mcp.execute.paused", true);
        span.set("mcp.execute.paused_execution_id", &*pause.id);
        span.set("mcp.execute.pause_source", source);
        let deadline = Deadline::from_now();
        if let Some(session) = self.session.upgrade() {
            leases::queue_start(&session, &pause.id, deadline.clone());
        }
        if self.config.mode == ElicitationMode::Browser {
            return self.approval_required(&pause.id, Some(&deadline));
        }
        results::paused(&pause, Some(&deadline))
    }

    fn approval_required(&self, id: &Arc<str>, deadline: Option<&Deadline>) -> Value {
        results::approval_required(id, &self.config.approval_url(&self.session_id, id), deadline)
    }

    fn annotate_execute(&self, span: &Span, code: &str, extra: &RequestExtra) {
        span.set("mcp.execute.code_length", code_length(code));
        self.annotate(span, EXECUTE, extra);
    }

    fn annotate(&self, span: &Span, tool: &str, extra: &RequestExtra) {
        span.set("mcp.tool.name", tool);
        span.set("mcp.rpc.id", results::text_of(&extra.request_id));
        span.set("mcp.request.session_id", &*self.session_id);
    }
}

impl Tools for SessionTools {
    fn list(&self) -> Value {
        let code = json!({"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]});
        let execute = json!({
            "name": EXECUTE,
            "description": "Runs code: return, wait, emit, fail, ask and offer statements.",
            "inputSchema": code,
        });
        let id = json!({"type": "string"});
        let resume = match self.config.mode {
            ElicitationMode::Native => return json!([execute]),
            ElicitationMode::Browser => {
                json!({"type": "object", "properties": {"executionId": id}, "required": ["executionId"]})
            }
            ElicitationMode::Model => {
                let action = json!({"type": "string", "enum": ["accept", "decline", "cancel"]});
                let properties = json!({"executionId": id, "action": action, "content": {"type": "object"}});
                json!({"type": "object", "properties": properties, "required": ["executionId", "action"]})
            }
        };
        let description = "Takes up an execution that waits for a person.";
        json!([execute, {"name": RESUME, "description": description, "inputSchema": resume}])
    }

    fn call(
        self: Rc<Self>,
        name: &str,
        arguments: Value,
        extra: RequestExtra,
    ) -> Option<LocalFuture<Result<Value, JsError>>> {
        let id = arguments["executionId"].as_str().map(Arc::<str>::from);
        let running: LocalFuture<Result<Value, JsError>> = match (name, self.config.mode) {
            (EXECUTE, _) => match arguments["code"].as_str().map(str::to_owned) {
                Some(code) => Box::pin(self.execute(code, extra)),
                None => refuse(EXECUTE),
            },
            (RESUME, ElicitationMode::Native) => return None,
            (RESUME, ElicitationMode::Browser) => match id {
                Some(id) => Box::pin(self.resume_in_browser(id, extra)),
                None => refuse(RESUME),
            },
            (RESUME, ElicitationMode::Model) => match (id, Response::from_json(&arguments)) {
                (Some(id), Some(response)) => Box::pin(self.resume(id, response, extra)),
                _ => refuse(RESUME),
            },
            _ => return None,
        };
        Some(running)
    }
}

/// The answer to arguments that a tool cannot take.
fn refuse(tool: &str) -> LocalFuture<Result<Value, JsError>> {
    let code = mcp::INVALID_PARAMS;
    let text = format!("MCP error {code}: Input validation error: Invalid arguments for tool {tool}");
    Box::pin(std::future::ready(Ok(tool_error(&text))))
}
