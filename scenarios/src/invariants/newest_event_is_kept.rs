//! I46: trimming a stream never takes its newest event, which may be the only copy of an answer.

use super::streams::parts;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "newest-event-is-kept",
    kind: Kind::Always,
    claim: "the newest event of a stream is never trimmed",
    covers: &["I46"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut newest: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in case.trace.of(Stream::State) {
        let Some(who) = event.who() else { continue };
        match &*event.name {
            "event.stored" => {
                if let Some((stream, number)) = event.text("id").and_then(parts) {
                    newest.insert((who, stream), number);
                }
            }
            "events.trimmed" => {
                let Some((stream, last)) = event.text("last").and_then(parts) else { continue };
                if newest.get(&(who, stream)).is_some_and(|newest| last >= *newest) {
                    violations.push(Violation::at(event, "a stream was trimmed of its newest event"));
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
    fn older_events_may_go_and_the_newest_may_not() {
        let trimmed = |last: &str| {
            Builder::default().state(1, "s1", "event.stored", &[("id", "c3:0000000000000041".into())]).state(
                1,
                "s1",
                "events.trimmed",
                &[("last", last.into())],
            )
        };
        assert_eq!(judged(INVARIANT, trimmed("c3:0000000000000001")), Verdict::Held);
        assert_eq!(judged(INVARIANT, trimmed("c4:0000000000000041")), Verdict::Held);
        let found = violation(INVARIANT, trimmed("c3:0000000000000041"));
        assert_eq!(found.what, "a stream was trimmed of its newest event");
    }
}
