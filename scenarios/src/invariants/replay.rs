//! What is so in each session at each event: the platform and state events of a trace, replayed.
//!
//! They are replayed once, into the states that each session went through; everybody who asks looks at these.

use super::Case;
use super::in_use::InUse;
use crate::trace::{Event, Stream, Trace, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The sessions of a trace, as of the events applied so far.
pub struct Replay<'c> {
    timeline: &'c Timeline,
    applied: usize,
}

/// The states of something, in order, each with the number of events of the trace after which it came.
type States<T> = Vec<(usize, T)>;

/// All states that the sessions of a trace went through.
#[derive(Default)]
pub struct Timeline {
    sessions: BTreeMap<Arc<str>, States<Session>>,
    /// The session that each client uses.
    in_use: BTreeMap<Arc<str>, States<Arc<str>>>,
}

/// The state once `applied` events were applied.
fn state<T>(states: &States<T>, applied: usize) -> Option<&T> {
    let passed = states.partition_point(|(since, _)| *since <= applied);
    states[..passed].last().map(|(_, state)| state)
}

/// One session object, as of the events applied so far.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Where its object lives, while it does.
    pub isolate: Option<Arc<str>>,
    /// Counts the constructions of its object.
    pub incarnation: u32,
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
    /// Streams whose requests were accepted and have no answer yet: those with a row.
    pub requests: BTreeSet<String>,
    /// Executions of the runtime that wait for a person.
    pub paused: BTreeSet<String>,
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

    fn lose_memory(&mut self) {
        self.isolate = None;
        self.runtime = None;
        self.paused.clear();
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
    fn lose_everything_live(&mut self, at_ms: u64) {
        self.lose_memory();
        self.sockets.clear();
        self.end_live(at_ms);
    }

    fn end_live(&mut self, at_ms: u64) {
        if !self.is_live() {
            self.live_ended_at_ms = Some(at_ms);
        }
    }
}

impl<'c> Replay<'c> {
    /// What was so before the first event.
    pub fn new(case: &'c Case<'_>) -> Self {
        Replay { timeline: case.timeline(), applied: 0 }
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
        state(self.timeline.sessions.get(who)?, self.applied)
    }

    /// The session that an event is about whose `who` is that: of a client's event, the one it uses.
    pub fn session_in_use<'a>(&'a self, event: &Event, who: &'a str) -> &'a str {
        let in_use = self.timeline.in_use.get(who).filter(|_| event.stream == Stream::History);
        in_use.and_then(|sessions| state(sessions, self.applied)).map_or(who, |session| session)
    }

    /// All sessions so far, by alias.
    pub fn sessions(&self) -> impl Iterator<Item = (&'c str, &'c Session)> {
        let (timeline, applied) = (self.timeline, self.applied);
        timeline.sessions.iter().filter_map(move |(who, states)| Some((&**who, state(states, applied)?)))
    }
}

impl Timeline {
    /// Replays a trace.
    pub fn of(trace: &Trace) -> Self {
        let (mut timeline, mut in_use) = (Timeline::default(), InUse::default());
        for (index, event) in trace.events.iter().enumerate() {
            let applied = index + 1;
            if let Some((client, session)) = in_use.apply(event) {
                timeline.in_use.entry(client).or_default().push((applied, session));
            }
            timeline.apply(&in_use, event, applied);
        }
        timeline
    }

    fn apply(&mut self, in_use: &InUse, event: &Event, applied: usize) {
        if event.is(Stream::Platform, "isolate.ended") {
            self.end_isolate(event, applied);
            return;
        }
        let Some(who) = event.who() else { return };
        let is_session_event = match event.stream {
            Stream::Platform => !event.name.starts_with("isolate.") && event.name != "session.minted",
            Stream::State => event.name != "gauge",
            Stream::History => event.name == "request.begin",
            _ => false,
        };
        if !is_session_event {
            return;
        }
        let alias = if event.stream == Stream::History { in_use.session_of(who) } else { who };
        let states = match self.sessions.get_mut(alias) {
            Some(states) => states,
            None => self.sessions.entry(alias.into()).or_default(),
        };
        let before = states.last().map(|(_, session)| session);
        let mut session = before.cloned().unwrap_or_default();
        let has_changed = match event.stream {
            Stream::Platform => apply_platform(&mut session, event),
            Stream::State => apply_state(&mut session, event),
            _ => {
                let is_closed = event.text("op") == Some("close");
                is_closed && !std::mem::replace(&mut session.is_closed_by_client, true)
            }
        };
        if has_changed || states.is_empty() {
            states.push((applied, session));
        }
    }

    fn end_isolate(&mut self, event: &Event, applied: usize) {
        let ended = event.text("isolate").or(event.who());
        for states in self.sessions.values_mut() {
            let Some((_, session)) = states.last() else { continue };
            if session.isolate.as_deref() == ended {
                let mut session = session.clone();
                session.lose_everything_live(event.at_ms);
                states.push((applied, session));
            }
        }
    }
}

/// Takes an event of the platform into account; false where it says nothing of this.
fn apply_platform(session: &mut Session, event: &Event) -> bool {
    let at_ms = event.at_ms;
    match &*event.name {
        "object.constructed" => {
            session.lose_memory();
            session.isolate = event.text("isolate").map(Into::into);
            session.incarnation += 1;
        }
        "object.gone" => {
            session.lose_memory();
            if !session.is_marked {
                session.condemned_at_ms = None;
            }
        }
        "storage.put" if event.text("key") == Some("cf_agents_destroy_pending") => session.is_marked = true,
        "storage.put" => match stream_of_row(event) {
            Some(stream) => drop(session.requests.insert(stream)),
            None => return false,
        },
        "storage.deleted" if stream_of_row(event).is_some_and(|stream| session.requests.remove(&stream)) => {
            session.end_live(at_ms);
        }
        "object.reset" => session.lose_everything_live(at_ms),
        "alarm.set" => {
            session.alarm = Alarm::Armed {
                due_ms: event.number("due_at_ms").unwrap_or(0),
                set_at_ms: at_ms,
                by: event.text("by").unwrap_or("?").into(),
            };
        }
        "alarm.deleted" => {
            session.alarm = Alarm::Empty { since_ms: at_ms, by: Some(event.text("by").unwrap_or("?").into()) };
        }
        "alarm.fired" => {
            session.is_alarm_running = true;
            session.alarm = Alarm::Empty { since_ms: at_ms, by: None };
        }
        "alarm.ended" => {
            session.is_alarm_running = false;
            let is_empty = matches!(session.alarm, Alarm::Empty { .. } | Alarm::Never);
            if event.text("outcome") == Some("failed") && is_empty {
                session.alarm = Alarm::Retrying;
            }
        }
        "socket.opened" => {
            session.sockets.insert(key_of(event, "socket"));
        }
        "socket.closed" => {
            session.sockets.remove(&key_of(event, "socket"));
            session.end_live(at_ms);
        }
        "storage.wiped" => {
            session.wiped_at_ms = Some(at_ms);
            session.requests.clear();
            session.end_live(at_ms);
        }
        _ => return false,
    }
    true
}

/// The stream whose row of unanswered requests a storage event is about. The row itself is what marks running work, so
/// it is judged by the row, whatever the call that wrote it came to.
fn stream_of_row(event: &Event) -> Option<String> {
    event.text("key")?.strip_prefix("__mcp_stream_reqs__:").map(str::to_owned)
}

/// Takes an event of the host's state into account; false where it says nothing of this.
fn apply_state(session: &mut Session, event: &Event) -> bool {
    let at_ms = event.at_ms;
    match &*event.name {
        "start.begin" => session.start_count += 1,
        "start.end" => lower(&mut session.start_count),
        "init.begin" => session.init_count += 1,
        "init.end" => lower(&mut session.init_count),
        "teardown.begin" => session.teardown_count += 1,
        "teardown.end" => lower(&mut session.teardown_count),
        "disposal.begin" => session.disposal_count += 1,
        "disposal.end" => lower(&mut session.disposal_count),
        "runtime.installed" => {
            session.runtime = Some(Runtime { number: event.number("runtime"), engine: event.number("engine"), at_ms });
        }
        "runtime.released" => {
            session.runtime = None;
            session.paused.clear();
        }
        // What an engine runs outlives its runtime, and then pauses where nobody looks.
        "execution.paused" if session.runtime.is_some_and(|runtime| runtime.engine == event.number("engine")) => {
            session.paused.insert(key_of(event, "execution"));
        }
        "execution.resumed" | "execution.settled" if session.paused.remove(&key_of(event, "execution")) => {
            session.end_live(at_ms);
        }
        "activity" => session.activity_at_ms = Some(at_ms),
        // Condemning comes from outside; what an alarm handler decides by itself is no verdict on the session.
        "condemned" if !session.is_alarm_running => {
            session.condemned_at_ms = session.condemned_at_ms.or(Some(at_ms));
        }
        "destroy.begin" => session.is_destroying = true,
        "destroy.end" => session.is_destroying = false,
        _ => return false,
    }
    true
}

fn lower(count: &mut u32) {
    *count = count.saturating_sub(1);
}

/// The value of a field as a key, whether it is a number or a text.
pub fn key_of(event: &Event, field: &str) -> String {
    match event.field(field) {
        Some(Value::Text(text)) => text.to_string(),
        Some(other) => other.as_number().map_or_else(String::new, |number| number.to_string()),
        None => String::new(),
    }
}
