//! The scenarios: an id is a path, a scenario is a pure function from a seed to a plan, with a story in one sentence.

pub mod idle;

use crate::plan::Plan;
use crate::seed::Seed;

/// One scenario of the catalog.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Path-like id, the path of its file in kebab case: `idle/stream-stays-open`.
    pub id: &'static str,
    /// What happens, in one sentence.
    pub story: &'static str,
    /// Draws the plan of a seed; the same seed always gives the same plan.
    pub plan: fn(Seed) -> Plan,
}

/// One line a group.
const GROUPS: &[&[Scenario]] = &[idle::SCENARIOS];

/// All scenarios, in the order they run.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// The scenario of that id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    all().find(|scenario| scenario.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_paths_in_kebab_case() {
        let ids: Vec<&str> = all().map(|scenario| scenario.id).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len());
        for id in ids {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte == b'/';
            assert!(id.contains('/') && id.bytes().all(plain), "{id}");
            assert_eq!(find(id).map(|found| found.id), Some(id));
        }
    }

    #[test]
    fn every_scenario_is_a_pure_function_to_valid_plans() {
        for scenario in all() {
            for seed in (0..200).chain([u64::MAX]).map(Seed) {
                let plan = (scenario.plan)(seed);
                assert_eq!(plan, (scenario.plan)(seed), "{} {seed}", scenario.id);
                assert_eq!((&*plan.scenario, plan.seed), (scenario.id, seed));
                let read = Plan::parse(plan.to_json().as_bytes());
                assert_eq!(read.as_ref(), Ok(&plan), "{} {seed}", scenario.id);
            }
        }
    }
}
