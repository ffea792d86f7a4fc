//! I24: a session whose record or token names its organisation comes back without the database.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "known-organization-needs-no-database",
    kind: Kind::Always,
    claim: "the organization database is asked only where neither the token nor a record of the same organization has its name",
    covers: &["I24"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let lookups = case.trace.named(Stream::State, "meta.looked-up");
    let is_known = |by: Option<&str>| by.is_some_and(|by| by != "nothing");
    let needless = lookups.filter(|event| is_known(event.text("known_by")));
    let violation = |event| Violation::at(event, "the database was asked for an organization whose name was known");
    Verdict::of(needless.map(violation).collect(), None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn only_what_is_unknown_is_looked_up() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let asked = |known_by: &'static str| story().state(5, "s1", "meta.looked-up", &[("known_by", known_by.into())]);
        assert_eq!(judged(INVARIANT, asked("nothing")), Verdict::Held);
        for known_by in ["token", "record"] {
            violation(INVARIANT, asked(known_by));
        }
    }
}
