//! Which events are told, and in which words.

use super::{Line, LineKind};
use crate::trace::{Event, Stream, Trace, Value};
use std::collections::BTreeMap;

/// The longest answer that is shown in full, in characters.
const ANSWER_CHARS_MAX: usize = 60;

/// More faults than these are not told as they are armed, only as they happen.
const ARMED_COUNT_MAX: usize = 5;

/// Tells a trace.
pub(super) fn tell(trace: &Trace) -> Vec<Line> {
    let mut teller = Teller::default();
    let is_armed = |event: &Event| event.name == "fault.armed";
    // A swarm aims faults by the hundred, which are all armed before anything happens.
    let are_many = trace.events.iter().filter(|event| is_armed(event)).count() > ARMED_COUNT_MAX;
    let told = trace.events.iter().filter(|event| !(are_many && is_armed(event)));
    told.filter_map(|event| teller.line(event)).collect()
}

/// What the words for one event need of the ones before.
#[derive(Default)]
struct Teller<'t> {
    begun: BTreeMap<u64, &'t Event>,
    called: BTreeMap<u64, &'t Event>,
}

impl<'t> Teller<'t> {
    fn line(&mut self, event: &'t Event) -> Option<Line> {
        let (kind, text) = match event.stream {
            Stream::History => (LineKind::Client, self.history(event)?),
            Stream::Telemetry => (LineKind::Telemetry, telemetry(event)?),
            Stream::Platform => (LineKind::Platform, platform(event)?),
            Stream::State => (LineKind::Session, state(event)?),
            Stream::Fault => (LineKind::Fault, fault(event)),
            Stream::Phase => (LineKind::Phase, event.text("phase").unwrap_or(&event.name).to_owned()),
        };
        Some(Line { at_ms: event.at_ms, ordinal: event.ordinal, who: event.who().unwrap_or("").to_owned(), kind, text })
    }

    fn history(&mut self, event: &'t Event) -> Option<String> {
        if let Some(call) = event.number("call") {
            return self.call(call, event);
        }
        if let Some(habit) = event.name.strip_prefix("client.") {
            return self.habit(habit, event);
        }
        let request = event.number("request")?;
        if event.name == "request.begin" {
            self.begun.insert(request, event);
        }
        let begin = self.begun.get(&request).copied();
        let op = begin.and_then(|begin| begin.text("op")).unwrap_or("request");
        let text = match &*event.name {
            "request.begin" if op == "call" => "call execute".to_owned(),
            "request.begin" => op.to_owned(),
            "request.end" => ended(op, begin, event),
            "stream.open" => "stream is open".to_owned(),
            "stream.end" => format!("stream closed by {}", event.text("by").unwrap_or("?")),
            _ => return None,
        };
        Some(text)
    }
}

impl<'t> Teller<'t> {
    /// What a client does by itself.
    fn habit(&self, habit: &str, event: &Event) -> Option<String> {
        let (op, why) = (event.text("op").unwrap_or("?"), event.text("why").unwrap_or("?"));
        let text = match habit {
            "gave-up" if op == "stream" => format!("listens no more: {why}"),
            "gave-up" => format!("asks no more for what a call lost: {why}"),
            "hung" => {
                let begin = event.number("of").and_then(|of| self.begun.get(&of).copied());
                let what = begin.and_then(|begin| begin.text("op")).unwrap_or("request");
                let until = if event.text("until") == Some("ever") { "for ever" } else { "to its time-out" };
                format!("{what} hangs {until}, by the client's own fault: {why}")
            }
            "ended" => format!("the client ends: {why}"),
            "broke" => format!("the client fails from now on: {why}"),
            "renews" => "the client opens another session".to_owned(),
            "skipped" => format!("{op} not sent: {why}"),
            _ => return None,
        };
        Some(text)
    }

    /// A method that was called directly.
    fn call(&mut self, number: u64, event: &'t Event) -> Option<String> {
        if event.name == "call.begin" {
            self.called.insert(number, event);
            return Some(format!("{} calls {}", event.text("caller")?, event.text("method")?));
        }
        let begin = self.called.get(&number)?;
        let (method, took_ms) = (begin.text("method")?, event.at_ms.saturating_sub(begin.at_ms));
        let more = match event.text("outcome")? {
            "returned" => event.field("value").map(shown).filter(|value| value != "null"),
            "threw" => event.text("error").map(str::to_owned),
            _ => None,
        };
        let more = more.map_or(String::new(), |more| format!(": {}", shortened(&more)));
        Some(format!("{method} {} after {took_ms} ms{more}", event.text("outcome")?))
    }
}

fn ended(op: &str, begin: Option<&Event>, end: &Event) -> String {
    let outcome = end.text("outcome").unwrap_or("?");
    let mut text = match outcome {
        "gave-up" => format!("{op} given up"),
        _ => format!("{op} {outcome}"),
    };
    if outcome != "ended"
        && let Some(status) = end.number("status").or((outcome == "answered").then_some(200))
    {
        text += &format!(" {status}");
    }
    if let Some(begin) = begin {
        text += &format!(" after {} ms", end.at_ms.saturating_sub(begin.at_ms));
    }
    if matches!(op, "call" | "touch" | "ping" | "resume")
        && let Some(answer) = end.json("answer")
    {
        text += &format!(": {}", shortened(&gist(answer)));
    } else if let Some(more) = end.text("text").filter(|more| !more.is_empty()) {
        text += &format!(": {}", shortened(more));
    }
    text
}

/// The part of an answer that tells most: its result, its failure, or its error message.
fn gist(answer: &serde_json::Value) -> String {
    let structured = &answer["structuredContent"];
    let part =
        [&structured["result"], &structured["error"], &answer["message"]].into_iter().find(|part| !part.is_null());
    // Of a pause or a refused resume, which have neither, the status tells.
    let part = part.or(structured.get("status").filter(|status| *status != "completed"));
    part.unwrap_or(answer).to_string()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(ANSWER_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn telemetry(event: &Event) -> Option<String> {
    let name = &event.name;
    let text = match event.text("what") {
        Some("report") => format!("captured: {}", shortened(event.text("message").unwrap_or("?"))),
        Some("span") if name == "mcp.session.idle_runtime_dispose" => {
            let attribute = |key: &str| event.attribute(key).map(plain).unwrap_or("?".into());
            format!(
                "span {name}: {} after {} ms, {} resident",
                attribute("mcp.session.dispose_reason"),
                attribute("mcp.session.idle_ms"),
                attribute("mcp.isolate.resident_runtimes")
            )
        }
        Some("span") if name == "mcp.do.platform_failure" => format!("span {name}"),
        Some("log") => {
            let level = event.text("level").unwrap_or("log");
            format!("{level} {name}")
        }
        _ => return None,
    };
    Some(text)
}

fn platform(event: &Event) -> Option<String> {
    let text = |field| event.text(field).unwrap_or("?");
    let by = || match event.text("root") {
        Some(root) if !root.is_empty() => format!("(by {}, root {root})", text("by")),
        _ => format!("(by {})", text("by")),
    };
    let due = event.field("due_at_ms").map_or("?".into(), shown);
    let told = match &*event.name {
        "isolate.started" => "isolate started".into(),
        "isolate.ended" => "isolate ended".into(),
        "object.constructed" if event.flag("named") == Some(false) => {
            format!("object constructed in {} without its name", text("isolate"))
        }
        "object.constructed" => format!("object constructed in {}", text("isolate")),
        "object.gone" => format!("object gone: {}", text("reason")),
        "timers.jammed" => "a timer from before the section is due: no timer fires until the section ends".to_owned(),
        "object.reset" => format!("object reset: {}", text("kind")),
        "alarm.set" => format!("alarm set → {due}  {}", by()),
        "alarm.deleted" => format!("alarm deleted  {}", by()),
        "alarm.fired" => {
            let late = match event.number("late_ms") {
                None | Some(0) => String::new(),
                Some(late) => format!(", {late} ms late"),
            };
            let retry = match event.number("retry") {
                None | Some(0) => String::new(),
                Some(retry) => format!(", retry {retry}"),
            };
            format!("alarm fired, due {due}{late}{retry}")
        }
        "alarm.ended" if event.text("outcome") == Some("failed") => "alarm handler failed".into(),
        "storage.wiped" => "storage wiped".into(),
        "socket.opened" if event.text("method") == Some("GET") => "GET connection opened".into(),
        "socket.closed" if event.text("by") == Some("platform") => "connection lost".into(),
        "io.cross-context" => format!("I/O across contexts: {}", text("text")),
        _ => return None,
    };
    Some(told)
}

fn state(event: &Event) -> Option<String> {
    let runtime = event.number("runtime").map_or("runtime".into(), |number| format!("runtime {number}"));
    let outcome = event.text("outcome").filter(|outcome| *outcome != "ok");
    let told = match &*event.name {
        "start.begin" => "start begins".into(),
        "start.joined" => "start joined".into(),
        "start.end" => match outcome {
            None => "started".into(),
            Some(outcome) => format!("start {outcome}"),
        },
        "init.end" => format!("init {}", outcome?),
        "runtime.installed" => format!("{runtime} installed"),
        "runtime.released" => format!("{runtime} released"),
        "disposal.begin" => {
            let reason = event.text("reason").unwrap_or("?");
            let idle = event.field("idle_ms").map_or("?".into(), shown);
            format!("disposal begins: {reason} for {idle} ms")
        }
        "disposal.end" => format!("disposal {}", outcome?),
        "execution.paused" => format!("execution {} waits for a person", execution(event)),
        "execution.resumed" => {
            format!("execution {} resumed: {}", execution(event), event.text("action").unwrap_or("?"))
        }
        "lease.taken" => format!("lease of {} taken", execution(event)),
        "lease.returned" => format!("lease of {} returned by {}", execution(event), event.text("by").unwrap_or("?")),
        "approval.recorded" => {
            format!("decision about {}: {}", execution(event), event.text("action").unwrap_or("?"))
        }
        "condemned" => "condemned".into(),
        "destroy.begin" => "destroy begins".into(),
        "destroy.end" => "destroyed".into(),
        _ => return None,
    };
    Some(told)
}

/// The end of an execution's id, which tells it from the others of a run.
fn execution(event: &Event) -> &str {
    let id = event.text("execution").unwrap_or("?");
    id.rsplit_once('-').map_or(id, |(_, end)| end)
}

fn fault(event: &Event) -> String {
    let what = event.name.strip_prefix("fault.").unwrap_or(&event.name);
    match (event.field("fault"), event.text("what")) {
        (Some(fault), Some(told)) => format!("fault {} {what}: {told}", shown(fault)),
        (Some(fault), None) => format!("fault {} {what}", shown(fault)),
        (None, _) => what.to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
        Value::Json(json) => json.to_string(),
    }
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
