//! I43: 404 says that the session is gone for good, and 503 that it is not.

use super::requests::Request;
use super::streams::{ends_session, happened, opened};
use super::{Case, Invariant, Kind, Verdict, Violation};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "statuses-mean-what-they-say",
    kind: Kind::Always,
    claim: "a session that nothing ended is never answered 404, and one that was ended before the request never 503",
    covers: &["I43"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let opened = opened(case);
    let faults = case.faults();
    let mut violations = Vec::new();
    // In the console 404 is said of executions too.
    let is_judged = |request: &&Request| !request.is_sessionless();
    for request in case.requests().iter().filter(is_judged) {
        let Some(end) = request.end.filter(|_| request.outcome() == Some("refused")) else { continue };
        let session = request.session.as_str();
        if opened.get(session).is_none_or(|opened| *opened >= request.begin.ordinal) {
            continue;
        }
        // Somebody else may have ended it before its client was told of it.
        let is_ended_by = |ordinal| happened(case, session, 0, ordinal, ends_session);
        let fault = match request.status() {
            Some(404) if !is_ended_by(end.ordinal) => "answered 404 although nothing ended its session",
            Some(503) if is_ended_by(request.begin.ordinal) => "answered 503 although its session was ended before",
            _ => continue,
        };
        if !faults.is_disturbed(session, request.begin.at_ms, end.at_ms) {
            violations.push(Violation::at(end, format!("{} is {fault}", request.what())).of(session));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn refused(status: u64) -> Builder {
        story().change("request.head", 4, "status", status.into()).change("request.end", 4, "outcome", "refused".into())
    }

    #[test]
    fn a_404_of_a_living_session_and_a_503_of_an_ended_one_are_named() {
        let found = violation(INVARIANT, refused(404));
        assert_eq!(found.what, "a call is answered 404 although nothing ended its session");
        let looked = refused(404).change("request.begin", 4, "op", "look".into());
        assert_eq!(judged(INVARIANT, looked), Verdict::Held);
        let ended = |trace: Builder| trace.state(4_000, "s1", "condemned", &[]);
        let found = violation(INVARIANT, ended(refused(503)));
        assert_eq!(found.what, "a call is answered 503 although its session was ended before");
    }

    #[test]
    fn a_503_of_a_living_session_and_a_404_of_an_ended_one_are_right() {
        assert_eq!(judged(INVARIANT, refused(503)), Verdict::Held);
        let ended = refused(404).state(4_000, "s1", "condemned", &[]);
        assert_eq!(judged(INVARIANT, ended), Verdict::Held);
    }
}
