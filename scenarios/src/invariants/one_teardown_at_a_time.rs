//! I5, I6, I7: a session is torn down by one teardown at a time, all of it, and nothing is built while one runs.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::BTreeSet;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "one-teardown-at-a-time",
    kind: Kind::Always,
    claim: "at most one teardown runs in a session object, to its end, and until then no init goes on and no runtime is installed",
    covers: &["I5", "I6", "I7"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut violations = Vec::new();
    // Sessions whose disposal began the teardown that runs: it did not join another's.
    let mut owners: BTreeSet<String> = BTreeSet::new();
    Replay::each(case, |replay, event| {
        let Some((who, session)) = event.who().and_then(|who| Some((who, replay.session(who)?))) else { return };
        let what = match (event.stream, &*event.name) {
            (Stream::State, "teardown.begin") => {
                if session.disposal_count == 1 && session.teardown_count == 0 {
                    owners.insert(who.to_owned());
                }
                "a second teardown began while one ran"
            }
            (Stream::State, "teardown.end") => {
                owners.remove(who);
                return;
            }
            (Stream::State, "disposal.begin") => {
                owners.remove(who);
                return;
            }
            (Stream::State, "disposal.end") if owners.remove(who) => "a disposal ended in the middle of its teardown",
            (Stream::State, "init.begin") => "an init went on while a teardown ran",
            (Stream::State, "runtime.installed") => "a runtime was installed while a teardown ran",
            (Stream::Platform, "object.reset" | "object.gone" | "object.constructed") => {
                owners.remove(who);
                return;
            }
            _ => return,
        };
        if session.teardown_count > 0 {
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
        let open = || story().without("teardown.end", 0).without("disposal.end", 0);
        let found = violation(INVARIANT, open().state(2_000, "s1", "teardown.begin", &[]));
        assert_eq!((found.at_ms, &*found.what), (2_000, "a second teardown began while one ran"));
        assert_eq!(violation(INVARIANT, open()).what, "an init went on while a teardown ran");
        let installed = open().without("init.begin", 1);
        assert_eq!(violation(INVARIANT, installed).what, "a runtime was installed while a teardown ran");
    }

    #[test]
    fn a_disposal_that_ends_before_its_own_teardown_is_named() {
        let cut = || story().without("teardown.end", 0).cut(1_500);
        assert_eq!(violation(INVARIANT, cut()).what, "a disposal ended in the middle of its teardown");
        // It had joined the teardown of another, which goes on.
        let joined = cut().without("teardown.begin", 0).state(1_000, "s1", "teardown.begin", &[]);
        assert_eq!(judged(INVARIANT, joined), Verdict::Held);
    }

    #[test]
    fn a_teardown_that_was_lost_with_its_object_does_not_count() {
        let trace = story()
            .without("teardown.end", 0)
            .without("disposal.end", 0)
            .platform(1_500, "s1", "object.reset", &[("kind", "code_update".into())])
            .platform(1_510, "s1", "object.constructed", &[("isolate", "i1".into())]);
        assert_eq!(judged(INVARIANT, trace), Verdict::Held);
    }
}
