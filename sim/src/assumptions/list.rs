//! What is assumed of the platform beside the questions that it decides: faults that it may show, and switches.

use model::operation::{Kind, Operation};
use scenarios::plan::{Effect, FaultPlan, Plan, RuntimeBuild, When};

/// What says that the platform may do what a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// These facts, by number.
    Facts(&'static [&'static str]),
    /// No fact: it is the world around the platform that does it, or code of the host.
    World,
    /// The platform never does it: nothing else happens while such a step goes on.
    Never,
}

/// On what a fault rests.
pub fn basis_of(fault: &FaultPlan) -> Basis {
    let operation = match &fault.when {
        When::Operation { operation, .. } => operation.as_str(),
        When::At { .. } => "",
    };
    match &fault.effect {
        Effect::Reset { .. } => Basis::Facts(&["21", "216"]),
        Effect::Evict {} => Basis::Facts(&["13", "15", "215"]),
        Effect::Interrupt { .. } => Basis::World,
        Effect::Delay { .. } | Effect::Hold { .. } if operation == COMMIT => Basis::Facts(&["218"]),
        effect => basis_at(step_of(operation), matches!(effect, Effect::Fail { .. })),
    }
}

/// The operation in which the writes of a turn become durable.
const COMMIT: &str = "platform · commit";

/// On what it rests that such a step fails, or else that it takes long.
fn basis_at(step: Option<&Operation>, is_failure: bool) -> Basis {
    let Some(step) = step else { return Basis::World };
    match (step.kind, is_failure) {
        (Kind::Storage, true) => Basis::Facts(&["96", "109"]),
        (Kind::Storage, false) => Basis::Facts(&["28"]),
        (Kind::Section, _) => Basis::Facts(&["30", "36"]),
        (Kind::Io, false) if CALLS.contains(&last_part(step.name)) => Basis::Never,
        (Kind::Io | Kind::Fiber, false) => Basis::Facts(&["29", "209"]),
        (Kind::Micro, false) => Basis::Never,
        _ => Basis::World,
    }
}

/// Steps that wait for code of the host itself, by the last part of their names: that code may take long, but between the
/// call and its first line, or between its last line and the caller's next, nothing comes in.
const CALLS: &[&str] = &["start", "join", "join-disposal", "teardown", "teardown failed", "dispose"];

fn last_part(name: &str) -> &str {
    name.rsplit_once(" · ").map_or(name, |(_, last)| last)
}

fn step_of(operation: &str) -> Option<&'static Operation> {
    model::operations::table().iter().flat_map(|group| &group.operations).copied().find(|known| known.name == operation)
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
