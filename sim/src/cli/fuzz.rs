//! `sim fuzz`: a campaign over many seeds; what it finds is folded, run again, cut down and kept.

mod seeds;

use super::args::{self, Changes, Format};
use super::console::{Console, complain};
use super::workers::Workers;
use crate::campaign::baseline::Baseline;
use crate::campaign::fleet::Orders;
use crate::campaign::folder::{self, Existing, Folder};
use crate::campaign::outcome::Outcome;
use crate::campaign::output;
use crate::campaign::record::{CampaignOptions, End, Record};
use crate::campaign::search::{self, Watcher};
use crate::campaign::settle::{self, Settling};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::planted::Leak;
use crate::progress::{Progress, spoken};
use crate::{draw, files, interrupt, report};
use scenarios::catalog::Scenario;
use scenarios::seed::Seed;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Seeds of a campaign that says neither which nor how many nor how long.
const RUNS_DEFAULT: u64 = 10_000;
/// Runs that cutting down one finding may take, if nothing else is said.
const SHRINK_RUNS: u64 = crate::shrink::RUNS_DEFAULT;
/// How often what is known is kept, at most.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Arguments of `sim fuzz`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The seeds to run, from A up to and without B, or `A..=B` with B; `A..` goes on until time or a person ends it, and
    /// leaves out the largest seed, 18446744073709551615, which only `A..=B` can name
    #[arg(long, value_name = "A..B", value_parser = args::seed_range)]
    seeds: Option<args::SeedRange>,
    /// How many seeds to run, from the first of `--seeds`, which must have so many, else from one that is drawn and
    /// printed first
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Stop after this time, such as `90s`, `10m` or `2h`
    #[arg(long, value_name = "TIME", value_parser = args::duration)]
    time: Option<Duration>,
    /// Stop when this many distinct findings are there that no baseline knows
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    stop_after: Option<u64>,
    /// Only this scenario; may be repeated
    #[arg(long = "scenario", value_name = "ID")]
    scenarios: Vec<String>,
    #[command(flatten)]
    changes: Changes,
    /// Run every seed twice, in different workers, and not only one in sixteen
    #[arg(long)]
    twice: bool,
    #[command(flatten)]
    workers: Workers,
    /// Folder of the campaign [default: a folder in `reports/fuzz` for this build and these options]
    #[arg(long, value_name = "DIR", value_parser = super::args::folder)]
    out: Option<PathBuf>,
    /// Go on with the campaign in the folder: the one that `--out` names, which knows its seeds, or the one of these
    /// `--seeds`
    #[arg(long)]
    resume: bool,
    /// Signatures that are known: they are told, and only others fail
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the signatures of this campaign as a baseline
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// Runs that may be spent on cutting down one finding, 10 to 1000000000; 0 for none
    #[arg(long, value_name = "COUNT", default_value_t = SHRINK_RUNS, value_parser = args::shrink_runs)]
    shrink_runs: u64,
    /// Fail with code 14 where a row of reach is dark and not excused by name (`sim reach`): any row, or with `--scenario`
    /// those that the scenario is about
    #[arg(long)]
    require_reach: bool,
    /// Also print annotations for a CI run, and append the summary to the file that `GITHUB_STEP_SUMMARY` names
    #[arg(long)]
    github: bool,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Something bad to plant in the workers, to show what it costs
    #[arg(long, hide = true)]
    plant_leak: Option<Leak>,
}

/// Searches, settles and tells.
///
/// # Errors
/// Usage errors of the arguments, the folder and the baseline; harness errors of workers, files and the console; an
/// interruption that was repeated.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let scenarios = args::scenarios_named(&args.scenarios)?;
    let baseline = Baseline::of_file(args.baseline.as_deref())?;
    check_outputs(args)?;
    let options = options(args, &scenarios, &baseline)?;
    check_changes(&changes, &scenarios, options.from)?;
    let path = args.out.clone().unwrap_or_else(|| Path::new("reports/fuzz").join(folder::default_name(&options)));
    check_apart(args.write_baseline.as_deref(), &path)?;
    let (folder, mut record) = Folder::open(&path, options, existing(args))?;
    interrupt::notice()?;
    let mut watch = Watch::new(args, &folder);
    watch.announce(&record);
    let orders = Orders { scenarios, is_twice: args.twice, specs: args.workers.specs(&args.changes, args.plant_leak) };
    search::search(&mut record, &orders, args.workers.jobs(), &mut watch)?;
    folder.save(&record)?;
    if record.ended == Some(End::Interrupted) {
        interrupt::answer();
    }
    let mut settling = Settling {
        record: &record,
        folder: &folder,
        changes: &changes,
        baseline: &baseline,
        specs: &orders.specs,
        is_reach_required: args.require_reach,
        command: command(args, &record),
        progress: &mut watch.progress,
        // Who stopped the search waits for what is known, and not for thousands of runs more.
        is_hurried: record.ended == Some(End::Interrupted),
    };
    let settled = settle::settle(&mut settling);
    let was_hurried = settling.is_hurried;
    watch.progress.clear();
    let mut outcome = match settled {
        Ok(outcome) => outcome,
        Err(error) => {
            console.print(&output::unsettled(&record))?;
            return Err(error);
        }
    };
    if was_hurried {
        // Of what is told only: the record has all its seeds, and its findings are cut down when it is gone on with.
        outcome.record.ended = Some(End::Interrupted);
    }
    // What was found is told even where it cannot be written.
    let written = write(&outcome, &folder, &baseline, args);
    let told = print(&outcome, args, console);
    ended(outcome.exit_code(), [written, told])
}

/// How it ends where something could not be written. A place that a person must mend takes nothing from what was found:
/// it is said, and only where nothing was found it is what the exit code tells.
fn ended(found: ExitCode, done: [Result<(), Error>; 2]) -> Result<ExitCode, Error> {
    let mut graver = None;
    for error in done.into_iter().filter_map(Result::err) {
        match error {
            Error::Usage(_) if found != ExitCode::Held => complain(&format!("error: {error}")),
            error if graver.is_none() => graver = Some(error),
            error => complain(&format!("error: {error}")),
        }
    }
    graver.map_or(Ok(found), Err)
}

/// What is written beside the folder takes the place of nothing but the baseline that was read; said before anything runs.
fn check_outputs(args: &Args) -> Result<(), Error> {
    if args.github && args.format == Format::Json {
        return Err(Error::usage("--github prints annotations, which are no JSON: leave out `--format json`"));
    }
    let Some(path) = &args.write_baseline else { return Ok(()) };
    let refuse = |problem: &str| Err(Error::usage(format!("--write-baseline {}: {problem}", files::shown(path))));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return refuse("its folder does not exist: make it first");
    }
    if path.symlink_metadata().is_err() {
        return files::check_writable(path);
    }
    // Who goes on with a campaign may have written it at an earlier end.
    let is_gone_on_with = || args.resume && path.is_file() && Baseline::of_file(Some(path)).is_ok();
    if is_read_too(args, path) || is_gone_on_with() {
        return Ok(());
    }
    refuse("exists already: name a new file, or the one of `--baseline`")
}

/// Whether the baseline that is written is the one that was read.
fn is_read_too(args: &Args, path: &Path) -> bool {
    args.baseline.as_ref().is_some_and(|read| match (read.canonicalize(), path.canonicalize()) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        _ => false,
    })
}

/// A baseline does not belong among the files of a campaign, which are written after it.
fn check_apart(baseline: Option<&Path>, folder: &Path) -> Result<(), Error> {
    let Some(path) = baseline else { return Ok(()) };
    // Links are followed as far as there is something to follow.
    let real = |path: &Path| {
        path.ancestors().find_map(|there| {
            let left = path.strip_prefix(there).ok()?;
            Some(there.canonicalize().ok()?.join(left))
        })
    };
    let (path_here, folder_here) = (std::path::absolute(path).ok(), std::path::absolute(folder).ok());
    match (path_here.as_deref().and_then(real), folder_here.as_deref().and_then(real)) {
        (Some(file), Some(folder)) if file.starts_with(&folder) => Err(Error::usage(format!(
            "--write-baseline {}: lies in the campaign's own folder: name a file elsewhere",
            files::shown(path)
        ))),
        _ => Ok(()),
    }
}

fn options(args: &Args, scenarios: &[&'static Scenario], baseline: &Baseline) -> Result<CampaignOptions, Error> {
    let drawn = || {
        // Short enough to be typed, and far from the last seed: a campaign without an end goes up from here.
        let seed = Seed(args::drawn_seed().0 >> 16);
        complain(&format!("fuzz: seeds from {seed}"));
        seed
    };
    let range = match (args.seeds, seeds::gone_on_with(args)?) {
        (Some(range), _) | (None, Some(range)) => range,
        (None, None) => args::SeedRange { from: drawn(), to: None, includes_to: false },
    };
    let is_open = range.to.is_none() && args.time.is_none() && args.seeds.is_none() && !args.resume;
    let counted = args.runs.or(is_open.then_some(RUNS_DEFAULT));
    let args::SeedRange { from, to, includes_to } =
        counted.map_or(Ok(range), |runs| seeds::counted_from(range, runs))?;
    if to.is_none() && from == Seed(u64::MAX) {
        return Err(Error::usage(format!(
            "--seeds {from}..: no seed comes after {from}: begin with a smaller one, or write {from}..={from}"
        )));
    }
    let scenarios = scenarios.iter().map(|scenario| scenario.id.to_owned()).collect();
    Ok(CampaignOptions {
        changes: args.changes.as_arguments(),
        is_twice: args.twice,
        stop_after: args.stop_after,
        known: baseline.signatures().cloned().collect(),
        shrink_runs: args.shrink_runs,
        run_limit_s: args.workers.run_limit_s(),
        memory_limit_mib: args.workers.memory_limit_mib(),
        includes_to,
        ..CampaignOptions::new(from, to, scenarios)
    })
}

/// What cannot be changed in a plan is a person's mistake, and said before anything runs.
fn check_changes(changes: &draw::Overrides, scenarios: &[&'static Scenario], seed: Seed) -> Result<(), Error> {
    scenarios.iter().try_for_each(|scenario| changes.draw(scenario, seed).map(drop))
}

fn existing(args: &Args) -> Existing {
    match (args.resume, &args.out) {
        (true, _) => Existing::Resume,
        (false, Some(_)) => Existing::Refuse,
        (false, None) => Existing::Repeat,
    }
}

/// The arguments that run the same campaign again.
fn command(args: &Args, record: &Record) -> String {
    let mut words = vec!["fuzz".to_owned(), format!("--seeds {}", record.options)];
    words.extend(args.scenarios.iter().map(|scenario| format!("--scenario {scenario}")));
    words.extend(args.changes.as_arguments());
    words.extend(args.twice.then(|| "--twice".to_owned()));
    words.extend(args.stop_after.map(|count| format!("--stop-after {count}")));
    words.extend((args.shrink_runs != SHRINK_RUNS).then(|| format!("--shrink-runs {}", args.shrink_runs)));
    words.extend(args.workers.as_arguments());
    words.extend(args.baseline.as_ref().map(|path| format!("--baseline {}", report::quoted(&path.to_string_lossy()))));
    words.extend(args.require_reach.then(|| "--require-reach".to_owned()));
    words.join(" ")
}

/// Keeps what is known, tells how far it is, and knows when it is time to end.
struct Watch<'a> {
    folder: &'a Folder,
    time: Option<Duration>,
    progress: Progress,
    saved_at: Duration,
    /// Seeds that were folded before this process began.
    before: u64,
    /// Whether it was asked to go on.
    resumes: bool,
}

impl<'a> Watch<'a> {
    fn new(args: &Args, folder: &'a Folder) -> Self {
        Self {
            folder,
            time: args.time,
            progress: Progress::new(),
            saved_at: Duration::ZERO,
            before: 0,
            resumes: args.resume,
        }
    }

    fn announce(&mut self, record: &Record) {
        self.before = record.seed_count;
        if env!("SIM_PROFILE") == "debug" {
            self.progress.note("fuzz: this is a debug build, several times slower: add `--release` behind `-p sim`");
        }
        let place = crate::report::quoted(&files::shown(self.folder.path()));
        match record.seed_count {
            0 if self.resumes => self.progress.note(&format!("fuzz: nothing to go on with yet, begins in {place}")),
            0 => self.progress.note(&format!("fuzz: into {place}")),
            known => self.progress.note(&format!("fuzz: goes on after {known} seeds in {place}")),
        }
    }

    fn line(&self, record: &Record) -> String {
        let elapsed = self.progress.elapsed();
        let done = record.seed_count - self.before;
        let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
        let total = record.seed_total().map_or(String::new(), |total| format!(" of {total}"));
        let (seeds, found) = (record.seed_count, record.findings.len());
        let noun = if found == 1 { "finding" } else { "findings" };
        let by_seeds = record.seed_total().map(|total| total - seeds).filter(|_| rate > 0.0);
        let by_seeds = by_seeds.map(|left| Duration::from_secs_f64(left as f64 / rate));
        let by_time = self.time.map(|time| time.saturating_sub(elapsed));
        let left = by_seeds.into_iter().chain(by_time).min();
        let left = left.map_or(String::new(), |left| format!(", {} left", spoken(left)));
        format!("fuzz: {seeds}{total} seeds, {rate:.0}/s, {found} {noun}{left}")
    }
}

impl Watcher for Watch<'_> {
    fn look(&mut self, record: &Record) -> Result<Option<End>, Error> {
        let elapsed = self.progress.elapsed();
        if elapsed >= self.saved_at + SAVE_EVERY {
            self.folder.save(record)?;
            self.saved_at = elapsed;
        }
        let line = self.line(record);
        self.progress.tell(|| line);
        if interrupt::is_asked_for() {
            self.progress
                .note("fuzz: stopping, findings are told as they are, and `--resume` makes them small; once more ends it at once");
            return Ok(Some(End::Interrupted));
        }
        Ok(self.time.filter(|time| elapsed >= *time).map(|_| End::Time))
    }

    fn note(&mut self, note: &str) {
        self.progress.note(&format!("fuzz: {note}"));
    }
}

/// Writes everything that a machine may read. The baseline waits for the end: the campaign that goes on must find the one
/// that it began with.
fn write(outcome: &Outcome, folder: &Folder, baseline: &Baseline, args: &Args) -> Result<(), Error> {
    folder.write("findings.json", format!("{:#}\n", output::json(outcome)).as_bytes())?;
    folder.write("junit.xml", output::junit(outcome).as_bytes())?;
    folder.write("summary.md", output::markdown(outcome).as_bytes())?;
    let Some(path) = &args.write_baseline else { return Ok(()) };
    let is_timed_out = outcome.record.ended == Some(End::Time);
    if outcome.is_interrupted() || is_timed_out && is_read_too(args, path) {
        complain(&format!(
            "{}: no baseline is written before the campaign is at its end: go on with it by `--resume`",
            files::shown(path)
        ));
        return Ok(());
    }
    files::write_atomically(path, Baseline::of(outcome, baseline).to_json().as_bytes())
}

fn print(outcome: &Outcome, args: &Args, console: &mut Console) -> Result<(), Error> {
    match args.format {
        Format::Text => {
            let text = output::text(outcome, console.style);
            // On a page of CI a line of a finding could be read as a command.
            console.print(&if args.github { output::shielded(&text) } else { text })?;
        }
        Format::Json => console.print_json(&output::json(outcome))?,
    }
    if args.github {
        console.print(&output::github(outcome))?;
        append_summary(&output::markdown(outcome))?;
    }
    Ok(())
}

fn append_summary(summary: &str) -> Result<(), Error> {
    use std::io::Write;
    let named = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|name| !name.is_empty());
    let Some(path) = named.map(PathBuf::from) else { return Ok(()) };
    let file = std::fs::File::options().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(summary.as_bytes()))
        .map_err(|error| files::cannot_change(&path, "the summary cannot be appended", &error))
}
