//! I50: what was not delivered is replayed by one live listener at a time.

use super::streams::parts;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "one-replay-at-a-time",
    kind: Kind::Always,
    claim: "an undelivered stream is replayed by at most one live listener at a time, as long as its runtime lives",
    covers: &["I50"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut replays = Replays::default();
    let violations = case.trace.events.iter().filter(|event| replays.is_second(event));
    Verdict::of(
        violations.map(|event| Violation::at(event, "a stream is replayed on two live listeners at once")).collect(),
        None,
    )
}

/// Who replays what, as of the events applied so far.
#[derive(Default)]
pub(super) struct Replays<'t> {
    listeners: BTreeSet<u64>,
    /// The connection that replays a stream of a session.
    by: BTreeMap<(&'t str, &'t str), u64>,
}

impl<'t> Replays<'t> {
    /// Takes one event into account; whether it replays a stream that another live listener replays.
    pub fn is_second(&mut self, event: &'t Event) -> bool {
        let who = event.who().unwrap_or("");
        let socket = event.number("socket");
        match (event.stream, &*event.name) {
            (Stream::State, "listener.attached") => self.listeners.extend(socket),
            (Stream::State, "runtime.installed") => self.by.retain(|(session, _), _| *session != who),
            (Stream::State, "delivery.acknowledged") => {
                self.by.retain(|(session, stream), _| *session != who || event.text("stream") != Some(stream))
            }
            (Stream::Platform, "socket.closed") => self.by.retain(|_, by| Some(*by) != socket),
            (Stream::State, "event.sent") if event.text("how") == Some("replay") => {
                let Some((stream, _)) = event.text("id").and_then(parts) else { return false };
                let Some(socket) = socket.filter(|socket| self.listeners.contains(socket)) else { return false };
                return *self.by.entry((who, stream)).or_insert(socket) != socket;
            }
            _ => {}
        }
        false
    }

    /// Whether some live listener replays this stream of that session.
    pub fn is_replayed(&self, who: &str, stream: &str) -> bool {
        self.by.contains_key(&(who, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    fn replayed(trace: Builder, at_ms: u64, socket: u64) -> Builder {
        let number = || ("socket", socket.into());
        let id = ("id", "c3:0000000000000002".into());
        trace.state(at_ms, "s1", "listener.attached", &[number()]).state(
            at_ms,
            "s1",
            "event.sent",
            &[number(), id, ("how", "replay".into())],
        )
    }

    #[test]
    fn a_second_listener_waits_for_the_end_of_the_first_or_for_its_acknowledgement() {
        let first = || replayed(Builder::default(), 1, 7);
        let found = violation(INVARIANT, replayed(first(), 9, 8));
        assert_eq!(found.what, "a stream is replayed on two live listeners at once");
        let closed = first().platform(5, "s1", "socket.closed", &[("socket", 7_u64.into())]);
        assert_eq!(judged(INVARIANT, replayed(closed, 9, 8)), Verdict::Held);
        let done = first().state(5, "s1", "delivery.acknowledged", &[("stream", "c3".into())]);
        assert_eq!(judged(INVARIANT, replayed(done, 9, 8)), Verdict::Held);
        let restored = first().state(5, "s1", "runtime.installed", &[]);
        assert_eq!(judged(INVARIANT, replayed(restored, 9, 8)), Verdict::Held);
    }
}
