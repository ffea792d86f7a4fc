//! Which assumptions about the platform a failure rests on, and how well each is known.
//!
//! A failing plan is run again and again: first with every decision of the platform calm, then with as few of them as
//! still lead to the failure, then with ever more faults left out and switches at their other values, until nothing more
//! can go: what is told as not needed is otherwise all at once in the last of these runs, and there each thing that is told
//! as needed was left out. Whatever is not missed when it alone is left out of the plan has others in its place: these are
//! looked for. Other draws of each question are tried besides. What the failure needs is told with the facts that say that the real platform may behave so, and with their
//! sources: what was run against the real runtime counts for more than what is documented, and that for more than what
//! somebody reported.

mod evidence;
mod kept;
mod list;
mod search;
#[cfg(test)]
mod tests;
mod told;

use crate::error::Error;
use crate::signature::Signature;
use crate::trial::Judge;
use scenarios::plan::Plan;

pub use evidence::{Evidence, Grade};
pub use told::{document, text};

/// Other draws of a question that are tried, half of them usual and half hostile.
pub const DRAW_COUNT: u64 = 8;
/// Runs that may be spent on one plan.
pub const RUNS_MAX: u64 = 2_000;

/// What was found of one failing plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumptions {
    /// The failure.
    pub signature: Signature,
    /// What the platform decided by itself and the failure needs, gathered by question.
    pub decisions: Vec<Decided>,
    /// Questions that came up and that the failure does not need answered in any special way.
    pub free: Vec<Free>,
    /// The faults of the plan, in its order.
    pub faults: Vec<Planned>,
    /// The switches of the plan.
    pub switches: Vec<Switched>,
    /// Runs that were made.
    pub run_count: u64,
    /// Whether nothing that is told as needed can be left out by itself; otherwise the runs were spent before.
    pub is_minimal: bool,
}

/// Whether the failure needs something, while all that it does not need is otherwise at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// It does not.
    Not,
    /// It does, and also with everything else as the plan has it.
    Alone,
    /// It does, but not with everything else as the plan has it: each of these does in its place; if there is none, only
    /// several together.
    OneOf(Vec<Instead>),
}

/// What does in the place of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// It in words.
    pub what: String,
    /// What is known of it.
    pub evidence: Evidence,
}

impl Need {
    /// Whether the failure needs it, or something in its place.
    pub fn is_needed(&self) -> bool {
        *self != Need::Not
    }

    /// How well that is known which is known best: it, of that evidence, or what does in its place.
    pub fn grade(&self, own: &Evidence) -> Grade {
        let instead: &[Instead] = if let Need::OneOf(instead) = self { instead } else { &[] };
        instead.iter().map(|instead| instead.evidence.grade).fold(own.grade, Ord::min)
    }
}

/// Answers to one question that the failure needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What the question is about.
    pub about: &'static str,
    /// The decisions, each with its value.
    pub values: Vec<Value>,
    /// How many other draws of the question were tried, and how many of them led to the same failure.
    pub draws: Draws,
    /// Whether something else does in its place.
    pub need: Need,
    /// What is known of the smallest values that do.
    pub evidence: Evidence,
}

/// One decision that the failure needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name, `<who>/<what>@<step>#<n>`.
    pub name: String,
    /// What was decided; ms where it is a delay.
    pub value: u64,
    /// The smallest value that was found to do as well.
    pub least: u64,
    /// The largest value below it that was found not to do.
    pub too_small: u64,
}

/// A question that the failure does not need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Free {
    /// What the question is about.
    pub about: &'static str,
    /// Other draws of it.
    pub draws: Draws,
}

/// Other draws of one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draws {
    /// How many were tried.
    pub tried: u64,
    /// How many of them led to the same failure.
    pub failed: u64,
}

/// A fault of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its place in the plan.
    pub index: usize,
    /// The fault in words.
    pub what: String,
    /// Whether the failure needs it.
    pub need: Need,
    /// What is known of the real platform doing so.
    pub evidence: Evidence,
}

/// A switch of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// Its name and value in the plan.
    pub what: String,
    /// The value that was tried instead.
    pub other: &'static str,
    /// Whether the failure needs it as it is.
    pub need: Need,
    /// What is known of the platform doing so.
    pub evidence: Evidence,
}

/// Looks for what the failure of that signature rests on; `progress` is told the number of runs after each.
///
/// # Errors
/// A usage error when the plan does not show that failure; a harness error when a run is void; an interruption.
pub fn find(
    plan: &Plan,
    signature: &Signature,
    judge: &mut dyn Judge,
    progress: &mut dyn FnMut(u64),
) -> Result<Assumptions, Error> {
    search::Search::new(plan, signature, judge, progress)?.find()
}
