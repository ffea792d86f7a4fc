//! I15: an init asks at most one session for its runtime, in one stretch, and is neither delayed nor failed by it.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "admission-never-waits",
    kind: Kind::Always,
    claim: "an init that asks another session for its runtime goes on at once, whatever becomes of the request, and asks no second one",
    covers: &["I15", "I17"],
    judge,
};

/// An admission that has asked somebody and is not over.
struct Asking {
    isolate: String,
    at_ms: u64,
    count: u64,
}

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let mut open: BTreeMap<&str, Asking> = BTreeMap::new();
    let mut last_check: BTreeMap<&str, &str> = BTreeMap::new();
    let mut violations = Vec::new();
    let mut is_told = false;
    for event in trace.of(Stream::State).filter(|event| event.who.is_some()) {
        let (who, isolate) = (event.who().unwrap_or(""), event.text("isolate").unwrap_or(""));
        match &*event.name {
            "reservation.taken" => {
                is_told = true;
                last_check.insert(isolate, who);
            }
            "eviction.requested" => {
                let Some(asker) = last_check.get(isolate) else { continue };
                let asking = open.entry(asker).or_insert_with(|| Asking {
                    isolate: isolate.to_owned(),
                    at_ms: event.at_ms,
                    count: 0,
                });
                asking.count += 1;
                if asking.count > 1 {
                    violations.push(Violation::at(event, "an init asked a second session for its runtime").of(asker));
                }
            }
            "admission.ended" => violations.extend(open.remove(who).and_then(|asking| waited(&asking, event))),
            "init.end" => {
                if let Some(asking) = open.remove(who) {
                    let what = format!("an init ended while it waited for an eviction in isolate {}", asking.isolate);
                    violations.push(Violation::at(event, what));
                }
            }
            _ => {}
        }
    }
    if let Some(last) = trace.events.last() {
        violations.extend(open.iter().filter_map(|(who, asking)| Some(waited(asking, last)?.of(who))));
    }
    Verdict::of(violations, (!is_told).then(|| "no cold build was ever admitted".into()))
}

fn waited(asking: &Asking, event: &Event) -> Option<Violation> {
    let waited_ms = event.at_ms - asking.at_ms;
    let what = format!("an init waited {waited_ms} ms for an eviction that it had asked for");
    (waited_ms > 0).then(|| Violation::at(event, what))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    /// s2 asks s1 for its runtime at 500 ms.
    fn asked() -> Builder {
        let isolate = [("isolate", "i1".into())];
        story().state(500, "s2", "reservation.taken", &isolate).state(500, "s1", "eviction.requested", &isolate)
    }

    #[test]
    fn an_init_that_goes_on_at_once_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, asked().state(500, "s2", "admission.ended", &[])), Verdict::Held);
    }

    #[test]
    fn a_wait_is_named_and_so_is_a_failure_by_it() {
        let found = violation(INVARIANT, asked().state(507, "s2", "admission.ended", &[]));
        assert_eq!(found.what, "an init waited 7 ms for an eviction that it had asked for");
        assert_eq!(found.session.as_deref(), Some("s2"));
        let failed = asked().state(507, "s2", "init.end", &[("outcome", "failed".into())]);
        assert_eq!(violation(INVARIANT, failed).what, "an init ended while it waited for an eviction in isolate i1");
        assert_eq!(violation(INVARIANT, asked()).session.as_deref(), Some("s2"));
    }

    #[test]
    fn a_second_request_of_one_init_is_named() {
        let twice = asked().state(500, "s3", "eviction.requested", &[("isolate", "i1".into())]);
        assert_eq!(violation(INVARIANT, twice).what, "an init asked a second session for its runtime");
    }
}
