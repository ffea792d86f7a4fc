//! The tool of a session: `execute` runs code on the engine and gives the outcome as MCP content.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::engine::{Engine, ExecuteResult, code_length};
use crate::agents::mcp_server::{Tools, tool_error};
use crate::agents::transport::RequestExtra;
use crate::mcp;
use crate::platform::{JsError, LocalFuture};
use crate::telemetry::Span;

const EXECUTE: &str = "execute";

/// The `execute` tool on one engine. It keeps the engine for as long as a call of it runs.
pub struct ExecuteTool {
    engine: Rc<Engine>,
    session_id: Arc<str>,
    parent: Option<Span>,
}

impl ExecuteTool {
    /// The tool of a session; `parent` is the span under which its calls are recorded, none makes each a trace.
    pub fn new(engine: Rc<Engine>, session_id: Arc<str>, parent: Option<Span>) -> Rc<Self> {
        Rc::new(ExecuteTool { engine, session_id, parent })
    }

    async fn execute(self: Rc<Self>, code: String, extra: RequestExtra) -> Result<Value, JsError> {
        let span = match &self.parent {
            Some(parent) => parent.child("mcp.host.tool.execute"),
            None => Span::root("mcp.host.tool.execute"),
        };
        self.annotate(&span, &code, &extra);
        // Exported when the run begins: a marker without its span is a run that was killed.
        let marker = span.child("mcp.host.tool.execute.start");
        self.annotate(&marker, &code, &extra);
        marker.end();
        let outcome = self.engine.execute_with_pause(&code, &span).await;
        if let Err(error) = &outcome {
            span.fail(error);
        }
        span.end();
        outcome.map(tool_result)
    }

    fn annotate(&self, span: &Span, code: &str, extra: &RequestExtra) {
        span.set("mcp.tool.name", EXECUTE);
        span.set("mcp.execute.code_length", code_length(code));
        span.set("mcp.rpc.id", text_of(&extra.request_id));
        span.set("mcp.request.session_id", &*self.session_id);
    }
}

impl Tools for ExecuteTool {
    fn list(&self) -> Value {
        json!([{
            "name": EXECUTE,
            "description": "Runs code: return, wait, emit and fail statements.",
            "inputSchema": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        }])
    }

    fn call(
        self: Rc<Self>,
        name: &str,
        arguments: Value,
        extra: RequestExtra,
    ) -> Option<LocalFuture<Result<Value, JsError>>> {
        if name != EXECUTE {
            return None;
        }
        let Some(code) = arguments["code"].as_str().map(str::to_owned) else {
            let code = mcp::INVALID_PARAMS;
            let text = format!("MCP error {code}: Input validation error: Invalid arguments for tool {EXECUTE}");
            return Some(Box::pin(std::future::ready(Ok(tool_error(&text)))));
        };
        Some(Box::pin(self.execute(code, extra)))
    }
}

/// Strings raw, everything else as compact JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn tool_result(result: ExecuteResult) -> Value {
    let mut structured = Map::new();
    if !result.emitted.is_empty() {
        structured.insert("emitted".to_owned(), Value::Array(result.emitted));
    }
    structured.insert("logs".to_owned(), json!([]));
    match result.outcome {
        Ok(value) => {
            let content = json!([{"type": "text", "text": text_of(&value)}]);
            structured.insert("status".to_owned(), json!("completed"));
            structured.insert("result".to_owned(), value);
            json!({"content": content, "structuredContent": structured})
        }
        Err(error) => {
            let content = json!([{"type": "text", "text": format!("Error: {error}")}]);
            structured.insert("status".to_owned(), json!("error"));
            structured.insert("error".to_owned(), json!(error));
            json!({"content": content, "structuredContent": structured, "isError": true})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::transport::testing::in_session;
    use crate::net::testkit::log;
    use crate::platform::ObjectContext;

    fn calls(ctx: ObjectContext) -> LocalFuture<Value> {
        Box::pin(async move {
            let engine = Engine::new(Arc::clone(ctx.label()));
            let tool = ExecuteTool::new(engine, Arc::clone(ctx.label()), None);
            let arguments = [json!({"code": "wait 1; return 7"}), json!({"code": 1})];
            for (name, arguments) in [("execute", &arguments[0]), ("execute", &arguments[1]), ("resume", &arguments[0])]
            {
                let session_id = Arc::clone(ctx.label());
                let extra = RequestExtra { session_id, connection: None, request_id: json!(3) };
                match Rc::clone(&tool).call(name, arguments.clone(), extra) {
                    Some(call) => log(call.await.expect("no defect")["content"][0]["text"].as_str().expect("a text")),
                    None => log("no such tool"),
                }
            }
            Value::Null
        })
    }

    #[test]
    fn a_call_answers_with_the_outcome_of_its_code_and_wrong_arguments_are_a_failed_result() {
        let log = in_session(&[], Some(calls), |world| async move { world.rpc("calls", Value::Null, 50).await });
        let refused = "MCP error -32602: Input validation error: Invalid arguments for tool execute";
        assert_eq!(log, ["7", refused, "no such tool", "calls null"]);
    }

    fn completed(value: Value, emitted: Vec<Value>) -> Value {
        tool_result(ExecuteResult { outcome: Ok(value), emitted })
    }

    #[test]
    fn a_completed_run_shows_strings_raw_and_everything_else_as_compact_json() {
        assert_eq!(
            completed(json!("a b"), Vec::new()),
            json!({
                "content": [{"type": "text", "text": "a b"}],
                "structuredContent": {"status": "completed", "result": "a b", "logs": []},
            })
        );
        assert_eq!(
            completed(json!({"a": [1]}), vec![json!(2)]),
            json!({
                "content": [{"type": "text", "text": "{\"a\":[1]}"}],
                "structuredContent": {"status": "completed", "result": {"a": [1]}, "emitted": [2], "logs": []},
            })
        );
    }

    #[test]
    fn a_failed_run_is_a_result_with_is_error() {
        let failed = tool_result(ExecuteResult { outcome: Err("boom".to_owned()), emitted: Vec::new() });
        assert_eq!(
            failed,
            json!({
                "content": [{"type": "text", "text": "Error: boom"}],
                "structuredContent": {"status": "error", "error": "boom", "logs": []},
                "isError": true,
            })
        );
    }
}
