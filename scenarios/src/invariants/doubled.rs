//! Sessions whose object was two for a while: code that outlives its reset writes beside its successor, and the host's
//! own account does not say which of the two speaks (platform facts 23, 217, 219).

use super::{Case, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// Since when the object of a session was two, by session.
pub(super) struct Doubled<'t>(BTreeMap<&'t str, u64>);

impl<'t> Doubled<'t> {
    /// Reads them off a trace.
    pub fn of(case: &Case<'t>) -> Self {
        let mut since_ms = BTreeMap::new();
        for event in case.trace.named(Stream::Platform, "object.zombie") {
            let Some(who) = event.who() else { continue };
            since_ms.entry(who).or_insert(event.at_ms);
        }
        Doubled(since_ms)
    }

    /// Whether a session's object ever was two.
    pub fn has(&self, who: &str) -> bool {
        self.0.contains_key(who)
    }

    /// The verdict without what cannot be told: of a doubled session, and of an isolate that holds one, only what its
    /// clients saw is judged.
    pub fn told(&self, case: &Case<'_>, verdict: Verdict) -> Verdict {
        let Verdict::Violated(mut violations) = verdict else { return verdict };
        if self.0.is_empty() {
            return Verdict::Violated(violations);
        }
        violations.retain(|violation| !self.is_ambiguous(case, violation));
        let reason = "an object went on after its reset beside its successor, and the trace does not tell them apart";
        Verdict::of(violations, Some(reason.to_owned()))
    }

    fn is_ambiguous(&self, case: &Case<'_>, violation: &Violation) -> bool {
        let event = case.trace.event(violation.ordinal);
        if event.is_some_and(|event| event.stream == Stream::History) {
            return false;
        }
        let who = violation.session.as_deref().or_else(|| event.and_then(Event::who));
        match who.filter(|who| case.is_session(who)) {
            Some(session) => self.0.get(session).is_some_and(|since_ms| violation.at_ms >= *since_ms),
            None => self.0.values().any(|since_ms| violation.at_ms >= *since_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, plan, story};
    use super::super::{Verdict, one_build_at_a_time};

    fn judged(trace: Builder) -> Verdict {
        one_build_at_a_time::INVARIANT.judge(&plan(), &trace.build())
    }

    fn installed(trace: Builder, at_ms: u64, who: &'static str) -> Builder {
        trace.state(at_ms, who, "runtime.installed", &[("runtime", 8_u64.into())])
    }

    #[test]
    fn what_two_instances_wrote_together_cannot_be_told() {
        let twice = |trace| installed(installed(trace, 900, "s1"), 901, "s1");
        assert!(matches!(judged(twice(story())), Verdict::Violated(_)));
        assert!(matches!(judged(twice(story().platform(800, "s1", "object.zombie", &[]))), Verdict::CannotTell(_)));
    }

    #[test]
    fn before_it_and_in_other_sessions_all_is_told() {
        let twice = |trace| installed(installed(trace, 900, "s1"), 901, "s1");
        let later = twice(story().platform(1_800, "s1", "object.zombie", &[]));
        assert!(matches!(judged(later), Verdict::Violated(_)));
        let elsewhere = twice(story().platform(800, "s2", "object.zombie", &[]));
        assert!(matches!(judged(elsewhere), Verdict::Violated(_)));
    }
}
