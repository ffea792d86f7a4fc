//! `sim shrink`: makes a plan that fails as small and simple as it can be, and tells the failure of what is left.

use super::args::{self, Changes, Format};
use super::console::{Console, complain};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::progress::Progress;
use crate::report::{self, Report};
use crate::run::{RunOptions, run_plan};
use crate::shrink::{self, Budget, Ending, RUNS_DEFAULT, Shrinking};
use crate::signature::Signature;
use crate::supervisor::WorkerSpec;
use crate::trial::{InWorker, Judge, TrialOptions};
use crate::{draw, files, interrupt};
use scenarios::bad_input::PLAN_BYTES_MAX;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `sim shrink`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The plan: as `sim plan` prints it, or from a report
    #[arg(value_name = "PLAN", required_unless_present = "scenario", conflicts_with = "scenario")]
    file: Option<PathBuf>,
    /// In place of a file: the plan that this scenario draws
    #[arg(long, value_name = "ID", requires = "seed")]
    scenario: Option<String>,
    /// The seed that it draws it from
    #[arg(long, value_name = "N", value_parser = args::seed, requires = "scenario", conflicts_with = "file")]
    seed: Option<Seed>,
    #[command(flatten)]
    changes: Changes,
    /// What the plan must go on to show, such as `liveness/idle-runtime-is-released/session`; the gravest it shows
    /// if nothing is said
    #[arg(long, value_name = "SIGNATURE")]
    signature: Option<Signature>,
    /// Runs that may be spent, 10 to 1000000000
    #[arg(long, value_name = "RUNS", default_value_t = RUNS_DEFAULT, value_parser = clap::value_parser!(u64).range(10..=1_000_000_000))]
    budget: u64,
    /// Where to write the shrunk plan; `shrunk.json` in the folder of the plan's report if nothing is said
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Wall-clock time that one run may take, 1 to 86400 seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_limit_s: u64,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Folder that reports of failures are written to
    #[arg(long, value_name = "DIR", value_parser = super::args::folder, default_value = "reports")]
    reports: PathBuf,
}

/// Everything that was written and is to be told.
struct Told<'a> {
    signature: &'a Signature,
    shrinking: &'a Shrinking,
    /// The shrunk plan's file; nothing when it could not be written.
    file: Option<&'a Path>,
    /// Files of what else was met.
    others: &'a [(Signature, PathBuf)],
    /// The run of the shrunk plan.
    report: &'a Report,
}

/// Shrinks, writes and tells.
///
/// # Errors
/// Usage errors of the arguments and of a plan that holds; harness errors of runs, files and the console; an interruption
/// before anything was found.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let (plan, origin) = plan_of(args)?;
    let folder = report::folder_of(&plan, &args.reports);
    let file = args.out.clone().unwrap_or_else(|| folder.join("shrunk.json"));
    check_out(&file, args.file.as_deref())?;
    interrupt::notice()?;
    let mut judge = InWorker::new(WorkerSpec::plain(Duration::from_secs(args.run_limit_s)));
    let signature = match &args.signature {
        Some(signature) => signature.clone(),
        None => {
            let options = TrialOptions { is_judged: true, are_pins_optional: true, ..TrialOptions::default() };
            let answer = judge.judge(&plan, options)?;
            shrink::gravest(&answer).cloned().map_err(|error| of_plan(&origin, error))?
        }
    };
    // Said before thousands of runs, not after them.
    files::check_writable(&file)?;
    let mut progress = Progress::new();
    let mut is_begun = false;
    let budget = Budget { runs: args.budget };
    let shrunk = shrink::shrink(&plan, &signature, &budget, &mut judge, &mut |at| {
        if !std::mem::replace(&mut is_begun, true) {
            progress.note(&format!("shrink: {signature}, at most {} runs", at.run_max));
        }
        progress.tell(|| line_of(at));
    });
    progress.clear();
    let shrinking = shrunk.map_err(|error| of_plan(&origin, error))?;
    if let Some(note) = super::run::note_on_pins(&shrinking.unused_pins) {
        complain(&format!("{note}: they are dropped"));
    }
    let kept = keep(&shrinking, &file);
    match &shrinking.ending {
        Ending::Interrupted => {
            kept?;
            complain(&format!(
                "interrupted: the least plan so far, which is not minimal, is in {}",
                files::shown(&file)
            ));
            return Ok(ExitCode::Interrupted);
        }
        Ending::Harness { what, plan } => return kept.and_then(|_| Err(broken(what, plan, &file))),
        Ending::Minimal | Ending::Spent => {}
    }
    let result = run_plan(&shrinking.plan, &RunOptions::default())?;
    let mut report = Report::of(&shrinking.plan, &result, &args.reports);
    // Of the plan itself nobody can tell any more what it was drawn from.
    report.seed = plan.seed.to_string();
    report.reproduce = vec![format!("cargo run -p sim -- {}", report::replay_of_file(&file))];
    let told = Told {
        signature: &signature,
        shrinking: &shrinking,
        file: kept.is_ok().then_some(&*file),
        others: kept.as_deref().unwrap_or_default(),
        report: &report,
    };
    match args.format {
        Format::Text => {
            console.print(&text(&told))?;
            console.print(&report::text::findings(&report, console.style))?;
            console.print(&report::text::summary(&report, console.style))?;
        }
        Format::Json => console.print_json(&document(&told))?,
    }
    // What cannot be written is said after what was found, which nothing keeps from being told.
    kept.map(|_| result.outcome())
}

/// Writes the shrunk plan, and beside it what else was met.
fn keep(shrinking: &Shrinking, file: &Path) -> Result<Vec<(Signature, PathBuf)>, Error> {
    files::write_atomically(file, shrinking.plan.to_json().as_bytes())?;
    write_others(shrinking, file.parent().unwrap_or(Path::new(".")))
}

/// The plan that is handed in stays as it is, and only ordinary files are replaced.
fn check_out(out: &Path, plan: Option<&Path>) -> Result<(), Error> {
    let is_same =
        |other: &Path| matches!((out.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other);
    let problem =
        occupied(out).or_else(|| plan.is_some_and(is_same).then_some("is the plan itself: name another file"));
    problem.map_or(Ok(()), |problem| Err(Error::usage(format!("--out {}: {problem}", files::shown(out)))))
}

/// Why a file must not be replaced; nothing when there is none, or one that holds a plan.
fn occupied(file: &Path) -> Option<&'static str> {
    let Ok(found) = file.symlink_metadata() else { return None };
    if file.is_dir() {
        return Some("is a directory: name a file in it");
    }
    if !found.is_file() {
        return Some("is no ordinary file: name a new file");
    }
    let is_other = |bytes: &[u8]| crate::corpus::Entry::is_one(bytes) || Plan::parse(bytes).is_err();
    let is_plan = files::read_bounded(file, "plan", PLAN_BYTES_MAX).is_ok_and(|bytes| !is_other(&bytes));
    (!is_plan).then_some("holds something else than a plan: name a new file")
}

/// The first of `name.json`, `name-2.json` and so on that holds nothing but perhaps a plan.
fn vacant(folder: &Path, name: &str) -> PathBuf {
    let numbered = (2_u64..).map(|number| format!("{name}-{number}.json"));
    let mut names = std::iter::once(format!("{name}.json")).chain(numbered);
    names.find_map(|name| Some(folder.join(name)).filter(|file| occupied(file).is_none())).expect("names do not end")
}

/// The plan, and what it is called in complaints.
fn plan_of(args: &Args) -> Result<(Plan, String), Error> {
    let changes = args.changes.read()?;
    match (&args.file, &args.scenario, args.seed) {
        (Some(file), ..) => Ok((changes.change(args::plan_file(file)?)?, files::shown(file))),
        (None, Some(scenario), Some(seed)) => {
            let scenario = draw::scenario(scenario)?;
            Ok((changes.draw(scenario, seed)?, format!("{} seed {seed}", scenario.id)))
        }
        _ => Err(Error::usage("there is nothing to shrink: name a plan, or `--scenario` and `--seed`")),
    }
}

fn of_plan(origin: &str, error: Error) -> Error {
    let told = |sentence: &str| format!("{origin}: {sentence}");
    match error {
        Error::Usage(sentence) => Error::usage(told(&sentence)),
        Error::Harness(sentence) => Error::harness(told(&sentence)),
        Error::Interrupted => Error::Interrupted,
    }
}

/// Each finding that was met on the way, as a plan of its own.
fn write_others(shrinking: &Shrinking, folder: &Path) -> Result<Vec<(Signature, PathBuf)>, Error> {
    let mut written = Vec::new();
    for (signature, plan) in &shrinking.others {
        let file = vacant(folder, &format!("met-{}", signature.file_name()));
        files::write_atomically(&file, plan.to_json().as_bytes())?;
        written.push((signature.clone(), file));
    }
    Ok(written)
}

/// The harness failed over a candidate: that plan is kept, and so is the least one so far.
fn broken(what: &str, culprit: &Plan, shrunk: &Path) -> Error {
    let file = vacant(shrunk.parent().unwrap_or(Path::new(".")), "harness-error");
    if let Err(error) = files::write_atomically(&file, culprit.to_json().as_bytes()) {
        return error;
    }
    Error::harness(format!(
        "the harness failed over a candidate: {}: it is in {}, the least plan before it in {}",
        crate::text::printable(what),
        files::shown(&file),
        files::shown(shrunk)
    ))
}

fn text(told: &Told<'_>) -> String {
    let summary = &told.shrinking.summary;
    let mut out = format!("{}\n", told.signature);
    for (at, line) in shrink::lines(summary).iter().enumerate() {
        let label = if at == 0 { "shrunk" } else { "" };
        let _ = writeln!(out, "  {label:<10} {line}");
    }
    let place = told.file.map_or_else(|| "nowhere, it follows".to_owned(), files::shown);
    let _ = writeln!(out, "  {:<10} {place}, after {} runs", "written", summary.run_count);
    for (signature, file) in told.others {
        let _ = writeln!(out, "  {:<10} {signature}, see {}", "also met", files::shown(file));
    }
    out.push('\n');
    if told.file.is_none() {
        out += &told.shrinking.plan.to_json();
        out.push('\n');
    }
    out
}

fn document(told: &Told<'_>) -> Json {
    let summary = &told.shrinking.summary;
    let sizes: Vec<Json> = summary
        .sizes
        .iter()
        .map(|(what, before, after)| json!({"what": what, "before": before, "after": after}))
        .collect();
    let others: Vec<Json> = told
        .others
        .iter()
        .map(|(signature, file)| json!({"signature": signature.to_string(), "file": files::shown(file)}))
        .collect();
    json!({
        "signature": told.signature.to_string(),
        "run_count": summary.run_count,
        "is_minimal": summary.is_minimal,
        "sizes": sizes,
        "irrelevant": summary.irrelevant,
        "file": told.file.map(files::shown),
        "plan": told.file.is_none().then_some(&told.shrinking.plan),
        "also_met": others,
        "report": report::json::document(told.report),
        "exit_code": told.report.outcome.number(),
    })
}

/// How far it is.
fn line_of(at: &shrink::Progress) -> String {
    let shrink::Progress { run_count, run_max, step_count, session_count, pin_count } = at;
    format!(
        "shrink: {run_count} of at most {run_max} runs, {step_count} steps, {session_count} sessions, {pin_count} decisions"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Scratch;

    #[test]
    fn what_is_met_on_the_way_takes_the_place_of_nothing_but_plans() {
        let scratch = Scratch::new("shrink-vacant").expect("a folder");
        let at = |name: &str| scratch.path().join(name);
        assert_eq!(vacant(scratch.path(), "met-a"), at("met-a.json"));
        std::fs::write(at("met-a.json"), "my notes").expect("written");
        std::fs::create_dir(at("met-a-2.json")).expect("made");
        assert_eq!(vacant(scratch.path(), "met-a"), at("met-a-3.json"));
        let plan = crate::draw::scenario("idle/stream-stays-open").map(|scenario| (scenario.plan)(Seed(1)));
        std::fs::write(at("met-a.json"), plan.expect("it is in the catalog").to_json()).expect("written");
        assert_eq!(vacant(scratch.path(), "met-a"), at("met-a.json"));
    }
}
