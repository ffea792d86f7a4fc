//! What is assumed of the platform beside the questions that it decides: faults that it may show, and switches.

use scenarios::plan::{Effect, Plan, RuntimeBuild};

/// The facts that say that the platform may do so; none for what the world around it does.
pub fn facts_of(effect: &Effect) -> &'static [&'static str] {
    match effect {
        Effect::Reset { .. } => &["21", "216"],
        Effect::Evict {} => &["13", "15", "215"],
        Effect::Fail { .. } => &["96", "109"],
        Effect::Delay { .. } | Effect::Hold { .. } => &["29", "209"],
        Effect::Interrupt { .. } => &[],
    }
}

/// A switch of the plan.
pub struct Switch {
    /// What it is called.
    pub name: &'static str,
    /// Numbers of the facts in which its values differ.
    pub facts: &'static [&'static str],
    /// Its value in a plan.
    pub value: fn(&Plan) -> String,
    /// The plan with each other value.
    pub others: fn(&Plan) -> Vec<Plan>,
}

/// The switches.
pub const SWITCHES: &[Switch] =
    &[Switch { name: "runtime build", facts: &["7", "8", "33"], value: build_of, others: other_builds }];

fn build_of(plan: &Plan) -> String {
    match plan.world.runtime_build {
        RuntimeBuild::May2026 => "2026-05-26".to_owned(),
        RuntimeBuild::November2026 => "2026-11-17".to_owned(),
    }
}

fn other_builds(plan: &Plan) -> Vec<Plan> {
    let builds = [RuntimeBuild::May2026, RuntimeBuild::November2026];
    let with = |build| {
        let mut other = plan.clone();
        other.world.runtime_build = build;
        other
    };
    builds.into_iter().filter(|build| *build != plan.world.runtime_build).map(with).collect()
}
