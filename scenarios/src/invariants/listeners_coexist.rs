//! I49: a new standalone listener closes none of those that are there.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "listeners-coexist",
    kind: Kind::Always,
    claim: "the host closes a standalone listener only together with its runtime",
    covers: &["I49"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut listeners: BTreeSet<u64> = BTreeSet::new();
    let mut teardowns: BTreeMap<&str, i32> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in &case.trace.events {
        let who = event.who().unwrap_or("");
        match (event.stream, &*event.name) {
            (Stream::State, "listener.attached") => listeners.extend(event.number("socket")),
            (Stream::State, "teardown.begin") => *teardowns.entry(who).or_default() += 1,
            (Stream::State, "teardown.end") => *teardowns.entry(who).or_default() -= 1,
            (Stream::Platform, "socket.closed") if event.text("by") == Some("object") => {
                let is_listener = event.number("socket").is_some_and(|socket| listeners.contains(&socket));
                let is_torn_down = teardowns.get(who).is_some_and(|count| *count > 0);
                // Other codes say that its set-up failed.
                if is_listener && !is_torn_down && event.number("code") == Some(1000) {
                    violations.push(Violation::at(event, "a listener was closed while its runtime lived"));
                }
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

    #[test]
    fn only_a_teardown_may_close_a_listener() {
        let socket = || ("socket", 7_u64.into());
        let attached = || Builder::default().state(1, "s1", "listener.attached", &[socket()]);
        let closed = |trace: Builder, by: &str| {
            trace.platform(5, "s1", "socket.closed", &[socket(), ("by", by.into()), ("code", 1000_u64.into())])
        };
        assert_eq!(judged(INVARIANT, closed(attached(), "peer")), Verdict::Held);
        assert_eq!(
            judged(INVARIANT, closed(attached().state(4, "s1", "teardown.begin", &[]), "object")),
            Verdict::Held
        );
        let found = violation(INVARIANT, closed(attached(), "object"));
        assert_eq!(found.what, "a listener was closed while its runtime lived");
    }
}
