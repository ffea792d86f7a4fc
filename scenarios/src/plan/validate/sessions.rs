//! Which sessions the faults and calls of a plan may name.

use crate::plan::{Plan, client_of, session_alias};
use std::collections::BTreeMap;

/// The sessions that a plan can have, for looking them up: a large plan names them often.
pub(super) struct Sessions<'a>(BTreeMap<&'a str, u64>);

impl<'a> Sessions<'a> {
    /// Those that are stored before the run, and those that clients can open.
    pub(super) fn of(plan: &'a Plan) -> Self {
        let stored = plan.storage.iter().map(|stored| (&*stored.session, 1));
        Self(stored.chain(plan.clients.iter().map(|client| (&*client.name, client.session_count()))).collect())
    }

    /// Whether one of them has this alias.
    pub(super) fn has(&self, alias: &str) -> bool {
        let owner = client_of(alias);
        let Some(&count) = self.0.get(owner) else { return false };
        let number = alias[owner.len()..].strip_prefix('.').map_or(Some(1), |number| number.parse().ok());
        number.is_some_and(|number| number <= count && session_alias(owner, number) == alias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::sample::sample;
    use crate::plan::{Action, Step};

    #[test]
    fn a_session_is_known_by_the_alias_that_it_will_have_and_by_no_other() {
        let mut plan = sample();
        plan.clients[0].steps.push(Step { at_ms: 9, action: Action::Open {} });
        let sessions = Sessions::of(&plan);
        let (name, count) = (&plan.clients[0].name, plan.clients[0].session_count());
        for alias in plan.clients[0].session_aliases() {
            assert!(sessions.has(&alias), "{alias}");
        }
        for wrong in ["", ".", "1", "0", "x", "+2", "02", "2.2", "2 ", "99999999999999999999999"] {
            let alias = format!("{name}.{wrong}");
            assert!(!sessions.has(&alias), "{alias}");
        }
        assert!(count > 1 && !sessions.has(&format!("{name}.{}", count + 1)) && !sessions.has("nobody"));
    }
}
