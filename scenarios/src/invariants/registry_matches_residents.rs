//! I2: the registry of an isolate has exactly one entry for each session that is resident there.

use super::holdings::{Holdings, Thing};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeSet;
use std::sync::Arc;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "registry-matches-residents",
    kind: Kind::Always,
    claim: "a session can be asked for its runtime exactly while it has one: an entry in the registry for each resident, none for others",
    covers: &["I2", "I19"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let mut judge = Judge::default();
    let mut is_told = false;
    let (holdings, _) = Holdings::each(case, |holdings, _, event| {
        // Entry and runtime change one after the other within a turn, and the clock stands still in it.
        if judge.changed_by.is_some_and(|change| change.at_ms != event.at_ms) {
            judge.compare(holdings);
        }
        is_told |= event.is(Stream::State, "registry.added");
        let names = ["registry.added", "registry.removed", "runtime.installed", "runtime.released"];
        if event.stream == Stream::State && names.contains(&&*event.name) {
            judge.changed_by = Some(event);
        }
    });
    judge.compare(&holdings);
    Verdict::of(judge.violations, (!is_told).then(|| "no session was ever registered".to_owned()))
}

#[derive(Default)]
struct Judge<'t> {
    changed_by: Option<&'t Event>,
    /// Sessions that differ since the last comparison, and whether they are registered.
    told: BTreeSet<(Arc<str>, bool)>,
    violations: Vec<Violation>,
}

impl Judge<'_> {
    /// Compares after a change; a difference is told once, for as long as it lasts.
    fn compare(&mut self, holdings: &Holdings) {
        let Some(event) = self.changed_by.take() else { return };
        let registered: BTreeSet<_> = holdings.all(Thing::Entry).collect();
        let resident: BTreeSet<_> = holdings.all(Thing::Runtime).collect();
        let differ = registered.symmetric_difference(&resident).filter(|(_, isolate)| holdings.is_sound(isolate));
        let now: BTreeSet<_> = differ.map(|each| (Arc::clone(each.0), registered.contains(each))).collect();
        for (who, is_registered) in now.difference(&self.told) {
            let what = match is_registered {
                true => format!("session {who} has no runtime and is still registered to be asked for it"),
                false => format!("session {who} is resident and not registered"),
            };
            self.violations.push(Violation::at(event, what).of(who));
        }
        self.told = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn an_entry_for_each_resident_runtime_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn an_entry_that_stays_behind_is_named_and_so_is_one_that_is_missing() {
        let found = violation(INVARIANT, story().without("registry.removed", 0));
        assert_eq!(found.what, "session s1 has no runtime and is still registered to be asked for it");
        assert_eq!(found.at_ms, 1_021);
        let found = violation(INVARIANT, story().without("registry.added", 1));
        assert_eq!(found.what, "session s1 is resident and not registered");
    }

    #[test]
    fn an_entry_that_is_removed_early_is_named() {
        let found = violation(INVARIANT, story().state(500, "s1", "registry.removed", &[("isolate", "i1".into())]));
        assert_eq!((found.at_ms, found.session.as_deref()), (500, Some("s1")));
    }

    #[test]
    fn after_the_loss_of_a_registered_object_its_isolate_is_not_judged() {
        let lost = story()
            .cut(500)
            .platform(500, "s1", "object.reset", &[("kind", "code_update".into())])
            .platform(510, "s1", "object.constructed", &[("isolate", "i1".into())])
            .state(511, "s1", "runtime.installed", &[("runtime", 2_u64.into())]);
        assert_eq!(judged(INVARIANT, lost), Verdict::Held);
    }
}
