//! The console's API for approvals: a person looks at a paused execution and decides.

use std::rc::Rc;

use serde_json::{Value, json};

use super::answers::header;
use super::auth::{self, Bearer, Outcome};
use super::edge::session_key;
use super::exchange::Exchange;
use crate::defect::defect;
use crate::operation::Operation;
use crate::platform::{JsError, Stub, join};
use crate::session::failure::classify;

crate::operations! {
    GET_PAUSED = "edge · stub.get-paused", Io, 0, assumed; "the session's RPC; may run a whole start"
    APPROVE = "edge · stub.approve", Io, 0, assumed; "the session's RPC; may run a whole start"
    APPROVAL_BODY = "edge · body.read", Io, 0, assumed; "the client's body"
}

/// Where the API lives.
const PREFIX: &str = "/api/mcp-sessions/";

/// What the path of a request asks for.
struct Target {
    session_id: String,
    execution_id: String,
    resumes: bool,
}

/// `<session>/executions/<execution>`, with `/resume` behind it for a decision.
fn parse(path: &str) -> Option<Target> {
    let parts: Vec<&str> = path.strip_prefix(PREFIX)?.split('/').collect();
    let (session_id, execution_id, resumes) = match parts[..] {
        [session, "executions", execution] => (session, execution, false),
        [session, "executions", execution, "resume"] => (session, execution, true),
        _ => return None,
    };
    let is_whole = !session_id.is_empty() && !execution_id.is_empty();
    is_whole.then(|| Target { session_id: session_id.to_owned(), execution_id: execution_id.to_owned(), resumes })
}

/// True for a request to the console's API.
pub(super) fn is_console(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// Answers a request to the console's API.
///
/// # Errors
/// What the identity provider or the session's RPC fails with, unless it is a recognised failure of the platform.
pub(super) async fn handle(exchange: &Rc<Exchange>) -> Result<(), JsError> {
    let Some(target) = parse(&exchange.head.path) else {
        answer(exchange, 404, &json!({"error": "Not found"}));
        return Ok(());
    };
    if exchange.head.method != if target.resumes { "POST" } else { "GET" } {
        answer(exchange, 405, &json!({"error": "Method not allowed"}));
        return Ok(());
    }
    let bearer = match auth::authenticate(exchange).await? {
        Outcome::Authenticated(bearer) => bearer,
        Outcome::Unauthorized => {
            answer(exchange, 401, &json!({"error": "Unauthorized"}));
            return Ok(());
        }
        // No outcome condemns a session here: the console is no client of it.
        Outcome::Forbidden { message, .. } => {
            answer(exchange, 403, &json!({"error": message}));
            return Ok(());
        }
        Outcome::Unavailable => {
            answer(exchange, 503, &json!({"error": "Authentication is temporarily unavailable"}));
            return Ok(());
        }
    };
    let done =
        if target.resumes { decide(exchange, &target, &bearer).await } else { show(exchange, &target, &bearer).await };
    done.or_else(|error| answer_failure(exchange, error))
}

/// Found here: what the platform does to a session while a person looks at it or decides is nobody's fault, and the person
/// can try again.
fn answer_failure(exchange: &Rc<Exchange>, error: JsError) -> Result<(), JsError> {
    let reset = classify(&error).filter(|_| !defect!(exchange.config, ConsoleUnclassified));
    match reset.ok_or(error)?.disposition {
        "session_dead" => answer(exchange, 404, &json!({"_tag": "McpExecutionNotFoundError"})),
        _ => answer(exchange, 503, &json!({"error": "MCP session is restarting, please retry"})),
    }
    Ok(())
}

async fn show(exchange: &Rc<Exchange>, target: &Target, bearer: &Bearer) -> Result<(), JsError> {
    let arguments = arguments(exchange, target, bearer);
    let shown = call(target, &GET_PAUSED, "getPausedExecutionForApproval", arguments).await?;
    if !is_refused(exchange, &shown) {
        answer(exchange, 200, &json!({"text": shown["text"], "structured": shown["structured"]}));
    }
    Ok(())
}

async fn decide(exchange: &Rc<Exchange>, target: &Target, bearer: &Bearer) -> Result<(), JsError> {
    let body = join(&APPROVAL_BODY, &exchange.body()).await?;
    let decision = body.ok().and_then(|body| serde_json::from_slice::<Value>(&body).ok()).filter(is_decision);
    let Some(decision) = decision else {
        answer(exchange, 400, &json!({"error": "Invalid approval response"}));
        return Ok(());
    };
    let mut arguments = arguments(exchange, target, bearer);
    arguments["response"] = decision;
    let decided = call(target, &APPROVE, "resumeExecutionForApproval", arguments).await?;
    if !is_refused(exchange, &decided) {
        let told = json!({
            "status": decided["executionStatus"],
            "text": decided["text"],
            "structured": decided["structured"],
            "isError": decided["isError"],
        });
        answer(exchange, 200, &told);
    }
    Ok(())
}

/// An allowed action, and content only as an object.
fn is_decision(body: &Value) -> bool {
    crate::session::interaction::Response::from_json(body).is_some()
}

fn arguments(exchange: &Exchange, target: &Target, bearer: &Bearer) -> Value {
    json!({
        "executionId": target.execution_id,
        "accountId": &*bearer.account_id,
        "organizationId": &*bearer.organization_id,
        "propagation": {
            "traceparent": exchange.header("traceparent"),
            "tracestate": exchange.header("tracestate"),
            "baggage": exchange.header("baggage"),
        },
    })
}

async fn call(
    target: &Target,
    operation: &'static Operation,
    method: &'static str,
    arguments: Value,
) -> Result<Value, JsError> {
    Stub::new(session_key(&target.session_id)).rpc(operation, method, arguments).await
}

/// Answers for a session that turned the person away.
fn is_refused(exchange: &Rc<Exchange>, outcome: &Value) -> bool {
    match outcome["status"].as_str() {
        Some("ok") => return false,
        Some("forbidden") => answer(exchange, 403, &json!({"_tag": "McpSessionForbiddenError"})),
        _ => answer(exchange, 404, &json!({"_tag": "McpExecutionNotFoundError"})),
    }
    true
}

fn answer(exchange: &Rc<Exchange>, status: u16, body: &Value) {
    exchange.answer(status, vec![header("content-type", "application/json")], body.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_session_an_execution_and_what_is_asked() {
        let asked = |path| parse(path).map(|target| (target.session_id, target.execution_id, target.resumes));
        let named = |resumes| Some(("s".to_owned(), "exec_1".to_owned(), resumes));
        assert_eq!(asked("/api/mcp-sessions/s/executions/exec_1"), named(false));
        assert_eq!(asked("/api/mcp-sessions/s/executions/exec_1/resume"), named(true));
        for path in ["/mcp", "/api/mcp-sessions/s", "/api/mcp-sessions//executions/exec_1", "/api/mcp-sessions/s/x/y"] {
            assert_eq!(asked(path), None, "{path}");
        }
    }
}
