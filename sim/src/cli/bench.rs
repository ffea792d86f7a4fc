//! `sim bench`: the table of numbers, measured on this machine; two builds set against each other.

use super::args::{self, Changes, Format};
use super::console::{Console, complain};
use crate::bench::place::Place;
use crate::bench::rows::{self, RowSpec};
use crate::bench::{Bench, Counts, compare, table};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::markers;
use std::path::{Path, PathBuf};

/// Arguments of `sim bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only this row; may be repeated
    #[arg(long = "row", value_name = "NAME", help_heading = "What is measured")]
    rows: Vec<String>,
    /// Only this scenario of the catalog; may be repeated
    #[arg(long = "scenario", value_name = "ID", help_heading = "What is measured")]
    scenarios: Vec<String>,
    /// Also build the workspace into an empty folder, which takes minutes
    #[arg(long, help_heading = "What is measured")]
    cold_build: bool,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    amounts: Amounts,
    /// Measure another built `sim` in alternation with this one, and print the ratios with their spread
    #[arg(long, value_name = "PROGRAM")]
    compare: Option<PathBuf>,
    /// How often each of the two is measured
    #[arg(long, value_name = "COUNT", default_value_t = 5, requires = "compare", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    alternations: u32,
    /// Write the table into this file, between its two marker lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "rows", "scenarios", "quick"])]
    write: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// How much is measured.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "How much")]
struct Amounts {
    /// Small counts: for a look, not to be written down
    #[arg(long)]
    quick: bool,
    /// Seeds whose runs are timed, each of the scenario that it picks [default: 1000, quick 100]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seeds: Option<u32>,
    /// Seeds that are counted against the floor [default: 100, quick 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    floor_seeds: Option<u32>,
    /// Runs over which the growth of memory is read; what must be reached is about 100000 [default: 20000, quick 1000]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    memory_runs: Option<u32>,
    /// Sessions of the largest world that is timed [default: 10000, quick 1000]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(10..=10_000))]
    sessions_max: Option<u32>,
    /// Sessions of the largest world whose instructions are counted, fifty times as slow [default: 1000, quick 100]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(10..=10_000))]
    counted_sessions_max: Option<u32>,
    /// Resident sessions of the smaller of the two worlds whose memory is compared [default: 1000, quick 200]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=5_000))]
    resident_sessions: Option<u32>,
    /// How often what is timed as a whole is tried [default: 5, quick 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    tries: Option<u32>,
}

impl Amounts {
    fn counts(&self) -> Counts {
        let otherwise = if self.quick { Counts::QUICK } else { Counts::USUAL };
        Counts {
            seeds: self.seeds.unwrap_or(otherwise.seeds),
            memory_runs: self.memory_runs.unwrap_or(otherwise.memory_runs),
            floor_seeds: self.floor_seeds.unwrap_or(otherwise.floor_seeds),
            sessions_max: self.sessions_max.unwrap_or(otherwise.sessions_max),
            counted_sessions_max: self.counted_sessions_max.unwrap_or(otherwise.counted_sessions_max),
            resident_sessions: self.resident_sessions.unwrap_or(otherwise.resident_sessions),
            tries: self.tries.unwrap_or(otherwise.tries),
        }
    }

    /// The same amounts as arguments.
    fn as_arguments(&self) -> Vec<String> {
        let options = [
            ("seeds", self.seeds),
            ("floor-seeds", self.floor_seeds),
            ("memory-runs", self.memory_runs),
            ("sessions-max", self.sessions_max),
            ("counted-sessions-max", self.counted_sessions_max),
            ("resident-sessions", self.resident_sessions),
            ("tries", self.tries),
        ];
        let given = options.iter().filter_map(|(name, count)| Some(format!("--{name}={}", (*count)?)));
        self.quick.then(|| "--quick".to_owned()).into_iter().chain(given).collect()
    }
}

/// Measures and prints.
///
/// # Errors
/// Usage errors of the arguments and files; harness errors of runs and the console; an interruption.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let changes = args.changes.read()?;
    let scenarios = args::scenarios_named(&args.scenarios)?;
    crate::interrupt::notice()?;
    if let Some(other) = &args.compare {
        return compare_with(other, args, console);
    }
    let specs = rows::named(&args.rows, |_| true)?;
    if let Some(path) = &args.write {
        markers::BENCH.check(path)?;
    }
    let (counts, change_arguments) = (args.amounts.counts(), args.changes.as_arguments());
    let mut bench = Bench::new(counts, changes, change_arguments, scenarios, args.cold_build, complain);
    let place = Place::here()?;
    let measured = bench.measure(&specs)?;
    if let Some(path) = &args.write {
        markers::BENCH.write(path, &table::markdown(&command_of(args, path), &place, &measured))?;
    }
    match args.format {
        Format::Text => console.print(&table::text(&place, &measured))?,
        Format::Json => console.print_json(&table::json(&place, &measured))?,
    }
    Ok(ExitCode::Held)
}

fn compare_with(other: &Path, args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let rows: Vec<&'static RowSpec> = rows::named(&args.rows, |row| row.is_compared)?;
    let mut arguments = args.changes.as_arguments();
    arguments.extend(args.scenarios.iter().map(|scenario| format!("--scenario={scenario}")));
    arguments.extend(args.amounts.as_arguments());
    arguments.extend(args.cold_build.then(|| "--cold-build".to_owned()));
    let compared = compare::compare(other, &rows, &arguments, args.alternations, complain)?;
    match args.format {
        Format::Text => console.print(&compare::text(&compared, args.alternations))?,
        Format::Json => console.print_json(&compare::json(&compared, args.alternations))?,
    }
    Ok(ExitCode::Held)
}

/// The command that writes the same table, without the folder of the file.
fn command_of(args: &Args, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut words = vec!["cargo run -p sim --release -- bench".to_owned()];
    words.extend(args.cold_build.then(|| "--cold-build".to_owned()));
    words.extend(args.changes.as_arguments());
    words.extend(args.amounts.as_arguments());
    words.push(format!("--write {}", crate::text::printable(&name)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn read(line: &str) -> Result<Args, clap::Error> {
        Line::try_parse_from(std::iter::once("bench").chain(line.split_whitespace())).map(|line| line.args)
    }

    #[test]
    fn counts_are_the_usual_ones_or_small_or_as_given() {
        assert_eq!(read("").expect("fine").amounts.counts(), Counts::USUAL);
        assert_eq!(read("--quick").expect("fine").amounts.counts(), Counts::QUICK);
        let given = read("--quick --seeds 7 --tries 1").expect("fine").amounts;
        assert_eq!(given.counts(), Counts { seeds: 7, tries: 1, ..Counts::QUICK });
        assert_eq!(given.as_arguments(), ["--quick", "--seeds=7", "--tries=1"]);
    }

    #[test]
    fn the_table_is_written_whole() {
        for line in
            ["--write P.md --row kept", "--write P.md --quick", "--write P.md --compare sim", "--alternations 2"]
        {
            assert!(read(line).is_err(), "{line}");
        }
        let args = read("--cold-build --memory-runs 100000 --write some/where/P.md").expect("fine");
        let command = command_of(&args, args.write.as_deref().expect("given"));
        assert_eq!(command, "cargo run -p sim --release -- bench --cold-build --memory-runs=100000 --write P.md");
    }
}
