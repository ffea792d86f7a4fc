//! What a judgement sees of a trace: calls and their outcomes, the state of a session at any event, what was exported.

use super::{Told, Verdict};
use crate::trace::{Event, Stream, Trace};
use serde_json::Value as Json;
use std::fmt::Debug;

/// The end of the run, as the place of an event.
pub const END: u32 = u32::MAX;

/// A trace under the eyes of a judgement. A place is the ordinal of an event, which is not yet taken into account.
pub struct Seen<'t> {
    trace: &'t Trace,
}

/// A call that came to an end.
#[derive(Clone, Copy)]
pub struct Call<'t> {
    /// Its begin.
    pub begin: &'t Event,
    /// Its end.
    pub end: &'t Event,
}

impl<'t> Seen<'t> {
    /// A view on a trace.
    pub fn new(trace: &'t Trace) -> Self {
        Seen { trace }
    }

    /// The trace.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The n-th call of a session's method, from 1.
    ///
    /// # Errors
    /// Cannot tell: it was never made, or has not ended.
    pub fn call(&self, session: &str, method: &str, n: usize) -> Result<Call<'t>, Verdict> {
        let begins = self.named(Stream::History, session, "call.begin");
        let begin = begins.into_iter().filter(|begin| begin.text("method") == Some(method)).nth(n - 1);
        let begin = begin.ok_or_else(|| unknown(format!("{method} of {session} was not called {n} times")))?;
        let same = |end: &&&Event| end.number("call") == begin.number("call");
        let ends = self.named(Stream::History, session, "call.end");
        let end = ends.iter().find(same).ok_or_else(|| unknown(format!("{method} of {session} did not end")))?;
        Ok(Call { begin, end })
    }

    /// Events of a session of that name, in order.
    pub fn named(&self, stream: Stream, who: &str, name: &str) -> Vec<&'t Event> {
        let is_it = |event: &&Event| event.is(stream, name) && event.who() == Some(who);
        self.trace.events.iter().filter(is_it).collect()
    }

    /// State events of a session of that name, in order.
    pub fn state(&self, who: &str, name: &str) -> Vec<&'t Event> {
        self.named(Stream::State, who, name)
    }

    /// Lines that a session logged under that name, in order.
    pub fn logged(&self, who: &str, name: &str) -> Vec<&'t Event> {
        self.exported(who, name, "log")
    }

    /// Spans of a session of that name, in order.
    pub fn spans(&self, who: &str, name: &str) -> Vec<&'t Event> {
        self.exported(who, name, "span")
    }

    fn exported(&self, who: &str, name: &str, what: &str) -> Vec<&'t Event> {
        let mut events = self.named(Stream::Telemetry, who, name);
        events.retain(|event| event.text("what") == Some(what));
        events
    }

    /// How many failures of a session were captured.
    pub fn captures(&self, who: &str) -> usize {
        self.exported(who, "captured", "report").len()
    }

    /// The fault of that number in the plan came about, and where.
    ///
    /// # Errors
    /// Cannot tell: it did not.
    pub fn delivered(&self, fault: u64) -> Result<&'t Event, Verdict> {
        self.of_fault("fault.delivered", fault)
    }

    /// The gate of that fault was opened, and where.
    ///
    /// # Errors
    /// Cannot tell: it was not.
    pub fn opened(&self, fault: u64) -> Result<&'t Event, Verdict> {
        self.of_fault("fault.released", fault)
    }

    fn of_fault(&self, name: &'static str, fault: u64) -> Result<&'t Event, Verdict> {
        let found = self.trace.named(Stream::Fault, name).find(|event| event.number("fault") == Some(fault));
        found.ok_or_else(|| unknown(format!("faults[{fault}]: {name} never happened")))
    }

    /// The last of a session's events before a place for which `look` has something to say.
    fn last<T>(&self, who: Option<&str>, before: u32, look: impl Fn(&Event) -> Option<T>) -> Option<T> {
        let events = self.trace.events.iter().rev().filter(|event| event.ordinal < before);
        events.filter(|event| who.is_none() || event.who() == who).find_map(look)
    }

    /// Whether a complete runtime is installed.
    pub fn is_initialized(&self, who: &str, before: u32) -> bool {
        let look = |event: &Event| match (event.stream, &*event.name) {
            (Stream::State, "runtime.installed") => Some(true),
            (Stream::State, "teardown.begin") | (Stream::Platform, "object.gone") => Some(false),
            _ => None,
        };
        self.last(Some(who), before, look).unwrap_or(false)
    }

    /// The engine, by its number.
    pub fn engine(&self, who: &str, before: u32) -> Option<u64> {
        self.part(who, before, "engine", "engine.dropped")
    }

    /// The server, by the number of its runtime.
    pub fn server(&self, who: &str, before: u32) -> Option<u64> {
        self.part(who, before, "runtime", "server.closed")
    }

    fn part(&self, who: &str, before: u32, field: &str, gone: &str) -> Option<u64> {
        let look = |event: &Event| match (event.stream, &*event.name) {
            (Stream::State, "runtime.installed") => Some(event.number(field)),
            (Stream::State, name) if name == gone => Some(None),
            (Stream::Platform, "object.gone") => Some(None),
            _ => None,
        };
        self.last(Some(who), before, look).flatten()
    }

    /// Resident runtimes, as the isolate counts them.
    pub fn residents(&self, before: u32) -> u64 {
        let look = |event: &Event| event.is(Stream::State, "gauge").then(|| event.number("residents"));
        self.last(None, before, look).flatten().unwrap_or(0)
    }

    /// Cold builds in flight, as the isolate counts them.
    pub fn in_flight(&self, before: u32) -> u64 {
        let look = |event: &Event| {
            let is_it = matches!(&*event.name, "reservation.taken" | "reservation.returned");
            (event.stream == Stream::State && is_it).then(|| event.number("in_flight"))
        };
        self.last(None, before, look).flatten().unwrap_or(0)
    }

    /// Sockets of a session that are open, in memory or hibernated.
    pub fn open_sockets(&self, who: &str, before: u32) -> usize {
        let count = |name| {
            let events = self.named(Stream::Platform, who, name);
            events.iter().filter(|event| event.ordinal < before).count()
        };
        count("socket.opened").saturating_sub(count("socket.closed"))
    }

    /// When the armed alarm is due.
    pub fn alarm(&self, who: &str, before: u32) -> Option<u64> {
        let look = |event: &Event| match (event.stream, &*event.name) {
            (Stream::Platform, "alarm.set") => Some(event.number("due_at_ms")),
            (Stream::Platform, "alarm.deleted" | "alarm.fired") => Some(None),
            _ => None,
        };
        self.last(Some(who), before, look).flatten()
    }

    /// The value that is stored under a key at the end of the run; none where there is none.
    ///
    /// # Errors
    /// Cannot tell: the run does not say what is stored.
    pub fn stored(&self, who: &str, key: &str) -> Result<Option<&'t Json>, Verdict> {
        Ok(self.all_stored(who)?.get(key))
    }

    /// Everything that is stored at the end of the run.
    ///
    /// # Errors
    /// As [`Seen::stored`].
    pub fn all_stored(&self, who: &str) -> Result<&'t Json, Verdict> {
        let told = self.named(Stream::Platform, who, "storage.told");
        let values = told.last().and_then(|told| told.json("values"));
        values.ok_or_else(|| unknown(format!("the storage of {who} is not told")))
    }

    /// Whether an alarm is armed at the end of the run, as storage says.
    ///
    /// # Errors
    /// As [`Seen::stored`].
    pub fn stored_alarm(&self, who: &str) -> Result<Option<u64>, Verdict> {
        self.all_stored(who)?;
        Ok(self.named(Stream::Platform, who, "storage.told").last().and_then(|told| told.number("alarm_at_ms")))
    }
}

impl<'t> Call<'t> {
    /// The value it returned.
    ///
    /// # Errors
    /// Not held: it threw or gave up.
    pub fn returned(&self) -> Result<Json, Verdict> {
        let method = self.begin.text("method").unwrap_or("the call");
        match self.end.text("outcome") {
            Some("returned") => Ok(self.end.field("value").map(json_of).unwrap_or_default()),
            Some("threw") => Err(not_held(format!("{method} threw {}", self.end.text("error").unwrap_or("?")))),
            _ => Err(not_held(format!("{method} was never answered"))),
        }
    }

    /// That it returned nothing.
    ///
    /// # Errors
    /// Not held: it did not return, or something.
    pub fn resolved(&self) -> Told {
        let value = self.returned()?;
        equal(self.begin.text("method").unwrap_or("the call"), &value, &Json::Null)
    }

    /// That it threw an error with this in its text.
    ///
    /// # Errors
    /// Not held: it did not, or with another text.
    pub fn threw(&self, text: &str) -> Told {
        let method = self.begin.text("method").unwrap_or("the call");
        let error = self.end.text("error").unwrap_or("nothing");
        expect(error.contains(text), || format!("{method} threw {error}, expected {text:?}"))
    }
}

fn json_of(value: &crate::trace::Value) -> Json {
    use crate::trace::Value;
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => (*number).into(),
        Value::Uint(number) => (*number).into(),
        Value::Text(text) => (&**text).into(),
        Value::Json(json) => json.clone(),
    }
}

fn not_held(what: impl Into<String>) -> Verdict {
    Verdict::NotHeld(what.into())
}

/// The verdict that nothing can be told.
pub fn unknown(why: impl Into<String>) -> Verdict {
    Verdict::CannotTell(why.into())
}

/// An expectation of the row.
pub fn expect(is_so: bool, otherwise: impl FnOnce() -> String) -> Told {
    if is_so { Ok(()) } else { Err(not_held(otherwise())) }
}

/// The expectation that something is what it must be.
pub fn equal<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Told {
    expect(found == expected, || format!("{what} is {found:?}, expected {expected:?}"))
}

/// What must be so for the row to say anything.
pub fn given(is_so: bool, what: &str) -> Told {
    if is_so { Ok(()) } else { Err(unknown(format!("not so in this run: {what}"))) }
}
