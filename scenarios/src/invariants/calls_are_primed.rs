//! L14's other half: the stream of a call begins with an event id, without which its client cannot ask for what it lost.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "calls-are-primed",
    kind: Kind::Always,
    claim: "the first event of a call's stream is a priming event with an id",
    covers: &["L14"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut first: BTreeMap<u64, &Event> = BTreeMap::new();
    for event in case.trace.named(Stream::History, "request.event") {
        if let Some(request) = event.number("request") {
            first.entry(request).or_insert(event);
        }
    }
    let faults = case.faults();
    let mut violations = Vec::new();
    for request in case.requests().iter().filter(|request| matches!(request.op(), "call" | "touch" | "resume")) {
        let Some(event) = request.begin.number("request").and_then(|number| first.get(&number)) else { continue };
        let is_primed = event.text("brings") == Some("priming") && event.text("id").is_some();
        // A priming event that cannot be stored is left out.
        if !is_primed && !faults.is_disturbed(&request.session, request.begin.at_ms, event.at_ms) {
            let what = format!("the stream of {} begins without a cursor", request.what());
            violations.push(Violation::at(event, what).of(&request.session));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan_with_failing_alarm_write, story, violation};
    use super::*;
    use crate::plan::ClientPlan;

    #[test]
    fn a_fault_of_the_session_beside_it_excuses_nothing() {
        let id = ("id", "c4:0000000000000001".into());
        let brings = [("request", 4_u64.into()), ("brings", "response".into()), id];
        let unprimed = || story().history(21, "s1", "request.event", &brings);
        let mut plan = plan_with_failing_alarm_write();
        plan.clients.push(ClientPlan { name: "s2".into(), ..plan.clients[0].clone() });
        let verdict = |hit: &str| INVARIANT.judge(&plan, &unprimed().fault_of(20, hit, "fault.delivered", 0).build());
        assert_eq!(verdict("s1"), Verdict::Held);
        let Verdict::Violated(found) = verdict("s2") else { panic!("s1 was not disturbed") };
        assert_eq!(found[0].what, "the stream of a call begins without a cursor");
    }

    #[test]
    fn the_first_event_of_a_call_must_have_an_id() {
        let first = |brings: &str| -> Builder {
            let id = ("id", "c4:0000000000000001".into());
            story().history(21, "s1", "request.event", &[("request", 4_u64.into()), ("brings", brings.into()), id])
        };
        assert_eq!(judged(INVARIANT, first("priming")), Verdict::Held);
        assert_eq!(violation(INVARIANT, first("response")).what, "the stream of a call begins without a cursor");
    }
}
