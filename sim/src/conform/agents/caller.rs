//! Reaching agents from the worker: `getAgentByName`, and a stub that knows nothing of the framework.

use super::super::front::{Answer, Peer, attempt_for};
use super::super::memory;
use super::super::world::World;
use super::behaviours::number;
use model::js::{self, Promise};
use model::platform::{JsError, LocalFuture, ObjectKey};
use serde_json::{Value, json};

/// How long the probes of agents wait for an answer.
const PATIENCE_MS: u64 = 8_000;

/// The key of an agent of that class that nobody has called yet.
pub fn fresh(class: &'static str) -> ObjectKey {
    ObjectKey::named(class, format!("p-{}", memory::count("fresh")))
}

/// `getAgentByName`: one `setName`, then a fresh stub.
///
/// # Errors
/// What the start of the agent fails with.
pub async fn get_agent(key: ObjectKey) -> Result<Peer, JsError> {
    Peer::of(key.clone()).rpc("setName", json!({ "name": &*key.name })).wait().await?;
    Ok(Peer::of(key))
}

/// The same as a call that others can wait for.
pub fn getting(key: ObjectKey) -> Promise<Result<Peer, JsError>> {
    js::call(get_agent(key))
}

/// Calls a method of an agent and waits.
///
/// # Errors
/// Those of the call.
pub async fn ask(peer: &Peer, method: &'static str, argument: impl Into<Value>) -> Answer {
    peer.rpc(method, argument.into()).wait().await
}

/// The snapshot of an agent.
///
/// # Errors
/// Those of the call.
pub async fn snap(peer: &Peer) -> Answer {
    ask(peer, "snap", Value::Null).await
}

/// What a call comes to, in words.
pub async fn attempt(promise: Promise<Answer>) -> Value {
    attempt_for(PATIENCE_MS, promise).await
}

/// `Math.round(x / step) * step` of a number; null stays null.
pub fn rounded(value: &Value, step: f64) -> Value {
    value.as_f64().map_or(Value::Null, |value| number((value / step + 0.5).floor() * step))
}

/// An answer with the text that a name, or whatever varies, stands for.
pub fn put_for(answer: &Value, what: &str, stands: &str) -> Value {
    serde_json::from_str(&answer.to_string().replace(what, stands)).expect("a name is plain text")
}

/// The lines of the log with that tag, from there on: what they tell.
pub fn told_of(tag: &str, from: usize) -> Vec<Value> {
    memory::log_from(from).into_iter().filter(|entry| entry.tag == tag).map(|entry| entry.what).collect()
}

impl World {
    /// The driver's call of an agent, in a request of its own; `starts` goes by `getAgentByName`.
    pub async fn call_agent(&self, key: ObjectKey, starts: bool, method: &'static str, argument: Value) -> Answer {
        let work = move || -> LocalFuture<Answer> {
            Box::pin(async move {
                let peer = if starts { get_agent(key).await? } else { Peer::of(key) };
                ask(&peer, method, argument).await
            })
        };
        self.request(work).await
    }
}
