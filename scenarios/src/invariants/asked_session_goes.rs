//! L15: whoever is asked for its runtime and has nothing live gives it back, so that each admission over the cap makes room.

use super::limits::DISPOSAL_MS_MAX;
use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "asked-session-goes",
    kind: Kind::Eventually,
    claim: "a session that is asked for its runtime and has nothing live lets it go",
    covers: &["L15"],
    judge,
};

/// Longest time in ms until a request has left an object: a slow commit (platform facts 46, 218).
const LEAVES_MS_MAX: u64 = 1_000;

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut asked: BTreeMap<&str, &Event> = BTreeMap::new();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        // Whoever has something live, even for a moment, may find it when it looks again.
        asked.retain(|who, _| {
            replay.session(who).is_some_and(|session| {
                session.runtime.is_some() && session.condemned_at_ms.is_none() && !session.is_live()
            })
        });
        let is_overdue = |who: &str, request: &Event| {
            event.at_ms > request.at_ms + DISPOSAL_MS_MAX + faults.held_ms_of(who, request.at_ms, event.at_ms)
        };
        let overdue: Vec<(&str, &Event)> = asked
            .iter()
            .filter(|(who, request)| is_overdue(who, request))
            .map(|(who, request)| (*who, *request))
            .collect();
        for (who, request) in overdue {
            asked.remove(who);
            if !faults.is_disturbed(who, request.at_ms, event.at_ms) {
                let what = format!("session {who} was asked for its runtime and keeps it");
                let pending = format!("{who}: asked at {} ms, nothing live", request.at_ms);
                violations.push(Violation::at(event, what).of(who).pending(pending));
            }
        }
        match (event.stream, &*event.name, event.who()) {
            (Stream::State, "eviction.requested", Some(who)) => {
                asked.entry(who).or_insert(event);
            }
            // From here on other claims are about it. A start or a condemnation keeps it as well.
            (
                Stream::State,
                "disposal.begin" | "teardown.begin" | "start.begin" | "condemned" | "destroy.begin",
                Some(who),
            ) => {
                asked.remove(who);
            }
            (Stream::Telemetry, "mcp_session_cap_eviction_request_failed", _) => asked.clear(),
            // Whoever asked may have been lost before its request had left, which waits for its writes and for what holds it.
            (Stream::Platform, "object.reset", Some(_)) => {
                asked.retain(|_, request| {
                    let held_ms = faults.held_ms(request.at_ms, event.at_ms);
                    event.at_ms > request.at_ms + LEAVES_MS_MAX + held_ms
                });
            }
            _ => {}
        }
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    /// The session is asked between two uses, and would go at its idle deadline only.
    fn asked() -> Builder {
        story().without_between(96_004, 110_000).state(95_500, "s1", "eviction.requested", &[("isolate", "i1".into())])
    }

    #[test]
    fn a_session_that_keeps_what_it_was_asked_for_is_named() {
        let found = violation(INVARIANT, asked());
        assert_eq!((found.at_ms, &*found.what), (150_000, "session s1 was asked for its runtime and keeps it"));
        let gone = asked().state(95_600, "s1", "disposal.begin", &[("reason", "cap".into())]);
        assert_eq!(judged(INVARIANT, gone), Verdict::Held);
        let busy = asked().platform(95_550, "s1", "socket.opened", &[("socket", 9_u64.into())]);
        assert_eq!(judged(INVARIANT, busy), Verdict::Held);
        let reset =
            |who| asked().platform(96_000, who, "timers.jammed", &[]).platform(126_000, who, "object.reset", &[]);
        violation(INVARIANT, reset("s2"));
        assert_eq!(judged(INVARIANT, reset("s1")), Verdict::Held);
        let unsent = asked().platform(95_600, "s2", "object.reset", &[]);
        assert_eq!(judged(INVARIANT, unsent), Verdict::Held);
        let unheard = asked().log(95_510, "s2", "mcp_session_cap_eviction_request_failed", &[]);
        assert_eq!(judged(INVARIANT, unheard), Verdict::Held);
    }
}
