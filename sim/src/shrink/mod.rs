//! Shrinking: a plan that fails is made less, step by step, while it fails in the same way.
//!
//! The plan is made concrete first: what its entropy decides becomes pins, so that nothing is left to chance and renaming
//! is free. Then everything that can be taken out is one list ([`element`]), and everything that can be simpler another
//! ([`edit`]); each accepted step goes down in one order ([`weight`]), so that it ends, and it is done when no single
//! removal or simplification is left that keeps the failure ([`candidates`]).

mod action;
mod code;
pub mod edit;
pub mod element;
mod irrelevant;
mod json;
mod kind;
mod literal;
mod name;
pub mod number;
mod owner;
mod search;
mod setting;
mod statement;
#[cfg(test)]
mod tests;
mod timeline;
mod told;
pub mod weight;

use crate::campaign::outcome::Shrunk;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use crate::trial::{Answer, Judge, TrialOptions};
use scenarios::plan::Plan;
use search::{Search, Stop};
use std::collections::{BTreeMap, BTreeSet};

pub use edit::candidates;
pub use told::{lines, sizes_text};

/// Runs that shrinking one plan may take, if nothing else is said.
pub const RUNS_DEFAULT: u64 = 2_000;

/// What may be spent. It is counted in runs, so that the result does not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs, those that look for what does not matter included.
    pub runs: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { runs: RUNS_DEFAULT }
    }
}

/// How far a search has come, told after every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs so far.
    pub run_count: u64,
    /// Runs that may be spent.
    pub run_max: u64,
    /// Steps of clients and callers in the least plan so far.
    pub step_count: u64,
    /// Sessions in it.
    pub session_count: u64,
    /// Pinned decisions in it.
    pub pin_count: u64,
}

/// How shrinking ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No single removal or simplification is left that keeps the failure.
    Minimal,
    /// The budget was spent.
    Spent,
    /// A person stopped it.
    Interrupted,
    /// The harness failed over a candidate, which says nothing about the model.
    Harness {
        /// What happened, in one sentence.
        what: String,
        /// The candidate.
        plan: Box<Plan>,
    },
}

/// What shrinking gave, however it ended.
#[derive(Clone, Debug)]
pub struct Shrinking {
    /// The least plan that was found; it has no entropy and shows the failure.
    pub plan: Plan,
    /// How it ended.
    pub ending: Ending,
    /// The numbers, and what does not matter.
    pub summary: Shrunk,
    /// Findings that were met on the way and that the plan itself does not show, each with the least plan that does.
    pub others: BTreeMap<Signature, Plan>,
    /// Pins of the plan that was handed in that had no effect in its run; they were dropped before anything else.
    pub unused_pins: Vec<String>,
}

/// Makes a plan that shows `target` as small and simple as it can be. The result is a function of build, plan, target and
/// budget.
///
/// # Errors
/// A usage error when the plan does not show it; a harness error when it cannot be run, or when what its entropy decided
/// cannot be pinned.
pub fn shrink(
    plan: &Plan,
    target: &Signature,
    budget: &Budget,
    judge: &mut dyn Judge,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Shrinking, Error> {
    let strict = TrialOptions { is_judged: true, tells_decisions: true, ..TrialOptions::default() };
    // A plan from elsewhere may pin what its run never asks for, such as one of the corpus with its defect switched on.
    let base = judge.judge(plan, TrialOptions { are_pins_optional: true, ..strict })?;
    check_target(&base, target)?;
    let mut search = Search {
        judge,
        progress,
        target: target.clone(),
        // One run is kept for the result, which is run as anybody would.
        run_max: budget.runs.saturating_sub(1).max(2),
        run_count: 1,
        best: concrete(plan, &base),
        needs_switches: false,
        refused: BTreeSet::new(),
        known: base.findings.iter().map(|found| found.signature.clone()).collect(),
        others: BTreeMap::new(),
    };
    check_valid(&search.best)?;
    let pin_count = search.best.pins.len() as u64;
    let confirmed = search.ask(&search.best.clone(), strict).map_err(error_of)?;
    if !confirmed.shows(target) {
        return Err(Error::harness(format!(
            "{target} does not show any more once the decisions of the plan's entropy are pinned: the harness does not repeat this run"
        )));
    }
    let mut irrelevant = Vec::new();
    let done = search.learn_needs().and_then(|()| search.run());
    let mut ending = ending_of(done)?;
    if ending == Ending::Minimal {
        // A budget that ends here leaves less to say, and the plan as minimal as it is.
        ending = match ending_of(irrelevant::find(&mut search, &mut irrelevant))? {
            Ending::Spent => Ending::Minimal,
            other => other,
        };
    }
    check_strictly(&mut search, &ending)?;
    let summary = Shrunk {
        run_count: search.run_count,
        is_minimal: ending == Ending::Minimal,
        sizes: told::sizes(plan, &search.best, pin_count),
        irrelevant,
    };
    Ok(Shrinking { plan: search.best, ending, summary, others: search.others, unused_pins: base.unused_pins })
}

fn ending_of(done: Result<(), Stop>) -> Result<Ending, Error> {
    match done {
        Ok(()) => Ok(Ending::Minimal),
        Err(Stop::Spent) => Ok(Ending::Spent),
        Err(Stop::Interrupted) => Ok(Ending::Interrupted),
        Err(Stop::Harness { what, plan }) => Ok(Ending::Harness { what, plan }),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// What a plan is to be shrunk for, if nothing else is said: the gravest of what its run showed.
///
/// # Errors
/// A usage error when it showed nothing, a harness error when it could not be run.
pub fn gravest(answer: &Answer) -> Result<&Signature, Error> {
    refuse_harness_error(answer)?;
    let first = answer.findings.first().map(|found| &found.signature);
    first.ok_or_else(|| {
        Error::usage(
            "the plan holds, there is nothing to shrink: give one that fails, or switch a defect on with `--defect`",
        )
    })
}

fn refuse_harness_error(answer: &Answer) -> Result<(), Error> {
    match answer.harness_error() {
        Some(found) => {
            Err(Error::harness(format!("the plan cannot be shrunk, since the harness fails: {}", found.what)))
        }
        None => Ok(()),
    }
}

fn check_target(base: &Answer, target: &Signature) -> Result<(), Error> {
    gravest(base)?;
    if base.shows(target) {
        return Ok(());
    }
    let mut shown: Vec<String> = base.findings.iter().map(|found| format!("`{}`", found.signature)).collect();
    shown.dedup();
    Err(Error::usage(format!("the plan does not show `{target}`: it shows {}", shown.join(", "))))
}

/// The same plan with its entropy spent: every decision that was not the calm one is pinned, and no other.
fn concrete(plan: &Plan, base: &Answer) -> Plan {
    let pins = base.decisions.iter().filter(|(_, value)| *value > 0).cloned().collect();
    Plan { entropy: None, pins, ..plan.clone() }
}

/// A plan that could not be handed in has no valid candidates either, and would come back as it was.
fn check_valid(plan: &Plan) -> Result<(), Error> {
    edit::checked(plan).map_err(|error| {
        Error::harness(format!("the plan cannot be shrunk, since it cannot be run from a file: {error}"))
    })
}

/// Runs the result as anybody would: pins that nobody asks for are refused then.
fn check_strictly(search: &mut Search<'_>, ending: &Ending) -> Result<(), Error> {
    if *ending == Ending::Interrupted {
        return Ok(());
    }
    // This run is owed in any case.
    search.run_max = search.run_count + 1;
    let options = TrialOptions { is_judged: true, ..TrialOptions::default() };
    let answer = search.ask(&search.best.clone(), options).map_err(error_of)?;
    if answer.shows(&search.target) {
        return Ok(());
    }
    Err(Error::harness(format!("the shrunk plan does not show {} when it is run again", search.target)))
}

fn error_of(stop: Stop) -> Error {
    match stop {
        Stop::Interrupted => Error::Interrupted,
        Stop::Error(error) => error,
        Stop::Harness { what, .. } => Error::harness(what),
        Stop::Spent => Error::harness("no run is left for the plan itself"),
    }
}

impl Shrinking {
    /// The exit code that the way it ended leads to; none where only the findings of the plan count.
    pub fn exit_code(&self) -> Option<ExitCode> {
        match self.ending {
            Ending::Minimal | Ending::Spent => None,
            Ending::Interrupted => Some(ExitCode::Interrupted),
            Ending::Harness { .. } => Some(ExitCode::Harness),
        }
    }
}
