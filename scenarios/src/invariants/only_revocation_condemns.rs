//! I29: a session is condemned by its client's end or by a provider that says no, and by nothing else.

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
    let mut violations = Vec::new();
    for event in trace.named(Stream::State, "condemned") {
        let Some(who) = event.who() else { continue };
        let is_asked = case.requests().iter().any(|request| {
            let is_end = request.op() == "close" || matches!(request.token(plan), Token::Revoked | Token::Suspended);
            is_end && request.session == who && request.begin.ordinal < event.ordinal
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
