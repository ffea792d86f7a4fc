//! Small questions that invariants and stories ask of events and traces.

use super::{Event, Stream, Trace, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Event {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let found = self.fields.iter().find(|(each, _)| each == name);
        found.map(|(_, value)| value)
    }

    /// A whole number that is not negative.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.field(name).and_then(Value::as_number)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(Value::as_text)
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.field(name)? {
            Value::Bool(flag) | Value::Json(serde_json::Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A structured value.
    pub fn json(&self, name: &str) -> Option<&serde_json::Value> {
        match self.field(name)? {
            Value::Json(json) => Some(json),
            _ => None,
        }
    }

    /// The alias the event belongs to, or nothing for events of the whole run.
    pub fn who(&self) -> Option<&str> {
        self.who.as_deref()
    }

    /// Whether it is this event of this stream.
    pub fn is(&self, stream: Stream, name: &str) -> bool {
        self.stream == stream && self.name == name
    }

    /// Attribute of an exported span.
    pub fn attribute(&self, name: &str) -> Option<&serde_json::Value> {
        self.json("attributes")?.get(name)
    }

    /// The session that an exported span or log line names in its own fields; a subset of what `who` says.
    pub fn told_session(&self) -> Option<&str> {
        self.text("sessionId").or_else(|| self.attribute("mcp.session.id")?.as_str())
    }
}

impl Value {
    /// The value as a whole number that is not negative.
    pub fn as_number(&self) -> Option<u64> {
        match self {
            Value::Uint(number) => Some(*number),
            Value::Int(number) => u64::try_from(*number).ok(),
            Value::Json(json) => json.as_u64(),
            _ => None,
        }
    }

    /// The value as text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Json(json) => json.as_str(),
            _ => None,
        }
    }
}

impl Trace {
    /// Events of one stream, in order.
    pub fn of(&self, stream: Stream) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.stream == stream)
    }

    /// Events of that name in that stream, in order.
    pub fn named<'a>(&'a self, stream: Stream, name: &'a str) -> impl Iterator<Item = &'a Event> {
        self.of(stream).filter(move |event| event.name == name)
    }

    /// When the phase began.
    pub fn phase_at(&self, phase: &str) -> Option<&Event> {
        self.named(Stream::Phase, "phase").find(|event| event.text("phase") == Some(phase))
    }

    /// Whether the run came to its planned end.
    pub fn is_complete(&self) -> bool {
        self.phase_at("end").is_some()
    }

    /// Aliases that any platform or state event belongs to, isolates and edge included.
    pub fn actors(&self) -> BTreeSet<Arc<str>> {
        self.events.iter().filter_map(|event| event.who.clone()).collect()
    }

    /// The event with that ordinal.
    pub fn event(&self, ordinal: u32) -> Option<&Event> {
        let index = self.events.binary_search_by_key(&ordinal, |event| event.ordinal).ok()?;
        self.events.get(index)
    }
}

/// Exported spans of that name, in order.
pub fn spans_named<'a>(trace: &'a Trace, name: &'a str) -> impl Iterator<Item = &'a Event> {
    trace.named(Stream::Telemetry, name).filter(|event| event.text("what") == Some("span"))
}
