//! I37, I38: an init ends with what it could not write: its record for any reason, its clock for one that nobody knows.

use super::resets_page_nobody::is_of_platform;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::{Effect, ErrorKind, FaultPlan, Plan, When};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "unknown-failures-end-the-start",
    kind: Kind::Always,
    claim: "an init that cannot write its record fails, and so does one that cannot write its clock for a reason that nobody knows",
    covers: &["I37", "I38"],
    judge,
};

/// The init of a session: what it wrote, and what of that was made to fail.
#[derive(Default)]
struct Init {
    /// Records that were kept and times that were noted while it ran; with more than one, another root had a part in it.
    records: u32,
    touches: u32,
    lost_record: bool,
    lost_clock: bool,
}

fn judge(case: &Case<'_>) -> Verdict {
    let mut running: BTreeMap<&str, Init> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        let Some(who) = event.who() else { continue };
        match (event.stream, &*event.name) {
            (Stream::State, "init.begin") => drop(running.insert(who, Init::default())),
            (Stream::Platform, "object.reset" | "object.gone") => drop(running.remove(who)),
            (Stream::State, "init.end") => {
                let is_ok = event.text("outcome") == Some("ok");
                let lost = running.remove(who).filter(|_| is_ok).and_then(|init| init.lost());
                let what = |lost| format!("an init succeeded that could not write its {lost}");
                violations.extend(lost.map(|lost| Violation::at(event, what(lost))));
            }
            (stream, name) => {
                if let Some(init) = running.get_mut(who) {
                    init.note(case.plan, stream, name, event);
                }
            }
        }
    }
    Verdict::of(violations, None)
}

impl Init {
    fn note(&mut self, plan: &Plan, stream: Stream, name: &str, event: &Event) {
        match (stream, name) {
            (Stream::State, "meta.kept") => self.records += 1,
            (Stream::State, "activity") => self.touches += 1,
            (Stream::Fault, "fault.delivered") => {
                let index = event.number("fault").and_then(|index| usize::try_from(index).ok());
                match index.and_then(|index| plan.faults.get(index)) {
                    Some(fault) if self.touches == 0 => self.lost_record |= fails_record(fault),
                    Some(fault) => self.lost_clock |= fails_clock(fault),
                    None => {}
                }
            }
            _ => {}
        }
    }

    /// What it lost, if nobody else can have lost it.
    fn lost(&self) -> Option<&'static str> {
        let record = (self.lost_record && self.records == 1).then_some("record");
        record.or((self.lost_clock && self.touches == 1).then_some("clock"))
    }
}

fn fails_record(fault: &FaultPlan) -> bool {
    let When::Operation { operation, .. } = &fault.when else { return false };
    operation == "meta · storage.put session-meta"
        && matches!(fault.effect, Effect::Fail { .. } | Effect::Hold { fail: Some(_), .. })
}

fn fails_clock(fault: &FaultPlan) -> bool {
    let When::Operation { operation, .. } = &fault.when else { return false };
    let is_unknown = match &fault.effect {
        Effect::Fail { error: ErrorKind::Unknown, text, flags: None, .. } => {
            text.as_ref().is_none_or(|text| !is_of_platform(text))
        }
        Effect::Hold { fail: Some(error), .. } => *error == ErrorKind::Unknown,
        _ => false,
    };
    is_unknown && matches!(&**operation, "clock · storage.put last-activity-ms" | "clock · storage.setAlarm idle")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, plan, story};
    use super::*;
    use crate::plan::Edge;

    fn with_failing(operation: &str, error: ErrorKind) -> Plan {
        let when = When::Operation {
            operation: operation.into(),
            root: None,
            edge: Edge::Begin,
            n: 1,
            session: Some("s1".into()),
        };
        let effect = Effect::Fail { error, text: None, flags: None, lasting: false };
        Plan { faults: vec![FaultPlan::new(when, effect)], ..plan() }
    }

    /// A second init of the session, in which the fault is delivered at that time.
    fn trace(fault_at_ms: u64, outcome: &'static str) -> Builder {
        let fault = [("fault", 0_u64.into())];
        story()
            .state(200_000, "s1", "init.begin", &[])
            .state(200_001, "s1", "meta.kept", &[])
            .state(200_005, "s1", "activity", &[])
            .state(200_008, "s1", "init.end", &[("outcome", outcome.into())])
            .told_fault(fault_at_ms, "s1", &fault)
    }

    #[test]
    fn an_init_that_goes_on_without_its_record_or_clock_is_named() {
        let clock = "clock · storage.put last-activity-ms";
        let record = "meta · storage.put session-meta";
        let judge = |plan: &Plan, trace: Builder| INVARIANT.judge(plan, &trace.build());
        let unknown = with_failing(clock, ErrorKind::Unknown);
        assert!(matches!(judge(&unknown, trace(200_006, "ok")), Verdict::Violated(_)));
        assert_eq!(judge(&unknown, trace(200_006, "failed")), Verdict::Held);
        // A reason of the platform's is absorbed.
        assert_eq!(judge(&with_failing(clock, ErrorKind::CodeUpdate), trace(200_006, "ok")), Verdict::Held);
        let held = |fail| {
            let mut plan = unknown.clone();
            plan.faults[0].effect = Effect::Hold { release: None, for_ms: Some(1), fail };
            judge(&plan, trace(200_006, "ok"))
        };
        assert!(matches!(held(Some(ErrorKind::Unknown)), Verdict::Violated(_)));
        assert_eq!(held(Some(ErrorKind::CodeUpdate)), Verdict::Held);
        assert_eq!(held(None), Verdict::Held);
        let lost = with_failing(record, ErrorKind::CodeUpdate);
        let Verdict::Violated(found) = judge(&lost, trace(200_002, "ok")) else { panic!("it is a violation") };
        assert_eq!(found[0].what, "an init succeeded that could not write its record");
        // Somebody else has written a record meanwhile: it may be that one.
        assert_eq!(judge(&lost, trace(200_002, "ok").state(200_003, "s1", "meta.kept", &[])), Verdict::Held);
        assert_eq!(judge(&lost, trace(100_000, "ok")), Verdict::Held);
    }
}
