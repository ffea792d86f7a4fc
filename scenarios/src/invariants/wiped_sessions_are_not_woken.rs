//! L11's other half: what was wiped is over, also for an alarm that comes once more.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "wiped-sessions-are-not-woken",
    kind: Kind::Always,
    claim: "an alarm that comes to a wiped session ends normally",
    covers: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    // When the alarm of a wiped session came that runs now.
    let mut wiped: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in case.trace.of(Stream::Platform) {
        let Some(who) = event.who() else { continue };
        match &*event.name {
            "storage.wiped" => drop(wiped.insert(who, None)),
            // It is used again: nobody forbids that by the id alone.
            "storage.put" if event.text("key") == Some("props") => drop(wiped.remove(who)),
            "alarm.fired" => {
                if let Some(fired_ms) = wiped.get_mut(who) {
                    *fired_ms = Some(event.at_ms);
                }
            }
            "alarm.ended" => {
                let Some(fired_ms) = wiped.get_mut(who).and_then(Option::take) else { continue };
                if event.text("outcome") == Some("failed") && !faults.is_disturbed(who, fired_ms, event.at_ms) {
                    violations.push(Violation::at(event, "an alarm of a session that was wiped fails"));
                }
            }
            _ => {}
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn woken(outcome: &'static str) -> Builder {
        Builder::default().platform(10, "s1", "storage.wiped", &[]).platform(2_010, "s1", "alarm.fired", &[]).platform(
            2_012,
            "s1",
            "alarm.ended",
            &[("outcome", outcome.into())],
        )
    }

    #[test]
    fn an_alarm_that_fails_after_the_wipe_is_named() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, woken("ok")), Verdict::Held);
        assert_eq!(violation(INVARIANT, woken("failed")).what, "an alarm of a session that was wiped fails");
    }

    #[test]
    fn one_that_began_before_the_wipe_or_was_made_to_fail_is_another_matter() {
        let began = woken("failed").without("alarm.fired", 0);
        assert_eq!(judged(INVARIANT, began), Verdict::Held);
        let plan = super::super::testing::plan_with_failing_alarm_write();
        let failing = woken("failed").fault_of(2_011, "s1", "fault.delivered", 0).build();
        assert_eq!(INVARIANT.judge(&plan, &failing), Verdict::Held);
    }
}
