//! `sim worker`: runs what it is asked for, a line in and a line out; started by `meta` and not meant for people.

use super::args::{self, Changes};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::planted::Leak;
use crate::recorder::Keep;
use crate::run::{self, RunOptions};
use crate::supervisor::Job;
use crate::trial::Answer;
use crate::{draw, files, report};
use rlimit::Resource;
use scenarios::plan::Plan;
use std::io::{BufRead, Write};
use std::time::Duration;

/// Arguments of `sim worker`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    changes: Changes,
    /// Seed of the simulator's own generator
    #[arg(long, default_value_t = 0)]
    scheduler_seed: u64,
    /// Memory to hold all the time, so that everything else stands at other addresses
    #[arg(long, hide = true, default_value_t = 0)]
    heap_ballast_kib: usize,
    /// Wall-clock time after which a run is given up from within: for a worker that nobody watches any more
    #[arg(long, hide = true, default_value_t = 24 * 60 * 60)]
    run_limit_s: u64,
    /// Memory that the process may map, in MiB; a run that wants more ends it
    #[arg(long, hide = true)]
    memory_limit_mib: Option<u64>,
    /// Nondeterminism to plant in every run
    #[arg(long, hide = true)]
    plant_leak: Option<Leak>,
}

/// Serves until its input ends.
///
/// # Errors
/// A usage error for a question that cannot be read, a harness error when the answer cannot be given.
pub fn execute(args: &Args) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    limit_memory(args.memory_limit_mib)?;
    let ballast = std::hint::black_box(vec![1_u8; args.heap_ballast_kib * 1024]);
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Error::harness(format!("cannot read a job: {}", files::reason(&error))))?;
        let job = Job::parse(line.as_bytes()).map_err(|refusal| Error::usage(format!("no job: {refusal}")))?;
        let answer = serve(&job, args, &changes)?;
        let answer = serde_json::to_string(&answer).expect("an answer is plain data");
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            // Whoever asked is gone.
            break;
        }
    }
    drop(std::hint::black_box(ballast));
    Ok(ExitCode::Held)
}

/// Bounds what this process may map, so that a run without an end to its wishes ends the worker and not the machine.
/// A worker that dies leaves no image of itself either: how it ended is told the same on every machine.
fn limit_memory(mebibytes: Option<u64>) -> Result<(), Error> {
    let limit = |resource: Resource, bytes: u64| {
        rlimit::setrlimit(resource, bytes, bytes)
            .map_err(|error| Error::harness(format!("a worker cannot be limited: {}", files::reason(&error))))
    };
    limit(Resource::CORE, 0)?;
    mebibytes.map_or(Ok(()), |mebibytes| limit(Resource::AS, mebibytes.saturating_mul(1024 * 1024)))
}

fn serve(job: &Job, args: &Args, changes: &draw::Overrides) -> Result<Answer, Error> {
    let seed = args::seed(&job.seed).map_err(Error::usage)?;
    let plan = match &job.plan {
        Some(plan) => Plan::clone(plan),
        None => changes.draw(draw::scenario(&job.scenario)?, seed)?,
    };
    let is_judged = job.trial.is_judged || job.trace.is_some();
    let options = RunOptions {
        keep: if is_judged { Keep::Trace } else { Keep::DigestOnly },
        is_judged,
        scheduler_seed: args.scheduler_seed,
        leak: args.plant_leak,
        are_pins_optional: job.trial.are_pins_optional,
        counts_reach: job.trial.counts_reach,
        // The one who asked watches the clock too, and earlier: this process may hang and be ended.
        wall_limit: Duration::from_secs(args.run_limit_s),
    };
    let result = run::run_plan(&plan, &options)?;
    if let Some(path) = &job.trace {
        files::write_atomically(path, &report::trace_lines(&plan, &result.trace))?;
    }
    Ok(Answer::of(&result, &plan, job.trial))
}
