//! L2, L12: a resident session has an alarm at or before its idle deadline, a condemned one has any, until it is wiped.

use super::faults::FaultLog;
use super::idle_runtime_is_released::alarm_words;
use super::limits::{ALARM_WRITE_MS_MAX, LEASE_MS};
use super::replay::{Alarm, Replay, Session};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Event;
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "alarm-follows-intent",
    kind: Kind::Always,
    claim: "while a runtime is resident an alarm is armed at or before its idle deadline or within a lease, and a condemned session has one until it is wiped",
    covers: &["L2", "L3", "L12"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let mut watch = Watch {
        timeout_ms: plan.config.session_timeout_ms,
        faults: case.faults(),
        lapses: BTreeMap::new(),
        violations: Vec::new(),
    };
    let mut replay = Replay::new(case);
    for event in &trace.events {
        watch.expire(&replay, event);
        replay.advance();
        match &event.who {
            Some(who) if event.name != "isolate.ended" => watch.look(&replay, who, event.at_ms),
            _ => watch.look_at_all(&replay, event.at_ms),
        }
    }
    Verdict::of(watch.violations, None)
}

struct Watch<'a> {
    timeout_ms: u64,
    faults: &'a FaultLog<'a>,
    /// Sessions whose alarm does not say what it should, and since when.
    lapses: BTreeMap<Arc<str>, Lapse>,
    violations: Vec<Violation>,
}

struct Lapse {
    since_ms: u64,
    is_reported: bool,
}

/// What the alarm slot owes.
enum Owed {
    Nothing,
    IdleDeadline { due_ms: u64 },
    Wiping,
}

impl Watch<'_> {
    fn look_at_all(&mut self, replay: &Replay, at_ms: u64) {
        let all: Vec<Arc<str>> = replay.sessions().map(|(who, _)| who.into()).collect();
        for who in all {
            self.look(replay, &who, at_ms);
        }
    }

    fn look(&mut self, replay: &Replay, who: &Arc<str>, at_ms: u64) {
        let Some(session) = replay.session(who) else {
            return;
        };
        // The next use arms a lost alarm again (L3): what is wrong from then on is a lapse of its own.
        let used_ms = session.idle_from_ms().filter(|_| session.condemned_at_ms.is_none()).unwrap_or(0);
        if self.is_kept(session) {
            self.lapses.remove(who);
        } else if self.lapses.get(who).is_none_or(|lapse| lapse.since_ms < used_ms) {
            let lapse = Lapse { since_ms: at_ms, is_reported: false };
            self.lapses.insert(who.clone(), lapse);
        }
    }

    fn is_kept(&self, session: &Session) -> bool {
        match self.owed(session) {
            Owed::Nothing => true,
            Owed::Wiping => matches!(session.alarm, Alarm::Armed { .. } | Alarm::Retrying),
            Owed::IdleDeadline { due_ms } => match session.alarm {
                Alarm::Retrying => true,
                // Set beyond the deadline: re-armed for at once, or extended by a lease.
                Alarm::Armed { due_ms: armed, set_at_ms, .. } if set_at_ms >= due_ms => armed <= set_at_ms + LEASE_MS,
                Alarm::Armed { due_ms: armed, .. } => armed <= due_ms,
                Alarm::Never | Alarm::Empty { .. } => false,
            },
        }
    }

    fn owed(&self, session: &Session) -> Owed {
        // Whoever is at work on the slot will leave it right.
        if session.is_alarm_running || session.is_destroying {
            return Owed::Nothing;
        }
        if let Some(condemned_at_ms) = session.condemned_at_ms {
            let is_wiped = session.wiped_at_ms.is_some_and(|at_ms| at_ms >= condemned_at_ms);
            return if is_wiped { Owed::Nothing } else { Owed::Wiping };
        }
        let is_changing =
            session.start_count + session.init_count > 0 || session.teardown_count + session.disposal_count > 0;
        match session.idle_from_ms() {
            Some(idle_from) if !is_changing => Owed::IdleDeadline { due_ms: idle_from.saturating_add(self.timeout_ms) },
            _ => Owed::Nothing,
        }
    }

    /// Reports lapses that have lasted longer than a write may take.
    fn expire(&mut self, replay: &Replay, event: &Event) {
        for (who, lapse) in self.lapses.iter_mut().filter(|(_, lapse)| !lapse.is_reported) {
            let held = self.faults.held_ms_of(who, lapse.since_ms, event.at_ms);
            let limit = lapse.since_ms + ALARM_WRITE_MS_MAX + held;
            let Some(session) = replay.session(who).filter(|_| event.at_ms > limit) else {
                continue;
            };
            lapse.is_reported = true;
            let from_ms = session.idle_from_ms().unwrap_or(lapse.since_ms).min(lapse.since_ms);
            if self.faults.lost_alarm_write(who, from_ms, event.at_ms) {
                continue;
            }
            self.violations.push(lapsed(who, session, lapse.since_ms, self.timeout_ms, event));
        }
    }
}

fn lapsed(who: &str, session: &Session, since_ms: u64, timeout_ms: u64, event: &Event) -> Violation {
    let words = alarm_words(&session.alarm);
    let (what, owed) = match (session.condemned_at_ms, session.idle_from_ms()) {
        (Some(at_ms), _) => ("a condemned session has no alarm that would wipe it", format!("condemned at {at_ms} ms")),
        (None, from_ms) => (
            "a resident session has no alarm at or before its idle deadline",
            format!("idle deadline {} ms", from_ms.unwrap_or(0) + timeout_ms),
        ),
    };
    let pending = format!("{who}: {owed}, {words}, wrong since {since_ms} ms");
    Violation::at(event, what).of(who).pending(pending)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan_with_failing_alarm_write, story, violation};
    use super::*;

    #[test]
    fn an_alarm_that_is_deleted_and_set_again_at_once_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn an_alarm_that_stays_deleted_is_named_with_the_one_who_deleted_it() {
        let trace = story().without_between(5_500, 95_000).platform(
            5_030,
            "s1",
            "alarm.deleted",
            &[("by", "agents.schedule".into())],
        );
        let found = violation(INVARIANT, trace.clone());
        assert_eq!(found.what, "a resident session has no alarm at or before its idle deadline");
        let pending = "s1: idle deadline 6024 ms, no alarm set since 5030 ms, when agents.schedule deleted it, wrong since 5030 ms";
        assert_eq!(found.pending.as_deref(), Some(pending));
        let excused = trace.fault(5_028, "fault.delivered", 0).build();
        assert_eq!(INVARIANT.judge(&plan_with_failing_alarm_write(), &excused), Verdict::Held);
    }

    #[test]
    fn a_lost_write_excuses_the_alarm_until_the_next_use_only() {
        let lost = || {
            let deleted = [("by", "agents.schedule".into())];
            let trace = story().without_between(5_500, 95_000).platform(5_030, "s1", "alarm.deleted", &deleted);
            trace.fault(5_028, "fault.delivered", 0)
        };
        let judge = |trace: Builder| INVARIANT.judge(&plan_with_failing_alarm_write(), &trace.build());
        let used = lost().state(20_000, "s1", "activity", &[]);
        let armed = [("due_at_ms", 21_000_u64.into()), ("by", "clock".into())];
        assert_eq!(judge(used.clone().platform(20_000, "s1", "alarm.set", &armed).cut(21_000)), Verdict::Held);
        let Verdict::Violated(found) = judge(used) else { panic!("the use did not arm it again") };
        assert!(found[0].pending.as_deref().is_some_and(|told| told.ends_with("wrong since 20000 ms")), "{found:?}");
    }

    #[test]
    fn an_alarm_after_the_deadline_is_none() {
        let late = story().without_between(5_500, 95_000).platform(
            5_030,
            "s1",
            "alarm.set",
            &[("due_at_ms", 35_030_u64.into())],
        );
        violation(INVARIANT, late);
    }

    #[test]
    fn a_lease_extends_beyond_the_deadline() {
        let leased = |due_ms: u64| {
            story()
                .without_between(5_500, 95_000)
                .platform(6_024, "s1", "alarm.fired", &[("due_at_ms", 6_024_u64.into())])
                .platform(6_024, "s1", "alarm.set", &[("due_at_ms", due_ms.into())])
                .platform(6_025, "s1", "alarm.ended", &[("outcome", "ok".into())])
        };
        assert_eq!(judged(INVARIANT, leased(246_024)), Verdict::Held);
        violation(INVARIANT, leased(246_025));
    }

    #[test]
    fn a_mark_that_a_reset_took_back_condemns_nobody() {
        let condemned = story().without_between(1_500, 95_000).state(2_000, "s1", "condemned", &[]);
        let reset = condemned.platform(2_000, "s1", "object.gone", &[("reason", "reset".into())]);
        assert_eq!(judged(INVARIANT, reset), Verdict::Held);
    }

    #[test]
    fn a_condemned_session_keeps_an_alarm_until_it_is_wiped() {
        let condemned = story().without_between(1_500, 95_000).state(2_000, "s1", "condemned", &[]);
        let found = violation(INVARIANT, condemned.clone());
        assert_eq!(found.what, "a condemned session has no alarm that would wipe it");
        let armed = condemned.platform(2_001, "s1", "alarm.set", &[("due_at_ms", 3_000_u64.into())]);
        let wiped = armed
            .platform(3_000, "s1", "alarm.fired", &[])
            .platform(3_001, "s1", "storage.wiped", &[])
            .platform(3_002, "s1", "alarm.ended", &[("outcome", "ok".into())]);
        assert_eq!(judged(INVARIANT, wiped.cut(94_000)), Verdict::Held);
    }

    #[test]
    fn a_session_without_a_runtime_owes_nothing() {
        let gone = story().without_between(5_500, 95_000).platform(5_030, "s1", "alarm.deleted", &[]).platform(
            5_031,
            "s1",
            "object.gone",
            &[],
        );
        assert_eq!(judged(INVARIANT, gone.cut(94_000)), Verdict::Held);
    }
}
