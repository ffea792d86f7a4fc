//! `sim meta`: whether runs repeat, shown by two workers that do the same in different circumstances.

use super::args::{self, Changes, Format};
use super::console::{Console, complain};
use crate::determinism::{self, Explained, Pair, explanation};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files::Scratch;
use crate::planted::Leak;
use crate::report::event_text;
use crate::supervisor::{Job, WorkerSpec};
use crate::text::counted;
use crate::trial::TrialOptions;
use clap::ValueEnum;
use scenarios::seed::Seed;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Arguments of `sim meta`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The seeds to run, from A up to and without B, or `A..=B` with B
    #[arg(long, value_name = "A..B", default_value = "0..20", value_parser = args::seeds)]
    seeds: Range<u64>,
    /// Only this scenario; may be repeated
    #[arg(long = "scenario", value_name = "ID")]
    scenarios: Vec<String>,
    #[command(flatten)]
    changes: Changes,
    /// Also run with another seed of the simulator's scheduler, and tell how often the telemetry is the same
    #[arg(long)]
    scheduler: bool,
    /// Wall-clock time that one run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    run_limit_s: u64,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Nondeterminism to plant in the workers, to show that it is found
    #[arg(long, hide = true)]
    plant_leak: Option<Leak>,
}

/// Everything that was found out.
struct Findings {
    pairs: Vec<Pair>,
    explained: Vec<Explained>,
    /// How it went under another scheduler seed, if that was asked for.
    scheduler: Option<Scheduler>,
}

/// How far runs depend on the simulator's own generator.
struct Scheduler {
    /// Runs that were compared.
    compared: usize,
    /// Those whose telemetry was not the same.
    differing: Vec<Job>,
}

/// Compares, explains and prints.
///
/// # Errors
/// Usage errors of the arguments; harness errors of workers, files and the console; an interruption.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    args.changes.read()?;
    let jobs = jobs(args)?;
    crate::interrupt::notice()?;
    let scratch = Scratch::new("meta")?;
    let specs = [first(args), second(args, scratch.path())];
    complain(&format!("meta: {} in each of two workers", counted(jobs.len(), "run")));
    let pairs = determinism::compare(&jobs, &specs)?;
    let explained = determinism::explain(&pairs, &specs, scratch.path())?;
    let scheduler = if args.scheduler { Some(under_another_scheduler(args, &jobs, &pairs)?) } else { None };
    let findings = Findings { pairs, explained, scheduler };
    match args.format {
        Format::Text => console.print(&text(&findings, args))?,
        Format::Json => console.print_json(&json_of(&findings))?,
    }
    Ok(findings.exit_code())
}

fn jobs(args: &Args) -> Result<Vec<Job>, Error> {
    let scenarios = args::scenarios_named(&args.scenarios)?;
    let one = |seed: u64, scenario: &str| Job::of_seed(scenario, Seed(seed), TrialOptions::default());
    Ok(args.seeds.clone().flat_map(|seed| scenarios.iter().map(move |scenario| one(seed, scenario.id))).collect())
}

/// The first worker: here, with the environment as it is and a few variables more.
fn first(args: &Args) -> WorkerSpec {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    WorkerSpec {
        arguments: worker_arguments(args, 0),
        environment: vec![
            variable("TZ", "Asia/Kathmandu"),
            variable("RUST_LOG", "trace"),
            variable("SIM_META", &"x".repeat(10_000)),
        ],
        ..WorkerSpec::plain(Duration::from_secs(args.run_limit_s))
    }
}

/// The second worker: elsewhere, without any environment, and with other addresses: the allocator lays out the heap of
/// each process alike, which would hide what hangs on addresses.
fn second(args: &Args, directory: &Path) -> WorkerSpec {
    let mut arguments = worker_arguments(args, 0);
    arguments.push("--heap-ballast-kib=4321".to_owned());
    WorkerSpec {
        directory: directory.to_owned(),
        is_environment_cleared: true,
        environment: Vec::new(),
        arguments,
        ..first(args)
    }
}

fn worker_arguments(args: &Args, scheduler_seed: u64) -> Vec<String> {
    let mut arguments = args.changes.as_arguments();
    arguments.push(format!("--scheduler-seed={scheduler_seed}"));
    let leak = args.plant_leak.and_then(|leak| leak.to_possible_value());
    arguments.extend(leak.map(|leak| format!("--plant-leak={}", leak.get_name())));
    arguments
}

/// Runs once more with another scheduler seed, and compares what was exported.
fn under_another_scheduler(args: &Args, jobs: &[Job], pairs: &[Pair]) -> Result<Scheduler, Error> {
    let spec = WorkerSpec { arguments: worker_arguments(args, 1), ..first(args) };
    let order: Vec<usize> = (0..jobs.len()).collect();
    let answers = determinism::answers(jobs, &order, &spec)?;
    let mut scheduler = Scheduler { compared: 0, differing: Vec::new() };
    for (pair, answer) in pairs.iter().zip(&answers) {
        let (Ok(one), Ok(other)) = (&pair.one, answer) else { continue };
        scheduler.compared += 1;
        if one.telemetry_digest != other.telemetry_digest {
            scheduler.differing.push(pair.job.clone());
        }
    }
    Ok(scheduler)
}

impl Findings {
    fn differing(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.differs())
    }

    fn lost(&self) -> impl Iterator<Item = (&Pair, &str)> {
        self.pairs.iter().filter_map(|pair| Some((pair, pair.loss()?)))
    }

    /// Runs that the harness could not carry out: the same in both workers, and yet nothing was shown.
    fn void(&self) -> impl Iterator<Item = (&Pair, &str)> {
        self.pairs.iter().filter(|pair| !pair.differs()).filter_map(|pair| {
            let answer = pair.one.as_ref().ok().filter(|answer| answer.exit_code == ExitCode::Harness.number())?;
            Some((pair, answer.findings.first().map_or("", |found| found.what.as_str())))
        })
    }

    fn exit_code(&self) -> ExitCode {
        let differs = self.differing().next().map(|_| ExitCode::Nondeterminism);
        let failed = self.lost().next().or(self.void().next()).map(|_| ExitCode::Harness);
        ExitCode::merge(differs.into_iter().chain(failed))
    }
}

fn text(findings: &Findings, args: &Args) -> String {
    let mut out = String::new();
    for explained in &findings.explained {
        out.push_str(&explanation(&findings.pairs[explained.pair], explained.difference.as_ref()));
    }
    for (pair, how) in findings.lost().chain(findings.void()) {
        let _ = writeln!(out, "FAILED  {}  seed {}\n  what       {how}\n", pair.job.scenario, pair.job.seed);
    }
    if findings.exit_code() != ExitCode::Held {
        let _ = writeln!(out, "reproduce  {}\n", command(args));
    }
    let differing = findings.differing().count();
    let failed = findings.lost().count() + findings.void().count();
    let _ = writeln!(
        out,
        "{} twice: {} the same, {differing} differ, {failed} failed",
        counted(findings.pairs.len(), "run"),
        findings.pairs.len() - differing - failed
    );
    if let Some(Scheduler { compared, differing }) = &findings.scheduler {
        let same = compared - differing.len();
        let _ = writeln!(out, "another scheduler seed: {same} of {compared} runs exported the same telemetry");
        let shown: Vec<String> =
            differing.iter().take(5).map(|job| format!("{} seed {}", job.scenario, job.seed)).collect();
        if !shown.is_empty() {
            let more = if differing.len() > shown.len() { ", …" } else { "" };
            let _ = writeln!(out, "not the same: {}{more}", shown.join(", "));
        }
    }
    out
}

/// The command that does all of this again: what a run leaks into others shows only among the same others.
fn command(args: &Args) -> String {
    let mut words = vec![format!("cargo run -p sim -- meta --seeds {}..{}", args.seeds.start, args.seeds.end)];
    words.extend(args.scenarios.iter().map(|scenario| format!("--scenario={scenario}")));
    words.extend(args.changes.as_arguments());
    words.join(" ")
}

fn json_of(findings: &Findings) -> Json {
    let event = |event: &Option<scenarios::trace::Event>| event.as_ref().map(event_text);
    let differences: Vec<Json> = findings
        .explained
        .iter()
        .map(|explained| {
            let Pair { job, one, other } = &findings.pairs[explained.pair];
            let difference = explained.difference.as_ref().map(|found| {
                json!({"event": found.ordinal, "part": found.part, "one": event(&found.one), "other": event(&found.other)})
            });
            json!({"scenario": job.scenario, "seed": job.seed, "one": one.as_ref().ok(), "other": other.as_ref().ok(), "first": difference})
        })
        .collect();
    let failures = findings.lost().chain(findings.void());
    let failures: Vec<Json> = failures
        .map(|(pair, how)| json!({"scenario": pair.job.scenario, "seed": pair.job.seed, "what": how}))
        .collect();
    json!({
        "run_count": findings.pairs.len(),
        "differing_count": findings.differing().count(),
        "differences": differences,
        "failures": failures,
        "scheduler": findings.scheduler.as_ref().map(|scheduler| json!({
            "compared": scheduler.compared,
            "differing": scheduler.differing.iter().map(|job| json!({"scenario": job.scenario, "seed": job.seed})).collect::<Vec<_>>(),
        })),
        "exit_code": findings.exit_code().number(),
    })
}
