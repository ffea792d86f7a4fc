//! A call is accepted at once: its client has a head, and a cursor, long before the answer.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "accept-never-waits",
    kind: Kind::Always,
    claim: "the head of a call that takes long comes before its answer is due",
    covers: &[],
    judge,
};

/// A call takes long when its answer comes so much later than its accept that no wire explains a late head.
const LONG_MS: u64 = 15_000;

fn judge(case: &Case<'_>) -> Verdict {
    let mut accepted: BTreeMap<(&str, &str), &Event> = BTreeMap::new();
    let mut long: BTreeMap<(&str, &str), (&Event, &Event)> = BTreeMap::new();
    for event in case.trace.of(Stream::State) {
        let (Some(who), Some(stream)) = (event.who(), event.text("stream")) else { continue };
        if event.name == "post.accepted" {
            accepted.insert((who, stream), event);
        } else if event.name == "response.due"
            && let Some(&begin) = accepted.get(&(who, stream))
            && event.at_ms >= begin.at_ms + LONG_MS
            && let Some(rpc) = event.text("rpc")
        {
            long.entry((who, rpc)).or_insert((begin, event));
        }
    }
    let faults = case.faults();
    let mut violations = Vec::new();
    for request in case.requests() {
        let Some(rpc) = request.begin.text("rpc") else { continue };
        let (Some((accepted, due)), Some(head)) = (long.get(&(&*request.session, rpc)), request.head) else { continue };
        let is_its = request.begin.ordinal < accepted.ordinal && head.ordinal > accepted.ordinal;
        let is_excused = faults.is_disturbed(&request.session, accepted.at_ms, due.at_ms)
            || faults.held_ms(accepted.at_ms, due.at_ms) > 0;
        if is_its && head.ordinal > due.ordinal && !is_excused {
            let waited_ms = head.at_ms - accepted.at_ms;
            violations.push(Violation::at(head, format!("{} got its head after {waited_ms} ms only", request.what())));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    #[test]
    fn the_head_of_a_long_call_must_not_wait_for_the_answer() {
        let with_head = |head_at_ms: u64| {
            let (number, rpc, stream) =
                (|| ("request", 7_u64.into()), || ("rpc", "r1".into()), || ("stream", "c3".into()));
            Builder::default()
                .history(1, "s1", "request.begin", &[number(), ("op", "call".into()), rpc()])
                .state(5, "s1", "post.accepted", &[stream(), rpc()])
                .state(20_005, "s1", "response.due", &[stream(), rpc()])
                .history(head_at_ms, "s1", "request.head", &[number(), ("status", 200_u64.into())])
        };
        assert_eq!(judged(INVARIANT, with_head(9)), Verdict::Held);
        assert_eq!(violation(INVARIANT, with_head(20_009)).what, "a call got its head after 20004 ms only");
    }
}
