//! How the recordings are read: what differs between their fakes and this host everywhere, and is no difference.

use serde_json::{Value, json};

/// A reading: what it is about, and why.
pub(super) struct Reading {
    pub name: &'static str,
    pub reason: &'static str,
    /// Changes an event of either side; none drops it.
    apply: fn(&Value) -> Option<Value>,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Recorded,
    Ours,
}

impl Side {
    fn word(self) -> &'static str {
        if self == Side::Recorded { "recording" } else { "replay" }
    }
}

/// Every reading.
pub(super) const READINGS: &[Reading] = &[
    Reading {
        name: "a field that was never assigned is at its initial value",
        reason: "the recorded tests make their objects without the constructor",
        apply: unassigned,
        side: Side::Recorded,
    },
    Reading {
        name: "the snapshot within the helper that makes a nameless session is left out",
        reason: "the helper makes a named object and takes its name away later",
        apply: helpers_snapshot,
        side: Side::Recorded,
    },
    Reading {
        name: "a failing write has its operation, key and error, without the value",
        reason: "here it fails before the value is looked at",
        apply: failed_write,
        side: Side::Recorded,
    },
    Reading {
        name: "a capture is compared without its cause",
        reason: "most recorded captures have a running number in its place; the log line before it has the text",
        apply: capture,
        side: Side::Recorded,
    },
    Reading {
        name: "a capture is compared without its cause, here too",
        reason: "so that both sides are the same",
        apply: capture,
        side: Side::Ours,
    },
    Reading {
        name: "reads of the framework's start wrapper are left out",
        reason: "the fakes call the class's own start, without the wrapper of the framework",
        apply: wrapper_reads,
        side: Side::Ours,
    },
    Reading {
        name: "spans of the host, the engine and the eviction's entry point are left out",
        reason: "the recorded class is the base class with fake hooks, and its re-check is called without the RPC around it",
        apply: host_spans,
        side: Side::Ours,
    },
    Reading {
        name: "`mcp.session.integration_count` is left out",
        reason: "an attribute of the host; the fakes add none",
        apply: host_attributes,
        side: Side::Ours,
    },
    Reading {
        name: "names of storage operations are left out",
        reason: "the recorded class has no such names",
        apply: operation_names,
        side: Side::Ours,
    },
];

/// Reads the events of one side; `used` counts the events that each reading changed.
pub(super) fn read(events: &[Value], side: Side, used: &mut [usize]) -> Vec<Value> {
    let mut read = events.to_vec();
    for (reading, used) in READINGS.iter().zip(used).filter(|(reading, _)| reading.side == side) {
        read = read
            .into_iter()
            .filter_map(|event| {
                let changed = (reading.apply)(&event);
                *used += usize::from(changed.as_ref() != Some(&event));
                changed
            })
            .collect();
    }
    read
}

/// The readings as rows of a table.
pub(super) fn table(used: &[usize]) -> String {
    let row = |(reading, used): (&Reading, &usize)| {
        format!("| {} | {} | {} | {used} |\n", reading.side.word(), reading.name, reading.reason)
    };
    READINGS.iter().zip(used).map(row).collect()
}

fn unassigned(event: &Value) -> Option<Value> {
    let mut event = event.clone();
    for session in event.get_mut("sessions").and_then(Value::as_array_mut).into_iter().flatten() {
        for (field, initial) in [("initialized", json!(false)), ("lastActivity", json!(0)), ("leases", json!([]))] {
            if session[field].is_null() {
                session[field] = initial;
            }
        }
    }
    Some(event)
}

fn helpers_snapshot(event: &Value) -> Option<Value> {
    let is_first = event["n"] == 2 && event["what"] == "await" && event["sessions"][0]["engine"] == "engine-1";
    (!is_first).then(|| event.clone())
}

fn failed_write(event: &Value) -> Option<Value> {
    let mut event = event.clone();
    if event.get("error").is_some() {
        let fields = event.as_object_mut().expect("an event");
        fields.remove("value");
        fields.remove("time");
    }
    Some(event)
}

fn capture(event: &Value) -> Option<Value> {
    Some(if event["k"] == "capture" { json!({"k": "capture"}) } else { event.clone() })
}

fn wrapper_reads(event: &Value) -> Option<Value> {
    (event["by"] != "start · storage.get facet").then(|| event.clone())
}

/// What the names of the left out spans begin with.
const HOST_SPANS: [&str; 5] = [
    "McpSessionDOSqlite.",
    "mcp.execute",
    "executor.code.exec",
    "mcp.session.resolve_organization",
    "McpSessionDO.requestCapEviction",
];

fn host_spans(event: &Value) -> Option<Value> {
    let name = event["name"].as_str().unwrap_or_default();
    let is_host = event["k"] == "span" && HOST_SPANS.iter().any(|prefix| name.starts_with(prefix));
    (!is_host).then(|| event.clone())
}

fn host_attributes(event: &Value) -> Option<Value> {
    let mut event = event.clone();
    if let Some(attributes) = event.get_mut("attrs").and_then(Value::as_object_mut) {
        attributes.remove("mcp.session.integration_count");
    }
    Some(event)
}

fn operation_names(event: &Value) -> Option<Value> {
    let mut event = event.clone();
    if let Some(fields) = event.as_object_mut() {
        fields.remove("by");
    }
    Some(event)
}
