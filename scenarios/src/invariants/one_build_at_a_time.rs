//! I9: a session is started by one start body at a time, and never builds a runtime over another.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "one-build-at-a-time",
    kind: Kind::Always,
    claim: "at most one start body and one init run in a session object, and a runtime is installed only where none is",
    covers: &["I9"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        let is_begin = matches!(&*event.name, "start.begin" | "init.begin" | "runtime.installed");
        if event.stream != Stream::State || !is_begin {
            return;
        }
        let Some(session) = event.who().and_then(|who| replay.session(who)) else {
            return;
        };
        let what = match &*event.name {
            "start.begin" if session.start_count > 0 => "a second start body began while one ran",
            "init.begin" if session.init_count > 0 => "a second init began while one ran",
            "runtime.installed" if session.runtime.is_some() => "a runtime was installed over another",
            _ => return,
        };
        violations.push(Violation::at(event, what));
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn one_start_after_another_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let joined = story().state(5_022, "s1", "start.joined", &[]);
        assert_eq!(judged(INVARIANT, joined), Verdict::Held);
    }

    #[test]
    fn two_starts_two_inits_and_two_runtimes_are_told_apart() {
        for (name, what) in [
            ("start.begin", "a second start body began while one ran"),
            ("init.begin", "a second init began while one ran"),
        ] {
            let found = violation(INVARIANT, story().state(5_022, "s1", name, &[]));
            assert_eq!((found.at_ms, &*found.what), (5_022, what));
        }
        let second = story().state(5_026, "s1", "runtime.installed", &[("runtime", 9_u64.into())]);
        assert_eq!(violation(INVARIANT, second).what, "a runtime was installed over another");
    }

    #[test]
    fn a_start_that_was_lost_with_its_object_does_not_count() {
        let trace = story()
            .without_between(5_024, 95_000)
            .platform(5_024, "s1", "object.reset", &[("kind", "code_update".into())])
            .platform(5_030, "s1", "object.constructed", &[("isolate", "i1".into())])
            .state(5_030, "s1", "start.begin", &[]);
        assert_eq!(judged(INVARIANT, trace.cut(94_000)), Verdict::Held);
    }
}
