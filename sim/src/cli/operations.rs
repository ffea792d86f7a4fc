//! `sim operations`: the suspension points of the modelled host, as its code really has them.

use super::console::Console;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Arguments of `sim operations`: none yet.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

/// Prints the table.
///
/// # Errors
/// Those of the console.
pub fn execute(_: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    console.print(&crate::world::operations_table()?)?;
    Ok(ExitCode::Held)
}
