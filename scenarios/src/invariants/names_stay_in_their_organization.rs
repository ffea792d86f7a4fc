//! I23: what is stored of one organisation never names another.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Plan;
use crate::trace::Stream;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "names-stay-in-their-organization",
    kind: Kind::Always,
    claim: "a session's record never has the organization of its token with the name of another",
    covers: &["I23"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let known = Known::of(case.plan);
    let kept = case.trace.named(Stream::State, "meta.kept");
    let violations = kept.filter_map(|event| {
        let (organization, name) = (event.text("organization")?, event.text("name")?);
        let other = known.other(organization, name)?;
        Some(Violation::at(event, format!("a record of {organization} bears {name:?}, the name of {other}")))
    });
    Verdict::of(violations.collect(), None)
}

/// Which organisations bear a name, by what the plan says.
struct Known(BTreeMap<String, BTreeSet<String>>);

impl Known {
    fn of(plan: &Plan) -> Self {
        let mut known = Known(BTreeMap::new());
        for meta in plan.storage.iter().filter_map(|stored| stored.values.get("session-meta")) {
            known.learn(meta);
        }
        for call in plan.callers.iter().flat_map(|caller| &caller.calls) {
            known.learn(&call.arguments["token"]);
            known.learn(&call.arguments["props"]["session"]);
        }
        known
    }

    fn learn(&mut self, said: &Json) {
        if let (Some(organization), Some(name)) = (said["organizationId"].as_str(), said["organizationName"].as_str()) {
            self.0.entry(name.to_owned()).or_default().insert(organization.to_owned());
        }
    }

    /// Another organisation that bears the name, if this one does not.
    fn other(&self, organization: &str, name: &str) -> Option<&str> {
        // What the database and the edge say.
        if name == format!("Organization {organization}") {
            return None;
        }
        let bearers = self.0.get(name)?;
        bearers.iter().map(String::as_str).find(|_| !bearers.contains(organization))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{plan, story};
    use super::*;
    use crate::catalog::draft::direct::known;

    fn kept(organization: &'static str) -> Verdict {
        let mut plan = plan();
        plan.storage.push(known("old", 2));
        let name = "Stored name of organization-2".into();
        let fields = [("organization", organization.into()), ("name", name)];
        INVARIANT.judge(&plan, &story().state(50, "old", "meta.kept", &fields).build())
    }

    #[test]
    fn a_name_belongs_to_whom_it_was_stored_for() {
        assert_eq!(kept("organization-2"), Verdict::Held);
        let Verdict::Violated(found) = kept("organization-1") else { panic!("it is another's name") };
        let what = "a record of organization-1 bears \"Stored name of organization-2\", the name of organization-2";
        assert_eq!(found[0].what, what);
    }
}
