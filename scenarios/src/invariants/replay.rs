//! What is so in each session at each event: the platform and state events of a trace, replayed.
//!
//! They are replayed once, into the states that each session went through; everybody who asks looks at these.

use super::Case;
use super::timeline::Timeline;
use crate::trace::{Event, Stream, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The sessions of a trace, as of the events applied so far.
pub struct Replay<'c> {
    events: &'c [Event],
    timeline: &'c Timeline,
    applied: usize,
}

/// One session object, as of the events applied so far.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Where its object lives, while it does.
    pub isolate: Option<Arc<str>>,
    /// Counts the constructions of its object.
    pub incarnation: u32,
    /// Whether its object was constructed with its name; an alarm does not tell it (platform facts 7, 10).
    pub is_named: bool,
    /// The installed runtime, until it is released or lost.
    pub runtime: Option<Runtime>,
    /// Start bodies that run; more than one is a violation.
    pub start_count: u32,
    /// Inits that run.
    pub init_count: u32,
    /// Teardowns that run.
    pub teardown_count: u32,
    /// Disposals that run.
    pub disposal_count: u32,
    /// The alarm slot.
    pub alarm: Alarm,
    /// Whether the alarm handler runs.
    pub is_alarm_running: bool,
    /// Last activity in ms; like the stored value it outlives the object.
    pub activity_at_ms: Option<u64>,
    /// Live connections that the object sees.
    pub sockets: BTreeSet<String>,
    /// Those of them that were opened with GET.
    pub listeners: BTreeSet<String>,
    /// Whether the cap took its runtime, and it has none since.
    pub is_evicted: bool,
    /// Streams whose requests were accepted and have no answer yet: those with a row.
    pub requests: BTreeSet<String>,
    /// Executions of the runtime that wait for a person.
    pub paused: BTreeSet<String>,
    /// Executions that an engine knew before its runtime was installed, with its number.
    pub kept: BTreeSet<(u64, String)>,
    /// When the last live thing ended.
    pub live_ended_at_ms: Option<u64>,
    /// Since when it is condemned: marked for destruction.
    pub condemned_at_ms: Option<u64>,
    /// Whether the mark is durable; what was not goes with a reset.
    pub is_marked: bool,
    /// Whether its client has ended it.
    pub is_closed_by_client: bool,
    /// Whether `destroy` runs.
    pub is_destroying: bool,
    /// When its storage was wiped.
    pub wiped_at_ms: Option<u64>,
}

/// An installed runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its number.
    pub number: Option<u64>,
    /// Number of its engine.
    pub engine: Option<u64>,
    /// When it was installed.
    pub at_ms: u64,
}

/// The alarm slot of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Alarm {
    /// Never set.
    #[default]
    Never,
    /// Empty since it was deleted or fired.
    Empty {
        /// Since when, in ms.
        since_ms: u64,
        /// Who deleted it; nothing after it fired.
        by: Option<Arc<str>>,
    },
    /// Armed.
    Armed {
        /// When it is due, in ms.
        due_ms: u64,
        /// When it was set, in ms.
        set_at_ms: u64,
        /// Who set it.
        by: Arc<str>,
    },
    /// The handler failed or was lost, and the platform will deliver it again (platform facts 70, 76, 84).
    Retrying,
}

impl Session {
    /// Whether anything keeps the idle policy from releasing the runtime: a connection, an unanswered request, a pause.
    pub fn is_live(&self) -> bool {
        !self.sockets.is_empty() || !self.requests.is_empty() || !self.paused.is_empty()
    }

    /// From when the idle time of a resident session counts, in ms.
    pub fn idle_from_ms(&self) -> Option<u64> {
        let runtime = self.runtime?;
        Some(self.activity_at_ms.unwrap_or(0).max(runtime.at_ms))
    }

    /// Whether a client's end or a verdict of the edge allows its storage to go.
    pub fn may_be_destroyed(&self) -> bool {
        self.is_closed_by_client || self.condemned_at_ms.is_some()
    }

    pub(super) fn lose_memory(&mut self) {
        self.isolate = None;
        self.runtime = None;
        self.paused.clear();
        self.kept.clear();
        self.start_count = 0;
        self.init_count = 0;
        self.teardown_count = 0;
        self.disposal_count = 0;
        self.is_destroying = false;
        if self.is_alarm_running {
            self.is_alarm_running = false;
            self.alarm = Alarm::Retrying;
        }
    }

    /// Memory and connections; stored requests stay.
    pub(super) fn lose_everything_live(&mut self, at_ms: u64) {
        self.lose_memory();
        self.sockets.clear();
        self.listeners.clear();
        self.end_live(at_ms);
    }

    pub(super) fn end_live(&mut self, at_ms: u64) {
        if !self.is_live() {
            self.live_ended_at_ms = Some(at_ms);
        }
    }
}

impl<'c> Replay<'c> {
    /// What was so before the first event.
    pub fn new(case: &'c Case<'_>) -> Self {
        Replay { events: &case.trace.events, timeline: case.timeline(), applied: 0 }
    }

    /// Calls `look` for every event, with what was so just before it, and gives what is so at the end.
    pub fn each<'t>(case: &'c Case<'t>, mut look: impl FnMut(&Replay<'c>, &'t Event)) -> Replay<'c> {
        let mut replay = Replay::new(case);
        for event in &case.trace.events {
            look(&replay, event);
            replay.advance();
        }
        replay
    }

    /// Takes the next event of the trace into account.
    pub fn advance(&mut self) {
        self.applied += 1;
    }

    /// The session, if any event belonged to it so far.
    pub fn session(&self, who: &str) -> Option<&'c Session> {
        let next = self.events.get(self.applied).and_then(Event::who);
        // Most ask for the session of the very event that comes next; that one was found when the timeline was made.
        if next.is_some_and(|next| std::ptr::eq(next, who)) {
            return self.timeline.session_of_event(self.applied);
        }
        self.timeline.session(who, self.applied)
    }

    /// The session that an event is about whose `who` is that: of a client's event, the one it uses.
    pub fn session_in_use<'a>(&'a self, event: &'a Event, who: &'a str) -> &'a str {
        if let Some(named) = event.text("session").filter(|_| event.is(Stream::History, "request.begin")) {
            return named;
        }
        let in_use = if event.stream == Stream::History { self.timeline.in_use(who, self.applied) } else { None };
        in_use.unwrap_or(who)
    }

    /// All sessions so far, by alias.
    pub fn sessions(&self) -> impl Iterator<Item = (&'c str, &'c Session)> {
        self.timeline.sessions(self.applied)
    }
}

/// The value of a field as a key, whether it is a number or a text.
pub fn key_of(event: &Event, field: &str) -> String {
    match event.field(field) {
        Some(Value::Text(text)) => text.to_string(),
        Some(other) => other.as_number().map_or_else(String::new, |number| number.to_string()),
        None => String::new(),
    }
}
