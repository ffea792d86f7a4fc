//! `sim defects`: what can be broken, which check is predicted to catch it, and, with `--run`, which check does.

mod row;

use super::args::{self, Format};
use super::console::{Console, complain};
use crate::bench::place::Place;
use crate::campaign::fleet::Orders;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::interrupt;
use crate::markers;
use crate::strength::hunt;
use crate::supervisor::WorkerSpec;
use crate::text::{did_you_mean, shortened, table};
use model::defect::{DEFECTS, DefectInfo};
use row::Row;
use scenarios::catalog::Scenario;
use scenarios::strength::excuse;
use serde_json::json;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Seeds that a defect gets when nothing is said.
const SEEDS: Range<u64> = 0..2_000;
/// The same where there are several starts, and how far these are from each other.
const SEEDS_OF_START: Range<u64> = 0..300;
const START_STEP: u64 = 1_000;
/// Memory that a worker may map, in MiB.
const MEMORY_LIMIT_MIB: u64 = 4_096;

/// Arguments of `sim defects`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Run each defect through the seeds of a campaign until its predicted check catches it
    #[arg(long)]
    run: bool,
    /// Only this defect; may be repeated
    #[arg(long = "defect", value_name = "NAME")]
    defects: Vec<String>,
    /// Only this scenario; may be repeated
    #[arg(long = "scenario", value_name = "ID", requires = "run")]
    scenarios: Vec<String>,
    /// Start so often, 1 to 1000 times, each 1000 seeds further on, and tell the median of the seeds that were needed
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000), requires = "run")]
    starts: u64,
    /// The seeds that each defect gets, from A up to and without B, or `A..=B` with B [default: 0..2000, with several starts 0..300]
    #[arg(long, value_name = "A..B", value_parser = args::seeds, requires = "run")]
    seeds: Option<Range<u64>>,
    /// Workers at the same time, 1 to 1024; as many as there are cores when absent
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_024), requires = "run")]
    jobs: Option<u16>,
    /// Wall-clock time that one run may take, 1 to 86400 seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_limit_s: u64,
    /// Write the table into this file, between its two marker lines; it is of all defects and several starts
    #[arg(long, value_name = "FILE", requires = "run", conflicts_with_all = ["defects", "scenarios"])]
    write: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Lists, or hunts and tells.
///
/// # Errors
/// A usage error for an unknown defect; harness errors of workers and the console; an interruption.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let chosen = chosen(&args.defects)?;
    if !args.run {
        print(&chosen.iter().map(|info| Row { info, caught: Vec::new() }).collect::<Vec<_>>(), args, console)?;
        return Ok(ExitCode::Held);
    }
    if let Some(path) = &args.write {
        check_write(path, args.starts)?;
    }
    interrupt::notice()?;
    let scenarios = args::scenarios_named(&args.scenarios)?;
    let mut rows = Vec::new();
    let mut is_interrupted = false;
    for info in &chosen {
        let (row, is_whole) = hunted(info, args, &scenarios)?;
        is_interrupted = !is_whole;
        if !row.caught.is_empty() {
            if args.format == Format::Text {
                complain(&format!("defects: {}", row.sentence()));
            }
            rows.push(row);
        }
        if is_interrupted {
            break;
        }
    }
    // What was found is told even where it cannot be written, or where somebody did not wait for the rest.
    print(&rows, args, console)?;
    if is_interrupted {
        complain(&format!("interrupted: that was {} of {} defects", rows.len(), chosen.len()));
        return Ok(ExitCode::Interrupted);
    }
    if let Some(path) = &args.write {
        let words = format!("cargo run -p sim --release -- defects --run --starts {}", args.starts);
        markers::DEFECTS.write(path, &row::markdown(&rows, &words, &Place::here()?, &seeds(args)))?;
    }
    let survives = rows.iter().any(|row| row.survives() && excuse(row.info.name).is_none());
    Ok(if survives { ExitCode::Unmet } else { ExitCode::Held })
}

/// That the table can be written is known before hours of runs.
fn check_write(path: &Path, starts: u64) -> Result<(), Error> {
    if starts < 2 {
        return Err(Error::usage("--write writes medians: give `--starts` with at least 2"));
    }
    markers::DEFECTS.check(path)
}

/// The seeds of the first start.
fn seeds(args: &Args) -> Range<u64> {
    args.seeds.clone().unwrap_or(if args.starts == 1 { SEEDS } else { SEEDS_OF_START })
}

/// What became of a defect, and whether it had all its starts; Ctrl-C leaves those that came to their end.
fn hunted(info: &'static DefectInfo, args: &Args, scenarios: &[&'static Scenario]) -> Result<(Row, bool), Error> {
    let orders = orders(info, args, scenarios);
    let seeds = seeds(args);
    let mut row = Row { info, caught: Vec::new() };
    for start in 0..args.starts {
        let from = |seed: u64| seed.saturating_add(start * START_STEP);
        let mut tell = |note: &str| complain(&format!("defects: {note}"));
        match hunt(info, from(seeds.start)..from(seeds.end), &orders, jobs(args), &mut tell) {
            Ok(caught) => row.caught.push(caught),
            Err(Error::Interrupted) => return Ok((row, false)),
            Err(error) => return Err(error),
        }
    }
    Ok((row, true))
}

fn chosen(names: &[String]) -> Result<Vec<&'static DefectInfo>, Error> {
    if names.is_empty() {
        return Ok(DEFECTS.iter().collect());
    }
    let find = |name: &String| {
        DEFECTS.iter().find(|info| info.name == name).ok_or_else(|| {
            let hint = did_you_mean(name, DEFECTS.iter().map(|info| info.name), "sim defects");
            Error::usage(format!("no defect is called `{}`: {hint}", shortened(name, 60)))
        })
    };
    names.iter().map(find).collect()
}

fn jobs(args: &Args) -> NonZeroUsize {
    let asked = args.jobs.and_then(|jobs| NonZeroUsize::new(usize::from(jobs)));
    asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// Workers whose runs have the defect.
fn orders(info: &DefectInfo, args: &Args, scenarios: &[&'static Scenario]) -> Orders {
    let mut spec = WorkerSpec::plain(Duration::from_secs(args.run_limit_s));
    spec.arguments = vec![format!("--defect={}", info.name), format!("--memory-limit-mib={MEMORY_LIMIT_MIB}")];
    Orders { scenarios: scenarios.to_vec(), is_twice: false, specs: [spec.clone(), spec] }
}

fn print(rows: &[Row], args: &Args, console: &mut Console) -> Result<(), Error> {
    if args.format == Format::Json {
        return console.print_json(&json!({"defects": rows.iter().map(Row::json).collect::<Vec<_>>()}));
    }
    let mut text = table(&rows.iter().map(Row::cells).collect::<Vec<_>>(), &[]);
    if args.run {
        let caught = rows.iter().filter(|row| !row.survives()).count();
        let right = rows.iter().filter(|row| row.is_right()).count();
        text += &format!("{} defects, {caught} caught, {right} predicted right\n", rows.len());
    }
    console.print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_defect_is_refused_with_the_nearest() {
        let refusal = chosen(&["idle-alarm-not-rearm".to_owned()]).map(drop).expect_err("there is none");
        assert!(refusal.to_string().contains("did you mean `idle-alarm-not-rearmed`"), "{refusal}");
        assert_eq!(chosen(&[]).map(|all| all.len()), Ok(DEFECTS.len()));
    }
}
