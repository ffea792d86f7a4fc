//! All states that the sessions of a trace went through: its platform and state events, replayed once.

use super::in_use::InUse;
use super::replay::{Alarm, Runtime, Session, key_of};
use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The states of something, in order, each with the number of events of the trace after which it came.
type States<T> = Vec<(usize, T)>;

/// All states that the sessions of a trace went through.
#[derive(Default)]
pub struct Timeline {
    sessions: BTreeMap<Arc<str>, usize>,
    /// By the numbers of `sessions`.
    histories: Vec<History>,
    /// For each event: the session of its `who` and its last state before the event, as places in `histories`.
    own: Vec<Option<(usize, usize)>>,
    /// The session that each client uses.
    in_use: BTreeMap<Arc<str>, States<Arc<str>>>,
}

/// What one session went through.
#[derive(Default)]
struct History {
    /// What is so now; `states` has a copy of it from each event that changed it.
    now: Session,
    states: States<Session>,
}

/// The state once `applied` events were applied.
fn state<T>(states: &States<T>, applied: usize) -> Option<&T> {
    let passed = states.partition_point(|(since, _)| *since <= applied);
    states[..passed].last().map(|(_, state)| state)
}

impl Timeline {
    /// Replays a trace.
    pub fn of(trace: &Trace) -> Self {
        let (mut timeline, mut in_use) = (Timeline::default(), InUse::default());
        timeline.own.reserve(trace.events.len());
        for (index, event) in trace.events.iter().enumerate() {
            let applied = index + 1;
            timeline.own.push(event.who().and_then(|who| timeline.newest(who)));
            if let Some((client, session)) = in_use.apply(event) {
                timeline.in_use.entry(client).or_default().push((applied, session));
            }
            timeline.apply(&in_use, event, applied);
        }
        timeline
    }

    /// The session once `applied` events were applied, if any of them belonged to it.
    pub fn session(&self, who: &str, applied: usize) -> Option<&Session> {
        state(&self.histories[*self.sessions.get(who)?].states, applied)
    }

    /// The session of the `who` of the event at that place of the trace, just before that event.
    pub fn session_of_event(&self, index: usize) -> Option<&Session> {
        let (number, place) = (*self.own.get(index)?)?;
        self.histories[number].states.get(place).map(|(_, session)| session)
    }

    /// All states that each session went through, each with the number of events after which it came.
    pub fn histories(&self) -> impl Iterator<Item = (&str, &[(usize, Session)])> {
        self.sessions.iter().map(|(who, number)| (&**who, &*self.histories[*number].states))
    }

    /// All sessions that any of `applied` events belonged to, by alias.
    pub fn sessions(&self, applied: usize) -> impl Iterator<Item = (&str, &Session)> {
        let all = self.sessions.iter();
        all.filter_map(move |(who, number)| Some((&**who, state(&self.histories[*number].states, applied)?)))
    }

    /// The session that a client uses once `applied` events were applied; none before its first handshake was answered.
    pub fn in_use(&self, client: &str, applied: usize) -> Option<&str> {
        state(self.in_use.get(client)?, applied).map(|session| &**session)
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
        let alias = if event.stream == Stream::History { in_use.session_for(event) } else { who };
        let History { now: session, states } = self.history(alias);
        let has_changed = match event.stream {
            Stream::Platform => apply_platform(session, event),
            Stream::State => apply_state(session, event),
            _ => {
                let is_closed = event.text("op") == Some("close");
                is_closed && !std::mem::replace(&mut session.is_closed_by_client, true)
            }
        };
        if has_changed || states.is_empty() {
            states.push((applied, session.clone()));
        }
    }

    /// The number of a session and the place of its newest state, once it has one.
    fn newest(&self, who: &str) -> Option<(usize, usize)> {
        let number = *self.sessions.get(who)?;
        Some((number, self.histories[number].states.len().checked_sub(1)?))
    }

    /// The session's history, begun if it has none.
    fn history(&mut self, alias: &str) -> &mut History {
        let number = match self.sessions.get(alias) {
            Some(number) => *number,
            None => {
                self.sessions.insert(alias.into(), self.histories.len());
                self.histories.push(History::default());
                self.histories.len() - 1
            }
        };
        &mut self.histories[number]
    }

    fn end_isolate(&mut self, event: &Event, applied: usize) {
        let ended = event.text("isolate").or(event.who());
        for History { now: session, states } in &mut self.histories {
            if session.isolate.as_deref() == ended && !states.is_empty() {
                session.lose_everything_live(event.at_ms);
                states.push((applied, session.clone()));
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
            session.is_named = event.flag("named").unwrap_or(true);
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
            if event.text("method") == Some("GET") {
                session.listeners.insert(key_of(event, "socket"));
            }
        }
        "socket.closed" => {
            session.sockets.remove(&key_of(event, "socket"));
            session.listeners.remove(&key_of(event, "socket"));
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
        "disposal.begin" => {
            session.disposal_count += 1;
            session.is_evicted |= event.text("reason") == Some("cap");
        }
        "disposal.end" => lower(&mut session.disposal_count),
        "runtime.installed" => {
            let engine = event.number("engine");
            session.is_evicted = false;
            session.runtime = Some(Runtime { number: event.number("runtime"), engine, at_ms });
            let kept = std::mem::take(&mut session.kept).into_iter();
            session.paused.extend(kept.filter(|(of, _)| Some(*of) == engine).map(|(_, execution)| execution));
        }
        "runtime.released" => {
            session.runtime = None;
            session.paused.clear();
        }
        "execution.kept" => {
            session.kept.insert((event.number("engine").unwrap_or(0), key_of(event, "execution")));
        }
        // What an engine runs outlives its runtime, and then pauses where nobody looks.
        "execution.paused" if session.runtime.is_some_and(|runtime| runtime.engine == event.number("engine")) => {
            session.paused.insert(key_of(event, "execution"));
        }
        "execution.resumed" | "execution.settled" if session.paused.remove(&key_of(event, "execution")) => {
            session.end_live(at_ms);
        }
        "activity" => session.activity_at_ms = Some(at_ms),
        "condemned" => {
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
