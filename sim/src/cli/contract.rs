//! `sim contract`: the forty rows of the seed contract, each with its verdict.

use super::args::{Changes, Format};
use super::console::Console;
use crate::contract::{Checked, check};
use crate::draw::Overrides;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::report::{self, Report};
use crate::text::{did_you_mean, printable, shortened, table};
use model::config::HostConfig;
use scenarios::contract::{self, Check, Row, Verdict};
use scenarios::ledgers::{ledgers, sum};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Arguments of `sim contract`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only this row, `A1` to `J5`; may be repeated
    #[arg(long = "row", value_name = "ID")]
    rows: Vec<String>,
    /// Print the plan of the one row that is named, and run nothing
    #[arg(long, requires = "rows", conflicts_with = "ledgers")]
    plan: bool,
    #[command(flatten)]
    changes: Changes,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also print what was taken and given back in the runs of these rows
    #[arg(long)]
    ledgers: bool,
    /// Folder that reports of rows go to that do not hold
    #[arg(long, value_name = "DIR", value_parser = super::args::folder, default_value = "reports")]
    reports: PathBuf,
}

/// Checks the rows and prints the table.
///
/// # Errors
/// Usage errors of the arguments; harness errors of runs, files and console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let config = HostConfig { defects: changes.defect_set(), ..HostConfig::default() };
    let rows = rows_named(&args.rows)?;
    if args.plan {
        return print_plan(&rows, &changes, console);
    }
    let mut all = Vec::new();
    for row in rows {
        all.push(check(row, &config, |plan| changes.change(plan))?);
    }
    let code = ExitCode::merge(all.iter().map(|checked| checked.exit_code));
    let runs = all.iter().filter_map(|checked| checked.ran.as_ref());
    let ledgers = args.ledgers.then(|| sum(runs.map(|(_, result)| ledgers(&result.trace))));
    match args.format {
        Format::Text => {
            console.print(&text(&all, args))?;
            if let Some(ledgers) = &ledgers {
                console.print(&report::text::ledgers(ledgers))?;
            }
        }
        Format::Json => {
            let rows = all.iter().map(|checked| json_row(checked, args)).collect::<Vec<_>>();
            let document = json!({"rows": rows, "exit_code": code.number()});
            console.print_json(&super::run::with_ledgers(document, ledgers.as_ref()))?;
        }
    }
    // What cannot be written is said after what was found.
    let failed = all.iter().filter(|checked| checked.verdict != Verdict::Held);
    for (plan, result) in failed.filter_map(|checked| checked.ran.as_ref()) {
        super::run::keep(plan, result, &Report::of(plan, result, &args.reports))?;
    }
    Ok(code)
}

fn print_plan(rows: &[&'static Row], changes: &Overrides, console: &mut Console) -> Result<ExitCode, Error> {
    let [row] = rows else {
        return Err(Error::usage("a plan is of one row: name one with `--row`"));
    };
    let Check::World { plan, .. } = row.check else {
        return Err(Error::usage(format!("{} calls a function and has no plan: name another row", row.id)));
    };
    console.print(&changes.change(plan())?.to_json())?;
    Ok(ExitCode::Held)
}

fn rows_named(ids: &[String]) -> Result<Vec<&'static Row>, Error> {
    if ids.is_empty() {
        return Ok(contract::rows().collect());
    }
    let named = |id: &String| {
        contract::row(id).ok_or_else(|| {
            let hint = did_you_mean(&id.to_uppercase(), contract::rows().map(|row| row.id), "sim contract");
            Error::usage(format!("the contract has no row `{}`: {hint}", shortened(id, 20)))
        })
    };
    // Twice the same row is one row.
    let mut rows: Vec<&'static Row> = Vec::new();
    for id in ids {
        let row = named(id)?;
        if rows.iter().all(|known| known.id != row.id) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Commands that check a row again.
fn commands(checked: &Checked, args: &Args) -> Vec<String> {
    let mut arguments = vec!["contract".to_owned(), "--row".to_owned(), checked.row.id.to_owned()];
    arguments.extend(args.changes.as_arguments());
    let mut commands = vec![arguments.join(" ")];
    let replay = checked.ran.as_ref().map(|(plan, _)| report::replay_of(plan, &args.reports));
    commands.extend(replay);
    commands.into_iter().map(|command| format!("cargo run -p sim -- {command}")).collect()
}

fn words(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Held => ("held", None),
        Verdict::NotHeld(why) => ("not held", Some(why)),
        Verdict::CannotTell(why) => ("cannot tell", Some(why)),
    }
}

/// A line a row, then how to check again what does not hold, then the sum.
fn text(all: &[Checked], args: &Args) -> String {
    let line = |checked: &Checked| {
        let (word, why) = words(&checked.verdict);
        let word = why.map_or(word.to_owned(), |why| format!("{word}: {}", printable(why)));
        vec![checked.row.id.to_owned(), checked.row.title.to_owned(), word]
    };
    let mut out = table(&all.iter().map(line).collect::<Vec<_>>(), &[]);
    for checked in all.iter().filter(|checked| checked.verdict != Verdict::Held) {
        for command in commands(checked, args) {
            let _ = writeln!(out, "{}  {}", checked.row.id, printable(&command));
        }
    }
    let count = |word| all.iter().filter(|checked| words(&checked.verdict).0 == word).count();
    let noun = if all.len() == 1 { "row" } else { "rows" };
    let (held, failed, open) = (count("held"), count("not held"), count("cannot tell"));
    let _ = writeln!(out, "contract: {} {noun}, {held} held, {failed} not held, {open} cannot tell", all.len());
    out
}

fn json_row(checked: &Checked, args: &Args) -> Json {
    let (verdict, why) = words(&checked.verdict);
    let telemetry = checked.ran.as_ref().map(|(_, result)| report::hex(result.trace.telemetry_digest));
    json!({
        "id": checked.row.id,
        "title": checked.row.title,
        "verdict": verdict,
        "why": why,
        "exit_code": checked.exit_code.number(),
        "telemetry_digest": telemetry,
        "reproduce": commands(checked, args),
    })
}
