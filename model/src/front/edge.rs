//! Every HTTP request on `/mcp`: authenticate, check the owner, hand over to the bridge, map what failed.

use std::rc::Rc;

use serde_json::{Value, json};

use super::answers::{answer_options, answer_reset, header, refuse, refuse_with};
use super::auth::{self, Bearer, Outcome};
use super::bridge;
use super::caller;
use super::console;
use super::exchange::Exchange;
use crate::defect::defect;
use crate::js::rooted;
use crate::mcp;
use crate::operation::Operation;
use crate::platform::{JsError, ObjectKey, Stub, micro};
use crate::session::failure::{Reset, classify};
use crate::session::{CLASS, NAME_PREFIX};
use crate::telemetry::{self, Span, log_event};

crate::operations! {
    CONDEMN = "edge · stub.schedule-destroy", Io, 0, assumed; "the session's RPC; may run a whole start"
    VALIDATE = "edge · stub.validate", Io, 0, assumed; "the session's RPC"
    RECORD_FAILURE = "edge · record-failure", Micro, 2, assumed; "nothing: an effect run with the telemetry layer"
    PROPS = "edge · props.build", Micro, 2, assumed; "nothing: an effect run with the telemetry layer"
}

/// Every operation of the edge worker.
pub fn operations() -> Vec<&'static Operation> {
    [auth::TABLE, TABLE, bridge::TABLE, super::sse_writer::TABLE, console::TABLE, caller::TABLE].concat()
}

/// Key of a session's object.
pub(super) fn session_key(session_id: &str) -> ObjectKey {
    ObjectKey::named(CLASS, format!("{NAME_PREFIX}{session_id}"))
}

/// Handles one request. What nobody recognises is a bare 500, and goes to the error reporter once: what an object's own
/// code threw was reported there, by the object or by the guard of its entry points; what the platform says of a lost
/// object is new here.
pub(super) async fn handle(exchange: Rc<Exchange>) {
    if let Err(error) = rooted("edge", route(&exchange)).await {
        let thrown_in_object = error.remote && !error.durable_object_reset;
        if !thrown_in_object {
            telemetry::capture(exchange.peer(), &error);
        }
        exchange.fail();
    }
}

async fn route(exchange: &Rc<Exchange>) -> Result<(), JsError> {
    if console::is_console(&exchange.head.path) {
        return console::handle(exchange).await;
    }
    if exchange.head.path.starts_with("/.well-known/") {
        // The deployment here authorizes by tokens that clients have; it serves no metadata of authorization.
        exchange.answer(404, Vec::new(), "Not Found".to_owned());
        return Ok(());
    }
    match exchange.head.method.as_str() {
        "OPTIONS" => {
            answer_options(exchange);
            return Ok(());
        }
        "GET" | "POST" | "DELETE" => {}
        _ => {
            refuse(exchange, 405, mcp::SESSION_ERROR, "Method not allowed");
            return Ok(());
        }
    }
    let session_id = exchange.header(mcp::SESSION_ID_HEADER).map(str::to_owned);
    let bearer = match auth::authenticate(exchange).await? {
        Outcome::Authenticated(bearer) => bearer,
        refused => {
            refuse_unauthenticated(exchange, refused, session_id.as_deref()).await;
            return Ok(());
        }
    };
    if session_id.is_none() && exchange.head.method == "DELETE" {
        exchange.answer(200, Vec::new(), String::new());
        return Ok(());
    }
    if let Some(session_id) = &session_id
        && !owner_may_pass(exchange, session_id, &bearer).await?
    {
        return Ok(());
    }
    micro(&PROPS).await?;
    let props = build_props(exchange, &bearer);
    // The SDK answers a DELETE with 204; the edge rewrites that to 200 and keeps the headers.
    let binding = bridge::Binding { class: CLASS, deleted: 200 };
    let handed = bridge::handle(exchange, binding, session_id, props).await;
    match handed {
        Ok(()) => Ok(()),
        Err(error) if error.message.contains("mcp_session_meta_unavailable") => {
            refuse(exchange, 503, mcp::SESSION_ERROR, "Session storage temporarily unavailable - please retry");
            Ok(())
        }
        Err(error) => answer_failure(exchange, "session_fetch", error).await,
    }
}

/// Errors are ignored. No other outcome than `Forbidden` condemns a session.
async fn condemn(session_id: &str) {
    let stub = Stub::new(session_key(session_id));
    drop(stub.rpc(&CONDEMN, "_cf_scheduleDestroy", Value::Null).await);
}

async fn refuse_unauthenticated(exchange: &Rc<Exchange>, outcome: Outcome, session_id: Option<&str>) {
    let is_forbidden = matches!(outcome, Outcome::Forbidden { .. });
    if let Some(session_id) = session_id.filter(|_| !is_forbidden && defect!(exchange.config, OutageCondemns)) {
        condemn(session_id).await;
    }
    match outcome {
        Outcome::Forbidden { code, message } => {
            if let Some(session_id) = session_id {
                condemn(session_id).await;
            }
            refuse(exchange, 403, code.unwrap_or(mcp::SESSION_ERROR), message);
        }
        Outcome::Unavailable => refuse(exchange, 503, mcp::SESSION_ERROR, "Authentication is temporarily unavailable"),
        _ => {
            let challenge = vec![header("www-authenticate", "Bearer")];
            refuse_with(exchange, 401, mcp::SESSION_ERROR, "Unauthorized", challenge);
        }
    }
}

/// The owner check: true when the request goes on, else it has been answered.
async fn owner_may_pass(exchange: &Rc<Exchange>, session_id: &str, bearer: &Bearer) -> Result<bool, JsError> {
    let identity = json!({"accountId": &*bearer.account_id, "organizationId": &*bearer.organization_id});
    let stub = Stub::new(session_key(session_id));
    let verdict = match stub.rpc(&VALIDATE, "validateMcpSessionOwner", identity).await {
        Ok(verdict) => verdict,
        Err(error) if defect!(exchange.config, OwnerCheckUnclassified) => return Err(error),
        Err(error) => {
            answer_failure(exchange, "validate_session_owner", error).await?;
            return Ok(false);
        }
    };
    match verdict.as_str() {
        Some("ok") => return Ok(true),
        Some("not_found") => refuse(exchange, 404, mcp::SESSION_ERROR, "Session not found"),
        Some("terminated") => refuse(exchange, 404, mcp::SESSION_ERROR, "Session timed out, please reconnect"),
        _ => refuse(exchange, 403, mcp::FOREIGN_SESSION, "MCP session does not belong to the current bearer"),
    }
    Ok(false)
}

/// Recognised: recorded, countable, never captured, answered by disposition. Else the error goes on.
async fn answer_failure(exchange: &Rc<Exchange>, operation: &'static str, error: JsError) -> Result<(), JsError> {
    let Some(reset) = classify(&error) else { return Err(error) };
    record_failure(exchange, operation, reset).await;
    answer_reset(exchange, reset);
    Ok(())
}

async fn record_failure(exchange: &Rc<Exchange>, operation: &'static str, reset: Reset) {
    let span = Span::root("mcp.do.platform_failure");
    span.set("mcp.do.reset_kind", reset.kind);
    span.set("mcp.do.reset_disposition", reset.disposition);
    span.set("mcp.do.reset_operation", operation);
    log_event!(
        warn,
        "mcp_durable_object_platform_failure",
        exchange.peer(),
        operation = operation,
        resetKind = reset.kind,
        disposition = reset.disposition,
    );
    drop(micro(&RECORD_FAILURE).await);
    span.end();
    telemetry::flush();
}

/// What the connect carries to the session: everything of it comes from the token and the URL.
fn build_props(exchange: &Rc<Exchange>, bearer: &Bearer) -> Value {
    let query = |key: &str| {
        let pairs = exchange.head.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| *name == key).map(|(_, value)| value.to_owned()).next()
    };
    let mode = match query("elicitation_mode").as_deref() {
        Some(mode @ ("browser" | "model" | "native")) => mode.to_owned(),
        _ => "model".to_owned(),
    };
    let resource = match exchange.head.path.strip_prefix("/mcp/toolkits/") {
        Some(slug) => json!({"kind": "toolkit", "slug": slug}),
        None => json!({"kind": "default"}),
    };
    let host = exchange.header("host").unwrap_or("edge");
    json!({
        "session": {
            "organizationId": &*bearer.organization_id,
            "organizationName": format!("Organization {}", bearer.organization_id),
            "userId": &*bearer.account_id,
            "elicitationMode": mode,
            "artifactsEnabled": false,
            "searchToolsEnabled": false,
            "resource": resource,
            "webOrigin": format!("http://{host}"),
        },
        "propagation": {
            "traceparent": exchange.header("traceparent"),
            "tracestate": exchange.header("tracestate"),
            "baggage": exchange.header("baggage"),
        },
    })
}
