//! I44: only the bridge of a GET acknowledges, and only once it has ended the body of a client that was still there.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "acknowledged-means-delivered",
    kind: Kind::Always,
    claim: "a delivery is acknowledged by the bridge of a GET that has ended the body of a client which was still there",
    covers: &["I44"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut methods: BTreeMap<u64, &str> = BTreeMap::new();
    let mut delivered: BTreeSet<u64> = BTreeSet::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        let Some(socket) = event.number("socket") else { continue };
        match (event.stream, &*event.name) {
            (Stream::Platform, "socket.opened") => {
                methods.insert(socket, event.text("method").unwrap_or(""));
            }
            (Stream::State, "sse.closed") if event.flag("attached") == Some(true) => {
                delivered.insert(socket);
            }
            (Stream::State, "ack.sent") if methods.get(&socket) != Some(&"GET") => {
                violations.push(Violation::at(event, "the bridge of a POST acknowledges a delivery"));
            }
            (Stream::State, "ack.sent") if !delivered.contains(&socket) => {
                violations.push(Violation::at(event, "a delivery is acknowledged before its body has ended"));
            }
            _ => {}
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    fn acknowledged(method: &str, closed_at_ms: u64) -> Builder {
        let socket = || ("socket", 7_u64.into());
        Builder::default()
            .platform(1, "s1", "socket.opened", &[socket(), ("method", method.into())])
            .state(closed_at_ms, "s1", "sse.closed", &[socket(), ("attached", true.into())])
            .state(9, "s1", "ack.sent", &[socket(), ("stream", "c3".into())])
    }

    #[test]
    fn a_get_that_has_ended_its_body_may_acknowledge_and_nobody_else() {
        assert_eq!(judged(INVARIANT, acknowledged("GET", 8)), Verdict::Held);
        let found = violation(INVARIANT, acknowledged("GET", 10));
        assert_eq!(found.what, "a delivery is acknowledged before its body has ended");
        let found = violation(INVARIANT, acknowledged("POST", 8));
        assert_eq!(found.what, "the bridge of a POST acknowledges a delivery");
    }
}
