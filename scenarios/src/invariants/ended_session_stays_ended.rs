//! I28: once a DELETE was answered, whoever comes with the id is told that the session is gone, and nothing else.

use super::streams::opened;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Token;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "ended-session-stays-ended",
    kind: Kind::Always,
    claim: "a request on a session that begins after its DELETE was answered 200 is answered 404",
    covers: &["I28"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let opened = opened(case);
    let faults = case.faults();
    let mut ended: BTreeMap<&str, u32> = BTreeMap::new();
    for close in case.requests().iter().filter(|request| request.op() == "close" && request.status() == Some(200)) {
        let session = close.session.as_str();
        let had_it = opened.get(session).is_some_and(|from| *from < close.begin.ordinal);
        if let Some(end) = close.end.filter(|_| had_it) {
            ended.entry(session).or_insert(end.ordinal);
        }
    }
    let mut violations = Vec::new();
    // The console looks at no marker, by description (session-core §2.22): it is served until the wipe.
    for request in case.requests().iter().filter(|request| !request.is_sessionless()) {
        let Some(ended) = ended.get(request.session.as_str()) else { continue };
        let (Some(status), Some(shown)) = (request.status(), request.head.or(request.end)) else { continue };
        // Who a caller is comes before everything else (session-core §2.1).
        let is_unknown = match request.token(case.plan) {
            Token::Expired => status == 401,
            Token::Revoked | Token::Suspended => status == 403,
            Token::Own | Token::OtherAccount | Token::OtherOrganization => false,
        };
        if request.begin.ordinal < *ended
            || status == 404
            || is_unknown
            || request.was_given_session(case.requests()) == Some(false)
        {
            continue;
        }
        // A planned failure of the session's stub is a transient one to the edge.
        if status == 503 && faults.is_disturbed(&request.session, request.begin.at_ms, shown.at_ms) {
            continue;
        }
        let what = format!("{} on a session that was ended is answered {status}", request.what());
        violations.push(Violation::at(shown, what).of(&request.session));
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan, story, violation};
    use super::*;
    use crate::plan::{Action, Step};

    /// The story with a DELETE that is answered at 3,000 ms, before its last call.
    fn ended() -> Builder {
        let number = ("request", 90_u64.into());
        let status = ("status", 200_u64.into());
        story()
            .history(2_990, "s1", "request.begin", &[number.clone(), ("op", "close".into())])
            .history(3_000, "s1", "request.head", &[number.clone(), status])
            .history(3_000, "s1", "request.end", &[number, ("outcome", "answered".into())])
    }

    #[test]
    fn a_call_that_is_served_after_the_delete_is_named() {
        let found = violation(INVARIANT, ended());
        assert_eq!(found.what, "a call on a session that was ended is answered 200");
    }

    #[test]
    fn who_asked_for_a_new_session_in_vain_names_none() {
        let number = ("request", 91_u64.into());
        let refused = ended().history(3_100, "s1", "request.begin", &[number.clone(), ("op", "open".into())]).history(
            3_200,
            "s1",
            "request.end",
            &[number, ("outcome", "refused".into())],
        );
        assert_eq!(judged(INVARIANT, refused), Verdict::Held);
    }

    #[test]
    fn a_caller_that_nobody_knows_is_told_that_first() {
        let refused = |head: usize, trace: Builder| trace.change("request.head", head, "status", 401_u64.into());
        let trace = || refused(4, refused(5, ended()));
        let with = |token| {
            let mut plan = plan();
            plan.clients[0].steps[1] = Step { at_ms: 0, action: Action::Present { token } };
            INVARIANT.judge(&plan, &trace().build())
        };
        assert_eq!(with(Token::Expired), Verdict::Held);
        assert!(matches!(with(Token::Own), Verdict::Violated(_)));
        violation(INVARIANT, trace());
    }

    #[test]
    fn the_console_is_not_judged() {
        let number = ("request", 92_u64.into());
        let gone = |trace: Builder, head| trace.change("request.head", head, "status", 404_u64.into());
        let looked = gone(gone(ended(), 4), 5);
        let looked = looked.history(3_100, "s1", "request.begin", &[number.clone(), ("op", "look".into())]);
        let looked = looked.history(3_200, "s1", "request.head", &[number.clone(), ("status", 200_u64.into())]);
        let looked = looked.history(3_200, "s1", "request.end", &[number, ("outcome", "answered".into())]);
        assert_eq!(judged(INVARIANT, looked), Verdict::Held);
    }

    #[test]
    fn a_refusal_with_404_is_right() {
        let gone = |trace: Builder, head| trace.change("request.head", head, "status", 404_u64.into());
        assert_eq!(judged(INVARIANT, gone(gone(ended(), 4), 5)), Verdict::Held);
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }
}
