//! `sim conform core`: the session class beside the real one, program by program.

use crate::cli::args::{Changes, CoreName, Format};
use crate::cli::console::Console;
use crate::conform::core::summary::Summary;
use crate::conform::core::{self, Difference, Played, Program, StepPlayed};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files;
use crate::text::{counted, did_you_mean, printable, shortened, table};
use model::defect::DefectSet;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Arguments of `sim conform core`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only this program, each of its steps with what was recorded and what happens here
    #[arg(long, value_name = "ID")]
    program: Option<String>,
    /// Programs of the same kind, gzipped or plain, in the place of the project's own
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Switch a historic bug on, to see which programs part; may be repeated (`sim list defects`)
    #[arg(long = "defect", value_name = "NAME")]
    defects: Vec<String>,
    /// The class as it was described and recorded, or with the bugs that were found here repaired
    #[arg(long, value_name = "CORE", default_value = "described")]
    core: CoreName,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// The most that a file of programs may have, in bytes.
const BYTES_MAX: usize = 256 * 1024 * 1024;

/// Replays and prints. A program that parts is a failure: what the real class does is always so.
///
/// # Errors
/// Usage errors of the arguments and the file; harness errors of console and data.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = Changes { defects: args.defects.clone(), settings: Vec::new(), core: Some(args.core) };
    let defects = changes.read()?.defect_set();
    let programs = match &args.file {
        Some(path) => {
            let bytes = files::read_bounded(path, "recording", BYTES_MAX)?;
            core::read(&bytes, &printable(&path.to_string_lossy()))?
        }
        None => core::recorded()?,
    };
    match &args.program {
        Some(id) => one(program_named(&programs, id)?, &defects, args.format, console),
        None => all(&programs, &defects, args.format, console),
    }
}

fn program_named<'a>(programs: &'a [Program], id: &str) -> Result<&'a Program, Error> {
    programs.iter().find(|program| program.id == *id).ok_or_else(|| {
        let hint = did_you_mean(id, programs.iter().map(|program| program.id.as_str()), "sim conform core");
        Error::usage(format!("no program is called `{}`: {hint}", shortened(id, 20)))
    })
}

fn code_of<'a>(parting: impl IntoIterator<Item = &'a Played>) -> ExitCode {
    ExitCode::merge(parting.into_iter().map(|played| match played.first_difference() {
        None => ExitCode::Held,
        Some((_, step)) if step.differences.iter().any(|difference| difference.what == "crash") => ExitCode::Crash,
        Some(_) => ExitCode::Safety,
    }))
}

fn all(programs: &[Program], defects: &DefectSet, format: Format, console: &mut Console) -> Result<ExitCode, Error> {
    let summary = Summary::of(programs, defects);
    let code = code_of(&summary.parting);
    match format {
        Format::Text => console.print(&text(&summary))?,
        Format::Json => {
            let parting: Vec<Json> = summary.parting.iter().map(json_parting).collect();
            console.print_json(&json!({
                "programs": summary.programs,
                "whole": summary.whole,
                "steps": summary.steps,
                "stretches": summary.stretches,
                "reordered": summary.reordered,
                "by_kind": summary.by_kind(),
                "parting": parting,
                "exit_code": code.number(),
            }))?;
        }
    }
    Ok(code)
}

/// Programs that are shown where they part, at most.
const SHOWN: usize = 20;

/// How many programs are whole and in what the others part first; where the first of those do; the sum.
fn text(summary: &Summary) -> String {
    let mut rows = vec![vec![summary.whole.to_string(), "whole".to_owned()]];
    rows.extend(summary.by_kind().iter().map(|(what, count)| vec![count.to_string(), format!("part first in {what}")]));
    let mut out = table(&rows, &[0]);
    for played in summary.parting.iter().take(SHOWN) {
        let Some((number, step)) = played.first_difference() else { continue };
        let _ = writeln!(out, "{}  step {number}  {}", printable(&played.id), printable(&shortened(&step.told, 120)));
        for difference in step.differences.iter().take(3) {
            let _ = writeln!(out, "    {}", printable(&shortened(&difference.text(), 300)));
        }
    }
    if summary.parting.len() > SHOWN {
        let _ = writeln!(out, "… and {} more, see `--program` and `--format json`", summary.parting.len() - SHOWN);
    }
    let _ = writeln!(out, "conform core: {}", summary.sentence());
    out
}

fn json_parting(played: &Played) -> Json {
    let first = played.first_difference();
    let differences: Vec<String> = first.iter().flat_map(|(_, step)| &step.differences).map(Difference::text).collect();
    json!({
        "program": played.id,
        "name": played.name,
        "step": first.map(|(number, _)| number),
        "operation": first.map(|(_, step)| step.told.as_str()),
        "differences": differences,
    })
}

fn one(program: &Program, defects: &DefectSet, format: Format, console: &mut Console) -> Result<ExitCode, Error> {
    let played = core::play(program, defects, true);
    let code = code_of([&played]);
    match format {
        Format::Text => {
            let mut out = String::new();
            let title = [played.id.as_str(), played.name.as_deref().unwrap_or_default()].join("  ");
            let _ = writeln!(out, "{}", printable(title.trim_end()));
            for (number, step) in played.steps.iter().enumerate() {
                side_by_side(&mut out, number, step);
            }
            let parting = played.steps.iter().filter(|step| !step.differences.is_empty()).count();
            let _ = writeln!(out, "conform core: {}, {parting} of them part", counted(played.steps.len(), "step"));
            console.print(&out)?;
        }
        Format::Json => {
            let steps: Vec<Json> = played.steps.iter().map(json_step).collect();
            let (program, name, number) = (&played.id, &played.name, code.number());
            console.print_json(&json!({"program": program, "name": name, "steps": steps, "exit_code": number}))?;
        }
    }
    Ok(code)
}

fn json_step(step: &StepPlayed) -> Json {
    let differences: Vec<String> = step.differences.iter().map(Difference::text).collect();
    json!({"operation": step.told, "recorded": step.recorded, "here": step.here, "differences": differences})
}

/// What was recorded of a step on the left, what happens here on the right; then where they part.
fn side_by_side(out: &mut String, number: usize, step: &StepPlayed) {
    let _ = writeln!(out, "step {number}  {}", printable(&step.told));
    let lines = step.recorded.len().max(step.here.len());
    let side = |events: &[Json], index: usize| {
        let event = events.get(index).map(Json::to_string).unwrap_or_default();
        printable(&shortened(&event, 76)).into_owned()
    };
    for index in 0..lines {
        let _ = writeln!(out, "    {:<78}{}", side(&step.recorded, index), side(&step.here, index));
    }
    for difference in &step.differences {
        let _ = writeln!(out, "  part: {}", printable(&shortened(&difference.text(), 600)));
    }
}
