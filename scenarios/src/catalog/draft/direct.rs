//! Calls of sessions' methods by other workers, and objects that exist before the run.

use crate::plan::{CallPlan, StoredObject};
use serde_json::{Value as Json, json};

/// A call of that method of a session; the worker's next call does not wait for it.
pub fn call(at_ms: u64, session: &str, method: &str, arguments: Json) -> CallPlan {
    CallPlan { at_ms, session: session.to_owned(), method: method.to_owned(), arguments, overlap: true }
}

/// The same, and the worker's next call waits for it.
pub fn call_first(at_ms: u64, session: &str, method: &str, arguments: Json) -> CallPlan {
    CallPlan { overlap: false, ..call(at_ms, session, method, arguments) }
}

/// A neighbour of that session asks it to make room.
pub fn make_room(at_ms: u64, session: &str) -> CallPlan {
    call_first(at_ms, session, "requestCapEviction", Json::Null)
}

/// The identity of the account of that number, as arguments of a call.
pub fn identity(number: u64) -> Json {
    json!({"accountId": format!("account-{number}"), "organizationId": format!("organization-{number}")})
}

/// The same, about an execution.
pub fn about(number: u64, execution: &str) -> Json {
    let mut arguments = identity(number);
    arguments["executionId"] = execution.into();
    arguments
}

/// The same with a response.
pub fn respond(number: u64, execution: &str, action: &str) -> Json {
    let mut arguments = about(number, execution);
    arguments["response"] = json!({"action": action});
    arguments
}

/// What a token of the account of that number says, with the name of its organisation or without.
pub fn token(number: u64, names_organization: bool) -> Json {
    let mut token = json!({
        "organizationId": format!("organization-{number}"),
        "userId": format!("account-{number}"),
        "elicitationMode": "model",
        "resource": {"kind": "default"},
    });
    if names_organization {
        token["organizationName"] = format!("Organization organization-{number}").into();
    }
    token
}

/// Props of a connect with such a token.
pub fn props(number: u64, names_organization: bool) -> Json {
    json!({"session": token(number, names_organization)})
}

/// The record of a session of the account of that number, with a name of its organisation that only the record knows.
pub fn meta(number: u64) -> Json {
    json!({
        "organizationId": format!("organization-{number}"),
        "organizationName": format!("Stored name of organization-{number}"),
        "organizationSlug": format!("slug-{number}"),
        "userId": format!("account-{number}"),
        "resource": {"kind": "default"},
    })
}

/// An object that exists before the run, with these values.
pub fn stored(session: &str, values: Json) -> StoredObject {
    let values = values.as_object().cloned().unwrap_or_default().into_iter().collect();
    StoredObject { session: session.to_owned(), named: true, values, alarm_at_ms: None, paused: Vec::new() }
}

/// The same session as it was stored before records had a resource.
pub fn before_toolkits(mut session: StoredObject) -> StoredObject {
    if let Some(meta) = session.values.get_mut("session-meta").and_then(Json::as_object_mut) {
        meta.remove("resource");
    }
    session
}

/// A session of the account of that number that was used before the run, and is known by its record alone.
pub fn known(session: &str, number: u64) -> StoredObject {
    let name = format!("streamable-http:{session}");
    stored(session, json!({"session-meta": meta(number), "props": props(number, false), "__ps_name": name}))
}
