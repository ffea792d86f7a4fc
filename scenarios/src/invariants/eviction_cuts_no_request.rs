//! I16 and L4 as the client sees them: a request under way when its session is evicted for the cap is still answered.

use super::faults::FaultLog;
use super::requests::{Request, requests};
use super::{Invariant, Kind, Verdict, Violation};
use crate::plan::Plan;
use crate::trace::{Event, Stream, Trace};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "eviction-cuts-no-request",
    kind: Kind::Always,
    claim: "a request during which its session is disposed for the cap does not end without an answer",
    judge,
};

fn judge(plan: &Plan, trace: &Trace) -> Verdict {
    let evictions: Vec<&Event> =
        trace.named(Stream::State, "disposal.begin").filter(|event| event.text("reason") == Some("cap")).collect();
    if evictions.is_empty() {
        return Verdict::Held;
    }
    let faults = FaultLog::of(plan, trace);
    let all = requests(trace);
    let mut violations = Vec::new();
    for request in all.iter().filter(|request| request.op() != "stream" && request.outcome() == Some("ended")) {
        let Some(end) = request.end else { continue };
        let is_within = |event: &&&Event| {
            event.who == request.begin.who && (request.begin.ordinal..end.ordinal).contains(&event.ordinal)
        };
        let Some(eviction) = evictions.iter().find(is_within) else { continue };
        let is_excused =
            is_closing(&all, request, end) || faults.is_disturbed(request.client(), request.begin.at_ms, end.at_ms);
        if !is_excused {
            let what = format!("a {} got no answer: its session was evicted meanwhile", request.op());
            let (who, begun, at_ms) = (request.client(), request.begin.at_ms, eviction.at_ms);
            let pending = format!("{who}: {} begun at {begun} ms, runtime let go at {at_ms} ms", request.op());
            violations.push(Violation::at(end, what).pending(pending));
        }
    }
    Verdict::of(violations, None)
}

/// Whether the client ended its session before the end of the request.
fn is_closing(all: &[Request], request: &Request, end: &Event) -> bool {
    let closes = |other: &&Request| other.op() == "close" && other.client() == request.client();
    all.iter().filter(closes).any(|close| close.begin.ordinal < end.ordinal)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    /// The last call of the story ends without an answer.
    fn unanswered() -> Builder {
        story().change("request.end", 4, "outcome", "ended".into())
    }

    fn evicted(trace: Builder, at_ms: u64) -> Builder {
        trace.state(at_ms, "s1", "disposal.begin", &[("reason", "cap".into())])
    }

    #[test]
    fn a_request_that_is_answered_or_that_no_eviction_met_is_fine() {
        assert_eq!(judged(INVARIANT, evicted(story(), 5_021)), Verdict::Held);
        assert_eq!(judged(INVARIANT, evicted(unanswered(), 4_000)), Verdict::Held);
    }

    #[test]
    fn a_request_that_an_eviction_cut_is_named() {
        let found = violation(INVARIANT, evicted(unanswered(), 5_021));
        assert_eq!(found.what, "a call got no answer: its session was evicted meanwhile");
        assert_eq!(found.pending.as_deref(), Some("s1: call begun at 5020 ms, runtime let go at 5021 ms"));
    }

    #[test]
    fn a_session_that_its_client_ended_owes_nothing() {
        let close = [("request", 90_u64.into()), ("op", "close".into())];
        let closed = evicted(unanswered(), 5_021).history(5_020, "s1", "request.begin", &close);
        assert_eq!(judged(INVARIANT, closed), Verdict::Held);
    }
}
