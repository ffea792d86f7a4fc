//! A healthy call is answered on its own stream: nothing but the loss of its runtime ends that before.

use super::streams::{cuts_connections, ends_session, happened};
use super::{Case, Invariant, Kind, Verdict, Violation};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "calls-keep-their-stream",
    kind: Kind::Always,
    claim: "the stream of a call does not end without its answer as long as the session keeps its runtime",
    covers: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut violations = Vec::new();
    for request in case.requests().iter().filter(|request| matches!(request.op(), "call" | "touch" | "resume" | "ping"))
    {
        let Some(end) = request.end.filter(|_| request.outcome() == Some("ended")) else { continue };
        let (session, begin) = (request.session.as_str(), request.begin);
        let is_lost = |event: &crate::trace::Event| cuts_connections(event) || ends_session(event);
        let is_excused = happened(case, session, begin.ordinal, end.ordinal, is_lost)
            || faults.is_disturbed(session, begin.at_ms, end.at_ms)
            || faults.held_ms(begin.at_ms, end.at_ms) > 0;
        if !is_excused {
            let what = format!("the stream of {} ended without an answer", request.what());
            violations.push(Violation::at(end, what).of(session));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_stream_may_end_with_its_runtime_only() {
        let ended = || story().change("request.end", 4, "outcome", "ended".into());
        assert_eq!(violation(INVARIANT, ended()).what, "the stream of a call ended without an answer");
        assert_eq!(judged(INVARIANT, ended().state(5_021, "s1", "teardown.begin", &[])), Verdict::Held);
    }
}
