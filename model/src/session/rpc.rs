//! The methods of a session that another worker or object can call through its stub.
//!
//! The public methods of a Durable Object's class are its RPC surface. Arguments come as an object of named values.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{SessionObject, approval_rpc, apps, cap, clock, destroy, init, meta, model_resume, ownership};
use crate::agents::{INITIALIZE_KEY, Status, mcp_agent, party_server};
use crate::defect::defect;
use crate::fx::{Cause, Fiber};
use crate::js::{hops, rooted};
use crate::platform::JsError;
use crate::telemetry::{self, Span};

crate::operations! {
    RPC_EXPECT_INITIALIZE = "name · storage.get initializeRequest", Storage, 3; "storage; only if not started, not in the described version: see the defect `wiped-session-revived`"
}

/// Trips from the end of an RPC entry point's effect to its awaiting caller.
pub(super) const RPC_HOPS: u32 = 3;

/// Every method, by name.
pub const METHODS: &[&str] = &[
    "_cf_scheduleDestroy",
    "getInitializeRequest",
    "getPausedExecutionForApproval",
    "init",
    "markActivity",
    "onStart",
    "persistAppsEnabled",
    cap::REQUEST,
    "resolveAndStoreSessionMeta",
    "resumeExecutionForApproval",
    "resumeExecutionForModel",
    "setInitializeRequest",
    "setName",
    "updateProps",
    "validateMcpSessionOwner",
];

/// Runs a method.
///
/// # Errors
/// Those of the method; no method of that name; arguments that are not its own.
pub(super) async fn dispatch(
    session: Rc<SessionObject>,
    method: &'static str,
    arguments: Value,
) -> Result<Value, JsError> {
    // Each on the heap: a call would else be moved about at the size of the largest of them.
    match method {
        "setName" => Box::pin(set_name(session, arguments)).await,
        "getInitializeRequest" => Box::pin(mcp_agent::get_initialize_request(&session.agent)).await,
        "setInitializeRequest" => nothing(Box::pin(put_initialize(session, arguments)).await),
        "validateMcpSessionOwner" => Box::pin(rooted("validate", validate(session, arguments))).await,
        "getPausedExecutionForApproval" => Box::pin(approval_rpc::get_paused(session, arguments)).await,
        "resumeExecutionForApproval" => Box::pin(approval_rpc::approve(session, arguments)).await,
        "resumeExecutionForModel" => Box::pin(model_resume::resume_for_model(session, arguments)).await,
        "_cf_scheduleDestroy" => nothing(Box::pin(rooted("condemn", destroy::condemn(session))).await),
        "updateProps" => nothing(Box::pin(mcp_agent::update_props(&session.agent, object(&arguments, "props")?)).await),
        "onStart" => nothing(Box::pin(party_server::wrapped_on_start(session, given(&arguments, "props"))).await),
        "init" => nothing(Box::pin(rooted("init", init::init(session))).await),
        "markActivity" => nothing(Box::pin(mark_activity(session)).await),
        "persistAppsEnabled" => Box::pin(persist_apps_enabled(session, arguments)).await,
        "resolveAndStoreSessionMeta" => Box::pin(resolve_and_store(session, arguments)).await,
        cap::REQUEST => nothing(Box::pin(rooted("evict", cap::request_cap_eviction(session))).await),
        // Fact: 95. Calling a method that is not there is a TypeError with a text of its own. [R:E1]
        other => Err(JsError::no_such_method(other)),
    }
}

/// What a method that returns nothing answers.
fn nothing(done: Result<(), JsError>) -> Result<Value, JsError> {
    done.map(|()| Value::Null)
}

/// A string argument.
pub(super) fn text(arguments: &Value, key: &str) -> Result<Arc<str>, JsError> {
    let value = arguments.get(key).and_then(Value::as_str);
    value.map(Arc::from).ok_or_else(|| JsError::type_error(format!("`{key}` must be a string")))
}

/// An argument that may be left out.
fn given(arguments: &Value, key: &str) -> Option<Value> {
    arguments.get(key).filter(|value| !value.is_null()).cloned()
}

fn object(arguments: &Value, key: &str) -> Result<Value, JsError> {
    let value = given(arguments, key).filter(Value::is_object);
    value.ok_or_else(|| JsError::type_error(format!("`{key}` must be an object")))
}

async fn set_name(session: Rc<SessionObject>, mut arguments: Value) -> Result<Value, JsError> {
    let name = text(&arguments, "name")?;
    let props = arguments.get_mut("props").map(Value::take).filter(|props| !props.is_null());
    let is_known = arguments["isKnown"] == true;
    drop(arguments);
    if is_known && !defect!(session.config, WipedSessionRevived) {
        expect_session(&session).await?;
    }
    party_server::set_name(session, name, props).await?;
    Ok(Value::Null)
}

/// Found here: a request that passed its owner check before its session was wiped would start the new object, which has
/// nothing to serve: it would store the identity again, and take a place, for an id that is dead.
async fn expect_session(session: &SessionObject) -> Result<(), JsError> {
    if session.agent.status.get() == Status::Started {
        return Ok(());
    }
    let stored = session.ctx().storage().get(&RPC_EXPECT_INITIALIZE, INITIALIZE_KEY).await?;
    if stored.is_none() { Err(JsError::new("destroyed")) } else { Ok(()) }
}

async fn put_initialize(session: Rc<SessionObject>, arguments: Value) -> Result<(), JsError> {
    let message = arguments.get("message").cloned().unwrap_or(Value::Null);
    mcp_agent::set_initialize_request(&session.agent, message).await
}

pub(super) async fn validate(session: Rc<SessionObject>, arguments: Value) -> Result<Value, JsError> {
    let identity = ownership::Identity {
        account_id: text(&arguments, "accountId")?,
        organization_id: text(&arguments, "organizationId")?,
    };
    let verdict = ownership::validate_mcp_session_owner(session, identity).await;
    hops(RPC_HOPS).await;
    verdict.map(|verdict| json!(verdict.word()))
}

/// `markActivity()`, called by itself: its span is a root.
async fn mark_activity(session: Rc<SessionObject>) -> Result<(), JsError> {
    let span = Span::root("McpSessionDO.markActivity");
    let written = clock::mark_activity(&session).await;
    span.end();
    telemetry::flush();
    hops(RPC_HOPS).await;
    written
}

async fn persist_apps_enabled(session: Rc<SessionObject>, arguments: Value) -> Result<Value, JsError> {
    let enabled = arguments.get("enabled").and_then(Value::as_bool);
    let enabled = enabled.ok_or_else(|| JsError::type_error("`enabled` must be true or false"))?;
    let kept = apps::persist_apps_enabled(&session, enabled, None).await;
    telemetry::flush();
    hops(RPC_HOPS).await;
    if defect!(session.config, CapabilityWriteFatal) {
        return kept.map(|()| Value::Null).map_err(Cause::into_error);
    }
    Ok(Value::Null)
}

/// Answers the whole record.
async fn resolve_and_store(session: Rc<SessionObject>, arguments: Value) -> Result<Value, JsError> {
    let token = object(&arguments, "token")?.as_object().cloned().unwrap_or_default();
    let exit = meta::resolve_and_store(&session, &token, &Fiber::new(), None).await;
    telemetry::flush();
    hops(RPC_HOPS).await;
    exit.map(|meta| Value::Object(meta.record.clone())).map_err(Cause::into_error)
}
