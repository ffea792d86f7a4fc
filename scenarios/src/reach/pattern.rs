//! Events as rows of reach know them: a stream, a name, and what the fields must say; with the words for a person.

use crate::trace::{Event, Stream, Value};
use serde_json::Value as Json;
use std::fmt::{self, Write};

/// An event with what its fields must say.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Which stream it belongs to.
    pub stream: Stream,
    /// Its name.
    pub name: &'static str,
    /// What stands in its fields, all of it.
    pub fields: &'static [(Place, Is)],
}

/// Where a value stands in an event.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A field of its own.
    Field(&'static str),
    /// An attribute of a span.
    Attribute(&'static str),
    /// In the answer that a client got, by JSON pointer.
    Answer(&'static str),
}

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    /// This text.
    Word(&'static str),
    /// A text that begins so.
    Begins(&'static str),
    /// This number.
    Number(i64),
    /// At least so much.
    AtLeast(u64),
    /// Less than that.
    Below(u64),
    /// True or false.
    Flag(bool),
    /// There at all.
    There,
    /// Not there.
    Absent,
}

impl Pattern {
    /// An exported span.
    pub const fn span(name: &'static str, fields: &'static [(Place, Is)]) -> Self {
        Self { stream: Stream::Telemetry, name, fields }
    }

    /// A log line.
    pub const fn log(name: &'static str, fields: &'static [(Place, Is)]) -> Self {
        Self { stream: Stream::Telemetry, name, fields }
    }

    /// What the host says of its own state.
    pub const fn state(name: &'static str, fields: &'static [(Place, Is)]) -> Self {
        Self { stream: Stream::State, name, fields }
    }

    /// What the platform did.
    pub const fn platform(name: &'static str, fields: &'static [(Place, Is)]) -> Self {
        Self { stream: Stream::Platform, name, fields }
    }

    /// What a client did or got.
    pub const fn history(name: &'static str, fields: &'static [(Place, Is)]) -> Self {
        Self { stream: Stream::History, name, fields }
    }

    /// What was done to the run.
    pub const fn fault(name: &'static str) -> Self {
        Self { stream: Stream::Fault, name, fields: &[] }
    }

    /// Whether an event of this stream and name says all of it.
    pub fn fits(&self, event: &Event) -> bool {
        self.fields.iter().all(|(place, is)| is.holds(place.value_in(event)))
    }
}

/// A value as it stands in an event.
#[derive(Clone, Copy)]
enum Found<'e> {
    Own(&'e Value),
    Json(&'e Json),
}

impl Place {
    fn value_in<'e>(&self, event: &'e Event) -> Option<Found<'e>> {
        match self {
            Self::Field(name) => event.field(name).map(Found::Own),
            Self::Attribute(name) => event.attribute(name).map(Found::Json),
            // A text as the whole answer is a value of its own.
            Self::Answer("") => event.field("answer").map(Found::Own),
            Self::Answer(pointer) => event.json("answer")?.pointer(pointer).map(Found::Json),
        }
    }
}

impl Found<'_> {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Own(value) => value.as_text(),
            Self::Json(json) => json.as_str(),
        }
    }

    fn number(&self) -> Option<i64> {
        match self {
            Self::Own(Value::Int(number)) => Some(*number),
            Self::Own(value) => value.as_number().and_then(|number| i64::try_from(number).ok()),
            Self::Json(json) => json.as_i64(),
        }
    }

    fn flag(&self) -> Option<bool> {
        match self {
            Self::Own(Value::Bool(flag)) => Some(*flag),
            Self::Own(_) => None,
            Self::Json(json) => json.as_bool(),
        }
    }
}

impl Is {
    fn holds(self, found: Option<Found<'_>>) -> bool {
        let Some(found) = found else { return matches!(self, Self::Absent) };
        let number = || found.number();
        match self {
            Self::Word(word) => found.text() == Some(word),
            Self::Begins(start) => found.text().is_some_and(|text| text.starts_with(start)),
            Self::Number(wanted) => number() == Some(wanted),
            Self::AtLeast(least) => number().is_some_and(|number| u64::try_from(number).is_ok_and(|it| it >= least)),
            Self::Below(most) => number().is_some_and(|number| u64::try_from(number).map_or(true, |it| it < most)),
            Self::Flag(wanted) => found.flag() == Some(wanted),
            Self::There => true,
            Self::Absent => false,
        }
    }
}

impl fmt::Display for Pattern {
    /// ``span `mcp.execute` with mcp.execute.mode = inline``, in the words of a person who looks for it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.stream {
            Stream::Telemetry if self.name.contains('.') && self.name != "console.error" => "span",
            Stream::Telemetry => "log",
            other => other.name(),
        };
        write!(out, "{kind} `{}`", self.name)?;
        for (index, (place, is)) in self.fields.iter().enumerate() {
            out.write_str(if index == 0 { " with " } else { ", " })?;
            match place {
                Place::Field(name) | Place::Attribute(name) => out.write_str(name)?,
                Place::Answer(pointer) => {
                    out.write_str("answer")?;
                    pointer.chars().try_for_each(|each| out.write_char(if each == '/' { '.' } else { each }))?;
                }
            }
            match is {
                Is::Word(word) => write!(out, " = {word}")?,
                Is::Begins(start) => write!(out, " = {start}…")?,
                Is::Number(number) => write!(out, " = {number}")?,
                Is::AtLeast(least) => write!(out, " ≥ {least}")?,
                Is::Below(most) => write!(out, " < {most}")?,
                Is::Flag(flag) => write!(out, " = {flag}")?,
                Is::There => out.write_str(" set")?,
                Is::Absent => out.write_str(" absent")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn span() -> Event {
        let attributes = json!({"mcp.execute.mode": "inline", "mcp.execute.code_length": 12, "paused": true});
        Event {
            at_ms: 1,
            ordinal: 0,
            stream: Stream::Telemetry,
            name: "mcp.execute".into(),
            who: Some("s1".into()),
            fields: vec![("what".into(), "span".into()), ("attributes".into(), attributes.into())],
        }
    }

    fn says(fields: &'static [(Place, Is)]) -> bool {
        Pattern::span("mcp.execute", fields).fits(&span())
    }

    #[test]
    fn all_fields_must_say_what_is_wanted() {
        assert!(says(&[]));
        assert!(says(&[(Place::Attribute("mcp.execute.mode"), Is::Word("inline"))]));
        assert!(!says(&[(Place::Attribute("mcp.execute.mode"), Is::Word("pausable"))]));
        assert!(says(&[(Place::Attribute("mcp.execute.code_length"), Is::AtLeast(12))]));
        assert!(!says(&[(Place::Attribute("mcp.execute.code_length"), Is::Below(12))]));
        assert!(says(&[(Place::Attribute("paused"), Is::Flag(true)), (Place::Field("what"), Is::Begins("sp"))]));
        assert!(!says(&[(Place::Attribute("paused"), Is::Flag(true)), (Place::Field("what"), Is::Word("log"))]));
        assert!(says(&[(Place::Field("parent"), Is::Absent)]) && !says(&[(Place::Field("parent"), Is::There)]));
    }

    #[test]
    fn an_answer_is_looked_into_by_pointer() {
        let answer = json!({"code": -32003, "message": "MCP session does not belong to the current bearer"});
        let event = Event { fields: vec![("answer".into(), answer.into())], ..span() };
        let code = Pattern::history("request.end", &[(Place::Answer("/code"), Is::Number(-32003))]);
        let other = Pattern::history("request.end", &[(Place::Answer("/code"), Is::Number(-32001))]);
        assert!(code.fits(&event) && !other.fits(&event) && !code.fits(&span()));
        assert_eq!(code.to_string(), "history `request.end` with answer.code = -32003");
    }
}
