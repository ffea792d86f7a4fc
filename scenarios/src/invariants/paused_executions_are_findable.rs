//! I34, L7: as long as a session holds a paused execution, the directory leads to it, and not much longer.

use super::faults::FaultLog;
use super::leases::{Lease, Leases};
use super::limits::{ALARM_LATE_MS_MAX, APPROVAL_MS, DISPOSAL_MS_MAX};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "paused-executions-are-findable",
    kind: Kind::Always,
    claim: "the directory has the owner of each paused execution until it is resumed, and forgets it with the window",
    covers: &["I34", "L7"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let judge = Judge { faults: case.faults() };
    // Executions whose owner is recorded, each with the record, and all that ever were: at the end of its window an
    // entry may go before its lease does.
    let mut entries: BTreeMap<&str, &Event> = BTreeMap::new();
    let mut recorded: BTreeSet<&str> = BTreeSet::new();
    let mut violations = Vec::new();
    let leases = Leases::each(case, |leases, event| {
        let Some(who) = event.who() else { return };
        if event.is(Stream::State, "lease.returned") {
            let held = event.text("execution").and_then(|execution| Some((execution, leases.of(execution)?)));
            violations.extend(held.and_then(|(id, lease)| judge.unrecorded(id, lease, &recorded, event)));
        } else if event.stream == Stream::Platform && event.text("key") == Some("owner") {
            match &*event.name {
                "storage.put" => {
                    entries.insert(who, event);
                    recorded.insert(who);
                }
                "storage.deleted" => {
                    entries.remove(who);
                    violations.extend(leases.of(who).and_then(|lease| judge.forgotten(who, lease, event)));
                }
                _ => {}
            }
        }
    });
    if let Some(last) = trace.events.last() {
        violations.extend(leases.all().filter_map(|(id, lease)| judge.unrecorded(id, lease, &recorded, last)));
        violations.extend(entries.values().filter_map(|put| judge.kept(put, last)));
    }
    Verdict::of(violations, None)
}

struct Judge<'a> {
    faults: &'a FaultLog<'a>,
}

impl Judge<'_> {
    /// A lease that is held for a while, and nobody is recorded.
    fn unrecorded(
        &self,
        execution: &str,
        lease: &Lease,
        recorded: &BTreeSet<&str>,
        event: &Event,
    ) -> Option<Violation> {
        let latest = lease.at_ms + DISPOSAL_MS_MAX + self.faults.held_ms_of(&lease.who, lease.at_ms, event.at_ms);
        // The directory's own object may be what was lost: the record is not written again, and the log says so.
        let is_hit = |who: &str| self.faults.is_disturbed(who, lease.at_ms, event.at_ms);
        let is_excused = is_hit(&lease.who) || is_hit(execution);
        if recorded.contains(execution) || event.at_ms <= latest || is_excused {
            return None;
        }
        let held_ms = event.at_ms - lease.at_ms;
        let what = format!("a paused execution was held for {held_ms} ms, and the directory has no owner of it");
        let pending = format!("{}: owner of {execution} not recorded since {} ms", lease.who, lease.at_ms);
        Some(Violation::at(event, what).of(&lease.who).pending(pending))
    }

    /// An owner that was deleted while its lease is held and nobody has resumed the execution.
    fn forgotten(&self, execution: &str, lease: &Lease, event: &Event) -> Option<Violation> {
        let is_over = lease.is_resumed || event.at_ms >= lease.paused_at_ms + APPROVAL_MS;
        let is_excused = self.faults.is_disturbed(&lease.who, lease.at_ms, event.at_ms)
            || self.faults.is_disturbed(execution, lease.at_ms, event.at_ms)
            || self.faults.held_ms(lease.at_ms, event.at_ms) > 0;
        let what = "the directory forgot the owner of a paused execution whose lease is held";
        let pending = format!("{}: lease of {execution} taken at {} ms", lease.who, lease.at_ms);
        (!is_over && !is_excused).then(|| Violation::at(event, what).of(&lease.who).pending(pending))
    }

    /// An owner that nobody forgets.
    fn kept(&self, put: &Event, last: &Event) -> Option<Violation> {
        let held_ms = self.faults.held_ms_of(put.who()?, put.at_ms, last.at_ms);
        let latest = put.at_ms + APPROVAL_MS + ALARM_LATE_MS_MAX + DISPOSAL_MS_MAX + held_ms;
        let late = last.at_ms.checked_sub(latest).filter(|late| *late > 0)?;
        let is_excused = self.faults.is_disturbed(put.who()?, put.at_ms, last.at_ms);
        let what = format!("the directory still has an owner {late} ms after its window");
        (!is_excused).then(|| Violation::at(last, what).of(put.who().unwrap_or("")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn lease(trace: Builder, at_ms: u64, name: &str) -> Builder {
        trace.state(at_ms, "s1", name, &[("execution", "exec_1".into())])
    }

    fn owner(trace: Builder, at_ms: u64, name: &str) -> Builder {
        trace.platform(at_ms, "exec_1", name, &[("key", "owner".into())])
    }

    #[test]
    fn an_owner_that_comes_and_goes_with_its_lease_is_fine() {
        let found = owner(lease(story(), 30, "lease.taken"), 32, "storage.put");
        let gone = owner(lease(found, 60_000, "lease.returned"), 60_002, "storage.deleted");
        assert_eq!(judged(INVARIANT, gone), Verdict::Held);
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn an_owner_that_goes_with_its_window_shortly_before_its_lease_is_fine() {
        let found = owner(lease(story(), 30, "lease.taken"), 32, "storage.put");
        let over = lease(owner(found, 240_031, "storage.deleted"), 240_040, "lease.returned");
        assert_eq!(judged(INVARIANT, over), Verdict::Held);
    }

    #[test]
    fn a_lease_without_an_owner_is_named() {
        let returned = lease(lease(story(), 30, "lease.taken"), 60_030, "lease.returned");
        let what = "a paused execution was held for 60000 ms, and the directory has no owner of it";
        assert_eq!(violation(INVARIANT, returned).what, what);
        violation(INVARIANT, lease(story(), 30, "lease.taken"));
        let short = lease(lease(story(), 30, "lease.taken"), 500, "lease.returned");
        assert_eq!(judged(INVARIANT, short), Verdict::Held);
    }

    #[test]
    fn an_owner_that_is_forgotten_too_early_or_never_is_named() {
        let found = owner(lease(story(), 30, "lease.taken"), 32, "storage.put");
        let early = violation(INVARIANT, owner(found.clone(), 60_000, "storage.deleted"));
        assert_eq!(early.what, "the directory forgot the owner of a paused execution whose lease is held");
        let never = violation(INVARIANT, lease(found, 60_000, "lease.returned").phase(900_000, "end"));
        assert!(never.what.starts_with("the directory still has an owner"), "{}", never.what);
    }
}
