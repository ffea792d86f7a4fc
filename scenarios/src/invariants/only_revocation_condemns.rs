//! I29: a session is condemned by its client's end or by a provider that says no, and by nothing else.

use super::owners::{is_stranger, openers};
use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Token;
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "only-revocation-condemns",
    kind: Kind::Always,
    claim: "a session is condemned only by the end that its client asked for, or by a token whose access was revoked",
    covers: &["I29"],
    judge,
};

const METHOD: &str = "_cf_scheduleDestroy";

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let openers = openers(case);
    // Nobody is heard whom nobody knows, or who is a stranger to the session (session-core §2.1).
    let ends = |request: &Request| {
        request.op() == "close" && request.token(plan) != Token::Expired && !is_stranger(&openers, plan, request)
    };
    let mut violations = Vec::new();
    for event in trace.named(Stream::State, "condemned") {
        let Some(who) = event.who() else { continue };
        let is_asked = case.requests().iter().any(|request| {
            let is_before = request.session == who && request.begin.ordinal < event.ordinal;
            is_before && (ends(request) || matches!(request.token(plan), Token::Revoked | Token::Suspended))
        });
        let is_called = trace
            .named(Stream::History, "call.begin")
            .any(|call| call.text("method") == Some(METHOD) && call.who() == Some(who) && call.ordinal < event.ordinal);
        if !is_asked && !is_called {
            violations.push(Violation::at(event, "a session was condemned that nobody ended and no provider refused"));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, plan, story, violation};
    use super::*;
    use crate::plan::{Action, Step};

    #[test]
    fn an_end_that_the_client_asked_for_condemns() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let close = [("request", 90_u64.into()), ("op", "close".into())];
        let closed = story().history(2_000, "s1", "request.begin", &close).state(2_005, "s1", "condemned", &[]);
        assert_eq!(judged(INVARIANT, closed), Verdict::Held);
    }

    #[test]
    fn an_end_that_a_stranger_or_nobody_asked_for_condemns_nothing() {
        let closed = |account: &str, token| {
            let mut plan = plan();
            let other = plan.clients[0].clone();
            plan.clients.push(crate::plan::ClientPlan { name: "s2".into(), account: account.into(), ..other });
            plan.clients[1].steps.insert(0, Step { at_ms: 0, action: Action::Present { token } });
            let close = [("request", 90_u64.into()), ("step", 1_u64.into()), ("op", "close".into())];
            let adopted = story().history(1_900, "s2", "session.adopted", &[("of", "s1".into())]);
            let condemned = adopted.history(2_000, "s2", "request.begin", &close).state(2_005, "s1", "condemned", &[]);
            INVARIANT.judge(&plan, &condemned.build())
        };
        let own = plan().clients[0].account.clone();
        assert_eq!(closed(&own, Token::Own), Verdict::Held);
        assert!(matches!(closed(&own, Token::Expired), Verdict::Violated(_)));
        assert!(matches!(closed("another", Token::Own), Verdict::Violated(_)));
    }

    #[test]
    fn a_revoked_token_does_and_an_expired_one_does_not() {
        let condemned = story().state(2_005, "s1", "condemned", &[]);
        violation(INVARIANT, condemned.clone());
        let with = |token| {
            let mut plan = plan();
            plan.clients[0].steps.insert(1, Step { at_ms: 0, action: Action::Present { token } });
            INVARIANT.judge(&plan, &condemned.clone().build())
        };
        assert_eq!(with(Token::Revoked), Verdict::Held);
        assert!(matches!(with(Token::Expired), Verdict::Violated(_)));
    }
}
