//! I32, I33: a paused execution is resumed once, so that no later decision reaches it: none after the decline of its expiry.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "decisions-are-delivered-once",
    kind: Kind::Always,
    claim: "one decision at most reaches the code that waits for it",
    covers: &["I32", "I33"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut first: BTreeMap<&str, &Event> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in case.trace.named(Stream::State, "execution.resumed") {
        let Some(execution) = event.text("execution") else { continue };
        let Some(before) = first.get(execution) else {
            first.insert(execution, event);
            continue;
        };
        let word = |event: &Event| event.text("action").unwrap_or("?").to_owned();
        let what = format!("an execution that was told {} is told {} too", word(before), word(event));
        let pending = format!("{execution}: resumed at {} ms already", before.at_ms);
        violations.push(Violation::at(event, what).pending(pending));
    }
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_second_decision_is_named_whoever_it_came_from() {
        let told = |execution: &'static str, action: &'static str| {
            [("execution", execution.into()), ("action", action.into())]
        };
        let one = story().state(30, "s1", "execution.resumed", &told("exec_1", "decline"));
        let two = one.state(40, "s1", "execution.resumed", &told("exec_2", "accept"));
        assert_eq!(judged(INVARIANT, two.clone()), Verdict::Held);
        let found = violation(INVARIANT, two.state(50, "s1", "execution.resumed", &told("exec_1", "accept")));
        assert_eq!(found.what, "an execution that was told decline is told accept too");
        assert_eq!(found.pending.as_deref(), Some("exec_1: resumed at 30 ms already"));
    }
}
