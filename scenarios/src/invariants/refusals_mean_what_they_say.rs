//! I42, I43: no answer is a bare 500 unless something failed that nobody could know, and 404 is said of dead ids only.

use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Token;
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "refusals-mean-what-they-say",
    kind: Kind::Always,
    claim: "of all server errors a client is told 503 only, and it is told 404 only of a session that was ended or condemned",
    covers: &["I42", "I43"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let ended = ended(case);
    let all = case.requests();
    let mut violations = Vec::new();
    for request in all {
        let (Some(end), Some(status)) = (request.end, request.status()) else { continue };
        let is_ended = ended.get(request.session.as_str()).is_some_and(|ordinal| *ordinal < end.ordinal);
        let is_opened = all.iter().any(|open| is_opened_by(open, request));
        let what = match status {
            500.. if status != 503 && !is_ended && !faults.fails_unrecognised(request.begin.at_ms, end.at_ms) => {
                format!("{} is answered {status}", request.what())
            }
            404 if !matches!(request.op(), "look" | "decide" | "discover" | "probe")
                && is_opened
                && !is_ended
                && !faults.is_disturbed(&request.session, 0, end.at_ms) =>
            {
                format!("{} is told that its session is gone, which nobody ended", request.what())
            }
            _ => continue,
        };
        violations.push(Violation::at(end, what).of(&request.session));
    }
    Verdict::of(violations, None)
}

/// Whether an earlier handshake was answered for the session that a request is about.
fn is_opened_by(open: &Request, request: &Request) -> bool {
    let is_answered = open.op() == "open" && open.outcome() == Some("answered");
    let is_before = open.end.is_some_and(|end| end.ordinal < request.begin.ordinal);
    is_answered && is_before && open.client() == request.client()
}

/// Sessions that somebody ended or condemned, with the event that first did.
fn ended<'c>(case: &'c Case<'_>) -> BTreeMap<&'c str, u32> {
    let mut ended = BTreeMap::new();
    let condemned = case.trace.of(Stream::State).filter(|event| event.name == "condemned");
    let condemned = condemned.filter_map(|event: &Event| Some((event.who()?, event.ordinal)));
    let is_ending = |request: &&Request| {
        request.op() == "close" || matches!(request.token(case.plan), Token::Revoked | Token::Suspended)
    };
    let asked = case.requests().iter().filter(is_ending).map(|request| (&*request.session, request.begin.ordinal));
    for (session, ordinal) in condemned.chain(asked) {
        let first = ended.entry(session).or_insert(ordinal);
        *first = ordinal.min(*first);
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, plan_with_failing_alarm_write, story, violation};
    use super::*;
    use crate::plan::{Effect, ErrorKind};

    #[test]
    fn answers_and_a_request_to_come_back_are_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, refused(503)), Verdict::Held);
    }

    fn refused(status: u64) -> super::super::testing::Builder {
        let trace = story().change("request.end", 3, "outcome", "refused".into());
        trace.change("request.end", 3, "status", status.into()).change("request.head", 3, "status", status.into())
    }

    #[test]
    fn a_bare_500_and_a_404_of_a_living_session_are_named() {
        assert_eq!(violation(INVARIANT, refused(500)).what, "a call is answered 500");
        let what = "a call is told that its session is gone, which nobody ended";
        assert_eq!(violation(INVARIANT, refused(404)).what, what);
        let condemned = refused(404).state(1, "s1", "condemned", &[]);
        assert_eq!(judged(INVARIANT, condemned), Verdict::Held);
    }

    #[test]
    fn what_nobody_can_recognise_is_a_500() {
        let mut plan = plan_with_failing_alarm_write();
        let trace = refused(500).fault(21, "fault.delivered", 0);
        let judged = |plan: &crate::plan::Plan| INVARIANT.judge(plan, &trace.clone().build());
        let failing = |error| Effect::Fail { error, text: None, flags: None, lasting: false };
        plan.faults[0].effect = failing(ErrorKind::Unknown);
        assert_eq!(judged(&plan), Verdict::Held);
        plan.faults[0].effect = failing(ErrorKind::CodeUpdate);
        assert!(matches!(judged(&plan), Verdict::Violated(_)));
    }
}
