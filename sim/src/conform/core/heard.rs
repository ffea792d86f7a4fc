//! What is heard of a stand while it runs: what it tells itself, and the log lines of the class.

use std::cell::RefCell;

use model::iso_time::from_iso;
use model::rt::EPOCH_MS;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

thread_local! {
    static HEARD: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// Notes an event of the stand.
pub fn note(event: Value) {
    HEARD.with_borrow_mut(|heard| heard.push(event));
}

/// What was heard since the last time.
pub fn take() -> Vec<Value> {
    HEARD.take()
}

/// Runs `f` while log lines are heard.
pub fn listening<T>(f: impl FnOnce() -> T) -> T {
    tracing::subscriber::with_default(Logs, f)
}

/// Listens to the log lines of the host.
struct Logs;

impl Subscriber for Logs {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "telemetry"
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(tracing::level_filters::LevelFilter::INFO)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if fields.0.get("what").is_some_and(|what| what == "log") {
            note(line(event.metadata(), fields.0));
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A log line as the recordings have it: an object with the name of the event, or a text.
fn line(metadata: &Metadata<'_>, mut fields: Map<String, Value>) -> Value {
    for of_ours in ["what", "level", "who"] {
        fields.remove(of_ours);
    }
    let level = match *metadata.level() {
        Level::ERROR => "error",
        Level::WARN => "warn",
        _ => "info",
    };
    if metadata.name() == "console.error" {
        let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        return json!(["log", level, format!("{} {}", text("text"), text("error"))]);
    }
    fields.insert("event".to_owned(), metadata.name().into());
    json!(["log", level, fields])
}

#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }
}

/// The same with each time in ISO 8601 as the recordings write it, from the zero of the stand.
pub fn with_relative_times(value: Value) -> Value {
    match value {
        Value::String(text) => match from_iso(&text) {
            Some(at_ms) => format!("T+{}", i128::from(at_ms) - i128::from(EPOCH_MS)).into(),
            None => text.into(),
        },
        Value::Array(items) => items.into_iter().map(with_relative_times).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, with_relative_times(value))).collect())
        }
        other => other,
    }
}
