//! Plans from bytes: size, encoding, version, upgrade, shape, then validation; each refusal is one sentence.

use super::{Edge, Plan, PlanError, VERSION, When};
use crate::bad_input::{BadInput, PLAN_BYTES_MAX, from_json, text_of};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

impl Plan {
    /// Reads a plan of this or an older version and validates it.
    ///
    /// # Errors
    /// Anything that is not a valid plan, with place, problem and remedy.
    pub fn parse(bytes: &[u8]) -> Result<Plan, PlanError> {
        if bytes.len() > PLAN_BYTES_MAX {
            return Err(BadInput::new(
                format!("{} bytes", bytes.len()),
                format!("a plan has at most {PLAN_BYTES_MAX} bytes (16 MiB)"),
                "check that it is a plan, or take clients out of it",
            ));
        }
        let text = text_of(bytes, "plan")?;
        let version = version_of(text)?;
        let plan: Plan = if version == VERSION {
            // Straight from the text, so that errors keep line and column.
            serde_json::from_str(text).map_err(|error| from_json(&error, "plan"))?
        } else {
            let raw = serde_json::from_str(text).map_err(|error| from_json(&error, "plan"))?;
            serde_json::from_value(upgrade(raw, version)?).map_err(|error| from_json(&error, "plan"))?
        };
        plan.validate()?;
        Ok(plan)
    }
}

fn version_of(text: &str) -> Result<u32, PlanError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<Json>,
    }
    if !text.trim_start().starts_with('{') {
        return Err(BadInput::new(
            "line 1 column 1",
            "a plan is a JSON object and begins with {",
            "check that it is a plan",
        ));
    }
    let head: Versioned = serde_json::from_str(text).map_err(|error| from_json(&error, "plan"))?;
    let version = head.version.as_ref().and_then(Json::as_u64);
    match version {
        Some(newer) if newer > u64::from(VERSION) => Err(BadInput::new(
            "version",
            format!("plan is version {newer}, this build reads up to {VERSION}"),
            "use the sim that wrote it",
        )),
        Some(known @ 1..) => Ok(known as u32),
        _ => Err(BadInput::new(
            "version",
            format!("expected a whole number from 1 to {VERSION}"),
            format!("write \"version\": {VERSION} if it is a plan of this build"),
        )),
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

/// Reads the pins; a decision that is pinned twice is refused instead of the later one winning silently.
pub(super) fn pins_without_doubles<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, u64>, D::Error> {
    struct Pins;
    impl<'de> de::Visitor<'de> for Pins {
        type Value = BTreeMap<String, u64>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a map of decision names to whole numbers")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pins = BTreeMap::new();
            while let Some((name, value)) = map.next_entry::<String, u64>()? {
                if pins.contains_key(&name) {
                    return Err(de::Error::custom(format!("`{name}` is pinned twice")));
                }
                pins.insert(name, value);
            }
            Ok(pins)
        }
    }
    from.deserialize_map(Pins)
}
