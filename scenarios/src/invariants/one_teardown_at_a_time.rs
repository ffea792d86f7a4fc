//! I5, I6: a session is torn down by one teardown at a time, and no runtime is installed while one runs.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "one-teardown-at-a-time",
    kind: Kind::Always,
    claim: "at most one teardown runs in a session object, and no runtime is installed while it does",
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        let what = match (event.stream, &*event.name) {
            (Stream::State, "teardown.begin") => "a second teardown began while one ran",
            (Stream::State, "runtime.installed") => "a runtime was installed while a teardown ran",
            _ => return,
        };
        let session = event.who().and_then(|who| replay.session(who));
        if session.is_some_and(|session| session.teardown_count > 0) {
            violations.push(Violation::at(event, what));
        }
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn one_teardown_after_another_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn a_second_teardown_and_an_install_during_one_are_named() {
        let open = || story().without("teardown.end", 0);
        let found = violation(INVARIANT, open().state(2_000, "s1", "teardown.begin", &[]));
        assert_eq!((found.at_ms, &*found.what), (2_000, "a second teardown began while one ran"));
        assert_eq!(violation(INVARIANT, open()).what, "a runtime was installed while a teardown ran");
    }

    #[test]
    fn a_teardown_that_was_lost_with_its_object_does_not_count() {
        let trace = story()
            .without("teardown.end", 0)
            .platform(1_500, "s1", "object.reset", &[("kind", "code_update".into())])
            .platform(1_510, "s1", "object.constructed", &[("isolate", "i1".into())]);
        assert_eq!(judged(INVARIANT, trace), Verdict::Held);
    }
}
