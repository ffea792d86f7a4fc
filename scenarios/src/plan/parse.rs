//! Plans from bytes: size, encoding, version, upgrade, shape, then validation; each refusal is one sentence.

use super::{Edge, Plan, PlanError, VERSION, When};
use crate::bad_input::PLAN_BYTES_MAX;
use crate::document::{Format, typed, typed_value};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How plans begin.
const FORMAT: Format = Format { what: "plan", version_field: "version", version: VERSION, bytes_max: PLAN_BYTES_MAX };

impl Plan {
    /// Reads a plan of this or an older version and validates it.
    ///
    /// # Errors
    /// Anything that is not a valid plan, with place, problem and remedy.
    pub fn parse(bytes: &[u8]) -> Result<Plan, PlanError> {
        let (text, version) = FORMAT.begin(bytes)?;
        let plan: Plan = if version == VERSION {
            // Straight from the text, so that errors keep line and column.
            typed(text, "plan")?
        } else {
            let raw = typed(text, "plan")?;
            typed_value(upgrade(raw, version)?, "plan")?
        };
        plan.validate()?;
        Ok(plan)
    }
}

/// Brings a plan of an older version to [`VERSION`], one version at a time.
///
/// The chain is empty while there is only version 1; version 2 adds `1 => one_to_two(raw)`.
fn upgrade(raw: Json, from: u32) -> Result<Json, PlanError> {
    let mut version = from;
    while version < VERSION {
        version += 1;
    }
    Ok(raw)
}

/// How a trigger stands in JSON: the fields of either kind, told apart by which are present.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhenFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edge: Option<Edge>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl TryFrom<WhenFields> for When {
    type Error = &'static str;

    fn try_from(fields: WhenFields) -> Result<Self, Self::Error> {
        let WhenFields { at_ms, operation, root, edge, n, session } = fields;
        match (at_ms, operation) {
            (Some(at_ms), None) if root.is_none() && edge.is_none() && n.is_none() => Ok(When::At { at_ms, session }),
            (None, Some(operation)) => {
                Ok(When::Operation { operation, root, edge: edge.unwrap_or_default(), n: n.unwrap_or(1), session })
            }
            _ => Err("a trigger has either `at_ms` (with session), or `operation` with root, edge, n, session"),
        }
    }
}

impl From<When> for WhenFields {
    fn from(when: When) -> Self {
        match when {
            When::At { at_ms, session } => {
                Self { at_ms: Some(at_ms), operation: None, root: None, edge: None, n: None, session }
            }
            When::Operation { operation, root, edge, n, session } => {
                Self { at_ms: None, operation: Some(operation), root, edge: Some(edge), n: Some(n), session }
            }
        }
    }
}
