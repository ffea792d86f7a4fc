//! The story of a run: what a person wants to read of a trace, a line each, in fixed columns.
//!
//! Told are the clients' requests and streams, changes of state of sessions, alarms with who wrote them, what was
//! exported about disposals and trouble, faults and phases. Not told are single storage operations, activity and gauge.

mod lines;

use crate::plan::client_of;
use crate::trace::Trace;
use std::fmt;

/// One line of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When, in virtual ms since the start of the run.
    pub at_ms: u64,
    /// The event that it tells.
    pub ordinal: u32,
    /// Alias of the session or isolate; empty for the whole run.
    pub who: String,
    /// Who acts.
    pub kind: LineKind,
    /// What happened. It may hold text from outside, so whoever shows it escapes it.
    pub text: String,
}

/// Who acts in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// A client.
    Client,
    /// A session, of itself.
    Session,
    /// The platform, alarms among others.
    Platform,
    /// What the host exported.
    Telemetry,
    /// A planned fault.
    Fault,
    /// The run.
    Phase,
}

impl LineKind {
    /// The word in the column.
    pub fn word(self) -> &'static str {
        match self {
            LineKind::Client => "client",
            LineKind::Session => "session",
            LineKind::Platform => "platform",
            LineKind::Telemetry => "telemetry",
            LineKind::Fault => "fault",
            LineKind::Phase => "phase",
        }
    }
}

/// Fixed columns: time right-aligned in ms, who acts, whose, what.
impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at_ms, kind) = (self.at_ms, self.kind.word());
        write!(out, "{at_ms:>9} ms  {kind:<9}  {:<4}  {}", self.who, self.text)
    }
}

/// The story of a trace, in order.
pub fn story(trace: &Trace) -> Vec<Line> {
    lines::tell(trace)
}

/// The last `count` lines that lead to an event: of that session and its client where one is given, without phases,
/// else of all.
pub fn around(trace: &Trace, ordinal: u32, session: Option<&str>, count: usize) -> Vec<Line> {
    let leads = |line: &Line| {
        let is_client_s = |session| line.kind == LineKind::Client && line.who == client_of(session);
        let concerns = session.is_none_or(|session| line.who == session || line.who.is_empty() || is_client_s(session));
        line.ordinal <= ordinal && line.kind != LineKind::Phase && concerns
    };
    let mut lines: Vec<Line> = story(trace).into_iter().filter(leads).collect();
    lines.split_off(lines.len().saturating_sub(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing;

    fn told() -> Vec<String> {
        story(&testing::story().build()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_story_reads_in_fixed_columns() {
        let told = told();
        for line in [
            "        0 ms  phase            steps",
            "        0 ms  client     s1    open",
            "        3 ms  session    s1    start begins",
            "        5 ms  session    s1    runtime 1 installed",
            "       11 ms  platform   s1    alarm set → 1011  (by clock)",
            "       15 ms  client     s1    stream ended after 5 ms",
            "       26 ms  platform   s1    alarm deleted  (by agents.schedule)",
            "       28 ms  client     s1    call answered 200 after 8 ms: \"before-1\"",
            "     1021 ms  platform   s1    alarm fired, due 1021",
            "     1021 ms  session    s1    disposal begins: idle for 1000 ms",
            "     1021 ms  session    s1    runtime 1 released",
            "     1023 ms  telemetry  s1    span mcp.session.idle_runtime_dispose: idle after 1000 ms, 0 resident",
        ] {
            assert!(told.iter().any(|each| each == line), "{line}\nnot in\n{}", told.join("\n"));
        }
    }

    #[test]
    fn storage_operations_activity_and_gauge_are_not_told() {
        let told = told().join("\n");
        for word in ["last-activity-ms", "activity", "gauge"] {
            assert!(!told.contains(word), "{word}");
        }
    }

    #[test]
    fn what_clients_do_by_themselves_is_told() {
        let habit = |name: &str, fields: &[(&'static str, crate::trace::Value)]| {
            story(&testing::story().history(160_000, "s1", name, fields).build()).pop().map(|line| line.text)
        };
        let why = ("why", "it was refused".into());
        let hung = [("of", 4_u64.into()), ("until", "ever".into()), why.clone()];
        for (told, text) in [
            (habit("client.gave-up", &[("op", "stream".into()), why.clone()]), "listens no more: it was refused"),
            (
                habit("client.gave-up", &[("op", "recover".into()), why.clone()]),
                "asks no more for what a call lost: it was refused",
            ),
            (habit("client.hung", &hung), "call hangs for ever, by the client's own fault: it was refused"),
            (habit("client.ended", std::slice::from_ref(&why)), "the client ends: it was refused"),
            (habit("client.broke", std::slice::from_ref(&why)), "the client fails from now on: it was refused"),
            (habit("client.renews", &[]), "the client opens another session"),
            (habit("client.skipped", &[("op", "call".into()), why]), "call not sent: it was refused"),
        ] {
            assert_eq!(told.as_deref(), Some(text));
        }
    }

    #[test]
    fn what_leads_to_an_event_is_told_of_its_session() {
        let trace = testing::story().platform(1_022, "s2", "alarm.fired", &[("due_at_ms", 1_u64.into())]).build();
        let last = trace.events.last().map_or(0, |event| event.ordinal);
        let lines = around(&trace, last, Some("s1"), 3);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.who == "s1" && line.kind != LineKind::Phase));
        let early = around(&trace, 0, None, 100);
        assert!(early.iter().all(|line| line.at_ms == 0));
        assert!(around(&Trace::default(), 9, None, 5).is_empty());
    }
}
