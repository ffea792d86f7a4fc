//! `sim corpus`: the plans that are kept for ever: adding, listing, replaying and retiring them.

mod text;

use super::args::{self, CoreName, Format};
use super::console::Console;
use crate::corpus::entry::{Keeps, Shown};
use crate::corpus::store::{Store, Stored};
use crate::corpus::verdict::{self, Runs, State};
use crate::corpus::{EntryName, findings, record};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files;
use crate::supervisor::WorkerSpec;
use crate::text::table;
use crate::trial::InWorker;
use scenarios::plan::{Core, Plan};
use scenarios::seed::Seed;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::{json_entry, json_verdict, keeps_of, lines, row, shown, sum};

/// Arguments of `sim corpus`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Keep a plan, with what its runs show as it is and with what it is kept for
    Add(AddArgs),
    /// Print what is kept
    List(ListArgs),
    /// Replay entries, and tell of each whether it still reaches its point
    Run(RunArgs),
    /// Move an entry to the retired ones; it is no longer run, and nothing of it is lost
    Retire(RetireArgs),
}

/// What every one of them takes.
#[derive(Clone, Debug, clap::Args)]
struct Common {
    /// Folder that the entries are in
    #[arg(long, value_name = "DIR", default_value = "seeds")]
    seeds_dir: PathBuf,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Clone, Debug, clap::Args)]
struct AddArgs {
    /// The plan: as `sim plan` prints it, or from a report
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to call it, such as `late-alarm`; the scenario stands before it
    #[arg(long, value_name = "SLUG")]
    name: String,
    /// Defect that it is kept for; may be repeated
    #[arg(long = "defect", value_name = "NAME")]
    defects: Vec<String>,
    /// Core that it is kept for, where it is not the plan's
    #[arg(long, value_name = "CORE")]
    core: Option<CoreName>,
    /// Seed that a shrunk plan was drawn from; looked for beside the plan when absent
    #[arg(long, value_name = "N", value_parser = args::seed)]
    drawn_from: Option<Seed>,
    /// Number or heading in FINDINGS.md
    #[arg(long, value_name = "FINDING")]
    finding: Option<String>,
    /// File that the finding stands in
    #[arg(long, value_name = "FILE", default_value = "FINDINGS.md", requires = "finding")]
    findings: PathBuf,
    /// What it is kept for, in your words
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// The plan as it is must show a failure, and does so for now
    #[arg(long)]
    expect_failure: bool,
    /// Wall-clock time that one run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    run_limit_s: u64,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug, clap::Args)]
struct ListArgs {
    /// Also what is retired
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug, clap::Args)]
struct RunArgs {
    /// Entries, by name or by its end; all of them when left out
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Record what entries show that drifted but reach their point; those that are lost stay as they are
    #[arg(long)]
    accept: bool,
    /// Wall-clock time that one run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    run_limit_s: u64,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug, clap::Args)]
struct RetireArgs {
    /// The entry, by name or by its end
    #[arg(value_name = "NAME")]
    name: String,
    /// Why it is no longer run
    #[arg(long, value_name = "TEXT")]
    why: String,
    #[command(flatten)]
    common: Common,
}

/// Does what is asked.
///
/// # Errors
/// Usage errors of arguments and files; harness errors of workers, files and the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    match &args.command {
        Some(Command::Add(args)) => add(args, console),
        Some(Command::List(args)) => list(args, console),
        Some(Command::Run(args)) => run(args, console),
        Some(Command::Retire(args)) => {
            let (name, file) = args.common.store().retire(&args.name, &args.why)?;
            tell(&args.common, console, &name, &file, "retired", |_| {})
        }
        None => Err(Error::usage("`sim corpus` does several things: say `add`, `list`, `run` or `retire`")),
    }
}

impl Common {
    fn store(&self) -> Store {
        Store::new(&self.seeds_dir)
    }
}

fn worker(run_limit_s: u64) -> InWorker {
    InWorker::new(WorkerSpec::plain(Duration::from_secs(run_limit_s)))
}

fn add(add: &AddArgs, console: &mut Console) -> Result<ExitCode, Error> {
    let plan = args::plan_file(&add.file)?;
    let name = EntryName::of(&plan.scenario, &add.name)?;
    let core = add.core.map(|core| match core {
        CoreName::Fixed => Core::Fixed,
        CoreName::Described => Core::Described,
    });
    let keeps = Keeps { defects: add.defects.clone(), core, finding: add.finding.clone(), why: add.why.clone() };
    if keeps == Keeps::default() {
        return Err(Error::usage(
            "nothing says what the plan is to be kept for: give `--defect`, `--core`, `--finding` or `--why`",
        ));
    }
    crate::draw::Overrides::read(&keeps.defects, &[], None)?;
    keeps.finding.as_ref().map_or(Ok(()), |finding| findings::check(&add.findings, finding))?;
    let in_file = |error: Error| match error {
        Error::Usage(told) => Error::usage(format!("{}: {told}", files::shown(&add.file))),
        Error::Harness(told) => Error::harness(format!("{}: {told}", files::shown(&add.file))),
        Error::Interrupted => Error::Interrupted,
    };
    let store = add.common.store();
    let mut entry = record::record(&plan, keeps, add.expect_failure, &mut worker(add.run_limit_s)).map_err(in_file)?;
    if plan.seed == Seed(0) {
        entry.provenance.seed = add.drawn_from.or_else(|| drawn_from(&add.file, &plan)).unwrap_or(plan.seed);
    }
    let file = store.add(&name, &entry)?;
    tell(&add.common, console, &name, &file, "kept", |out| {
        let _ = writeln!(out, "  keeps      {}", keeps_of(&entry.keeps));
        let _ = writeln!(out, "  as it is   {}", shown(&entry.expected.as_it_is));
        if let Some(broken) = &entry.expected.broken {
            let _ = writeln!(out, "  broken     {}", shown(broken));
        }
        let (pins, streams) = (entry.plan.pins.len(), entry.point.decisions.len());
        let _ = writeln!(out, "  decisions  {pins} pinned, {streams} streams");
    })
}

/// The seed that a shrunk plan was drawn from, which it does not say itself: that of the plan which a campaign put beside
/// it, or the one that its folder is called after, as `sim shrink` does.
fn drawn_from(file: &Path, plan: &Plan) -> Option<Seed> {
    let folder = file.parent()?;
    let beside = args::plan_file(&folder.join("plan.json")).ok().filter(|beside| beside.scenario == plan.scenario);
    let by_name = || folder.file_name()?.to_str()?.split_once('-')?.0.parse().ok();
    beside.map(|beside| beside.seed).or_else(by_name)
}

/// Tells what became of one entry.
fn tell(
    args: &Common,
    console: &mut Console,
    name: &EntryName,
    file: &std::path::Path,
    done: &str,
    more: impl FnOnce(&mut String),
) -> Result<ExitCode, Error> {
    match args.format {
        Format::Text => {
            let mut out = format!("{done}  {name}  {}\n", files::shown(file));
            more(&mut out);
            console.print(&out)?;
        }
        Format::Json => {
            console.print_json(&json!({"done": done, "name": name.as_str(), "file": files::shown(file)}))?
        }
    }
    Ok(ExitCode::Held)
}

fn list(args: &ListArgs, console: &mut Console) -> Result<ExitCode, Error> {
    let store = args.common.store();
    let mut entries = store.entries()?;
    if args.all {
        entries.extend(store.retired()?);
    }
    match args.common.format {
        Format::Text => {
            let head = ["name", "keeps", "expected", "seed", "build"].map(str::to_owned).to_vec();
            let rows: Vec<Vec<String>> = std::iter::once(head).chain(entries.iter().map(row)).collect();
            console.print(&table(&rows, &[3]))?;
        }
        Format::Json => console.print_json(&entries.iter().map(json_entry).collect())?,
    }
    Ok(ExitCode::Held)
}

fn run(args: &RunArgs, console: &mut Console) -> Result<ExitCode, Error> {
    let store = args.common.store();
    let entries = store.named(&args.names)?;
    let widest = entries.iter().map(|stored| stored.name.as_str().len()).max().unwrap_or(0);
    let mut worker = worker(args.run_limit_s);
    let mut verdicts = Vec::new();
    for stored in &entries {
        let runs = Runs::of(&stored.entry, &mut worker)?;
        let verdict = verdict::judge(&stored.entry, &runs);
        if args.common.format == Format::Text {
            console.print(&lines(stored, &verdict, widest))?;
        }
        if args.accept && verdict.state == State::Drifted {
            store.rewrite(&accepted(stored, &runs))?;
        }
        verdicts.push(verdict);
    }
    let code = ExitCode::merge(verdicts.iter().map(|verdict| verdict.code));
    match args.common.format {
        Format::Text => console.print(&sum(&verdicts, args.accept))?,
        Format::Json => {
            let told: Vec<Json> =
                entries.iter().zip(&verdicts).map(|(stored, each)| json_verdict(stored, each)).collect();
            console.print_json(&json!({"entries": told, "exit_code": code.number()}))?;
        }
    }
    Ok(code)
}

/// The entry with what its runs show now; what it is about stays.
fn accepted(stored: &Stored, runs: &Runs) -> Stored {
    let mut stored = stored.clone();
    let entry = &mut stored.entry;
    entry.point = record::point(&runs.as_it_is);
    let again = |before: &Shown, answer| Shown::of(answer, before.signature.as_ref());
    entry.expected.as_it_is = again(&entry.expected.as_it_is, &runs.as_it_is);
    if let (Some(before), Some(answer)) = (&mut entry.expected.broken, &runs.broken) {
        *before = again(before, answer);
    }
    env!("SIM_BUILD").clone_into(&mut entry.provenance.build);
    stored
}
