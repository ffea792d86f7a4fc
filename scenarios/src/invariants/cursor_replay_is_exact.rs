//! I45: a GET with a cursor brings what comes after it on the cursor's stream, in order, and nothing else.

use super::requests::Request;
use super::streams::parts;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "cursor-replay-is-exact",
    kind: Kind::Always,
    claim: "a GET with a cursor brings events of the cursor's stream only, each after the one before",
    covers: &["I45"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut after: BTreeMap<u64, (&str, u64)> = BTreeMap::new();
    let mut violations = Vec::new();
    for Request { begin, .. } in case.requests() {
        if let (Some(request), Some(cursor)) = (begin.number("request"), begin.text("cursor").and_then(parts)) {
            after.insert(request, cursor);
        }
    }
    for event in case.trace.named(Stream::History, "request.event") {
        let Some((stream, last)) = event.number("request").and_then(|request| after.get_mut(&request)) else {
            continue;
        };
        let Some((of, number)) = event.text("id").and_then(parts) else { continue };
        if of != *stream {
            violations.push(Violation::at(event, format!("a GET with a cursor of {stream} brings an event of {of}")));
        } else if number <= *last {
            let what = format!("a GET with a cursor brings event {number} of {stream} after event {last}");
            violations.push(Violation::at(event, what));
        } else {
            *last = number;
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    fn brings(ids: &[&str]) -> Builder {
        let number = || ("request", 7_u64.into());
        let cursor = ("cursor", "c3:0000000000000001".into());
        let begun = Builder::default().history(1, "s1", "request.begin", &[number(), ("op", "recover".into()), cursor]);
        let event =
            |trace: Builder, id: &&str| trace.history(2, "s1", "request.event", &[number(), ("id", (*id).into())]);
        ids.iter().fold(begun, event)
    }

    #[test]
    fn later_events_of_the_stream_in_order_are_all_that_may_come() {
        assert_eq!(judged(INVARIANT, brings(&["c3:0000000000000002", "c3:000000000000000a"])), Verdict::Held);
        let found = violation(INVARIANT, brings(&["c4:0000000000000002"]));
        assert_eq!(found.what, "a GET with a cursor of c3 brings an event of c4");
        let found = violation(INVARIANT, brings(&["c3:0000000000000001"]));
        assert_eq!(found.what, "a GET with a cursor brings event 1 of c3 after event 1");
    }
}
