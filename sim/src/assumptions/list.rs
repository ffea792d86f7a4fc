//! What is assumed of the platform beside the questions that it decides: faults that it may show, and switches.

use model::operation::{Kind, Operation};
use scenarios::plan::{Effect, FaultPlan, Plan, RuntimeBuild, TURNED, Turned, When};

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
        Effect::Reset { .. } => Basis::Facts(&["21"]),
        Effect::Evict {} => Basis::Facts(&["13"]),
        Effect::Interrupt { .. } => Basis::World,
        Effect::Delay { .. } | Effect::Hold { .. } if operation == COMMIT => Basis::Facts(&["41", "42", "43"]),
        effect => basis_at(step_of(operation), matches!(effect, Effect::Fail { .. })),
    }
}

/// The operation in which the writes of a turn become durable.
const COMMIT: &str = "platform · commit";

/// On what it rests that such a step fails, or else that it takes long.
fn basis_at(step: Option<&Operation>, is_failure: bool) -> Basis {
    let Some(step) = step else { return Basis::World };
    match (step.kind, is_failure) {
        (Kind::Storage, true) => Basis::Facts(&["113"]),
        (Kind::Storage, false) => Basis::Facts(&["28"]),
        (Kind::Section, _) => Basis::Facts(&["30", "36"]),
        (Kind::Io, false) if CALLS.contains(&last_part(step.name)) => Basis::Never,
        (Kind::Io | Kind::Fiber, false) => Basis::Facts(&["29"]),
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

/// A switch of a plan whose places that were left to the build are filled, with its other value.
#[derive(Clone, Copy)]
pub struct Switch {
    /// How it stands.
    pub now: &'static Turned,
    /// How it may stand as well.
    pub other: &'static Turned,
    /// Whether it stands so because the build of the runtime does it.
    pub is_by_build: bool,
}

impl Switch {
    /// Name and value, and why so.
    pub fn told(&self, build: RuntimeBuild) -> String {
        let why =
            if self.is_by_build { format!(", as the build of {} does it", build_of(build)) } else { String::new() };
        format!("{} {}{why}", self.now.switch, self.now.value)
    }
}

/// Every switch, by the plan's own word and the build that settles the rest.
pub fn switches(plan: &Plan) -> Vec<Switch> {
    let own = plan.world.switches;
    let settled = own.resolved(plan.world.runtime_build);
    let mut all = Vec::new();
    for alike in TURNED.chunk_by(|one, other| one.switch == other.switch) {
        let is_by_build = alike.iter().any(|turned| turned.is_by_build() && turned.is_so(&own));
        let now = alike.iter().find(|turned| turned.is_so(&settled));
        let others = alike.iter().filter(|turned| !turned.is_by_build() && !turned.is_so(&settled));
        all.extend(now.into_iter().flat_map(|now| others.clone().map(move |other| Switch { now, other, is_by_build })));
    }
    all
}

fn build_of(build: RuntimeBuild) -> &'static str {
    match build {
        RuntimeBuild::May2026 => "2026-05-26",
        RuntimeBuild::November2026 => "2026-11-17",
    }
}
