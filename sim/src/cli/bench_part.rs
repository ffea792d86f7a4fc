//! `sim bench-part`: one thing that `bench` wants done in a process of its own; not meant for people.

use super::args::Changes;
use super::console::Console;
use crate::bench::part::Part;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Arguments of `sim bench-part`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to do, as JSON
    part: String,
    #[command(flatten)]
    changes: Changes,
}

/// Does it and answers with a line of JSON.
///
/// # Errors
/// A usage error for a part that cannot be read; harness errors of runs and the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let refused = |error: serde_json::Error| Error::usage(crate::text::shortened(&format!("no part: {error}"), 200));
    let part: Part = serde_json::from_str(&args.part).map_err(refused)?;
    let answer = part.perform(&changes)?;
    let line = serde_json::to_string(&answer).expect("an answer is plain data");
    console.print(&format!("{line}\n"))?;
    Ok(ExitCode::Held)
}
