//! The scenarios: an id is a path, a scenario is a pure function from a seed to a plan, with a story in one sentence.

pub mod alarm;
pub mod approval;
pub mod clients;
pub mod deploy;
pub mod destroy;
pub mod disposal;
pub mod draft;
pub mod identity;
pub mod idle;
pub mod residency;
pub mod restore;
pub mod stream;
pub mod swarm;

use crate::plan::Plan;
use crate::seed::Seed;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One scenario of the catalog.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Path-like id, the path of its file in kebab case: `idle/stream-stays-open`.
    pub id: &'static str,
    /// What happens, in one sentence.
    pub story: &'static str,
    /// How often a campaign's seeds pick it, against the weights of the others; at least 1. Raising it takes seeds from
    /// others and gives up none of its own.
    pub weight: u32,
    /// Names of the rows of reach that it is about: some of a modest number of its seeds must come to each.
    pub sometimes: &'static [&'static str],
    /// Draws the plan of a seed; the same seed always gives the same plan.
    pub plan: fn(Seed) -> Plan,
}

/// One line a group.
const GROUPS: &[&[Scenario]] = &[
    idle::SCENARIOS,
    residency::SCENARIOS,
    restore::SCENARIOS,
    disposal::SCENARIOS,
    deploy::SCENARIOS,
    alarm::SCENARIOS,
    approval::SCENARIOS,
    stream::SCENARIOS,
    destroy::SCENARIOS,
    identity::SCENARIOS,
    clients::SCENARIOS,
    swarm::SCENARIOS,
];

/// All scenarios, in the order they run.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// The scenario that a seed of a campaign runs: rendezvous hashing over weighted ids. Each scenario holds one ticket for
/// each unit of its weight, and the highest ticket wins, so that a new scenario takes some seeds from each other one
/// and moves none between those.
///
/// Nothing when there are none to pick from.
pub fn pick<'a>(seed: Seed, among: &[&'a Scenario]) -> Option<&'a Scenario> {
    let highest = |scenario: &Scenario| {
        (0..scenario.weight.max(1))
            .map(|ticket| xxh3_64_with_seed(scenario.id.as_bytes(), ticket_seed(seed, ticket)))
            .max()
    };
    among.iter().copied().max_by_key(|scenario| (highest(scenario), scenario.id))
}

/// The first seeds of a campaign over some scenarios, each with the scenario that it runs.
pub fn mix<'a>(seeds: u32, among: &[&'a Scenario]) -> impl Iterator<Item = (&'a Scenario, Seed)> {
    (0..u64::from(seeds)).filter_map(move |seed| pick(Seed(seed), among).map(|scenario| (scenario, Seed(seed))))
}

/// What a ticket is hashed with: seeds and tickets are spread first, so that neighbours have nothing in common.
fn ticket_seed(seed: Seed, ticket: u32) -> u64 {
    xxh3_64_with_seed(&seed.0.to_le_bytes(), u64::from(ticket))
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
    fn scenarios_are_about_rows_that_there_are() {
        for scenario in all() {
            assert!(!scenario.sometimes.is_empty(), "{} says of no situation that it is about it", scenario.id);
            let names: BTreeSet<&str> = scenario.sometimes.iter().copied().collect();
            assert_eq!(names.len(), scenario.sometimes.len(), "{}", scenario.id);
            for name in names {
                assert!(crate::reach::find(name).is_some(), "{}: there is no row {name}", scenario.id);
            }
        }
    }

    fn named(id: &'static str, weight: u32) -> Scenario {
        Scenario { id, story: "", weight, sometimes: &[], plan: idle::SCENARIOS[0].plan }
    }

    #[test]
    fn seeds_fall_to_scenarios_by_their_weights() {
        let (one, three) = (named("a/one", 1), named("a/three", 3));
        let hits = (0..8_000).filter(|seed| pick(Seed(*seed), &[&one, &three]).is_some_and(|it| it.id == "a/three"));
        let hits = hits.count();
        assert!((5_800..6_200).contains(&hits), "{hits}");
        assert!(pick(Seed(1), &[]).is_none());
    }

    #[test]
    fn a_new_scenario_moves_no_seed_between_the_others() {
        let (one, two, new) = (named("a/one", 2), named("a/two", 5), named("b/new", 3));
        let mut taken = 0;
        for seed in (0..4_000).map(Seed) {
            let before = pick(seed, &[&one, &two]).map(|it| it.id);
            let after = pick(seed, &[&new, &one, &two]).map(|it| it.id);
            if after == Some("b/new") {
                taken += 1;
            } else {
                assert_eq!(after, before, "seed {seed}");
            }
        }
        assert!((1_100..1_300).contains(&taken), "{taken}");
    }

    #[test]
    fn more_weight_gives_up_no_seed() {
        let (one, light, heavy) = (named("a/one", 4), named("a/two", 2), named("a/two", 4));
        for seed in (0..2_000).map(Seed) {
            let was_mine = pick(seed, &[&one, &light]).is_some_and(|it| it.id == "a/two");
            assert!(!was_mine || pick(seed, &[&one, &heavy]).is_some_and(|it| it.id == "a/two"), "seed {seed}");
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
