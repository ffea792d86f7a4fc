//! `sim replay`: runs the plan of a file, or of an entry of the corpus; no generator is needed for it.

use super::args::{self, Changes, Reporting};
use super::console::Console;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files;
use std::path::PathBuf;

/// Arguments of `sim replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The plan: as `sim plan` prints it, from a report, or an entry of the corpus
    #[arg(value_name = "FILE")]
    file: PathBuf,
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
    let (plan, is_entry) = args::plan_or_entry(&args.file)?;
    let plan = args.changes.read()?.change(plan)?;
    let told = super::run::run_and_tell(&plan, is_entry, &args.reporting, console);
    told.map_err(|error| match error {
        Error::Usage(sentence) => Error::usage(format!("{}: {sentence}", files::shown(&args.file))),
        other => other,
    })
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
