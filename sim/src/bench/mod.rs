//! What runs cost on this machine: one file a row of the table or a group of them, the list of rows in [`rows`].
//!
//! Ratios are taken in alternating blocks of one process, so that a busy machine disturbs both sides alike. What must not
//! be disturbed by anything else of this process is measured in another one ([`part`]).

pub mod child;
pub mod commands;
pub mod compare;
pub mod crowd;
pub mod floor;
pub mod instructions;
pub mod memory;
pub mod part;
pub mod place;
pub mod row;
pub mod rows;
pub mod sessions;
pub mod speed;
pub mod table;
pub mod workers;
pub mod workspace;

use crate::draw::Overrides;
use crate::error::Error;
use row::{Row, Taken};
use rows::RowSpec;
use scenarios::catalog::{self, Scenario};
use scenarios::plan::Plan;
use std::time::Instant;

/// How much is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Seeds whose runs are timed, each of the scenario that it picks.
    pub seeds: u32,
    /// Runs over which the growth of memory is read.
    pub memory_runs: u32,
    /// Seeds that are counted against the floor.
    pub floor_seeds: u32,
    /// Sessions of the largest world that is timed.
    pub sessions_max: u32,
    /// Sessions of the largest world whose instructions are counted, which is fifty times as slow.
    pub counted_sessions_max: u32,
    /// Resident sessions of the smaller of the two worlds whose memory is compared.
    pub resident_sessions: u32,
    /// How often what is timed as a whole is tried; the least or the median counts.
    pub tries: u32,
}

impl Counts {
    /// For figures that are written down.
    pub const USUAL: Counts = Counts {
        seeds: 1_000,
        memory_runs: 20_000,
        floor_seeds: 100,
        sessions_max: 10_000,
        counted_sessions_max: 1_000,
        resident_sessions: 1_000,
        tries: 5,
    };
    /// For a look.
    pub const QUICK: Counts = Counts {
        seeds: 100,
        memory_runs: 1_000,
        floor_seeds: 10,
        sessions_max: 1_000,
        counted_sessions_max: 100,
        resident_sessions: 200,
        tries: 3,
    };
}

/// What is measured, and what was found out so far.
pub struct Bench {
    /// How much is measured.
    pub counts: Counts,
    /// What is changed in the plans of the catalog.
    pub changes: Overrides,
    /// The same as arguments.
    pub change_arguments: Vec<String>,
    /// The scenarios whose plans are run.
    pub scenarios: Vec<&'static Scenario>,
    /// Whether the workspace is also built, which takes minutes.
    pub is_building: bool,
    /// Told what is being measured.
    pub progress: fn(&str),
    /// Several rows are about the same runs.
    speed: Option<speed::Speed>,
}

impl Bench {
    /// Nothing is measured yet.
    pub fn new(
        counts: Counts,
        changes: Overrides,
        change_arguments: Vec<String>,
        scenarios: Vec<&'static Scenario>,
        is_building: bool,
        progress: fn(&str),
    ) -> Self {
        Self { counts, changes, change_arguments, scenarios, is_building, progress, speed: None }
    }

    /// Measures some rows, in their order.
    ///
    /// # Errors
    /// A harness error when something cannot be run; an interruption.
    pub fn measure(&mut self, specs: &[&RowSpec]) -> Result<Vec<Row>, Error> {
        specs.iter().map(|spec| self.measure_one(spec)).collect()
    }

    fn measure_one(&mut self, spec: &RowSpec) -> Result<Row, Error> {
        (self.progress)(&format!("bench: {}: {}", spec.name, spec.what));
        let Taken { outcomes, more, how } = (spec.measure)(self)?;
        let figures = spec.figures.iter().zip(outcomes).map(|(figure, outcome)| figure.with(outcome));
        let figures = figures.chain(more).collect();
        Ok(Row { name: spec.name, what: spec.what, figures, how })
    }

    /// The plans of the first seeds of a campaign over some scenarios.
    fn plans(&self, seeds: u32, is_asked: impl Fn(&Scenario) -> bool) -> Result<Vec<Plan>, Error> {
        let among: Vec<&Scenario> = self.scenarios.iter().copied().filter(|scenario| is_asked(scenario)).collect();
        plans_of_mix(&self.changes, seeds, &among)
    }
}

/// One plan a seed, of the scenario that the seed picks.
fn plans_of_mix(changes: &Overrides, seeds: u32, among: &[&Scenario]) -> Result<Vec<Plan>, Error> {
    catalog::mix(seeds, among).map(|(scenario, seed)| changes.draw(scenario, seed)).collect()
}

/// Whether a scenario draws swarm worlds, which have a row of their own.
fn is_swarm(scenario: &Scenario) -> bool {
    scenario.id.starts_with("swarm/")
}

/// Whether a scenario mostly waits.
fn is_idle_heavy(scenario: &str) -> bool {
    scenario.starts_with("idle/")
}

/// Stops soon after somebody asked for it.
fn check_interrupt() -> Result<(), Error> {
    if crate::interrupt::is_asked_for() { Err(Error::Interrupted) } else { Ok(()) }
}

/// `above` over `below`; 0 for nothing over nothing.
fn ratio(above: f64, below: f64) -> f64 {
    if below == 0.0 { 0.0 } else { above / below }
}

/// The middle one, or the mean of the two in the middle; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[expect(clippy::disallowed_methods, reason = "wall-clock time is what is measured, outside of any run")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_whatever_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn swarms_are_told_from_the_rest_of_the_mix_by_their_group() {
        let scenario = |id| Scenario { id, ..*crate::draw::scenarios().next().expect("the catalog is not empty") };
        assert!(is_swarm(&scenario("swarm/calm")) && !is_swarm(&scenario("idle/swarm")));
        assert!(is_idle_heavy("idle/stream-stays-open") && !is_idle_heavy("residency/idle"));
    }
}
