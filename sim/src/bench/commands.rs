//! Whole commands, from start to last line, as a person waits for them.

use super::child::{self, Ended, NotRun};
use super::row::{Outcome, Taken};
use super::speed::{Kind, one_run};
use super::{Bench, median, now};
use crate::draw::Overrides;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files::{self, Scratch};
use scenarios::bad_input::PLAN_BYTES_MAX;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use std::path::Path;

/// A failure that people meet: a historical bug, found by a claim of the kind *eventually*.
const TYPICAL_DEFECT: &str = "idle-alarm-not-rearmed";
const TYPICAL_SCENARIO: &str = "idle/stream-stays-open";
/// Seeds among which failures of it are looked for.
const TYPICAL_SEEDS: u64 = 200;

/// A seed through the whole catalog.
///
/// # Errors
/// A harness error when this program cannot be started; an interruption.
pub fn start(bench: &mut Bench) -> Result<Taken, Error> {
    let scratch = Scratch::new("bench-start")?;
    let tries = 2 * bench.counts.tries;
    let mut least = f64::INFINITY;
    for _ in 0..tries {
        // A run that fails leaves a report: not here, where somebody keeps his own.
        let (_, seconds) = timed(&["--seed", "1"], scratch.path())?;
        least = least.min(seconds);
    }
    Ok(Taken::measured(&[least], format!("`sim --seed 1`, the least of {tries} tries")))
}

/// Failures made small.
///
/// # Errors
/// A harness error when this program cannot be started, or cannot do it; an interruption.
pub fn shrink(bench: &mut Bench) -> Result<Taken, Error> {
    let scratch = Scratch::new("bench-shrink")?;
    let (help, _) = timed(&["shrink", "--help"], scratch.path())?;
    if help.code != Some(0) {
        return Ok(Taken::all(&Outcome::NotBuilt("sim has no command `shrink`".to_owned()), 2));
    }
    let plans = typical_failures(bench.counts.tries as usize)?;
    let (mut seconds, mut steps) = (Vec::new(), Vec::new());
    for plan in &plans {
        let (spent, shrunk) = shrink_one(plan, scratch.path())?;
        seconds.push(spent);
        steps.push(step_count(&shrunk) as f64);
    }
    let how = format!("the medians of {} failures by {TYPICAL_DEFECT}; {}", plans.len(), told_steps(&plans, &steps));
    Ok(Taken::measured(&[median(&seconds), median(&steps)], how))
}

fn told_steps(plans: &[Plan], shrunk: &[f64]) -> String {
    let each = plans.iter().zip(shrunk).map(|(plan, steps)| format!("{} steps to {steps}", step_count(plan)));
    each.collect::<Vec<_>>().join(", ")
}

fn step_count(plan: &Plan) -> usize {
    plan.clients.iter().map(|client| client.steps.len()).sum()
}

/// The plans of the first seeds that fail with the typical defect.
fn typical_failures(count: usize) -> Result<Vec<Plan>, Error> {
    let changes = Overrides::read(&[TYPICAL_DEFECT.to_owned()], &[], None)?;
    let scenario = crate::draw::scenario(TYPICAL_SCENARIO)?;
    let mut failures = Vec::new();
    for seed in (0..TYPICAL_SEEDS).map(Seed) {
        let plan = changes.draw(scenario, seed)?;
        if failures.len() < count && one_run(&plan, Kind::Judged)?.outcome() != ExitCode::Held {
            failures.push(plan);
        }
    }
    Ok(failures)
}

/// Shrinks the failure of one plan with the command, in `folder`: its time in seconds, and the plan that is left.
fn shrink_one(plan: &Plan, folder: &Path) -> Result<(f64, Plan), Error> {
    let (given, left) = ("failure.json", "shrunk.json");
    files::write_atomically(&folder.join(given), plan.to_json().as_bytes())?;
    let left_at = folder.join(left);
    let (ended, seconds) = timed(&["shrink", given, "--out", left], folder)?;
    if !left_at.is_file() {
        let told = crate::text::shortened(ended.stderr.trim(), 200);
        return Err(Error::harness(format!("`sim shrink {given}` left no {left}: {told}")));
    }
    let shrunk = Plan::parse(&files::read_bounded(&left_at, "plan", PLAN_BYTES_MAX)?)?;
    // The next failure must not take it for its own.
    std::fs::remove_file(&left_at).map_err(|error| {
        Error::harness(format!("{}: cannot be removed: {}", files::shown(&left_at), files::reason(&error)))
    })?;
    Ok((seconds, shrunk))
}

/// Runs this program with these arguments in a folder; how it ended, and how many seconds it took.
fn timed(arguments: &[&str], folder: &Path) -> Result<(Ended, f64), Error> {
    let mut command = child::this_program()?;
    command.args(arguments).current_dir(folder);
    let began = now();
    let ended = child::run(&mut command, None)?;
    let seconds = now().duration_since(began).as_secs_f64();
    let cannot = |how: &str| Error::harness(format!("`sim {}` cannot be measured: {how}", arguments.join(" ")));
    match ended {
        Ok(ended) => Ok((ended, seconds)),
        Err(NotRun::NotStarted(error)) => Err(cannot(&files::reason(&error))),
        Err(NotRun::Ended) => Err(cannot("it said too much")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_failures_fail() {
        let plans = typical_failures(3).expect("they run");
        assert_eq!(plans.len(), 3);
        assert!(plans.iter().all(|plan| plan.defects == [TYPICAL_DEFECT] && step_count(plan) > 1));
    }
}
