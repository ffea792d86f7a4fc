//! Traces as JSON lines: a header, a line an event, a line a decision, and an end with the digests.

use super::{Event, Trace, Value};
use serde_json::{Value as Json, json};
use std::io::{self, Write};

/// The version of the trace format that this build writes and reads.
pub(super) const VERSION: u64 = 1;
/// Keys of an event line that are not fields; a field of such a name is written with `_` in front.
pub(super) const ENVELOPE: [&str; 5] = ["at_ms", "n", "stream", "event", "who"];

/// What a trace file says about the run before its first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// Scenario id of the plan.
    pub scenario: String,
    /// Seed of the plan, in decimal.
    pub seed: String,
    /// Digest of the plan, as shown.
    pub plan: String,
}

/// Writes a trace.
///
/// # Errors
/// Those of the writer.
pub fn write_lines(header: &TraceHeader, trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let [scenario, seed, plan] = [&header.scenario, &header.seed, &header.plan].map(|text| Json::from(text.as_str()));
    writeln!(out, r#"{{"trace":{VERSION},"scenario":{scenario},"seed":{seed},"plan":{plan}}}"#)?;
    for event in &trace.events {
        write_event(event, out)?;
    }
    for drawn in &trace.decisions {
        let name = Json::from(drawn.name.to_string());
        let (below, value) = (drawn.below, drawn.value);
        writeln!(out, r#"{{"decision":{name},"below":{below},"value":{value}}}"#)?;
    }
    let end = json!({"end": {
        "at_ms": trace.ends_at_ms,
        "event_count": trace.events.len(),
        "operation_count": trace.operation_count,
        "telemetry_digest": hex(trace.telemetry_digest),
        "run_digest": hex(trace.run_digest),
    }});
    writeln!(out, "{end}")
}

fn write_event(event: &Event, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        r#"{{"at_ms":{},"n":{},"stream":"{}","event":{}"#,
        event.at_ms,
        event.ordinal,
        event.stream.name(),
        Json::from(&*event.name)
    )?;
    if let Some(who) = &event.who {
        write!(out, r#","who":{}"#, Json::from(&**who))?;
    }
    for (name, value) in &event.fields {
        let key = if ENVELOPE.contains(&name.trim_start_matches('_')) {
            Json::from(format!("_{name}"))
        } else {
            Json::from(&**name)
        };
        write!(out, ",{key}:")?;
        match value {
            Value::Bool(flag) => write!(out, "{flag}")?,
            Value::Int(number) => write!(out, "{number}")?,
            Value::Uint(number) => write!(out, "{number}")?,
            Value::Text(text) => write!(out, "{}", Json::from(&**text))?,
            Value::Json(json) => write!(out, "{json}")?,
        }
    }
    writeln!(out, "}}")
}

fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}
