//! What a replay made the model tell, in the form of the recordings.
//!
//! The clock of the recorded tests stands still, and a time is written as its distance from it: `{"t": …}`. Here a call
//! takes time, so that a time becomes its distance from the moment at which it was written; one that was never written
//! is a reading of the clock, which is no distance away, or lies before the replay began.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::events::{Line, Recorded};
use crate::observed;
use crate::session::clock::LAST_ACTIVITY_KEY;

/// Longer than a replay takes, in milliseconds.
const REPLAY_MS: i64 = 2_000;

/// The events of a replay since its beginning.
pub(super) fn events(recorded: &Recorded) -> Vec<Value> {
    let lines = recorded.lines();
    let begun = lines.iter().position(|line| line["event"] == "begin" && is_observed(line));
    let mut seen = Seen::default();
    for line in lines.iter().filter(|line| is_observed(line) && line["event"] == "alias") {
        let names = parsed(line);
        seen.aliases.push((text(&names, "ours"), text(&names, "recorded")));
    }
    lines[begun.expect("the replay begins")..].iter().filter_map(|line| seen.event(line)).collect()
}

fn is_observed(line: &Line) -> bool {
    line.contains_key("json")
}

fn parsed(line: &Line) -> Value {
    serde_json::from_str(&line["json"]).expect("what is observed is JSON")
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// What must be known of earlier events to put one into the form of the recordings.
#[derive(Default)]
struct Seen {
    base_ms: i64,
    now_ms: i64,
    written: BTreeMap<i64, i64>,
    engines: Vec<Value>,
    aliases: Vec<(String, String)>,
    /// Last activity of the sessions at the last step, by id.
    activity: Vec<(String, i64)>,
}

impl Seen {
    fn event(&mut self, line: &Line) -> Option<Value> {
        if is_observed(line) {
            self.now_ms = line["now_ms"].parse().expect("a time");
            return self.observed(line);
        }
        match (line.get("what").map(String::as_str), &*line["event"]) {
            (Some("log"), "console.error") => {
                let text = format!("{} {}", line["text"], line["error"]);
                Some(json!({"k": "log", "level": "error", "line": text}))
            }
            (Some("log"), _) => Some(self.log(line)),
            (Some("report"), _) => Some(json!({"k": "capture", "cause": format!("Error: {}", line["message"])})),
            (None, "handle.opened") => Some(json!({"k": "openSessionDb"})),
            (None, "server.closed") => Some(json!({"k": "close", "what": "server"})),
            (None, "db.ended") => Some(json!({"k": "close", "what": "handle"})),
            (None, "socket.closed") if line["by"] == "object" => {
                let code: u16 = line["code"].parse().expect("a close code");
                Some(json!({"k": "close", "what": "connection", "code": code, "reason": line["reason"]}))
            }
            _ => None,
        }
    }

    fn observed(&mut self, line: &Line) -> Option<Value> {
        let mut event = parsed(line);
        match &*line["event"] {
            "begin" => self.base_ms = self.now_ms,
            "storage" => self.storage(&mut event),
            "span" => {
                let attributes = event["attrs"].as_object_mut().expect("attributes");
                let session = text(&Value::Object(attributes.clone()), "mcp.session.id");
                if let Some(idle_ms) = attributes.get_mut("mcp.session.idle_ms") {
                    *idle_ms = self.idle(&session, idle_ms);
                }
                for (ours, recorded) in &self.aliases {
                    attributes.values_mut().filter(|value| *value == ours).for_each(|value| *value = json!(recorded));
                }
            }
            "step" => self.step(&mut event),
            "waitUntil" => {}
            observed => assert_eq!(observed, "alias", "nothing else is observed by {}", observed::TARGET),
        }
        (!event["k"].is_null()).then_some(event)
    }

    fn storage(&mut self, event: &mut Value) {
        let time = if event["op"] == "setAlarm" { "time" } else { "value" };
        if event["op"] == "setAlarm" || event["key"] == LAST_ACTIVITY_KEY {
            if let Some(at_ms) = event[time].as_i64() {
                self.written.insert(at_ms, at_ms - self.now_ms);
            }
            for field in [time, "result"] {
                if event.get(field).is_some() {
                    event[field] = self.offset(&event[field]);
                }
            }
        }
    }

    fn step(&mut self, step: &mut Value) {
        for entry in step["registry"].as_array_mut().expect("a list") {
            for field in ["last", "evictionRequestedAt"] {
                if entry.get(field).is_some() {
                    entry[field] = self.offset(&entry[field]);
                }
            }
        }
        self.activity.clear();
        for session in step["sessions"].as_array_mut().expect("a list") {
            for field in ["alarm", "lastActivity"] {
                session[field] = self.offset(&session[field]);
            }
            self.activity.push((text(session, "id"), session["lastActivity"]["t"].as_i64().unwrap_or(0)));
            if let Some(last) = session["storage"].get(LAST_ACTIVITY_KEY).cloned() {
                session["storage"][LAST_ACTIVITY_KEY] = self.offset(&last);
            }
            session["engine"] = self.engine(&session["engine"]);
        }
    }

    /// Engines are numbered by first sight.
    fn engine(&mut self, number: &Value) -> Value {
        if number.is_null() {
            return Value::Null;
        }
        if !self.engines.contains(number) {
            self.engines.push(number.clone());
        }
        let index = self.engines.iter().position(|known| known == number).unwrap_or_default();
        json!(format!("engine-{}", index + 1))
    }

    /// A time as its distance; 0 is no time.
    fn offset(&self, at: &Value) -> Value {
        let Some(at_ms) = at.as_i64().filter(|at_ms| *at_ms != 0) else { return at.clone() };
        let is_reading = (self.base_ms..=self.now_ms).contains(&at_ms);
        let unwritten = if is_reading { 0 } else { at_ms - self.base_ms };
        json!({"t": self.written.get(&at_ms).copied().unwrap_or(unwritten)})
    }

    /// How long a session has been idle if the clock stands still. What cannot be so stays as it is.
    fn idle(&self, session: &str, idle_ms: &Value) -> Value {
        let known = self.activity.iter().find(|(id, _)| id == session).or(self.activity.first());
        let still_ms = known.map_or(0, |(_, last_ms)| -last_ms);
        let is_so = idle_ms.as_i64().is_some_and(|ms| (still_ms..still_ms + REPLAY_MS).contains(&ms));
        if is_so { json!(still_ms) } else { idle_ms.clone() }
    }

    fn log(&self, line: &Line) -> Value {
        let mut shown = Map::new();
        for (field, value) in line.iter().filter(|(field, _)| !matches!(**field, "what" | "level" | "who")) {
            let value = value.parse::<i64>().map_or_else(|_| json!(value), |number| json!(number));
            shown.insert((*field).to_owned(), value);
        }
        let session = text(&Value::Object(shown.clone()), "sessionId");
        if let Some(idle_ms) = shown.get_mut("idleMs") {
            *idle_ms = self.idle(&session, idle_ms);
        }
        json!({"k": "log", "level": line["level"], "line": shown})
    }
}
