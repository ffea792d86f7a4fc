//! I31: an execution id stands for one pause, for ever.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeSet;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "execution-ids-are-unique",
    kind: Kind::Always,
    claim: "no two pauses have the same execution id, in whatever session and after whatever restart",
    covers: &["I31"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let mut seen = BTreeSet::new();
    let again = trace.named(Stream::State, "execution.paused").filter_map(|event| {
        let execution = event.text("execution")?;
        let what = || format!("the id {execution} was given to a second pause");
        (!seen.insert(execution)).then(|| Violation::at(event, what()))
    });
    Verdict::of(again.collect(), None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_second_pause_of_an_id_is_named_wherever_it_is() {
        let pause = |id: &'static str| [("execution", id.into())];
        let two = story().state(30, "s1", "execution.paused", &pause("exec_1"));
        let two = two.state(40, "s2", "execution.paused", &pause("exec_2"));
        assert_eq!(judged(INVARIANT, two.clone()), Verdict::Held);
        let found = violation(INVARIANT, two.state(50, "s2", "execution.paused", &pause("exec_1")));
        assert_eq!(found.what, "the id exec_1 was given to a second pause");
        assert_eq!(found.session.as_deref(), Some("s2"));
    }
}
