//! The trace of a run: everything that happened, in one order, with two digests over it.
//!
//! `history` is what clients asked and got, `telemetry` what the host exported, `platform` what is so, `state` the
//! host's own view of itself; `fault` and `phase` are the run's. Times are virtual ms since the start of the run.

mod digest;
mod lines;
mod query;
mod read;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use crate::decision::DecisionName;

pub use digest::{TraceDigest, digest_of_events};
pub use lines::{TraceHeader, write_lines};
pub use query::spans_named;
pub use read::read_lines;

/// The name of an event or field: mostly one of the program's own, read back from a file otherwise.
pub type Name = Cow<'static, str>;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Virtual ms since the start of the run.
    pub at_ms: u64,
    /// Place in the order of all events of the run, from 0.
    pub ordinal: u32,
    /// Which stream it belongs to.
    pub stream: Stream,
    /// What happened: `alarm.set`, `request.end`, `mcp.session.idle_runtime_dispose`, ….
    pub name: Name,
    /// Alias of the session, else `i1` (isolate) or `edge`; absent for events of the whole run.
    pub who: Option<Arc<str>>,
    /// The rest, in the order the emitter gave.
    pub fields: Vec<(Name, Value)>,
}

/// The streams of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// What clients asked and got.
    History,
    /// What the host exported: spans, log lines, captures.
    Telemetry,
    /// What is so, as the modelled platform knows it.
    Platform,
    /// The host's account of its own state, at debug level.
    State,
    /// Planned faults: armed, delivered, released.
    Fault,
    /// The phases of the run.
    Phase,
}

impl Stream {
    /// All streams, in their order in the digest.
    pub const ALL: [Stream; 6] =
        [Stream::History, Stream::Telemetry, Stream::Platform, Stream::State, Stream::Fault, Stream::Phase];

    /// The name of the stream in files and stories.
    pub fn name(self) -> &'static str {
        match self {
            Stream::History => "history",
            Stream::Telemetry => "telemetry",
            Stream::Platform => "platform",
            Stream::State => "state",
            Stream::Fault => "fault",
            Stream::Phase => "phase",
        }
    }

    /// The stream of that name.
    pub fn by_name(name: &str) -> Option<Stream> {
        Stream::ALL.into_iter().find(|each| each.name() == name)
    }
}

/// The value of a field.
///
/// A non-negative `Int` and the equal `Uint` are the same to digests and files, and so is a scalar in `Json`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number that may be negative.
    Int(i64),
    /// A whole number.
    Uint(u64),
    /// Text.
    Text(Arc<str>),
    /// Anything structured.
    Json(serde_json::Value),
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Uint(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        match u64::try_from(value) {
            Ok(value) => Value::Uint(value),
            Err(_) => Value::Int(value),
        }
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.into())
    }
}

impl From<serde_json::Value> for Value {
    /// Scalars become the plain variants, so that a value read back from a file equals the one written.
    fn from(value: serde_json::Value) -> Self {
        match &value {
            serde_json::Value::Bool(flag) => Value::Bool(*flag),
            serde_json::Value::String(text) => Value::Text(text.as_str().into()),
            serde_json::Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => Value::Uint(number),
                (None, Some(number)) => Value::Int(number),
                (None, None) => Value::Json(value),
            },
            _ => Value::Json(value),
        }
    }
}

/// One decision as it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Which decision.
    pub name: DecisionName,
    /// It was one of `0..below`.
    pub below: u64,
    /// What was decided.
    pub value: u64,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Everything that happened, by ordinal.
    pub events: Vec<Event>,
    /// Every decision, in the order taken.
    pub decisions: Vec<Drawn>,
    /// When the run ended, in virtual ms since its start.
    pub ends_at_ms: u64,
    /// Operations (named suspension points) that began.
    pub operation_count: u64,
    /// Digest of the telemetry stream, without ordinals.
    pub telemetry_digest: u64,
    /// Digest of all events.
    pub run_digest: u64,
}
