//! `sim reach`: many seeds, and what they came to: each row of reach lit or dark, with the closest run of a dark one.

use super::args::{self, Changes, Format};
use super::console::{Console, complain};
use super::workers::Workers;
use crate::campaign::fleet::Orders;
use crate::campaign::output::reach::{self as output, Places};
use crate::campaign::reach::{self, ReachRow};
use crate::campaign::record::{CampaignOptions, End, Record};
use crate::campaign::search::{self, Watcher};
use crate::draw::Overrides;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::interrupt;
use crate::progress::Progress;
use crate::run::{RunOptions, run_plan};
use scenarios::catalog::Scenario;
use scenarios::reach::{Reached, rows};
use scenarios::seed::Seed;
use std::collections::{BTreeMap, BTreeSet};

/// Seeds that are run when none are named: those of the gate.
const SEEDS_DEFAULT: args::SeedRange = args::SeedRange { from: Seed(0), to: Some(Seed(2_000)), includes_to: false };

/// Arguments of `sim reach`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The seeds to run, from A up to and without B, or `A..=B` with B [default: 0..2000]
    #[arg(long, value_name = "A..B", value_parser = args::seed_range)]
    seeds: Option<args::SeedRange>,
    /// Only this scenario, which must light its own rows only; may be repeated
    #[arg(long = "scenario", value_name = "ID")]
    scenarios: Vec<String>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    workers: Workers,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Runs the seeds, and tells of every row whether a run came there.
///
/// # Errors
/// Usage errors of the arguments; harness errors of workers, runs and the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let scenarios = args::scenarios_named(&args.scenarios)?;
    let options = options(args, &scenarios)?;
    scenarios.iter().try_for_each(|scenario| changes.draw(scenario, options.from).map(drop))?;
    interrupt::notice()?;
    let mut record = Record::new(options);
    let orders = Orders { scenarios, is_twice: false, specs: args.workers.specs(&args.changes, None) };
    let mut watch = Watch(Progress::new());
    search::search(&mut record, &orders, args.workers.jobs(), &mut watch)?;
    let was_interrupted = record.ended == Some(End::Interrupted);
    if was_interrupted {
        interrupt::answer();
    }
    let places = places(&record, &changes)?;
    watch.0.clear();
    tell_of_findings(&record, args);
    match args.format {
        Format::Text => console.print(&output::text(&record, &places, console.style))?,
        Format::Json => console.print_json(&output::json(&record, &places))?,
    }
    let is_unmet = reach::rows(&record).iter().any(ReachRow::is_unmet);
    Ok(match (was_interrupted, is_unmet) {
        (true, _) => ExitCode::Interrupted,
        (false, true) => ExitCode::Unmet,
        (false, false) => ExitCode::Held,
    })
}

fn options(args: &Args, scenarios: &[&'static Scenario]) -> Result<CampaignOptions, Error> {
    let args::SeedRange { from, to, includes_to } = args.seeds.unwrap_or(SEEDS_DEFAULT);
    if to.is_none() {
        return Err(Error::usage(format!(
            "--seeds {from}..: write where it ends, such as {from}..{}",
            from.0.saturating_add(2_000)
        )));
    }
    let scenarios = scenarios.iter().map(|scenario| scenario.id.to_owned()).collect();
    Ok(CampaignOptions {
        changes: args.changes.as_arguments(),
        includes_to,
        ..CampaignOptions::new(from, to, scenarios)
    })
}

/// Where in its run the closest came to each dark row: the runs are made once more, each in this process, since they are
/// known to end.
fn places(record: &Record, changes: &Overrides) -> Result<Places, Error> {
    let mut places = BTreeMap::new();
    let dark = record.reach.iter().filter(|(_, tally)| tally.lit_count == 0);
    let seeds: BTreeSet<Seed> = dark.map(|(_, tally)| tally.seed).collect();
    for seed in seeds {
        let Some(scenario) = reach::scenario_of(record, seed) else { continue };
        if interrupt::is_asked_for() {
            break;
        }
        let plan = changes.draw(scenario, seed)?;
        let result = run_plan(&plan, &RunOptions { counts_reach: true, ..RunOptions::default() })?;
        for (row, reached) in rows().iter().zip(result.reached) {
            let is_closest = record.reach.get(row.name).is_some_and(|tally| tally.seed == seed);
            if let (Reached::No(closest), true) = (reached, is_closest) {
                places.insert(row.name, closest);
            }
        }
    }
    Ok(places)
}

/// What is wrong in these runs is another command's business; that something is must be said.
fn tell_of_findings(record: &Record, args: &Args) {
    let count = record.findings.len();
    if count == 0 {
        return;
    }
    let mut words = vec![format!("sim fuzz --seeds {}", record.options)];
    words.extend(args.scenarios.iter().map(|scenario| format!("--scenario {scenario}")));
    words.extend(args.changes.as_arguments());
    let noun = if count == 1 { "finding" } else { "findings" };
    complain(&format!("reach: {count} {noun} in these runs: `{}` tells more", words.join(" ")));
}

/// Tells how far it is.
struct Watch(Progress);

impl Watcher for Watch {
    fn look(&mut self, record: &Record) -> Result<Option<End>, Error> {
        let total = record.seed_total().map_or(String::new(), |total| format!(" of {total}"));
        let lit = record.reach.values().filter(|tally| tally.lit_count > 0).count();
        self.0.tell(|| format!("reach: {}{total} seeds, {lit} of {} rows lit", record.seed_count, rows().len()));
        if interrupt::is_asked_for() {
            self.0.note("reach: stopping, what is known is told; once more ends it at once");
            return Ok(Some(End::Interrupted));
        }
        Ok(None)
    }

    fn note(&mut self, note: &str) {
        self.0.note(&format!("reach: {note}"));
    }
}
