//! `sim plan`: the plan of a seed, to look at, to edit and to replay.

use super::args::{self, Changes};
use super::console::Console;
use crate::draw;
use crate::error::Error;
use crate::exit_code::ExitCode;
use scenarios::seed::Seed;

/// Arguments of `sim plan`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The scenario that draws it
    #[arg(long, value_name = "ID")]
    scenario: String,
    /// The seed it is drawn from: decimal, hexadecimal, `_` between digits
    #[arg(long, value_name = "N", value_parser = args::seed, allow_negative_numbers = true)]
    seed: Seed,
    #[command(flatten)]
    changes: Changes,
}

/// Prints the plan as JSON.
///
/// # Errors
/// Usage errors of the arguments; those of the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let plan = args.changes.read()?.draw(draw::scenario(&args.scenario)?, args.seed)?;
    console.print(&plan.to_json())?;
    Ok(ExitCode::Held)
}
