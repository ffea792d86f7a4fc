//! L1, L5, L6: an idle session gives its runtime back: at its timeout with nothing live, at its ceiling whatever is.

use super::faults::FaultLog;
use super::limits::{ALARM_LATE_MS_MAX, DISPOSAL_MS_MAX, LEASE_MS, RUNNING_CEILING_MS};
use super::replay::{Alarm, Replay, Session};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "idle-runtime-is-released",
    kind: Kind::Eventually,
    claim: "a runtime with nothing live is disposed once its session has been idle for the timeout, and any other at the ceiling",
    covers: &["L1", "L5", "L6"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let config = &plan.config;
    let (timeout_ms, max_paused_ms) = (config.session_timeout_ms, config.max_paused_session_idle_ms);
    let judge = Judge { timeout_ms, max_paused_ms, faults: case.faults() };
    let until = ["touch", "quiet-after", "end"].into_iter().find_map(|phase| trace.phase_at(phase));
    let last = until.or(trace.events.last());
    let Some(last) = last else {
        return Verdict::CannotTell("the trace is empty".into());
    };
    let mut violations = Vec::new();
    let mut late_ms: BTreeMap<&str, u64> = BTreeMap::new();
    let mut was_resident = false;
    let mut replay = Replay::new(case);
    for event in trace.events.iter().take_while(|event| event.ordinal < last.ordinal) {
        was_resident |= event.is(Stream::State, "runtime.installed");
        note_lateness(event, &mut late_ms);
        if event.is(Stream::State, "runtime.released") {
            let who = event.who().unwrap_or("");
            let late = late_ms.get(who).copied().unwrap_or(0);
            violations.extend(judge.released(&replay, event, late));
        }
        replay.advance();
    }
    if !was_resident {
        return Verdict::CannotTell("no runtime was ever installed".into());
    }
    let mut unknown = None;
    for (who, session) in replay.sessions().filter(|(_, session)| session.runtime.is_some()) {
        match judge.resident(who, session, last) {
            Some(violation) => violations.push(violation),
            None => unknown = unknown.or(judge.too_early(trace, who, session, last)),
        }
    }
    if until.is_none() {
        unknown = Some("the run was cut before its quiet phase ended".into());
    }
    Verdict::of(violations, unknown)
}

/// Adds up how late the alarms of each session came since its last activity.
fn note_lateness<'t>(event: &'t Event, late_ms: &mut BTreeMap<&'t str, u64>) {
    let Some(who) = event.who() else { return };
    match &*event.name {
        "activity" | "runtime.installed" => {
            late_ms.insert(who, 0);
        }
        "alarm.fired" => *late_ms.entry(who).or_default() += event.number("late_ms").unwrap_or(0),
        _ => {}
    }
}

struct Judge<'a> {
    timeout_ms: u64,
    /// The ceiling of a session with a pause, whatever else is live.
    max_paused_ms: u64,
    faults: &'a FaultLog<'a>,
}

impl Judge<'_> {
    /// When the runtime of a resident session has to go.
    fn due_ms(&self, session: &Session) -> u64 {
        let idle_from = session.idle_from_ms().unwrap_or(0);
        let idle_due = idle_from.saturating_add(self.timeout_ms);
        let ceiling = idle_from.saturating_add(RUNNING_CEILING_MS.max(self.timeout_ms));
        if !session.paused.is_empty() {
            return idle_from.saturating_add(self.max_paused_ms.max(self.timeout_ms));
        }
        if session.is_live() {
            return ceiling;
        }
        match session.live_ended_at_ms {
            // The alarm of the deadline found it live and extended; the next one comes at the end of that lease.
            Some(ended) if ended >= idle_due => ceiling.min(ended + LEASE_MS),
            _ => idle_due,
        }
    }

    /// A release that came too late, beyond what its alarms were late.
    fn released(&self, replay: &Replay, event: &Event, late_ms: u64) -> Option<Violation> {
        let who = event.who()?;
        let session = replay.session(who)?;
        let idle_from = session.idle_from_ms()?;
        let due = self.due_ms(session);
        let late_ms = late_ms + still_late_ms(session, event.at_ms);
        let latest = due + late_ms + DISPOSAL_MS_MAX + self.faults.held_ms_of(who, idle_from, event.at_ms);
        let is_excused = self.faults.is_disturbed(who, idle_from, event.at_ms);
        if event.at_ms <= latest || is_excused {
            return None;
        }
        let overdue = event.at_ms - due;
        let what = format!("session {who} was released only {overdue} ms after its idle deadline");
        let pending = format!("{who}: idle deadline {due} ms, its alarms were {late_ms} ms late");
        Some(Violation::at(event, what).pending(pending))
    }

    /// A session that is still resident at the end of the quiet although it was due.
    fn resident(&self, who: &str, session: &Session, last: &Event) -> Option<Violation> {
        let idle_from = session.idle_from_ms()?;
        let due = self.due_ms(session);
        let is_coming = session.is_alarm_running
            || session.disposal_count > 0
            || matches!(session.alarm, Alarm::Armed { .. } | Alarm::Retrying);
        let late = if is_coming { ALARM_LATE_MS_MAX } else { 0 };
        let latest = due + late + DISPOSAL_MS_MAX + self.faults.held_ms_of(who, idle_from, last.at_ms);
        // A step that fails whenever it is tried keeps its alarm from ever coming to an end.
        let is_excused =
            self.faults.lost_alarm_write(who, idle_from, last.at_ms) || self.faults.fails_lastingly(who, last.at_ms);
        if last.at_ms <= latest || is_excused {
            return None;
        }
        let overdue = last.at_ms - due;
        let what = format!("session {who} still resident {overdue} ms after its idle deadline, untouched since");
        let pending = format!("{who}: idle deadline {due} ms, {}", alarm_words(&session.alarm));
        Some(Violation::at(last, what).of(who).pending(pending))
    }

    /// Why nothing can be said of a session that is resident and not overdue, unless its activity is what keeps it.
    fn too_early(&self, trace: &Trace, who: &str, session: &Session, last: &Event) -> Option<String> {
        let quiet_from = trace.phase_at("quiet").map_or(0, |event| event.at_ms);
        let quiet_ms = last.at_ms.saturating_sub(quiet_from);
        let needed_ms =
            self.due_ms(session).saturating_sub(session.idle_from_ms()?) + ALARM_LATE_MS_MAX + DISPOSAL_MS_MAX;
        (quiet_ms < needed_ms)
            .then(|| format!("the quiet of {quiet_ms} ms is too short for {who}, which may stay {needed_ms} ms"))
    }
}

/// How late an alarm is that has not come yet: something else (the cap) released the runtime before it did.
fn still_late_ms(session: &Session, at_ms: u64) -> u64 {
    match session.alarm {
        Alarm::Armed { due_ms, .. } => at_ms.saturating_sub(due_ms).min(ALARM_LATE_MS_MAX),
        _ => 0,
    }
}

/// The state of the alarm slot in words.
pub fn alarm_words(alarm: &Alarm) -> String {
    match alarm {
        Alarm::Never => "no alarm was ever set".into(),
        Alarm::Empty { since_ms, by: None } => {
            format!("no alarm set since it fired at {since_ms} ms")
        }
        Alarm::Empty { since_ms, by: Some(by) } => {
            format!("no alarm set since {since_ms} ms, when {by} deleted it")
        }
        Alarm::Armed { due_ms, by, .. } => format!("alarm armed for {due_ms} ms by {by}"),
        Alarm::Retrying => "its alarm waits for a retry".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan, story, violation};
    use super::*;
    use crate::plan::{Effect, When};

    /// The story up to the second call, after which nothing is released.
    fn leak() -> Builder {
        story().without_between(6_000, 95_000)
    }

    #[test]
    fn a_runtime_that_goes_with_its_alarm_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn a_runtime_that_stays_without_an_alarm_is_named_with_its_deadline() {
        let trace = leak().platform(5_030, "s1", "alarm.deleted", &[("by", "agents.schedule".into())]);
        let found = violation(INVARIANT, trace);
        assert_eq!(found.session.as_deref(), Some("s1"));
        assert_eq!(found.what, "session s1 still resident 88976 ms after its idle deadline, untouched since");
        let pending = "s1: idle deadline 6024 ms, no alarm set since 5030 ms, when agents.schedule deleted it";
        assert_eq!(found.pending.as_deref(), Some(pending));
        assert_eq!(found.at_ms, 95_000);
    }

    #[test]
    fn a_late_alarm_excuses_no_more_than_its_lateness() {
        let late =
            |late_ms: u64| story().without_between(6_000, 95_000).dispose(6_024 + late_ms, 1_000 + late_ms, 2, late_ms);
        assert_eq!(judged(INVARIANT, late(50_000)), Verdict::Held);
        let silent = late(50_000).change("alarm.fired", 2, "late_ms", 0_u64.into());
        let found = violation(INVARIANT, silent);
        assert!(found.what.contains("released only"), "{}", found.what);
    }

    #[test]
    fn an_alarm_that_is_still_to_come_excuses_a_release_by_the_cap() {
        let evicted = |without: usize| {
            let trace = story().without_between(6_000, 95_000).dispose(50_000, 44_000, 2, 0);
            trace.without("alarm.fired", 2).without("alarm.ended", without)
        };
        assert_eq!(judged(INVARIANT, evicted(2)), Verdict::Held);
        let unarmed = evicted(2).platform(5_030, "s1", "alarm.deleted", &[("by", "agents.schedule".into())]);
        violation(INVARIANT, unarmed);
    }

    #[test]
    fn a_live_connection_keeps_the_runtime_up_to_the_ceiling() {
        let live = |until: u64| {
            leak()
                .platform(5_040, "s1", "socket.opened", &[("socket", 9_u64.into()), ("method", "GET".into())])
                .without_between(94_000, 1_000_000)
                .phase(until, "touch")
        };
        assert!(matches!(judged(INVARIANT, live(2_170_000)), Verdict::CannotTell(_)));
        let found = violation(INVARIANT, live(2_180_000));
        assert!(found.pending.is_some_and(|pending| pending.starts_with("s1: idle deadline 2105024 ms")));
        let renewed = live(2_600_000).state(2_000_000, "s1", "activity", &[]);
        assert_eq!(judged(INVARIANT, renewed), Verdict::Held);
    }

    #[test]
    fn a_stored_row_of_a_request_keeps_the_runtime_whatever_its_write_came_to() {
        let row = |name: &str| [("key", format!("{name}c9").as_str().into())];
        let with_row = |until: u64, key: &str| {
            let trace = leak().platform(5_040, "s1", "storage.put", &row(key));
            trace.without_between(94_000, 1_000_000).phase(until, "touch")
        };
        let rows = "__mcp_stream_reqs__:";
        assert!(matches!(judged(INVARIANT, with_row(2_170_000, rows)), Verdict::CannotTell(_)));
        violation(INVARIANT, with_row(2_180_000, rows));
        violation(INVARIANT, with_row(2_170_000, "__mcp_event__:"));
        let answered = with_row(2_170_000, rows).platform(5_050, "s1", "storage.deleted", &row(rows));
        violation(INVARIANT, answered);
    }

    #[test]
    fn a_pause_keeps_the_runtime_up_to_its_own_ceiling_whatever_else_is_live() {
        let max_paused_ms = plan().config.max_paused_session_idle_ms;
        let paused = |until: u64| {
            leak()
                .state(5_030, "s1", "execution.paused", &[("execution", "exec_1".into())])
                .platform(5_040, "s1", "socket.opened", &[("socket", 9_u64.into())])
                .without_between(94_000, 1_000_000)
                .phase(until, "touch")
        };
        let due = 5_024 + max_paused_ms.max(1_000);
        let found = violation(INVARIANT, paused(due + 200_000));
        assert!(found.pending.is_some_and(|pending| pending.starts_with(&format!("s1: idle deadline {due} ms"))));
        let resumed = [("execution", "exec_1".into()), ("action", "accept".into())];
        let live = paused(due + 200_000).state(5_050, "s1", "execution.resumed", &resumed);
        assert!(!matches!(judged(INVARIANT, live), Verdict::Violated(_)));
    }

    #[test]
    fn a_connection_that_ended_late_earns_one_lease() {
        let ended = |until: u64| {
            leak()
                .platform(5_040, "s1", "socket.opened", &[("socket", 9_u64.into())])
                .platform(60_000, "s1", "socket.closed", &[("socket", 9_u64.into())])
                .without_between(94_000, 1_000_000)
                .phase(until, "touch")
        };
        assert!(matches!(judged(INVARIANT, ended(360_000)), Verdict::CannotTell(_)));
        violation(INVARIANT, ended(375_000));
    }

    #[test]
    fn an_alarm_write_lost_to_a_fault_excuses_until_the_touch() {
        let trace = leak().platform(5_030, "s1", "alarm.deleted", &[]).fault(5_028, "fault.delivered", 0);
        let faulty = super::super::testing::plan_with_failing_alarm_write();
        assert_ne!(INVARIANT.judge(&plan(), &trace.clone().build()), Verdict::Held);
        assert_eq!(INVARIANT.judge(&faulty, &trace.build()), Verdict::Held);
    }

    #[test]
    fn a_step_that_always_fails_excuses_and_one_that_failed_once_does_not() {
        let judged = |lasting: bool| {
            let mut faulty = super::super::testing::plan_with_failing_alarm_write();
            let operation = "alarm · storage.list stream-reqs".to_owned();
            let Effect::Fail { lasting: is_lasting, .. } = &mut faulty.faults[0].effect else { panic!("it fails") };
            *is_lasting = lasting;
            let When::Operation { operation: name, .. } = &mut faulty.faults[0].when else { panic!("at an operation") };
            *name = operation;
            INVARIANT.judge(&faulty, &leak().fault(6_000, "fault.delivered", 0).build())
        };
        assert_eq!(judged(true), Verdict::Held);
        assert!(matches!(judged(false), Verdict::Violated(_)));
    }

    #[test]
    fn a_run_that_was_cut_or_built_nothing_cannot_tell() {
        assert!(matches!(judged(INVARIANT, story().cut(5_500)), Verdict::CannotTell(_)));
        assert!(matches!(judged(INVARIANT, Builder::default().phase(9, "end")), Verdict::CannotTell(_)));
    }
}
