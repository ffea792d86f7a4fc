//! What the model recorded in a test: its events with their fields as texts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static EVENTS: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// One event: its name is the field `event`.
pub(crate) type Line = BTreeMap<&'static str, String>;

/// A recording in progress.
pub(crate) struct Recording(DefaultGuard);

/// Records on this thread from now on.
pub(crate) fn record() -> Recording {
    EVENTS.take();
    Recording(tracing::subscriber::set_default(Collector))
}

impl Recording {
    pub(crate) fn take(self) -> Recorded {
        drop(self.0);
        Recorded(EVENTS.take())
    }
}

/// Everything recorded, in order.
pub(crate) struct Recorded(Vec<Line>);

impl Recorded {
    /// All events.
    pub fn lines(&self) -> &[Line] {
        &self.0
    }

    /// The events of a name.
    pub fn all(&self, name: &str) -> Vec<&Line> {
        self.0.iter().filter(|line| line.get("event").is_some_and(|event| event == name)).collect()
    }

    /// How many events of a name there are.
    pub fn count(&self, name: &str) -> usize {
        self.all(name).len()
    }

    /// Messages that reached the error reporter.
    pub fn captured(&self) -> Vec<&str> {
        self.all("captured").into_iter().map(|line| &*line["message"]).collect()
    }

    /// Attributes of the exported spans of a name, as JSON texts.
    pub fn spans(&self, name: &str) -> Vec<&str> {
        let spans = self.all(name).into_iter().filter(|line| line.get("what").is_some_and(|what| what == "span"));
        spans.map(|line| &*line["attributes_json"]).collect()
    }

    /// Values of one field of the events of a name.
    pub fn values(&self, name: &str, field: &str) -> Vec<&str> {
        self.all(name).into_iter().filter_map(|line| line.get(field)).map(String::as_str).collect()
    }

    /// Names of the events among `names`, in order.
    pub fn order(&self, names: &[&str]) -> Vec<&str> {
        let known = self.0.iter().filter_map(|line| line.get("event"));
        known.map(String::as_str).filter(|event| names.contains(event)).collect()
    }
}

struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if !matches!(event.metadata().target(), "telemetry" | "state" | "platform" | crate::observed::TARGET) {
            return;
        }
        // An event without a field `event` has its name from `tracing`.
        let mut line = Fields(Line::from([("event", event.metadata().name().to_owned())]));
        event.record(&mut line);
        EVENTS.with_borrow_mut(|events| events.push(line.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields(Line);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
