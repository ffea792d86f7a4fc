//! Hand-made traces for the tests of the claims: a builder, and ways to spoil what it built.

mod story;

use super::{Invariant, Verdict, Violation};
use crate::trace::{Event, Stream, Trace, Value, digest_of_events};
use serde_json::Value as Json;

pub use story::{answer, plan, plan_with_failing_alarm_write, story};

/// The verdict on a built trace under the plan of the story.
pub fn judged(invariant: Invariant, trace: Builder) -> Verdict {
    invariant.judge(&plan(), &trace.build())
}

/// The first violation of a trace that must have one.
pub fn violation(invariant: Invariant, trace: Builder) -> Violation {
    match judged(invariant, trace) {
        Verdict::Violated(mut violations) => violations.remove(0),
        other => panic!("{} says {other:?}", invariant.name),
    }
}

/// Events in the making; ordinals follow time, and the order of writing within one ms.
#[derive(Clone, Default)]
pub struct Builder {
    events: Vec<Event>,
}

type Fields<'a> = &'a [(&'static str, Value)];

impl Builder {
    /// The trace, with ordinals and digests.
    pub fn build(mut self) -> Trace {
        self.events.sort_by_key(|event| event.at_ms);
        for (ordinal, event) in self.events.iter_mut().enumerate() {
            event.ordinal = ordinal as u32;
        }
        let (telemetry_digest, run_digest) = digest_of_events(&self.events);
        Trace {
            ends_at_ms: self.events.last().map_or(0, |event| event.at_ms),
            events: self.events,
            telemetry_digest,
            run_digest,
            ..Trace::default()
        }
    }

    fn event(mut self, at_ms: u64, stream: Stream, who: Option<&str>, name: &str, fields: Fields) -> Self {
        let fields = fields.iter().map(|(name, value)| ((*name).into(), value.clone()));
        self.events.push(Event {
            at_ms,
            ordinal: 0,
            stream,
            name: name.to_owned().into(),
            who: who.map(Into::into),
            fields: fields.collect(),
        });
        self
    }

    pub fn platform(self, at_ms: u64, who: &str, name: &str, fields: Fields) -> Self {
        self.event(at_ms, Stream::Platform, Some(who), name, fields)
    }

    pub fn state(self, at_ms: u64, who: &str, name: &str, fields: Fields) -> Self {
        self.event(at_ms, Stream::State, Some(who), name, fields)
    }

    pub fn history(self, at_ms: u64, who: &str, name: &str, fields: Fields) -> Self {
        self.event(at_ms, Stream::History, Some(who), name, fields)
    }

    pub fn fault(self, at_ms: u64, name: &str, fault: u64) -> Self {
        self.event(at_ms, Stream::Fault, None, name, &[("fault", fault.into())])
    }

    /// The same, with whom the fault hit.
    pub fn fault_of(self, at_ms: u64, who: &str, name: &str, fault: u64) -> Self {
        self.event(at_ms, Stream::Fault, Some(who), name, &[("fault", fault.into())])
    }

    /// A log line, a span or a report of that session.
    pub fn log(self, at_ms: u64, who: &str, name: &str, fields: Fields) -> Self {
        self.event(at_ms, Stream::Telemetry, Some(who), name, fields)
    }

    /// A fault that is delivered at that object.
    pub fn told_fault(self, at_ms: u64, who: &str, fields: Fields) -> Self {
        self.event(at_ms, Stream::Fault, Some(who), "fault.delivered", fields)
    }

    pub fn phase(self, at_ms: u64, phase: &str) -> Self {
        self.event(at_ms, Stream::Phase, None, "phase", &[("phase", phase.into())])
    }

    fn index(&self, name: &str, occurrence: usize) -> usize {
        let found = self.events.iter().enumerate().filter(|(_, event)| event.name == name);
        let found = found.map(|(index, _)| index).nth(occurrence);
        found.unwrap_or_else(|| panic!("the story has no {name} number {occurrence}"))
    }

    /// Takes out the n-th event of that name, from 0.
    pub fn without(mut self, name: &str, occurrence: usize) -> Self {
        self.events.remove(self.index(name, occurrence));
        self
    }

    /// Takes out all events of that name.
    pub fn without_all(mut self, name: &str) -> Self {
        self.events.retain(|event| event.name != name);
        self
    }

    /// Takes out all events of that time, the end excluded, apart from phases.
    pub fn without_between(mut self, from_ms: u64, to_ms: u64) -> Self {
        let is_phase_kept = |event: &Event| event.stream == Stream::Phase && event.text("phase") != Some("touch");
        self.events.retain(|event| !(from_ms..to_ms).contains(&event.at_ms) || is_phase_kept(event));
        self
    }

    /// Ends the trace before that time, as a run that was cut.
    pub fn cut(mut self, at_ms: u64) -> Self {
        self.events.retain(|event| event.at_ms < at_ms);
        self
    }

    /// Sets a field of the n-th event of that name, from 0.
    pub fn change(mut self, name: &str, occurrence: usize, field: &'static str, value: Value) -> Self {
        let index = self.index(name, occurrence);
        let fields = &mut self.events[index].fields;
        fields.retain(|(each, _)| each != field);
        fields.push((field.into(), value));
        self
    }

    /// Sets an attribute of the n-th disposal span; null takes it out.
    pub fn change_attribute(mut self, occurrence: usize, name: &str, value: Json) -> Self {
        let index = self.index("mcp.session.idle_runtime_dispose", occurrence);
        for (_, field) in &mut self.events[index].fields {
            if let Value::Json(Json::Object(attributes)) = field {
                attributes.remove(name);
                if !value.is_null() {
                    attributes.insert(name.to_owned(), value.clone());
                }
            }
        }
        self
    }

    /// Puts all events of a name into another stream.
    pub fn retell(&mut self, name: &str, stream: Stream) {
        self.events.iter_mut().filter(|event| event.name == name).for_each(|event| event.stream = stream);
    }

    /// Gives all events of one name another.
    pub fn rename(mut self, from: &str, to: &'static str) -> Self {
        for event in self.events.iter_mut().filter(|event| event.name == from) {
            event.name = to.into();
        }
        self
    }

    /// Puts a second copy of an event at another time.
    pub fn copy(mut self, name: &str, occurrence: usize, at_ms: u64) -> Self {
        let copy = self.events[self.index(name, occurrence)].clone();
        self.events.push(Event { at_ms, ..copy });
        self
    }
}
