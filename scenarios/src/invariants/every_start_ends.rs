//! L8: a start comes to an end, also one that has to wait for a disposal.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "every-start-ends",
    kind: Kind::Eventually,
    claim: "a start ends well or badly within a minute, unless its object is lost",
    covers: &["L8"],
    judge,
};

/// The longest that a start may take, in ms: the full wait for a permit, and a dozen slow answers of a hostile world.
const START_MS_MAX: u64 = 60_000;

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    // Starts that run, by session and number.
    let mut running: BTreeMap<(&str, u64), &Event> = BTreeMap::new();
    let mut violations = Vec::new();
    let late = |begin: &Event, event: &Event| {
        let latest = begin.at_ms + START_MS_MAX + faults.held_ms(begin.at_ms, event.at_ms);
        let what = format!("a start has no end {} ms after it began", event.at_ms.saturating_sub(begin.at_ms));
        let pending = format!("{}: start begun at {} ms", begin.who().unwrap_or("?"), begin.at_ms);
        let is_late = event.at_ms > latest;
        is_late.then(|| Violation::at(event, what).of(begin.who().unwrap_or("")).pending(pending))
    };
    for event in &case.trace.events {
        let who = event.who().unwrap_or("");
        let number = event.number("start").unwrap_or(0);
        match (event.stream, &*event.name) {
            (Stream::State, "start.begin") => drop(running.insert((who, number), event)),
            (Stream::State, "start.end") => {
                violations.extend(running.remove(&(who, number)).and_then(|begin| late(begin, event)));
            }
            (Stream::Platform, "object.reset" | "object.gone") => running.retain(|(of, _), _| *of != who),
            (Stream::Platform, "isolate.ended") => running.clear(),
            _ => {}
        }
    }
    let last = case.trace.events.last();
    violations.extend(running.values().filter_map(|begin| late(begin, last?)));
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_start_that_hangs_is_named_unless_its_object_went() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let hanging = || story().state(80_000, "s1", "start.begin", &[("start", 9_u64.into())]);
        let found = violation(INVARIANT, hanging());
        assert_eq!(found.what, "a start has no end 70000 ms after it began");
        assert_eq!(judged(INVARIANT, hanging().platform(90_000, "s1", "object.reset", &[])), Verdict::Held);
        let end = [("start", 9_u64.into()), ("outcome", "failed".into())];
        assert_eq!(judged(INVARIANT, hanging().state(90_000, "s1", "start.end", &end)), Verdict::Held);
        assert_eq!(violation(INVARIANT, hanging().state(141_000, "s1", "start.end", &end)).at_ms, 141_000);
    }
}
