//! L15: what is evicted for the cap had a runtime, so that each eviction makes room.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "eviction-frees-a-runtime",
    kind: Kind::Always,
    claim: "a session that is disposed for the cap has a runtime to give back",
    covers: &["L15"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        if event.name != "disposal.begin" || event.text("reason") != Some("cap") {
            return;
        }
        let session = event.who().and_then(|who| replay.session(who));
        if session.is_none_or(|session| session.runtime.is_none()) && !faults.holds_eviction(event.at_ms) {
            let who = event.who().unwrap_or("?");
            violations.push(Violation::at(event, format!("session {who} was evicted for the cap and had no runtime")));
        }
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn an_eviction_that_makes_room_is_fine_and_so_is_none() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, story().change("disposal.begin", 0, "reason", "cap".into())), Verdict::Held);
    }

    #[test]
    fn an_eviction_of_a_cold_session_is_named() {
        let cold = story().state(2_000, "s1", "disposal.begin", &[("reason", "cap".into())]);
        let found = violation(INVARIANT, cold.state(2_000, "s1", "disposal.end", &[("outcome", "ok".into())]));
        assert_eq!((found.at_ms, &*found.what), (2_000, "session s1 was evicted for the cap and had no runtime"));
    }
}
