//! I22: what a session has stored of its streams outlives its runtime: it goes by acknowledgement or trimming only.

use super::replay::Replay;
use super::streams::parts;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "stored-answers-are-kept",
    kind: Kind::Always,
    claim: "stored events and marks of undelivered streams are deleted when they are acknowledged or trimmed, rows of requests when they are answered, and none by a disposal",
    covers: &["I22"],
    judge,
};

const EVENT: &str = "__mcp_event__:";
const UNDELIVERED: &str = "__mcp_undelivered_stream__:";
const ROW: &str = "__mcp_stream_reqs__:";

type Streams<'t> = BTreeSet<(&'t str, &'t str)>;

fn judge(case: &Case<'_>) -> Verdict {
    let (mut acknowledged, mut answered): (Streams, Streams) = Default::default();
    let mut trimmed: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        let Some(who) = event.who() else { return };
        let stream = event.text("stream");
        match (event.stream, &*event.name) {
            (Stream::State, "delivery.acknowledged") => acknowledged.extend(stream.map(|stream| (who, stream))),
            (Stream::State, "response.due") => answered.extend(stream.map(|stream| (who, stream))),
            (Stream::State, "events.trimmed") => {
                trimmed.extend(event.text("last").and_then(parts).map(|(stream, last)| ((who, stream), last)));
            }
            (Stream::Platform, "storage.deleted") => {
                let key = event.text("key").unwrap_or("");
                let is_ended = replay.session(who).is_some_and(|session| session.may_be_destroyed());
                let is_due = |stream: &str| acknowledged.contains(&(who, stream));
                let kept = if let Some((stream, number)) = key.strip_prefix(EVENT).and_then(parts) {
                    let is_trimmed = trimmed.get(&(who, stream)).is_some_and(|last| number <= *last);
                    (!is_due(stream) && !is_trimmed).then_some("an event")
                } else if let Some(stream) = key.strip_prefix(UNDELIVERED) {
                    (!is_due(stream)).then_some("the mark of a stream")
                } else if let Some(stream) = key.strip_prefix(ROW) {
                    (!is_due(stream) && !answered.contains(&(who, stream))).then_some("the row of a request")
                } else {
                    None
                };
                violations.extend(kept.filter(|_| !is_ended).map(|what| lost(event, what)));
            }
            _ => {}
        }
    });
    Verdict::of(violations, None)
}

fn lost(event: &Event, what: &str) -> Violation {
    let what = format!("{what} was deleted that nobody acknowledged");
    Violation::at(event, what).pending(format!("storage key {}", event.text("key").unwrap_or("?")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn deleted(trace: Builder, key: &'static str) -> Builder {
        trace.platform(2_000, "s1", "storage.deleted", &[("key", key.into())])
    }

    #[test]
    fn what_nobody_acknowledged_must_stay() {
        let story = || story().without_all("storage.deleted");
        for key in ["__mcp_event__:c5:0000000000000002", "__mcp_undelivered_stream__:c5", "__mcp_stream_reqs__:c5"] {
            violation(INVARIANT, deleted(story(), key));
            let told = story().state(1_990, "s1", "delivery.acknowledged", &[("stream", "c5".into())]);
            assert_eq!(judged(INVARIANT, deleted(told, key)), Verdict::Held, "{key}");
            let ended = story().state(1_990, "s1", "condemned", &[]);
            assert_eq!(judged(INVARIANT, deleted(ended, key)), Verdict::Held, "{key}");
        }
        let trimmed = |last: &'static str| story().state(1_990, "s1", "events.trimmed", &[("last", last.into())]);
        let key = "__mcp_event__:c5:0000000000000002";
        assert_eq!(judged(INVARIANT, deleted(trimmed("c5:0000000000000002"), key)), Verdict::Held);
        violation(INVARIANT, deleted(trimmed("c5:0000000000000001"), key));
        let answered = story().state(1_990, "s1", "response.due", &[("stream", "c5".into())]);
        assert_eq!(judged(INVARIANT, deleted(answered.clone(), "__mcp_stream_reqs__:c5")), Verdict::Held);
        violation(INVARIANT, deleted(answered, "__mcp_undelivered_stream__:c5"));
    }
}
