//! What only the tests see: storage calls with their values, the ends of spans, work handed to `waitUntil`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::fx::{Cause, Exit};
use crate::js::{EventLoop, call, hops};
use crate::operation::Operation;
use crate::platform::{JsError, ObjectKey};

/// Target of the events here.
pub(crate) const TARGET: &str = "observed";

/// Tells the tests something: a name and a JSON object, with the loop's clock.
pub(crate) fn tell(event: &'static str, what: &Value) {
    let now_ms = EventLoop::current().now_ms();
    tracing::trace!(target: TARGET, event = event, now_ms = now_ms, json = &*what.to_string());
}

/// Name of an object, or that it has none.
fn owner(key: &ObjectKey) -> &str {
    if key.named { &key.name } else { "(no name)" }
}

/// A storage call takes effect now.
pub(crate) fn storage(key: &ObjectKey, operation: &Operation, op: &str, mut what: Value) {
    what["k"] = json!("storage");
    what["o"] = json!(owner(key));
    what["op"] = json!(op);
    what["by"] = json!(operation.name);
    tell("storage", &what);
}

/// A storage call is made to fail, without any effect; told when it rejects.
pub(crate) fn storage_failed(key: &ObjectKey, operation: &'static Operation, error: &JsError) {
    let (key, error) = (key.clone(), Arc::clone(&error.message));
    drop(call(async move {
        hops(1).await;
        let call = operation.name.split_once("storage.").map_or("", |(_, call)| call);
        let (op, rest) = call.split_once(' ').unwrap_or((call, ""));
        let mut what = json!({"error": &*error});
        if op != "setAlarm" {
            what["key"] = json!(rest);
        }
        storage(&key, operation, op, what);
    }));
}

/// A span ends, with how its effect ended.
pub(crate) fn span<T>(name: &str, attributes: &serde_json::Map<String, Value>, exit: &Exit<T>) {
    let exit = match exit {
        Ok(_) => "success".to_owned(),
        Err(Cause::Interrupt) => "interrupt".to_owned(),
        Err(Cause::Fail(error) | Cause::Die(error)) => format!("failure: {error}"),
    };
    tell("span", &json!({"k": "span", "name": name, "attrs": attributes, "exit": exit}));
}

/// Work is handed to `waitUntil`.
pub(crate) fn wait_until(key: &ObjectKey) {
    tell("waitUntil", &json!({"k": "waitUntil", "o": owner(key)}));
}
