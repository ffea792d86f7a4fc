//! Reads the fields of one `tracing` event into typed values.

use crate::world;
use model::telemetry::Attributes;
use scenarios::trace::{Name, Value};
use std::borrow::Cow;
use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;
use tracing::field::{Field, Visit};

/// What one event says. Fields keep the order of the emitter; those with a meaning of their own are taken out:
///
/// - `event` is the name of an event that `tracing` does not know by name, `who` the session id, isolate or `edge`;
/// - `…_at_ms` is a time in ms since the epoch and becomes ms since the start of the run;
/// - `…_json` is JSON text and becomes the structured value under the name without the suffix;
/// - `fields_json` is a JSON object whose members become fields, for events whose fields no macro can list.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) event: Option<Name>,
    /// As the trace names it.
    pub(super) who: Option<Arc<str>>,
    pub(super) fields: Vec<(Name, Value)>,
}

impl Reader {
    /// A reader of an event with so many fields.
    pub(super) fn with_room_for(count: usize) -> Self {
        Reader { fields: Vec::with_capacity(count), ..Reader::default() }
    }

    fn add(&mut self, name: Name, value: Value) {
        let value = if name.ends_with("_at_ms") { relative(value) } else { value };
        self.fields.push((name, value));
    }

    fn add_json(&mut self, name: &'static str, text: &str) {
        // Text that is no JSON is kept as it is: a trace shows what was said, a check says that it is wrong.
        let Ok(parsed) = serde_json::from_str::<serde_json::Value>(text) else {
            return self.add(name.into(), text.into());
        };
        self.add_parsed(name, parsed);
    }

    fn add_parsed(&mut self, name: &'static str, parsed: serde_json::Value) {
        match (name, parsed) {
            ("fields_json", serde_json::Value::Object(members)) => {
                for (name, value) in members {
                    self.add(name.into(), value.into());
                }
            }
            (name, parsed) => self.add(name.strip_suffix("_json").unwrap_or(name).into(), parsed.into()),
        }
    }
}

impl Visit for Reader {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "event" => self.event = Some(Cow::Owned(value.to_owned())),
            "who" => self.who = Some(super::alias_of(value)),
            name if name.ends_with("_json") => self.add_json(name, value),
            name => self.add(name.into(), value.into()),
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name().into(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name().into(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name().into(), value.into());
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        let value = u64::try_from(value).map_or_else(|_| value.to_string().as_str().into(), Value::from);
        self.add(field.name().into(), value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        let value = i64::try_from(value).map_or_else(|_| value.to_string().as_str().into(), Value::from);
        self.add(field.name().into(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name().into(), serde_json::Value::from(value).into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        match value.downcast_ref::<Attributes>() {
            Some(Attributes(members)) => self.add_parsed(field.name(), members.clone().into()),
            None => self.record_str(field, &value.to_string()),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

/// A time since the epoch as a time since the start of the run; times before the start are negative.
fn relative(value: Value) -> Value {
    match value {
        Value::Uint(at_ms) => {
            let relative = i128::from(at_ms) - i128::from(world::EPOCH_MS);
            i64::try_from(relative).map_or(Value::Uint(at_ms), Value::from)
        }
        Value::Int(at_ms) => Value::from(at_ms.saturating_sub_unsigned(world::EPOCH_MS)),
        other => other,
    }
}
