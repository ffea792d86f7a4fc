//! I36: a failure that nobody recognises is captured once where it happened, and once more at most by the edge that answers
//! for it.
//!
//! A trace does not say of which failure a capture tells, so they are counted: as many captures with the text of a planned
//! failure as there were such failures, and as many again as requests of the client may have been answered a bare 500.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::{Effect, ErrorKind, UNKNOWN_ERROR_TEXT, client_of};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "failures-are-captured-once",
    kind: Kind::Always,
    claim: "a planned failure that nobody recognises is captured once, and once more where a client is told a bare 500",
    covers: &["I36"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut sessions: BTreeMap<&str, Counts> = BTreeMap::new();
    // What fails in an object of another class may be captured by whoever asked it.
    let mut elsewhere_count = 0;
    let mut violations = Vec::new();
    for event in &case.trace.events {
        let Some((who, is_failure)) = counted(case, event) else { continue };
        let counts = sessions.entry(client_of(who)).or_default();
        if is_failure {
            counts.failures += 1;
            elsewhere_count += u64::from(!is_session(case, who));
            continue;
        }
        counts.captures += 1;
        let may_be = counts.failures + elsewhere_count + answered_for(case, who);
        if counts.failures > 0 && counts.captures > may_be {
            let Counts { failures, captures } = *counts;
            let what = format!("{captures} captures tell of failures of session {who}, and there were {failures}");
            violations.push(Violation::at(event, what).of(who));
        }
    }
    Verdict::of(violations, None)
}

#[derive(Default)]
struct Counts {
    failures: u64,
    captures: u64,
}

fn is_session(case: &Case<'_>, who: &str) -> bool {
    case.plan.clients.iter().any(|client| client.name == client_of(who))
        || case.plan.storage.iter().any(|object| object.session == who)
}

/// Whose failure of the unrecognised kind (true), or whose capture of one, this event is.
fn counted<'t>(case: &Case<'t>, event: &'t Event) -> Option<(&'t str, bool)> {
    let who = event.who()?;
    if event.is(Stream::Telemetry, "captured") {
        return (event.text("message") == Some(UNKNOWN_ERROR_TEXT)).then_some((who, false));
    }
    if event.stream != Stream::Fault || !matches!(&*event.name, "fault.delivered") {
        return None;
    }
    let fault = event.number("fault").and_then(|fault| case.plan.faults.get(usize::try_from(fault).ok()?))?;
    let is_unknown = match &fault.effect {
        Effect::Fail { error, text, .. } => {
            text.as_ref().map_or(*error == ErrorKind::Unknown, |text| text == UNKNOWN_ERROR_TEXT)
        }
        Effect::Hold { fail, .. } => *fail == Some(ErrorKind::Unknown),
        _ => false,
    };
    is_unknown.then_some((who, true))
}

/// Requests of a session's client that may have been answered a bare 500, which the edge captures too: those that were,
/// and those that the client did not see the end of.
fn answered_for(case: &Case<'_>, who: &str) -> u64 {
    let is_its = |client: &str| client == client_of(who);
    let requests = case.requests().iter().filter(|request| is_its(request.client()));
    requests.filter(|request| request.status().is_none_or(|status| status == 500)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, plan_with_failing_alarm_write};
    use super::*;

    /// A session's step fails at 100 ms, and that is captured so often.
    fn captured(count: u64) -> Builder {
        let failing = Builder::default().fault_of(100, "s1", "fault.delivered", 0);
        let report = [("what", "report".into()), ("message", UNKNOWN_ERROR_TEXT.into())];
        let mut trace = (0..count).fold(failing, |trace, _| trace.state(101, "s1", "captured", &report));
        trace.retell("captured", Stream::Telemetry);
        trace
    }

    fn judged(trace: Builder, error: ErrorKind) -> Verdict {
        let mut plan = plan_with_failing_alarm_write();
        plan.faults[0].effect = Effect::Fail { error, text: None, flags: None, lasting: false };
        INVARIANT.judge(&plan, &trace.build())
    }

    #[test]
    fn a_second_capture_of_one_failure_is_named() {
        assert_eq!(judged(captured(1), ErrorKind::Unknown), Verdict::Held);
        let Verdict::Violated(found) = judged(captured(2), ErrorKind::Unknown) else { panic!("there are two") };
        assert_eq!(found[0].what, "2 captures tell of failures of session s1, and there were 1");
        assert_eq!(judged(captured(2), ErrorKind::CodeUpdate), Verdict::Held, "nothing of the kind was planned");
    }

    #[test]
    fn the_edge_captures_what_it_answers_500_for() {
        let answered = |status: u64| {
            let number = || ("request", 7_u64.into());
            captured(2).history(90, "s1", "request.begin", &[number(), ("op", "call".into())]).history(
                110,
                "s1",
                "request.head",
                &[number(), ("status", status.into())],
            )
        };
        assert_eq!(judged(answered(500), ErrorKind::Unknown), Verdict::Held);
        assert!(matches!(judged(answered(503), ErrorKind::Unknown), Verdict::Violated(_)));
    }
}
