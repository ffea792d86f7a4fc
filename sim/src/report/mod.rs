//! What is said about a run: plain data, put together once, for writers that are functions of it to text.

pub mod json;
mod steps;
pub mod text;

use crate::capture::Caught;
use crate::draw;
use crate::exit_code::ExitCode;
use crate::files;
use crate::run::{FaultRow, Finding, RunResult};
use scenarios::invariants::{Kind, Verdict, Violation};
use scenarios::ledgers::{Ledger, ledgers};
use scenarios::plan::{Plan, client_of};
use scenarios::story::{self, Line};
use scenarios::trace::{Event, Trace, TraceHeader, Value, write_lines};
use std::path::{Path, PathBuf};

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
    pub faults: Vec<FaultRow>,
    /// The story of the run.
    pub story: Vec<Line>,
    /// What is wrong, gravest first.
    pub blocks: Vec<Block>,
    /// Commands that run it again.
    pub reproduce: Vec<String>,
    /// Where the files of a failure go.
    pub folder: PathBuf,
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

/// One finding, as it is shown.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it is filed under: the name of an invariant, `crash`, `fault-not-delivered`, `harness-error`.
    pub name: String,
    /// Kind of the claim, or what kind of failure it is.
    pub kind: &'static str,
    /// The claim, or what it means, in one sentence.
    pub claim: String,
    /// What happened, in one sentence.
    pub what: String,
    /// When, in virtual ms.
    pub at_ms: Option<u64>,
    /// The event that shows it, counted from 1.
    pub event: Option<u64>,
    /// The obligation that is open.
    pub pending: Option<String>,
    /// Source file and line of a panic.
    pub place: Option<String>,
    /// Further violations of the same claim, shortly.
    pub also: Vec<String>,
    /// What the clients did before it.
    pub steps: Vec<StepLine>,
    /// The story that leads to it.
    pub around: Vec<Line>,
}

/// Lines of story before a violation.
const AROUND_COUNT: usize = 8;
/// Further violations that are shown of one claim.
const ALSO_COUNT: usize = 5;

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
            faults: result.faults.clone(),
            story: story::story(trace),
            blocks: result.findings.iter().map(|finding| block_of(finding, plan, trace)).collect(),
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

fn block_of(finding: &Finding, plan: &Plan, trace: &Trace) -> Block {
    match finding {
        Finding::Violation { kind, invariant, claim, violations } => {
            violation_block(*kind, invariant, claim, violations, plan, trace)
        }
        Finding::Crash(caught) => Block {
            claim: "the modelled system does not panic and comes to rest".to_owned(),
            ..panic_block("crash", "crash", caught, plan, trace)
        },
        Finding::Unmet(row) => unmet_block(row, plan),
        Finding::Harness { what, panic: Some(caught) } => {
            Block { claim: what.clone(), ..panic_block("harness-error", "harness", caught, plan, trace) }
        }
        Finding::Harness { what, panic: None } => Block {
            claim: "nothing is known about the modelled system".to_owned(),
            ..bare_block("harness-error", "harness", what)
        },
    }
}

fn bare_block(name: &str, kind: &'static str, what: &str) -> Block {
    Block {
        name: name.to_owned(),
        kind,
        claim: String::new(),
        what: what.to_owned(),
        at_ms: None,
        event: None,
        pending: None,
        place: None,
        also: Vec::new(),
        steps: Vec::new(),
        around: Vec::new(),
    }
}

fn violation_block(kind: Kind, name: &str, claim: &str, violations: &[Violation], plan: &Plan, trace: &Trace) -> Block {
    let Some((first, more)) = violations.split_first() else {
        return bare_block(name, kind_word(kind), "violated, and nobody said where");
    };
    let session = first.session.as_deref();
    let mut also: Vec<String> =
        more.iter().take(ALSO_COUNT).map(|each| format!("{} ms  {}", each.at_ms, each.what)).collect();
    if more.len() > ALSO_COUNT {
        also.push(format!("and {} more", more.len() - ALSO_COUNT));
    }
    Block {
        claim: claim.to_owned(),
        at_ms: Some(first.at_ms),
        event: Some(u64::from(first.ordinal) + 1),
        pending: first.pending.clone(),
        also,
        steps: steps::before(plan, trace, first.at_ms, session.map(client_of)),
        around: story::around(trace, first.ordinal, session, AROUND_COUNT),
        ..bare_block(name, kind_word(kind), &first.what)
    }
}

fn panic_block(name: &str, kind: &'static str, caught: &Caught, plan: &Plan, trace: &Trace) -> Block {
    let last = trace.events.last().map_or(0, |event| event.ordinal);
    let place = if caught.file.is_empty() { None } else { Some(format!("{}:{}", caught.file, caught.line)) };
    Block {
        at_ms: Some(caught.at_ms),
        event: trace.events.last().map(|event| u64::from(event.ordinal) + 1),
        place,
        steps: steps::before(plan, trace, caught.at_ms, None),
        around: story::around(trace, last, None, AROUND_COUNT),
        ..bare_block(name, kind, &caught.message)
    }
}

fn unmet_block(row: &FaultRow, plan: &Plan) -> Block {
    let fault = plan.faults.get(row.fault).and_then(|fault| serde_json::to_string(fault).ok()).unwrap_or_default();
    let FaultRow { requested, armed, delivered, .. } = row;
    Block {
        claim: "every fault that the plan asks for is delivered".to_owned(),
        pending: Some(format!("requested {requested}, armed {armed}, delivered {delivered}")),
        ..bare_block("fault-not-delivered", "reach", &format!("faults[{}] never happened: {fault}", row.fault))
    }
}
