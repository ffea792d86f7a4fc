//! What a plan says of objects beside its clients: what is stored before the run, and who calls their methods directly.

use crate::document::without_doubles;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// An object as it is stored when the run begins; it is in no isolate's memory then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredObject {
    /// Its session id, and its alias in traces.
    pub session: String,
    /// False for an object whose id never had a name: only its storage can tell one.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub named: bool,
    /// Its values by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "without_doubles")]
    pub values: BTreeMap<String, Json>,
    /// When its alarm is due, in ms since the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarm_at_ms: Option<u64>,
    /// Executions that its engine knows to wait for a person, whenever it is built.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused: Vec<PausedPlan>,
}

/// An execution that an engine kept beyond its runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PausedPlan {
    /// Its id.
    pub execution: String,
    /// The code that goes on when somebody responds, in the engine's language.
    pub code: String,
}

/// A stateless worker that calls methods of sessions through stubs, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerPlan {
    /// Its name.
    pub name: String,
    /// What it calls; a call begins at its time or when the one before has ended, whichever is later.
    pub calls: Vec<CallPlan>,
}

/// One call of a method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallPlan {
    /// Earliest begin, in whole ms since the start of the run.
    pub at_ms: u64,
    /// The session: one of `storage`, or alias of a client's.
    pub session: String,
    /// The method.
    pub method: String,
    /// Its arguments by name.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub arguments: Json,
    /// The caller's next call does not wait for the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overlap: bool,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_true(flag: &bool) -> bool {
    *flag
}
