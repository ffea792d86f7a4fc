//! `sim run`, the default: a seed through every scenario of the catalog, a line each; or through one, with its story.

use super::args::{self, Changes, Format, Reporting};
use super::console::{Console, complain};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::report::{self, Report};
use crate::run::{RunOptions, RunResult, run_plan};
use crate::text::printable;
use crate::{draw, files};
use scenarios::catalog::Scenario;
use scenarios::ledgers::{Ledger, sum};
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;

/// Arguments of `sim run`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The seed: decimal, hexadecimal, `_` between digits; without it one is drawn and printed first
    #[arg(long, value_name = "N", value_parser = args::seed, allow_negative_numbers = true)]
    seed: Option<Seed>,
    /// Only this scenario, and tell its story
    #[arg(long, value_name = "ID")]
    scenario: Option<String>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    reporting: Reporting,
}

/// Draws, runs and tells.
///
/// # Errors
/// Usage errors of the arguments; harness errors of runs, files and the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let scenario = args.scenario.as_deref().map(draw::scenario).transpose()?;
    if scenario.is_none() && args.reporting.trace.is_some() {
        return Err(Error::usage("a trace is of one run: name its scenario with `--scenario`"));
    }
    check_trace(&args.reporting)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => drawn_and_printed(args.reporting.format, console)?,
    };
    match scenario {
        Some(scenario) => run_and_tell(&changes.draw(scenario, seed)?, false, None, &args.reporting, console),
        None => run_catalog(seed, &changes, &args.reporting, console),
    }
}

/// A trace cannot take the place of a folder, and its folder is there; that is said before anything runs.
pub fn check_trace(reporting: &Reporting) -> Result<(), Error> {
    match &reporting.trace {
        Some(path) if path.is_dir() => {
            Err(Error::usage(format!("--trace {}: is a directory: name a file in it", files::shown(path))))
        }
        // The file is written beside and renamed over the name, which would replace a device, a pipe or a link.
        Some(path) if path.symlink_metadata().is_ok_and(|found| !found.is_file()) => {
            Err(Error::usage(format!("--trace {}: is no ordinary file: name a new file", files::shown(path))))
        }
        Some(path) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            match folder.filter(|folder| !folder.is_dir()) {
                Some(folder) => Err(Error::usage(format!(
                    "--trace {}: there is no folder {}: make it first",
                    files::shown(path),
                    files::shown(folder)
                ))),
                None => files::check_writable(path),
            }
        }
        None => Ok(()),
    }
}

/// A seed from the system's entropy, printed before anything can hang.
fn drawn_and_printed(format: Format, console: &mut Console) -> Result<Seed, Error> {
    let seed = args::drawn_seed();
    match format {
        Format::Text => console.print(&format!("seed {seed}\n"))?,
        // Standard output is one JSON document, in which the seed stands as well.
        Format::Json => complain(&format!("seed {seed}")),
    }
    Ok(seed)
}

/// Runs one plan and tells its story and what was found; a failure leaves its files. Pins without effect are a person's
/// mistake unless they are optional; then they are told. `origin` is the file that the plan stands in.
///
/// # Errors
/// A usage error for pins that do not fit the run; harness errors of run, files and console.
pub fn run_and_tell(
    plan: &Plan,
    are_pins_optional: bool,
    origin: Option<&Path>,
    reporting: &Reporting,
    console: &mut Console,
) -> Result<ExitCode, Error> {
    let result = run_plan(plan, &RunOptions { are_pins_optional, ..options() })?;
    if let Some(why) = &result.refused {
        let place = origin.map_or(String::new(), |file| format!("{}: ", files::shown(file)));
        return Err(Error::usage(format!("{place}{why}")));
    }
    if let Some(note) = note_on_pins(&result.unused_pins) {
        complain(&note);
    }
    let report = Report::of(plan, &result, &reporting.reports);
    // What cannot be written is said after what was found, which nothing keeps from being told.
    let traced = reporting
        .trace
        .as_ref()
        .map_or(Ok(()), |path| files::write_atomically(path, &report::trace_lines(plan, &result.trace)));
    let kept = keep_if_failed(plan, &result, &report);
    match reporting.format {
        Format::Text => {
            console.print(&report::text::story(&report, reporting.whole_story, console.style))?;
            console.print(&report::text::findings(&report, console.style))?;
            console.print(&report::text::summary(&report, console.style))?;
            if reporting.ledgers {
                console.print(&report::text::ledgers(&report.ledgers))?;
            }
        }
        Format::Json => {
            let document = report::json::document(&report);
            console.print_json(&with_ledgers(document, reporting.ledgers.then_some(&report.ledgers)))?;
        }
    }
    traced.and(kept).map(|()| result.outcome())
}

/// What is said of pins without effect, if there are any.
pub fn note_on_pins(unused: &[String]) -> Option<String> {
    let first = printable(unused.first()?);
    Some(format!("note: {} of the pins have no effect in this run, such as {first}", unused.len()))
}

/// A document, with the ledgers if they are asked for.
pub fn with_ledgers(mut document: Json, ledgers: Option<&Vec<Ledger>>) -> Json {
    if let Some(ledgers) = ledgers {
        document["ledgers"] = report::json::ledgers(ledgers);
    }
    document
}

fn options() -> RunOptions {
    RunOptions { wall_limit: Duration::from_secs(120), ..RunOptions::default() }
}

/// Runs a seed through every scenario: a line each, the blocks of what failed, a line for all of them.
fn run_catalog(
    seed: Seed,
    changes: &draw::Overrides,
    reporting: &Reporting,
    console: &mut Console,
) -> Result<ExitCode, Error> {
    let scenarios: Vec<&Scenario> = draw::scenarios().collect();
    let widest = scenarios.iter().map(|scenario| scenario.id.len()).max().unwrap_or(0);
    let mut reports = Vec::new();
    let mut kept = Ok(());
    for scenario in scenarios {
        let plan = changes.draw(scenario, seed)?;
        let result = run_plan(&plan, &options())?;
        let report = Report::of(&plan, &result, &reporting.reports);
        if reporting.format == Format::Text {
            console.print(&report::text::line(&report, widest, console.style))?;
        }
        // The first failure to write is told, after everything that was found.
        kept = kept.and(keep_if_failed(&plan, &result, &report));
        reports.push(report);
    }
    let code = ExitCode::merge(reports.iter().map(|report| report.outcome));
    let ledgers = reporting.ledgers.then(|| sum(reports.iter().map(|report| report.ledgers.clone())));
    match reporting.format {
        Format::Text => {
            for report in reports.iter().filter(|report| report.outcome != ExitCode::Held) {
                console.print("\n")?;
                console.print(&report::text::findings(report, console.style))?;
            }
            console.print(&report::text::catalog_summary(seed, &reports))?;
            if let Some(ledgers) = &ledgers {
                console.print(&report::text::ledgers(ledgers))?;
            }
        }
        Format::Json => {
            let document = json!({
                "seed": seed.to_string(),
                "runs": reports.iter().map(report::json::line).collect::<Vec<_>>(),
                "exit_code": code.number(),
            });
            console.print_json(&with_ledgers(document, ledgers.as_ref()))?;
        }
    }
    kept.map(|()| code)
}

/// Keeps a run that did not hold.
fn keep_if_failed(plan: &Plan, result: &RunResult, report: &Report) -> Result<(), Error> {
    if report.outcome == ExitCode::Held { Ok(()) } else { keep(plan, result, report) }
}

/// Writes the files of a run: a plan to replay, the trace, the report twice.
///
/// # Errors
/// A harness error when one cannot be written.
pub fn keep(plan: &Plan, result: &RunResult, report: &Report) -> Result<(), Error> {
    let folder = &report.folder;
    files::write_atomically(&folder.join("plan.json"), plan.to_json().as_bytes())?;
    files::write_atomically(&folder.join("trace.jsonl"), &report::trace_lines(plan, &result.trace))?;
    files::write_atomically(&folder.join("report.txt"), report::text::whole(report).as_bytes())?;
    files::write_atomically(&folder.join("report.json"), format!("{:#}\n", report::json::document(report)).as_bytes())
}
