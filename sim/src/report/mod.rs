//! What is said about a run: plain data, put together once, for writers that are functions of it to text.

mod block;
pub mod json;
mod steps;
pub mod text;

use crate::draw;
use crate::exit_code::ExitCode;
use crate::files;
use crate::run::{FaultRow, RunResult};
use scenarios::invariants::{Kind, Verdict};
use scenarios::ledgers::{Ledger, ledgers};
use scenarios::plan::Plan;
use scenarios::story::{self, Line};
use scenarios::trace::{Event, Trace, TraceHeader, Value, write_lines};
use std::path::{Path, PathBuf};

pub use block::Block;
pub use steps::StepLine;

/// How text is shown. Files and pipes get neither colour nor glyphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use escape sequences for colour.
    pub is_colored: bool,
    /// Whether a verdict is also shown as a sign.
    pub has_glyphs: bool,
}

/// Everything that a writer needs to tell about one run.
#[derive(Clone, Debug)]
pub struct Report {
    /// Scenario id of the plan.
    pub scenario: String,
    /// Seed of the plan.
    pub seed: String,
    /// Digest of the plan, as shown.
    pub plan_digest: String,
    /// Exit code of all findings together.
    pub outcome: ExitCode,
    /// Recorded events.
    pub event_count: u64,
    /// When the run ended, in virtual ms.
    pub ends_at_ms: u64,
    /// Operations that began.
    pub operation_count: u64,
    /// Digest of the telemetry, 16 hexadecimal digits.
    pub telemetry_digest: String,
    /// Digest of the run, 16 hexadecimal digits.
    pub run_digest: String,
    /// Every claim and its verdict.
    pub checks: Vec<Check>,
    /// What was taken and given back.
    pub ledgers: Vec<Ledger>,
    /// Every fault of the plan and what became of it.
    pub faults: Vec<FaultLine>,
    /// The story of the run.
    pub story: Vec<Line>,
    /// What is wrong, gravest first.
    pub blocks: Vec<Block>,
    /// Commands that run it again.
    pub reproduce: Vec<String>,
    /// Where the files of a failure go.
    pub folder: PathBuf,
}

/// A fault of the plan and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultLine {
    /// How often it was asked for and happened.
    pub row: FaultRow,
    /// What it does and when, in words.
    pub what: String,
    /// Whether it may find no occasion.
    pub may_miss: bool,
}

/// One claim and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Name of the invariant.
    pub name: &'static str,
    /// Kind of its claim: always, eventually, sometimes.
    pub kind: &'static str,
    /// `held`, `violated`, `cannot tell`, or `panicked`.
    pub verdict: &'static str,
    /// Why it cannot be told.
    pub why: Option<String>,
}

impl Report {
    /// Puts together what is to be said about a run; files of a failure go below `reports`.
    pub fn of(plan: &Plan, result: &RunResult, reports: &Path) -> Self {
        Self::in_folder(plan, result, folder_of(plan, reports))
    }

    /// The same, where it is decided already in which folder the files go.
    pub fn in_folder(plan: &Plan, result: &RunResult, folder: PathBuf) -> Self {
        let trace = &result.trace;
        Self {
            scenario: plan.scenario.clone(),
            seed: plan.seed.to_string(),
            plan_digest: plan.digest().to_string(),
            outcome: result.outcome(),
            event_count: result.event_count,
            ends_at_ms: trace.ends_at_ms,
            operation_count: trace.operation_count,
            telemetry_digest: hex(trace.telemetry_digest),
            run_digest: hex(trace.run_digest),
            checks: checks_of(result),
            ledgers: ledgers(trace),
            faults: result.faults.iter().map(|row| fault_line(row, plan)).collect(),
            story: story::story(trace),
            blocks: result.findings.iter().map(|finding| block::block_of(finding, plan, trace)).collect(),
            reproduce: commands_of(plan, &folder),
            folder,
        }
    }
}

/// A digest as it is shown everywhere.
pub fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

/// The word for a kind of claim.
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Always => "always",
        Kind::Eventually => "eventually",
        Kind::Sometimes => "sometimes",
    }
}

/// The trace of a run as a file: a header, a line an event and a decision, an end with the digests.
pub fn trace_lines(plan: &Plan, trace: &Trace) -> Vec<u8> {
    let header =
        TraceHeader { scenario: plan.scenario.clone(), seed: plan.seed.to_string(), plan: plan.digest().to_string() };
    let mut lines = Vec::new();
    write_lines(&header, trace, &mut lines).expect("memory can be written");
    lines
}

/// One event on one line, with all its fields.
pub fn event_text(event: &Event) -> String {
    let mut text = format!("{} ms  {}  {}", event.at_ms, event.stream.name(), event.name);
    if let Some(who) = event.who() {
        text += &format!("  {who}");
    }
    for (name, value) in &event.fields {
        text += &format!("  {name} {}", value_text(value));
    }
    crate::text::printable(&text).into_owned()
}

/// A value of a field, as text.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
        Value::Json(json) => json.to_string(),
    }
}

fn fault_line(row: &FaultRow, plan: &Plan) -> FaultLine {
    let fault = plan.faults.get(row.fault);
    FaultLine {
        row: row.clone(),
        what: fault.map(ToString::to_string).unwrap_or_default(),
        may_miss: fault.is_some_and(|fault| fault.may_miss),
    }
}

fn checks_of(result: &RunResult) -> Vec<Check> {
    let check = |judged: &crate::check::Judged| {
        let (verdict, why) = match &judged.verdict {
            Ok(Verdict::Held) => ("held", None),
            Ok(Verdict::Violated(_)) => ("violated", None),
            Ok(Verdict::CannotTell(why)) => ("cannot tell", Some(why.clone())),
            Err(caught) => ("panicked", Some(caught.message.clone())),
        };
        Check { name: judged.name, kind: kind_word(judged.kind), verdict, why }
    };
    result.judged.iter().map(check).collect()
}

/// `reports/<scenario>/<seed>-<plan digest>`: it depends on the plan alone, so that the same run writes the same files.
pub fn folder_of(plan: &Plan, reports: &Path) -> PathBuf {
    // The id of a plan made by hand is free text: it must not lead out of the folder.
    let plain = |each: char| if each.is_ascii_alphanumeric() || each == '-' { each } else { '_' };
    let parts = plan
        .scenario
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| part.chars().map(plain).take(64).collect::<String>());
    let mut folder = reports.to_owned();
    folder.extend(parts.take(4));
    folder.push(format!("{}-{}", plan.seed, plan.digest()));
    folder
}

/// The commands that run a plan again: by seed, where a scenario draws this very plan, and from its file.
pub fn commands_of(plan: &Plan, folder: &Path) -> Vec<String> {
    let by_seed = draw::arguments_of(plan).map(|arguments| arguments.join(" "));
    by_seed
        .into_iter()
        .chain([replay_from(folder, "plan.json")])
        .map(|arguments| format!("cargo run -p sim -- {arguments}"))
        .collect()
}

/// The arguments that run a plan again from the file that is kept of it below `reports`.
pub fn replay_of(plan: &Plan, reports: &Path) -> String {
    replay_from(&folder_of(plan, reports), "plan.json")
}

/// The arguments that run a plan that is kept in that folder under that name.
pub fn replay_from(folder: &Path, name: &str) -> String {
    replay_of_file(&folder.join(name))
}

/// The arguments that run the plan of a file again.
pub fn replay_of_file(path: &Path) -> String {
    format!("replay {}", quoted(&files::shown(path)))
}

/// A path as a shell reads it.
pub fn quoted(path: &str) -> String {
    // A path that begins like an option would be taken for one.
    let path = &if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    let is_plain = path.chars().all(|each| each.is_ascii_alphanumeric() || "/._-".contains(each));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
