//! `sim defects`: what can be broken, which check is predicted to catch it, and, with `--run`, which check does.

use super::args::{self, Format};
use super::console::Console;
use crate::campaign::fleet::Orders;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::strength::{Caught, hunt};
use crate::supervisor::WorkerSpec;
use crate::text::{did_you_mean, shortened, table};
use crate::{draw, interrupt};
use model::defect::{DEFECTS, DefectInfo};
use scenarios::strength::{excuse, predicted};
use serde_json::{Value as Json, json};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

/// Seeds that a defect gets when nothing is said.
const SEEDS: Range<u64> = 0..2_000;
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
    /// The seeds that each defect gets, from A up to and without B [default: 0..2000]
    #[arg(long, value_name = "A..B", value_parser = args::seeds, requires = "run")]
    seeds: Option<Range<u64>>,
    /// Workers at the same time; as many as there are cores when absent
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_024), requires = "run")]
    jobs: Option<u16>,
    /// Wall-clock time that one run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_limit_s: u64,
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
        print(&chosen.iter().map(|info| Row { info, caught: None }).collect::<Vec<_>>(), args, console)?;
        return Ok(ExitCode::Held);
    }
    interrupt::notice()?;
    let seeds = args.seeds.clone().unwrap_or(SEEDS);
    let mut rows = Vec::new();
    for info in chosen {
        let caught = hunt(info, seeds.clone(), &orders(info, args), jobs(args), &mut |note| {
            super::console::complain(&format!("defects: {note}"));
        })?;
        rows.push(Row { info, caught: Some(caught) });
        if args.format == Format::Text {
            super::console::complain(&format!("defects: {}", rows.last().map_or(String::new(), Row::sentence)));
        }
    }
    print(&rows, args, console)?;
    let survives = rows.iter().any(|row| row.survives() && excuse(row.info.name).is_none());
    Ok(if survives { ExitCode::Unmet } else { ExitCode::Held })
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
fn orders(info: &DefectInfo, args: &Args) -> Orders {
    let mut spec = WorkerSpec::plain(Duration::from_secs(args.run_limit_s));
    spec.arguments = vec![format!("--defect={}", info.name), format!("--memory-limit-mib={MEMORY_LIMIT_MIB}")];
    Orders { scenarios: draw::scenarios().collect(), is_twice: false, specs: [spec.clone(), spec] }
}

/// A defect, with what became of it where it was run.
struct Row {
    info: &'static DefectInfo,
    caught: Option<Caught>,
}

impl Row {
    fn survives(&self) -> bool {
        self.caught.as_ref().is_some_and(|caught| caught.first.is_none())
    }

    fn prediction(&self) -> &'static str {
        predicted(self.info.name).unwrap_or("nothing")
    }

    /// Whether the check that was predicted is among those that catch it.
    fn is_right(&self) -> bool {
        self.caught.as_ref().is_some_and(|caught| caught.by_predicted.is_some())
    }

    fn sentence(&self) -> String {
        format!("{}: {}", self.info.name, self.cells()[2..].join(", "))
    }

    /// Name, prediction, and what became of it.
    fn cells(&self) -> Vec<String> {
        let (name, prediction) = (self.info.name.to_owned(), self.prediction().to_owned());
        let Some(caught) = &self.caught else {
            return vec![name, self.info.source.to_owned(), prediction, self.info.story.to_owned()];
        };
        let told = match (&caught.first, excuse(self.info.name)) {
            (Some((seed, checks)), _) => {
                format!("caught within {} by {}", count(seed - caught.from + 1), checks.join(", "))
            }
            (None, Some(why)) => format!("survives {}, excused: {why}", count(caught.run_count)),
            (None, None) => format!("SURVIVES {}", count(caught.run_count)),
        };
        let right = match caught.by_predicted {
            Some(seed) => format!("predicted right, within {}", count(seed - caught.from + 1)),
            None if caught.first.is_some() => "predicted wrongly".to_owned(),
            None => "-".to_owned(),
        };
        vec![name, prediction, told, right]
    }

    fn json(&self) -> Json {
        let mut row = json!({
            "name": self.info.name,
            "source": self.info.source,
            "story": self.info.story,
            "predicted": self.prediction(),
            "excused": excuse(self.info.name),
        });
        if let Some(caught) = &self.caught {
            row["run_count"] = json!(caught.run_count);
            row["caught_within"] = json!(caught.first.as_ref().map(|(seed, _)| seed - caught.from + 1));
            row["caught_by"] = json!(caught.first.as_ref().map_or(&[][..], |(_, checks)| checks));
            row["predicted_within"] = json!(caught.by_predicted.map(|seed| seed - caught.from + 1));
        }
        row
    }
}

fn count(seeds: u64) -> String {
    if seeds == 1 { "1 seed".to_owned() } else { format!("{seeds} seeds") }
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

    fn row(caught: Caught) -> Row {
        Row { info: &DEFECTS[0], caught: Some(caught) }
    }

    #[test]
    fn a_row_says_by_what_and_within_how_many_seeds() {
        let first = Some((12, vec!["alarm-follows-intent".to_owned()]));
        let wrong = row(Caught { from: 10, run_count: 5, first, by_predicted: None });
        assert_eq!(wrong.cells()[2..], ["caught within 3 seeds by alarm-follows-intent", "predicted wrongly"]);
        let survivor = row(Caught { from: 10, run_count: 5, first: None, by_predicted: None });
        assert_eq!(survivor.cells()[2..], ["SURVIVES 5 seeds", "-"]);
        assert!(survivor.survives() && !wrong.survives());
    }

    #[test]
    fn an_unknown_defect_is_refused_with_the_nearest() {
        let refusal = chosen(&["idle-alarm-not-rearm".to_owned()]).map(drop).expect_err("there is none");
        assert!(refusal.to_string().contains("did you mean `idle-alarm-not-rearmed`"), "{refusal}");
        assert_eq!(chosen(&[]).map(|all| all.len()), Ok(DEFECTS.len()));
    }
}
