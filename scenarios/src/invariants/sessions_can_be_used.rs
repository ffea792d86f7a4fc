//! L10 and the clients' view of it all: once the trouble is over, every session that was not ended serves its client.

use super::owners::{self, is_stranger};
use super::requests::Request;
use super::streams::{ends_session, happened};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Token;
use crate::trace::{Event, Stream};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "sessions-can-be-used",
    kind: Kind::Eventually,
    claim: "a session that nobody ended serves the touch after the quiet, whatever its starts came to before",
    covers: &["L10"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let plan = case.plan;
    let faults = case.faults();
    let all = case.requests();
    let mut violations = Vec::new();
    let mut served_count = 0_u32;
    let mut openers = None;
    for request in all.iter().filter(|request| request.op() == "touch") {
        // A request without an end is another claim's business.
        let Some(end) = request.end else { continue };
        if request.is_served() {
            served_count += 1;
            continue;
        }
        let is_own = request.was_given_session(all) == Some(true) && request.token(plan) == Token::Own;
        let patience_ms = plan.clients.iter().find(|client| client.name == request.client());
        let patience_ms = patience_ms.map_or(0, |client| client.request_timeout_ms);
        let is_excused = faults.is_disturbed(&request.session, request.begin.at_ms, end.at_ms)
            || faults.is_held_until(&request.session, end.at_ms, patience_ms)
            || request.outlasts_patience(plan, all)
            || is_ended(case, request, end)
            || is_crossed(case, request, end)
            // One that it opened with another token is not its own.
            || is_stranger(openers.get_or_insert_with(|| owners::openers(case)), plan, request);
        if is_own && !is_excused {
            let how = match (request.outcome(), request.status()) {
                (Some(outcome), Some(status)) => format!("{outcome} with status {status}"),
                (outcome, _) => outcome.unwrap_or("?").to_owned(),
            };
            let what = format!("the touch of {} was {how}", request.session);
            let pending = format!("{}: not ended, and not served since {} ms", request.session, request.begin.at_ms);
            violations.push(Violation::at(end, what).of(&request.session).pending(pending));
        }
    }
    Verdict::of(violations, (served_count == 0).then(|| "no touch was served".to_owned()))
}

/// Whether somebody ended the session before the touch did.
fn is_ended(case: &Case<'_>, request: &Request, end: &Event) -> bool {
    let is_close = |other: &Request| {
        other.op() == "close" && other.session == request.session && other.begin.ordinal < end.ordinal
    };
    case.requests().iter().any(is_close) || happened(case, &request.session, 0, end.ordinal, ends_session)
}

/// Whether the runtime was let go while the touch was under way: a race of its own.
fn is_crossed(case: &Case<'_>, request: &Request, end: &Event) -> bool {
    happened(case, &request.session, request.begin.ordinal, end.ordinal, |event| {
        event.is(Stream::State, "disposal.begin")
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan, story, violation};
    use super::*;
    use crate::plan::{Action, Step};

    fn refused(trace: Builder) -> Builder {
        trace.change("request.end", 5, "outcome", "refused".into()).change("request.head", 5, "status", 503_u64.into())
    }

    #[test]
    fn a_touch_that_is_refused_is_named_unless_its_session_was_ended() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let found = violation(INVARIANT, refused(story()));
        assert_eq!(found.what, "the touch of s1 was refused with status 503");
        let condemned = refused(story()).state(94_000, "s1", "condemned", &[]);
        assert!(matches!(judged(INVARIANT, condemned), Verdict::CannotTell(_)));
        let reset = refused(story()).platform(95_001, "s1", "object.reset", &[("kind", "code_update".into())]);
        assert!(matches!(judged(INVARIANT, reset), Verdict::CannotTell(_)));
    }

    #[test]
    fn a_session_that_was_opened_with_another_token_is_somebody_elses() {
        let opened_as = |token: Token| {
            let mut plan = plan();
            plan.clients[0].steps.insert(0, Step { at_ms: 0, action: Action::Present { token } });
            plan.clients[0].steps.insert(1, Step { at_ms: 0, action: Action::Present { token: Token::Own } });
            plan
        };
        let trace = refused(story()).build();
        assert!(matches!(INVARIANT.judge(&opened_as(Token::Own), &trace), Verdict::Violated(_)));
        assert!(matches!(INVARIANT.judge(&opened_as(Token::OtherOrganization), &trace), Verdict::CannotTell(_)));
    }
}
