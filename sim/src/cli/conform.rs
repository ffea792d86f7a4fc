//! `sim conform`: the model beside the real thing, as it was recorded.

mod core;

use super::args::Format;
use super::console::Console;
use crate::conform::{self, Outcome, Verdict};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::text::{counted, did_you_mean, printable, shortened, table};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// Arguments of `sim conform`.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only this probe, and both values side by side
    #[arg(long = "probe", value_name = "ID")]
    probe: Option<String>,
    /// Only the suites whose name begins so, as `core` or `core/2026-05-26`
    #[arg(long, value_name = "SUITE")]
    suite: Option<String>,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Do to the session class here what was done to the real one, and compare
    Core(core::Args),
}

/// Characters of a value in the table.
const SHOWN: usize = 48;

/// Replays and prints.
///
/// # Errors
/// Usage errors of the arguments; harness errors of data, threads and console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    if let Some(Command::Core(args)) = &args.command {
        return core::execute(args, console);
    }
    check_names(args)?;
    let in_suite = |suite: &str| args.suite.as_ref().is_none_or(|wanted| suite.starts_with(wanted.as_str()));
    let outcomes = conform::check(|suite, id| in_suite(suite) && args.probe.as_ref().is_none_or(|probe| probe == id))?;
    if let (true, Some(probe), Some(suite)) = (outcomes.is_empty(), &args.probe, &args.suite) {
        let (probe, suite) = (shortened(probe, 20), shortened(suite, 40));
        return Err(Error::usage(format!(
            "no suite that begins with `{suite}` has a record of probe `{probe}`: leave one of the two away"
        )));
    }
    let code = ExitCode::merge(outcomes.iter().map(|outcome| outcome.verdict.exit_code()));
    match args.format {
        Format::Json => {
            let rows: Vec<Json> = outcomes.iter().map(json_row).collect();
            console.print_json(&json!({"probes": rows, "summary": counts(&outcomes), "exit_code": code.number()}))?;
        }
        Format::Text if args.probe.is_some() => console.print(&side_by_side(&outcomes))?,
        Format::Text => console.print(&listed(&outcomes))?,
    }
    Ok(code)
}

fn check_names(args: &Args) -> Result<(), Error> {
    if let Some(suite) = &args.suite {
        let names = conform::suite_names()?;
        if !names.iter().any(|name| name.starts_with(suite.as_str())) {
            let shown = shortened(suite, 40);
            return Err(Error::usage(format!(
                "no suite of probes begins with `{shown}`: there are {}",
                names.join(", ")
            )));
        }
    }
    let Some(probe) = &args.probe else { return Ok(()) };
    let ids = conform::probe_ids()?;
    if ids.contains(probe) {
        return Ok(());
    }
    let hint = did_you_mean(probe, ids.iter().map(String::as_str), "sim conform");
    Err(Error::usage(format!("no probe is called `{}`: {hint}", shortened(probe, 20))))
}

/// A line a record, and how many there are of each verdict.
fn listed(outcomes: &[Outcome]) -> String {
    let heads = ["probe", "suite", "verdict", "real", "simulated"].map(str::to_owned).to_vec();
    let rows = outcomes.iter().map(|outcome| {
        let (real, simulated) = match (&outcome.verdict, &outcome.simulated) {
            (Verdict::NotReplayed(why), _) => ((*why).to_owned(), String::new()),
            (Verdict::Excused(why), _) => ((*why).to_owned(), String::new()),
            (Verdict::Crashed(caught), _) => (printable(&caught.message).into_owned(), String::new()),
            (_, simulated) => {
                let real = outcome.real.iter().map(Json::to_string).collect::<Vec<_>>().join(" or ");
                (real, simulated.as_ref().map(Json::to_string).unwrap_or_default())
            }
        };
        let short = |text: &str| printable(&shortened(text, SHOWN)).into_owned();
        vec![
            outcome.id.clone(),
            outcome.suite.clone(),
            outcome.verdict.word().to_owned(),
            short(&real),
            short(&simulated),
        ]
    });
    let mut out = table(&std::iter::once(heads).chain(rows).collect::<Vec<_>>(), &[]);
    out.push_str(&summary(outcomes));
    out
}

fn summary(outcomes: &[Outcome]) -> String {
    let count = |word: &str| outcomes.iter().filter(|outcome| outcome.verdict.word() == word).count();
    let replayed = outcomes.len() - count("not replayed");
    let stale = match count("excused, but agrees") {
        0 => String::new(),
        stale => format!(", {stale} excused in vain"),
    };
    let in_part = |outcome: &&Outcome| outcome.verdict == Verdict::Agrees && !outcome.left_out.is_empty();
    let in_part = match outcomes.iter().filter(in_part).count() {
        0 => String::new(),
        count => format!(" ({count} of them without the parts that are left out)"),
    };
    let crashed = match count("crashed") {
        0 => String::new(),
        crashed => format!(", {crashed} crashed"),
    };
    format!(
        "conform: {}, {replayed} replayed, {} agree{in_part}, {} differ, {} excused{stale}{crashed}, {} not replayed\n",
        counted(outcomes.len(), "record"),
        count("agrees"),
        count("differs"),
        count("excused"),
        count("not replayed"),
    )
}

fn counts(outcomes: &[Outcome]) -> Json {
    let mut counts = serde_json::Map::new();
    for outcome in outcomes {
        let so_far = counts.get(outcome.verdict.word()).and_then(Json::as_u64).unwrap_or(0);
        counts.insert(outcome.verdict.word().to_owned(), json!(so_far + 1));
    }
    Json::Object(counts)
}

fn why(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Excused(why) | Verdict::StaleExcuse(why) | Verdict::NotReplayed(why) => Some(why),
        Verdict::Crashed(caught) => Some(&caught.message),
        Verdict::Agrees | Verdict::Differs => None,
    }
}

/// One probe in full: what it does, and both values in each suite.
fn side_by_side(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        let _ = writeln!(out, "{}  {}", printable(&outcome.id), printable(&outcome.description));
        let _ = writeln!(out, "  suite      {}: {}", outcome.suite, printable(&outcome.suite_title));
        for real in &outcome.real {
            let _ = writeln!(out, "  real       {}", printable(&real.to_string()));
        }
        if let Some(simulated) = &outcome.simulated {
            let _ = writeln!(out, "  simulated  {}", printable(&simulated.to_string()));
        }
        for (what, value, why) in &outcome.drawn {
            let _ = writeln!(out, "  drawn      {what} = {value}: {why}");
        }
        for (path, why) in &outcome.left_out {
            let _ = writeln!(out, "  left out   {path}: {why}");
        }
        for path in &outcome.excused {
            let _ = writeln!(out, "  excused    {path}");
        }
        let reason = why(&outcome.verdict).map(|why| format!(": {}", printable(why))).unwrap_or_default();
        let _ = writeln!(out, "  verdict    {}{reason}", outcome.verdict.word());
    }
    out.push_str(&summary(outcomes));
    out
}

fn json_row(outcome: &Outcome) -> Json {
    let left_out: Vec<Json> = outcome.left_out.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
    let drawn: Vec<Json> =
        outcome.drawn.iter().map(|(what, value, why)| json!({"what": what, "value": value, "why": why})).collect();
    json!({
        "drawn": drawn, "probe": outcome.id, "suite": outcome.suite, "description": outcome.description, "group": outcome.group,
        "excused": outcome.excused, "real": outcome.real, "simulated": outcome.simulated, "left_out": left_out,
        "verdict": outcome.verdict.word(), "why": why(&outcome.verdict),
    })
}
