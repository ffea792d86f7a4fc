//! I48: a message of the server goes out live on one connection only.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "one-message-one-stream",
    kind: Kind::Always,
    claim: "a message of the server is sent live on at most one stream",
    covers: &["I48"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut sent: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in case.trace.named(Stream::State, "event.sent").filter(|event| event.text("how") == Some("live")) {
        let (Some(who), Some(id), Some(socket)) = (event.who(), event.text("id"), event.number("socket")) else {
            continue;
        };
        if *sent.entry((who, id)).or_insert(socket) != socket {
            violations.push(Violation::at(event, "a message was sent live on two streams"));
        }
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    #[test]
    fn two_live_connections_are_one_too_many_and_a_replay_is_none() {
        let sent = |trace: Builder, socket: u64, how: &str| {
            let id = ("id", "c3:0000000000000002".into());
            trace.state(1, "s1", "event.sent", &[("socket", socket.into()), id, ("how", how.into())])
        };
        let once = || sent(Builder::default(), 7, "live");
        assert_eq!(judged(INVARIANT, sent(once(), 8, "replay")), Verdict::Held);
        assert_eq!(violation(INVARIANT, sent(once(), 8, "live")).what, "a message was sent live on two streams");
    }
}
