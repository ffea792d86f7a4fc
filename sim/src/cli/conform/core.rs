//! `sim conform core`: the session class beside the real one, program by program.

use crate::cli::args::Format;
use crate::cli::console::Console;
use crate::conform::core::summary::{Summary, UNKNOWN};
use crate::conform::core::{self, Played, Program, StepPlayed};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files;
use crate::text::{counted, did_you_mean, printable, shortened, table};
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
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// The most that a file of programs may have, in bytes.
const BYTES_MAX: usize = 256 * 1024 * 1024;

/// Replays and prints.
///
/// # Errors
/// Usage errors of the arguments and the file; harness errors of console and data.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let programs = match &args.file {
        Some(path) => {
            core::read(&files::read_bounded(path, "recording", BYTES_MAX)?, &printable(&path.to_string_lossy()))?
        }
        None => core::recorded()?,
    };
    match &args.program {
        Some(id) => one(program_named(&programs, id)?, args.format, console),
        None => all(&programs, args.format, console),
    }
}

fn program_named<'a>(programs: &'a [Program], id: &str) -> Result<&'a Program, Error> {
    programs.iter().find(|program| program.id == *id).ok_or_else(|| {
        let hint = did_you_mean(id, programs.iter().map(|program| program.id.as_str()), "sim conform core");
        Error::usage(format!("no program is called `{}`: {hint}", shortened(id, 20)))
    })
}

/// A disagreement is a failure: what the real class does is always so.
fn code(agrees: bool) -> ExitCode {
    if agrees { ExitCode::Held } else { ExitCode::Safety }
}

fn all(programs: &[Program], format: Format, console: &mut Console) -> Result<ExitCode, Error> {
    let summary = Summary::of(programs);
    let code = code(summary.is_explained());
    match format {
        Format::Text => console.print(&text(&summary))?,
        Format::Json => {
            let parting: Vec<Json> = summary.parting.iter().map(|each| parting(&each.played, each.reason)).collect();
            console.print_json(&json!({
                "programs": summary.programs,
                "whole": summary.whole,
                "steps": summary.steps,
                "reordered": summary.reordered,
                "by_reason": summary.by_reason(),
                "parting": parting,
                "exit_code": code.number(),
            }))?;
        }
    }
    Ok(code)
}

/// Programs that part without a known reason, at most so many, then the sum.
const SHOWN: usize = 40;

fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let mut rows = vec![["programs", "reason"].map(str::to_owned).to_vec()];
    rows.push(vec![summary.whole.to_string(), "whole".to_owned()]);
    rows.extend(summary.by_reason().iter().map(|(reason, count)| vec![count.to_string(), (*reason).to_owned()]));
    out.push_str(&table(&rows, &[0]));
    let unknown: Vec<_> = summary.parting.iter().filter(|each| each.reason.is_none()).collect();
    for each in unknown.iter().take(SHOWN) {
        let Some((number, step)) = each.played.first_difference() else { continue };
        let _ = writeln!(out, "{}  step {number}  {}", printable(&each.played.id), printable(&step.told));
        for difference in step.differences.iter().take(3) {
            let _ = writeln!(out, "    {}", printable(&shortened(&difference.text(), 400)));
        }
    }
    if unknown.len() > SHOWN {
        let _ = writeln!(out, "… and {} more", unknown.len() - SHOWN);
    }
    let _ = writeln!(out, "conform core: {}", summary.sentence());
    out
}

fn parting(played: &Played, reason: Option<&str>) -> Json {
    let first = played.first_difference();
    let differences: Vec<String> = first.iter().flat_map(|(_, step)| &step.differences).map(core::told).collect();
    json!({
        "program": played.id,
        "name": played.name,
        "step": first.map(|(number, _)| number),
        "operation": first.map(|(_, step)| step.told.as_str()),
        "differences": differences,
        "reason": reason.unwrap_or(UNKNOWN),
    })
}

fn one(program: &Program, format: Format, console: &mut Console) -> Result<ExitCode, Error> {
    let played = core::play(program, &core::described(), true);
    let reason = core::reason(&played);
    let code = code(played.is_whole() || reason.is_some());
    match format {
        Format::Text => {
            let mut out = String::new();
            let _ =
                writeln!(out, "{}  {}", printable(&played.id), printable(played.name.as_deref().unwrap_or_default()));
            for (number, step) in played.steps.iter().enumerate() {
                side_by_side(&mut out, number, step);
            }
            let parts = played.steps.iter().filter(|step| !step.differences.is_empty()).count();
            let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let steps = counted(played.steps.len(), "step");
            let _ = writeln!(out, "conform core: {steps}, {parts} of them part{why}");
            console.print(&out)?;
        }
        Format::Json => {
            let steps: Vec<Json> = played.steps.iter().map(json_step).collect();
            let (program, name, number) = (&played.id, &played.name, code.number());
            let document = json!({
                "program": program, "name": name, "steps": steps, "reason": reason, "exit_code": number,
            });
            console.print_json(&document)?;
        }
    }
    Ok(code)
}

fn json_step(step: &StepPlayed) -> Json {
    let differences: Vec<String> = step.differences.iter().map(core::told).collect();
    json!({
        "operation": step.told, "recorded": step.recorded, "here": step.here, "differences": differences,
        "reordered": step.reordered,
    })
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
