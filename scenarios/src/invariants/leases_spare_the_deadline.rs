//! §2.21, step 3: a lease takes its reference before it sets the clock, as the first reference writes over the idle alarm.

use super::faults::FaultLog;
use super::limits::ALARM_WRITE_MS_MAX;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "leases-spare-the-deadline",
    kind: Kind::Always,
    claim: "the heartbeat that a lease's first reference writes into the alarm slot gives way to the idle deadline at once",
    covers: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    // Since when the slot of a session holds the heartbeat of a lease.
    let mut overwritten: BTreeMap<&str, u64> = BTreeMap::new();
    // Where each object was constructed last.
    let mut places: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        overwritten.retain(|who, since_ms| {
            let is_overdue = is_overdue(faults, who, *since_ms, event);
            // The heartbeat is told when it is durable, and the write that should follow may have failed by then.
            let failed_from_ms = since_ms.saturating_sub(ALARM_WRITE_MS_MAX);
            if is_overdue && !faults.lost_alarm_write(who, failed_from_ms, event.at_ms) {
                violations.push(violation(who, *since_ms, event));
            }
            !is_overdue
        });
        let Some(who) = event.who() else { continue };
        match &*event.name {
            "alarm.set" if is_heartbeat_of_lease(event) => drop(overwritten.insert(who, event.at_ms)),
            "alarm.set" | "alarm.deleted" | "object.gone" | "condemned" => drop(overwritten.remove(who)),
            "object.constructed" => drop(places.insert(who, event.text("isolate"))),
            // With their isolate all objects are gone that lived in it.
            "isolate.ended" => overwritten.retain(|of, _| places.get(of).is_none_or(|place| *place != Some(who))),
            _ => {}
        }
    }
    Verdict::of(violations, None)
}

fn is_heartbeat_of_lease(event: &Event) -> bool {
    event.is(Stream::Platform, "alarm.set")
        && event.text("root") == Some("lease")
        && event.text("by").is_some_and(|by| by.starts_with("sched · storage.setAlarm heartbeat"))
}

fn is_overdue(faults: &FaultLog<'_>, who: &str, since_ms: u64, event: &Event) -> bool {
    event.at_ms > since_ms + ALARM_WRITE_MS_MAX + faults.held_ms_of(who, since_ms, event.at_ms)
}

fn violation(who: &str, since_ms: u64, event: &Event) -> Violation {
    let pending =
        format!("{who}: the heartbeat stands in the alarm slot since {since_ms} ms, in place of the idle deadline");
    Violation::at(event, "the heartbeat of a lease took the slot of the idle alarm, and nothing set that again")
        .of(who)
        .pending(pending)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan_with_failing_alarm_write, story, violation};
    use super::*;

    fn set(builder: Builder, at_ms: u64, by: &'static str, root: &'static str) -> Builder {
        let fields = [("due_at_ms", 35_000_u64.into()), ("by", by.into()), ("root", root.into())];
        builder.platform(at_ms, "s1", "alarm.set", &fields)
    }

    fn leased() -> Builder {
        set(Builder::default(), 10, "sched · storage.setAlarm heartbeat", "lease")
    }

    fn later(builder: Builder) -> Builder {
        builder.platform(10_000, "s2", "object.created", &[])
    }

    #[test]
    fn a_heartbeat_that_stays_is_named() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let found = violation(INVARIANT, later(leased()));
        assert_eq!(found.what, "the heartbeat of a lease took the slot of the idle alarm, and nothing set that again");
        let clock = set(leased(), 11, "clock · storage.setAlarm idle", "lease");
        assert_eq!(judged(INVARIANT, later(clock)), Verdict::Held);
    }

    #[test]
    fn only_that_of_a_lease_counts() {
        let call = set(Builder::default(), 10, "sched · storage.setAlarm heartbeat", "validate");
        assert_eq!(judged(INVARIANT, later(call)), Verdict::Held);
    }

    #[test]
    fn who_is_gone_or_lost_the_write_owes_nothing() {
        let gone = leased().platform(12, "s1", "object.gone", &[]);
        assert_eq!(judged(INVARIANT, later(gone)), Verdict::Held);
        let placed = Builder::default().platform(5, "s1", "object.constructed", &[("isolate", "i1".into())]);
        let leased_there = set(placed, 10, "sched · storage.setAlarm heartbeat", "lease");
        let ended = |isolate: &str| later(leased_there.clone().platform(12, isolate, "isolate.ended", &[]));
        assert_eq!(judged(INVARIANT, ended("i1")), Verdict::Held);
        violation(INVARIANT, ended("i2"));
        for failed_ms in [9, 11] {
            let lost = later(leased().fault_of(failed_ms, "s1", "fault.delivered", 0)).build();
            assert_eq!(INVARIANT.judge(&plan_with_failing_alarm_write(), &lost), Verdict::Held);
        }
    }
}
