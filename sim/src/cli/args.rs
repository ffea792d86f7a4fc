//! Arguments that several commands share, and how each is read.

use crate::corpus::Entry;
use crate::draw::Overrides;
use crate::error::Error;
use crate::signature::Signature;
use scenarios::catalog::Scenario;
use scenarios::plan::{Core, Plan};
use scenarios::seed::Seed;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// Form of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON document.
    Json,
}

/// What is changed in the plans that scenarios draw.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Changes {
    /// Switch a historic bug on; may be repeated (`sim list defects`)
    #[arg(long = "defect", value_name = "NAME")]
    pub defects: Vec<String>,
    /// Change what an operator configures, such as `session-timeout-ms=60000`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Run the core with the bugs that were found here repaired, or as it was described
    #[arg(long, value_name = "CORE")]
    pub core: Option<CoreName>,
}

/// The core under test, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CoreName {
    /// Found bugs are repaired (the default)
    Fixed,
    /// As the behavioural description has it
    Described,
}

impl Changes {
    /// The changes, with every name checked.
    ///
    /// # Errors
    /// A usage error for an unknown defect, key or value, with the nearest names.
    pub fn read(&self) -> Result<Overrides, Error> {
        let core = self.core.map(|core| match core {
            CoreName::Fixed => Core::Fixed,
            CoreName::Described => Core::Described,
        });
        Overrides::read(&self.defects, &self.settings, core)
    }

    /// The same changes as arguments for a worker.
    pub fn as_arguments(&self) -> Vec<String> {
        let named = |name: &str, values: &[String]| -> Vec<String> {
            values.iter().map(|value| format!("--{name}={value}")).collect()
        };
        let mut arguments = named("defect", &self.defects);
        arguments.extend(named("set", &self.settings));
        arguments.extend(self.core.map(|core| match core {
            CoreName::Fixed => "--core=fixed".to_owned(),
            CoreName::Described => "--core=described".to_owned(),
        }));
        arguments
    }
}

/// Where and how a run is reported.
#[derive(Clone, Debug, clap::Args)]
pub struct Reporting {
    /// Write the trace of the run to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Print every line of a long story, not only its begin and its end
    #[arg(long)]
    pub whole_story: bool,
    /// Also print what was taken and given back of runtimes, permits, leases, streams and the like
    #[arg(long)]
    pub ledgers: bool,
    /// Folder that reports of failures are written to
    #[arg(long, value_name = "DIR", value_parser = folder, default_value = "reports")]
    pub reports: PathBuf,
}

/// Reads a seed: decimal, hexadecimal, `_` between digits.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn seed(text: &str) -> Result<Seed, String> {
    text.parse::<Seed>().map_err(|refusal| format!("{}: {}", refusal.problem, refusal.remedy))
}

const NO_SEED: &str = "the range has no seed in it: write the smaller number first, and a larger one behind it";

/// Reads the name of a folder to write into. Commands that are printed name it, so it must be one that can be written.
///
/// # Errors
/// A sentence about what cannot be.
pub fn folder(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("a folder has a name: give one".to_owned());
    }
    match text.chars().find(|each| each.is_control()) {
        Some(each) => Err(format!("the name has the control character {each:?}: take a name without")),
        None => Ok(PathBuf::from(text)),
    }
}

/// Reads `A..B`, the seeds from A up to and without B, or `A..=B`, those up to and with B.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn seeds(text: &str) -> Result<Range<u64>, String> {
    let form = "expected A..B, the seeds from A up to and without B, or A..=B with B";
    let range = if text.contains("..") { seed_range(text)? } else { return Err(form.to_owned()) };
    let SeedRange { from: Seed(from), to, includes_to } = range;
    let to = to.ok_or(form)?.0;
    if includes_to {
        return Err("the largest seed is in no range of this command: run it by itself, with `--seed`".to_owned());
    }
    if to - from > 1_000_000 {
        return Err("more than 1000000 seeds: take a shorter range".to_owned());
    }
    Ok(from..to)
}

/// Seeds from one on, up to and without another if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedRange {
    /// The first.
    pub from: Seed,
    /// The one after the last.
    pub to: Option<Seed>,
    /// Whether that is the last itself: so only where it is the largest seed, which no seed comes after.
    pub includes_to: bool,
}

/// Reads `A..B`, `A..=B`, or `A..` for seeds without an end.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn seed_range(text: &str) -> Result<SeedRange, String> {
    let form = "expected A..B, the seeds from A up to and without B, A..=B with B, or A.. for seeds without an end";
    let (from, to) = text.split_once("..").ok_or(form)?;
    let from = seed(from)?;
    let last = to.strip_prefix('=').map(seed).transpose()?;
    let (to, includes_to) = match last {
        Some(Seed(u64::MAX)) => (Some(Seed(u64::MAX)), true),
        Some(Seed(last)) => (Some(Seed(last + 1)), false),
        None if to.is_empty() => (None, false),
        None => (Some(seed(to)?), false),
    };
    if to.is_some_and(|to| to <= from && !includes_to) {
        return Err(NO_SEED.to_owned());
    }
    Ok(SeedRange { from, to, includes_to })
}

/// Reads a time of whole seconds, minutes or hours: `90s`, `10m`, `2h`.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn duration(text: &str) -> Result<Duration, String> {
    let form = "write it like 90s, 10m or 2h";
    let unit_s = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => return Err(form.to_owned()),
    };
    let digits = &text[..text.len() - 1];
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match number.and_then(|number| number.checked_mul(unit_s)) {
        Some(seconds @ 1..=31_536_000) => Ok(Duration::from_secs(seconds)),
        Some(0) => Err(format!("no time at all: {form}")),
        Some(_) => Err("longer than a year: take a shorter time".to_owned()),
        None => Err(form.to_owned()),
    }
}

/// Reads how many runs may be spent on making a plan small: 0 for none, else enough to begin with.
///
/// # Errors
/// A sentence with the accepted numbers.
pub fn shrink_runs(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(runs @ (0 | 10..=1_000_000_000)) => Ok(runs),
        _ => Err("expected 0, or a number from 10 to 1000000000".to_owned()),
    }
}

/// A seed from the system's entropy.
pub fn drawn_seed() -> Seed {
    // The keys of a hash map are the entropy that std hands out; no run is on this thread.
    Seed(RandomState::new().build_hasher().finish())
}

/// The named scenarios in the order of the catalog, each once, or the whole catalog when none is named.
///
/// # Errors
/// A usage error for an unknown name.
pub fn scenarios_named(names: &[String]) -> Result<Vec<&'static Scenario>, Error> {
    if names.is_empty() {
        return Ok(crate::draw::scenarios().collect());
    }
    let named: Vec<&Scenario> = names.iter().map(|name| crate::draw::scenario(name)).collect::<Result<_, _>>()?;
    Ok(crate::draw::scenarios().filter(|scenario| named.iter().any(|each| each.id == scenario.id)).collect())
}

/// The plan of a file: a plan, or the one that an entry of the corpus holds.
///
/// # Errors
/// A usage error that names the file, the place in it, what was expected and what to do.
pub fn plan_file(path: &std::path::Path) -> Result<Plan, Error> {
    plan_or_entry(path).map(|(plan, _)| plan)
}

/// The same, and whether it is the plan of an entry: of such a plan pins may have lost what they are about.
///
/// # Errors
/// As [`plan_file`].
pub fn plan_or_entry(path: &std::path::Path) -> Result<(Plan, bool), Error> {
    Ok(match read(path)? {
        Held::Plan(plan) => (*plan, false),
        Held::Entry(entry) => (entry.plan, true),
    })
}

/// The plan of a file with the failure that is meant: of an entry of the corpus the one that it is kept for, with the
/// defects that it keeps switched on.
///
/// # Errors
/// As [`plan_file`].
pub fn failing_plan(path: &std::path::Path) -> Result<(Plan, Option<Signature>), Error> {
    Ok(match read(path)? {
        Held::Plan(plan) => (*plan, None),
        Held::Entry(entry) => match (entry.broken_plan(), entry.expected.broken) {
            (Some(plan), Some(shown)) => (plan, shown.signature),
            _ => (entry.plan, entry.expected.as_it_is.signature),
        },
    })
}

/// What a file with a plan can be.
enum Held {
    Plan(Box<Plan>),
    Entry(Box<Entry>),
}

fn read(path: &std::path::Path) -> Result<Held, Error> {
    let bytes = crate::files::read_bounded(path, "plan", scenarios::bad_input::PLAN_BYTES_MAX)?;
    if Entry::is_one(&bytes) {
        return Ok(Held::Entry(Box::new(crate::corpus::store::read_bytes(path, &bytes)?)));
    }
    let plan = Plan::parse(&bytes).map_err(|refusal| {
        let sentence = refusal.in_file(&path.to_string_lossy()).to_string();
        Error::usage(crate::text::printable(&sentence))
    })?;
    crate::draw::check_names(&plan, path)?;
    Ok(Held::Plan(Box::new(plan)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_may_have_no_end_and_any_length() {
        let range =
            |from: u64, to: Option<u64>| Ok(SeedRange { from: Seed(from), to: to.map(Seed), includes_to: false });
        assert_eq!(seed_range("0..100000000"), range(0, Some(100_000_000)));
        assert_eq!(seed_range("7.."), range(7, None));
        assert_eq!(seed_range("3..=7"), range(3, Some(8)));
        assert_eq!(seed_range("5..=5"), range(5, Some(6)));
        let largest = SeedRange { from: Seed(u64::MAX), to: Some(Seed(u64::MAX)), includes_to: true };
        assert_eq!(seed_range("18446744073709551615..=18446744073709551615"), Ok(largest));
        for wrong in ["", "5", "..5", "5..5", "9..2", "9..=2", "5..=", "5..==6", "a..b", "..", "1..-2", "1...2"] {
            assert!(seed_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_has_a_unit() {
        let read = ["90s", "10m", "2h"].map(|text| duration(text).map(|time| time.as_secs()));
        assert_eq!(read, [Ok(90), Ok(600), Ok(7200)]);
        for wrong in ["", "s", "10", "1.5h", "-1s", "+1s", "0s", "10 m", "9000000000000000000h", "2d", "1é"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_range_of_seeds_is_read_without_its_end() {
        assert_eq!(seeds("0..20"), Ok(0..20));
        assert_eq!(seeds("0x10..1_000"), Ok(16..1000));
        assert_eq!(seeds("0..=20"), Ok(0..21));
        for wrong in [
            "",
            "7..",
            "18446744073709551615..=18446744073709551615",
            "5",
            "5..5",
            "9..2",
            "a..b",
            "..",
            "0..18446744073709551615",
        ] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
