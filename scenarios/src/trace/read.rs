//! Reads traces from JSON lines, checks that nothing is missing, and refuses everything else in one sentence.

use super::lines::{ENVELOPE, TraceHeader, VERSION};
use super::{Drawn, Event, Stream, Trace, Value, digest_of_events};
use crate::bad_input::{BadInput, TRACE_BYTES_MAX, from_json, text_of};
use crate::decision::DecisionName;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value as Json;
use std::fmt;

/// Reads what [`super::write_lines`] wrote, and checks the digests.
///
/// # Errors
/// Anything else, with line, problem and remedy; a file without its end line was cut off.
pub fn read_lines(bytes: &[u8]) -> Result<(TraceHeader, Trace), BadInput> {
    if bytes.len() > TRACE_BYTES_MAX {
        let problem = format!("a trace has at most {TRACE_BYTES_MAX} bytes (1 GiB)");
        return Err(BadInput::new(format!("{} bytes", bytes.len()), problem, "check that it is a trace"));
    }
    let text = text_of(bytes, "trace")?;
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    let header = header_of(object(header, 1)?)?;
    let mut trace = Trace::default();
    let mut end = None;
    for (index, line) in lines {
        let number = index + 1;
        if end.is_some() {
            return Err(at(number, "there is something after the end line"));
        }
        let object = object(line, number)?;
        if object.get("event").is_some() {
            trace.events.push(event_of(object, number)?);
        } else if object.get("decision").is_some() {
            trace.decisions.push(drawn_of(&object, number)?);
        } else if let Some(found) = object.get("end") {
            end = Some((found.clone(), number));
        } else {
            return Err(at(number, "neither an event, a decision nor the end"));
        }
    }
    let Some((end, number)) = end else {
        return Err(BadInput::new(
            "end of file",
            "the trace has no end line",
            "it was cut off, so copy or write it again",
        ));
    };
    finish(&mut trace, &end, number)?;
    Ok((header, trace))
}

fn finish(trace: &mut Trace, end: &Json, line: usize) -> Result<(), BadInput> {
    let number = |name: &str| {
        end.get(name).and_then(Json::as_u64).ok_or_else(|| at(line, &format!("the end lacks the number {name}")))
    };
    let digest = |name: &str| {
        end.get(name)
            .and_then(Json::as_str)
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .ok_or_else(|| at(line, &format!("the end lacks the digest {name}")))
    };
    trace.ends_at_ms = number("at_ms")?;
    trace.operation_count = number("operation_count")?;
    trace.telemetry_digest = digest("telemetry_digest")?;
    trace.run_digest = digest("run_digest")?;
    let is_whole = number("event_count")? == trace.events.len() as u64
        && digest_of_events(&trace.events) == (trace.telemetry_digest, trace.run_digest);
    if is_whole {
        return Ok(());
    }
    Err(at(line, "the digests do not fit the events"))
}

fn header_of(object: Line) -> Result<TraceHeader, BadInput> {
    match object.get("trace").and_then(Json::as_u64) {
        Some(VERSION) => {}
        Some(newer) => {
            return Err(BadInput::new(
                "line 1",
                format!("trace is version {newer}, this build reads {VERSION}"),
                "use the sim that wrote it",
            ));
        }
        None => return Err(at(1, "a trace begins with its header")),
    }
    let part = |name: &str| {
        let found = object.get(name).and_then(Json::as_str).map(str::to_owned);
        found.ok_or_else(|| at(1, &format!("the header lacks {name}")))
    };
    Ok(TraceHeader { scenario: part("scenario")?, seed: part("seed")?, plan: part("plan")? })
}

fn event_of(object: Line, line: usize) -> Result<Event, BadInput> {
    let missing = |name: &str| at(line, &format!("the event lacks {name}"));
    let number = |name: &str| {
        let found = object.get(name).and_then(Json::as_u64);
        found.ok_or_else(|| missing(name))
    };
    let text = |name: &str| object.get(name).and_then(Json::as_str);
    let at_ms = number("at_ms")?;
    let ordinal = u32::try_from(number("n")?).map_err(|_| at(line, "n is too large"))?;
    let stream = text("stream").and_then(Stream::by_name).ok_or_else(|| missing("a stream that this build knows"))?;
    let name = text("event").ok_or_else(|| missing("a name"))?.to_owned();
    let who = text("who").map(Into::into);
    let fields = object
        .0
        .into_iter()
        .filter(|(name, _)| !ENVELOPE.contains(&name.as_str()))
        .map(|(name, value)| {
            let bare = name.trim_start_matches('_');
            let name = if ENVELOPE.contains(&bare) { name[1..].to_owned() } else { name };
            (name.into(), Value::from(value))
        })
        .collect();
    Ok(Event { at_ms, ordinal, stream, name: name.into(), who, fields })
}

fn drawn_of(object: &Line, line: usize) -> Result<Drawn, BadInput> {
    let number = |name: &str| object.get(name).and_then(Json::as_u64);
    let name = object.get("decision").and_then(Json::as_str).and_then(DecisionName::parse);
    match (name, number("below"), number("value")) {
        (Some(name), Some(below), Some(value)) => Ok(Drawn { name, below, value }),
        _ => Err(at(line, "a decision has a name, below and value")),
    }
}

/// The keys and values of a line in the order they stand in, which the digest depends on.
struct Line(Vec<(String, Json)>);

impl Line {
    fn get(&self, key: &str) -> Option<&Json> {
        let found = self.0.iter().find(|(each, _)| each == key);
        found.map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> de::Visitor<'de> for Pairs {
            type Value = Line;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Line(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}

fn object(line: &str, number: usize) -> Result<Line, BadInput> {
    serde_json::from_str(line).map_err(|error| {
        let mut refusal = from_json(&error, "trace");
        refusal.place = format!("line {number} column {}", error.column());
        refusal
    })
}

fn at(line: usize, problem: &str) -> BadInput {
    BadInput::new(format!("line {line}"), problem, "check that it is an unchanged trace of this build")
}
