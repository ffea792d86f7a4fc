//! I35: a write of the idle clock that the platform loses does not end an init that has built its runtime.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::{Effect, ErrorKind, FaultPlan, Plan, When};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "lost-writes-spare-the-start",
    kind: Kind::Always,
    claim: "an init in which nothing fails but a write of its idle clock, for a reason of the platform's, succeeds",
    covers: &["I35"],
    judge,
};

/// The init of a session, with what was made to fail in it.
#[derive(Default)]
struct Init {
    lost_writes: u32,
    other: u32,
}

fn judge(case: &Case<'_>) -> Verdict {
    let mut running: BTreeMap<String, Init> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        match (event.stream, &*event.name, event.who()) {
            (Stream::State, "init.begin", Some(who)) => {
                running.insert(who.into(), Init::default());
            }
            (Stream::Fault, "fault.delivered", _) => note(&mut running, case.plan, event),
            (Stream::Platform, "object.reset" | "object.gone", Some(who)) => {
                running.remove(who);
            }
            (Stream::State, "init.end", Some(who)) => {
                let Some(init) = running.remove(who) else { continue };
                let is_failed = event.text("outcome") == Some("failed");
                if is_failed && init.lost_writes > 0 && init.other == 0 {
                    violations.push(Violation::at(event, "an init failed over a lost write of its idle clock"));
                }
            }
            _ => {}
        }
    }
    Verdict::of(violations, None)
}

/// A fault that was delivered, to the inits it may have met.
fn note(running: &mut BTreeMap<String, Init>, plan: &Plan, event: &Event) {
    let fault = event.number("fault").and_then(|index| plan.faults.get(usize::try_from(index).ok()?));
    let (When::At { session, .. } | When::Operation { session, .. }) = match fault {
        Some(fault) => &fault.when,
        None => return,
    };
    // Whom it hit is told with the delivery, also where the plan names nobody.
    let session = event.who().or(session.as_deref());
    for (who, init) in running.iter_mut() {
        match session {
            Some(session) if session != who => {}
            Some(_) if fault.is_some_and(is_lost_write) => init.lost_writes += 1,
            _ => init.other += 1,
        }
    }
}

fn is_lost_write(fault: &FaultPlan) -> bool {
    let When::Operation { operation, .. } = &fault.when else { return false };
    let (Effect::Fail { error, text: None, .. } | Effect::Hold { fail: Some(error), .. }) = &fault.effect else {
        return false;
    };
    let is_of_clock = matches!(&**operation, "clock · storage.put last-activity-ms" | "clock · storage.setAlarm idle");
    is_of_clock && !matches!(error, ErrorKind::Unknown | ErrorKind::MemoryLimit)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story};
    use super::*;
    use crate::plan::Edge;

    fn told(error: ErrorKind, outcome: &'static str) -> Verdict {
        let when = When::Operation {
            operation: "clock · storage.setAlarm idle".into(),
            root: None,
            edge: Edge::Begin,
            n: 1,
            session: Some("s1".into()),
        };
        let mut plan = super::super::testing::plan();
        plan.faults = vec![FaultPlan::new(when, Effect::Fail { error, text: None, flags: None, lasting: false })];
        let begun = Builder::default().state(10, "s1", "init.begin", &[]).fault(11, "fault.delivered", 0);
        INVARIANT.judge(&plan, &begun.state(12, "s1", "init.end", &[("outcome", outcome.into())]).build())
    }

    #[test]
    fn an_init_that_survives_the_loss_is_fine_and_one_that_fails_over_it_is_not() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(told(ErrorKind::CodeUpdate, "ok"), Verdict::Held);
        assert!(matches!(told(ErrorKind::CodeUpdate, "failed"), Verdict::Violated(_)));
    }

    #[test]
    fn a_loss_counts_whom_it_hit_however_it_was_planned() {
        let told = |effect: Effect, hit: &str| {
            let mut plan = super::super::testing::plan_with_failing_alarm_write();
            plan.faults[0].effect = effect;
            let begun = Builder::default().state(10, "s1", "init.begin", &[]).fault_of(11, hit, "fault.delivered", 0);
            INVARIANT.judge(&plan, &begun.state(18, "s1", "init.end", &[("outcome", "failed".into())]).build())
        };
        let fail = |lasting| Effect::Fail { error: ErrorKind::CodeUpdate, text: None, flags: None, lasting };
        let held = |fail| Effect::Hold { release: None, for_ms: Some(5), fail };
        for effect in [fail(false), fail(true), held(Some(ErrorKind::CodeUpdate))] {
            assert!(matches!(told(effect.clone(), "s1"), Verdict::Violated(_)), "{effect:?}");
            assert_eq!(told(effect, "s2"), Verdict::Held);
        }
        assert_eq!(told(held(None), "s1"), Verdict::Held);
    }

    #[test]
    fn a_failure_that_nobody_recognises_ends_an_init() {
        assert_eq!(told(ErrorKind::Unknown, "failed"), Verdict::Held);
    }
}
