//! `sim replay`: runs the plan of a file, or of an entry of the corpus; or says which assumptions its failure rests on.

use super::args::{self, Changes, Format, Reporting};
use super::console::Console;
use crate::assumptions;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::progress::Progress;
use crate::signature::Signature;
use crate::supervisor::WorkerSpec;
use crate::trial::{Answer, InWorker, Judge, TrialOptions};
use crate::{files, interrupt};
use scenarios::plan::Plan;
use std::path::PathBuf;
use std::time::Duration;

/// Wall-clock time that one run of a search for assumptions may take.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// Arguments of `sim replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The plan: as `sim plan` prints it, from a report, or an entry of the corpus
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// In place of the story, say which assumptions about the platform the failure rests on, and how well each is known; of
    /// an entry of the corpus the failure that it is kept for
    #[arg(long, conflicts_with_all = ["trace", "whole_story", "ledgers"])]
    assumptions: bool,
    /// With `--assumptions`: the failure that is meant, such as `liveness/idle-runtime-is-released/session`; the gravest
    /// if nothing is said
    #[arg(long, value_name = "SIGNATURE", requires = "assumptions")]
    signature: Option<Signature>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    reporting: Reporting,
}

/// Reads, runs and tells.
///
/// # Errors
/// Usage errors of the file, with the place in it, and of pins that its run does not ask for; harness errors of run, files and console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    super::run::check_trace(&args.reporting)?;
    check_trace_spares_plan(args)?;
    let changes = args.changes.read()?;
    let of_plan = |error| match error {
        Error::Usage(sentence) => Error::usage(format!("{}: {sentence}", files::shown(&args.file))),
        other => other,
    };
    if args.assumptions {
        let (plan, meant) = args::failing_plan(&args.file)?;
        let meant = args.signature.clone().or(meant);
        assume(&changes.change(plan).map_err(of_plan)?, meant, args.reporting.format, console).map_err(of_plan)
    } else {
        let (plan, is_entry) = args::plan_or_entry(&args.file)?;
        let plan = changes.change(plan).map_err(of_plan)?;
        super::run::run_and_tell(&plan, is_entry, Some(&args.file), &args.reporting, console)
    }
}

/// Finds what the failure rests on and tells it; the exit code is the failure's.
fn assume(plan: &Plan, meant: Option<Signature>, format: Format, console: &mut Console) -> Result<ExitCode, Error> {
    interrupt::notice()?;
    let mut judge = InWorker::new(WorkerSpec::plain(RUN_LIMIT));
    let signature = match meant {
        Some(signature) => signature,
        None => {
            let options = TrialOptions { is_judged: true, are_pins_optional: true, ..TrialOptions::default() };
            gravest(&judge.judge(plan, options)?)?
        }
    };
    let mut progress = Progress::new();
    let found = assumptions::find(plan, &signature, &mut judge, &mut |run_count| {
        progress.tell(|| format!("assumptions: {run_count} runs, at most about {}", assumptions::RUNS_MAX));
    });
    progress.clear();
    let found = found?;
    match format {
        Format::Text => console.print(&assumptions::text(&found))?,
        Format::Json => console.print_json(&assumptions::document(&found))?,
    }
    Ok(signature.outcome)
}

/// The gravest failure that a run shows.
fn gravest(answer: &Answer) -> Result<Signature, Error> {
    if let Some(found) = answer.harness_error() {
        return Err(Error::harness(format!("the harness fails over the plan: {}", found.what)));
    }
    let first = answer.findings.first().map(|found| found.signature.clone());
    let remedy = "give one that fails, or switch a defect on with `--defect`";
    first.ok_or_else(|| Error::usage(format!("the plan holds, and rests on no assumption: {remedy}")))
}

/// A trace is renamed over the file of its name: that must not be the plan.
fn check_trace_spares_plan(args: &Args) -> Result<(), Error> {
    let Some(trace) = &args.reporting.trace else { return Ok(()) };
    // A file that is not there yet has no true path, and takes the place of none.
    match (trace.canonicalize(), args.file.canonicalize()) {
        (Ok(one), Ok(other)) if one == other => {
            Err(Error::usage(format!("--trace {}: is the plan itself: name another file", files::shown(trace))))
        }
        _ => Ok(()),
    }
}
