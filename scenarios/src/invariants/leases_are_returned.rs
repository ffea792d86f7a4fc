//! L7: each pending approval ends within its window, and then holds nothing of its session.

use super::faults::FaultLog;
use super::leases::Leases;
use super::limits::{APPROVAL_MS, DISPOSAL_MS_MAX};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeSet;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "leases-are-returned",
    kind: Kind::Always,
    claim: "each lease of a paused execution is returned, or its execution resumed, within its window, and at the end only leases hold a session awake",
    covers: &["L7"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let faults = case.faults();
    let mut violations = Vec::new();
    let overdue = |leases: &Leases, execution: &str, event: &Event| {
        let lease = leases.of(execution)?;
        let latest =
            lease.at_ms + APPROVAL_MS + DISPOSAL_MS_MAX + faults.held_ms_of(&lease.who, lease.at_ms, event.at_ms);
        let is_excused = lease.is_resumed || faults.is_disturbed(&lease.who, lease.at_ms, event.at_ms);
        let late = event.at_ms.checked_sub(latest).filter(|late| *late > 0 && !is_excused)?;
        let what = format!("a lease was held {late} ms longer than its window");
        let pending = format!("{}: lease of {execution} taken at {} ms", lease.who, lease.at_ms);
        Some(Violation::at(event, what).of(&lease.who).pending(pending))
    };
    let mut resumed: BTreeSet<&str> = BTreeSet::new();
    let leases = Leases::each(case, |leases, event| {
        violations.extend(taken_too_late(&mut resumed, event));
        let execution = event.text("execution").filter(|_| event.is(Stream::State, "lease.returned"));
        violations.extend(execution.and_then(|execution| overdue(leases, execution, event)));
    });
    if let Some(last) = trace.events.last() {
        violations.extend(leases.all().filter_map(|(execution, _)| overdue(&leases, execution, last)));
        if trace.is_complete() {
            violations.extend(leases.refs().filter_map(|(who, refs)| kept(faults, &leases, who, refs, last)));
        }
    }
    Verdict::of(violations, None)
}

const TOO_LATE: &str = "a lease was taken for an execution that had been resumed";

/// A lease for an execution that somebody has resumed already: nothing but its window ends it.
fn taken_too_late<'t>(resumed: &mut BTreeSet<&'t str>, event: &'t Event) -> Option<Violation> {
    let execution = event.text("execution")?;
    match (event.stream, &*event.name) {
        (Stream::State, "execution.resumed") => {
            resumed.insert(execution);
        }
        (Stream::State, "lease.taken") if resumed.contains(execution) => {
            return Some(Violation::at(event, TOO_LATE));
        }
        _ => {}
    }
    None
}

/// A session that is held awake by more, or less, than its leases.
fn kept(faults: &FaultLog, leases: &Leases, who: &str, refs: u64, last: &Event) -> Option<Violation> {
    let held = leases.all().filter(|(_, lease)| *lease.who == *who).count() as u64;
    if refs == held || faults.is_disturbed(who, 0, last.at_ms) || faults.held_ms(0, last.at_ms) > 0 {
        return None;
    }
    let what = format!("{refs} keep-alive references are taken at the end of the run, and {held} leases are held");
    Some(Violation::at(last, what).of(who))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn lease(trace: Builder, at_ms: u64, name: &str) -> Builder {
        trace.state(at_ms, "s1", name, &[("execution", "exec_1".into())])
    }

    fn refs(trace: Builder, at_ms: u64, name: &str, count: u64) -> Builder {
        trace.state(at_ms, "s1", name, &[("refs", count.into())])
    }

    fn paused() -> Builder {
        lease(refs(story(), 30, "keep-alive.taken", 1), 30, "lease.taken")
    }

    #[test]
    fn a_lease_that_comes_back_with_its_reference_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let returned = lease(refs(paused(), 1_021, "keep-alive.returned", 0), 1_021, "lease.returned");
        assert_eq!(judged(INVARIANT, returned), Verdict::Held);
    }

    #[test]
    fn one_that_is_kept_beyond_its_window_is_named() {
        let late = lease(refs(paused(), 300_000, "keep-alive.returned", 0), 300_000, "lease.returned");
        assert_eq!(violation(INVARIANT, late).what, "a lease was held 49970 ms longer than its window");
        let kept = violation(INVARIANT, paused().phase(300_000, "end"));
        assert_eq!(kept.pending.as_deref(), Some("s1: lease of exec_1 taken at 30 ms"));
    }

    #[test]
    fn one_whose_execution_was_resumed_comes_back_when_the_code_has_run() {
        let resumed = lease(paused(), 240_030, "execution.resumed");
        let late = lease(refs(resumed, 300_000, "keep-alive.returned", 0), 300_000, "lease.returned");
        assert_eq!(judged(INVARIANT, late), Verdict::Held);
    }

    #[test]
    fn a_reference_that_nothing_holds_is_named() {
        let leaked = lease(paused(), 1_021, "lease.returned");
        let found = violation(INVARIANT, leaked);
        assert_eq!(found.what, "1 keep-alive references are taken at the end of the run, and 0 leases are held");
        assert_eq!(found.session.as_deref(), Some("s1"));
    }

    #[test]
    fn what_is_lost_with_its_object_need_not_come_back() {
        let lost = paused().platform(40, "s1", "object.reset", &[("kind", "code_update".into())]);
        assert_eq!(judged(INVARIANT, lost.phase(300_000, "end")), Verdict::Held);
        let ended = paused().platform(40, "i1", "isolate.ended", &[("isolate", "i1".into())]);
        assert_eq!(judged(INVARIANT, ended.phase(300_000, "end")), Verdict::Held);
    }

    #[test]
    fn a_lease_of_an_execution_that_was_resumed_is_named() {
        let again = |name| lease(lease(lease(paused(), 900, name), 901, "lease.returned"), 902, "lease.taken");
        assert_eq!(violation(INVARIANT, again("execution.resumed")).what, TOO_LATE);
        let found = judged(INVARIANT, again("execution.paused"));
        assert!(!format!("{found:?}").contains(TOO_LATE), "{found:?}");
    }
}
