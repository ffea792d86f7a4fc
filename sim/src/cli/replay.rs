//! `sim replay`: runs the plan of a file; no generator is needed for it.

use super::args::{self, Changes, Reporting};
use super::console::Console;
use crate::error::Error;
use crate::exit_code::ExitCode;
use std::path::PathBuf;

/// Arguments of `sim replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The plan: as `sim plan` prints it, or from a report
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
/// Usage errors of the file, with the place in it; harness errors of run, files and console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    super::run::check_trace(&args.reporting)?;
    let plan = args.changes.read()?.change(args::plan_file(&args.file)?)?;
    super::run::run_and_tell(&plan, &args.reporting, console)
}
