//! How well something about the platform is known: by the sources of the facts that say so.

use super::list::Basis;
use model::platform::fact_list;
use std::fmt;

/// How well a fact is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// It was seen in a run of the real runtime.
    Proved,
    /// The platform's documentation says so.
    Documented,
    /// It was read in a source, or somebody reported it.
    Reported,
    /// No fact says so: it is the world around the platform that does it, or the simulator alone.
    Unknown,
    /// The facts say that the platform never does so.
    Never,
}

impl fmt::Display for Grade {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Grade::Proved => "proved by a probe",
            Grade::Documented => "documented",
            Grade::Reported => "reported only",
            Grade::Unknown => "no fact about the platform",
            Grade::Never => "the platform never does so",
        })
    }
}

/// The facts that something rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Their numbers.
    pub facts: Vec<&'static str>,
    /// Their sources, as the list of facts marks them, each once.
    pub sources: Vec<&'static str>,
    /// How well the best known of them is known.
    pub grade: Grade,
}

impl Evidence {
    /// What is known by these facts; those that only point to others stand for them.
    ///
    /// # Panics
    /// At a number that is in no list: the caller's are constants.
    pub fn of(numbers: &'static [&'static str]) -> Self {
        let mut sources = Vec::new();
        for number in numbers {
            for source in sources_of(number, 0) {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        let grade = sources.iter().map(|source| grade_of(source)).min().unwrap_or(Grade::Unknown);
        Self { facts: numbers.to_vec(), sources, grade }
    }

    /// What is known of a fault of that basis.
    pub fn of_basis(basis: Basis) -> Self {
        let without_facts = |grade| Self { facts: Vec::new(), sources: Vec::new(), grade };
        match basis {
            Basis::Facts(numbers) => Self::of(numbers),
            Basis::World => without_facts(Grade::Unknown),
            Basis::Never => without_facts(Grade::Never),
        }
    }
}

/// The sources of a fact, and of those that it points to instead.
fn sources_of(number: &str, depth: u8) -> Vec<&'static str> {
    let fact = fact_list::all().find(|fact| fact.number == number);
    let fact = fact.unwrap_or_else(|| panic!("no fact about the platform has the number {number}"));
    if let Some(others) = fact.sources.strip_prefix("facts ").or_else(|| fact.sources.strip_prefix("fact "))
        && depth == 0
    {
        return others.split(", ").flat_map(pointed_to).flat_map(|number| sources_of(&number, 1)).collect();
    }
    fact.sources.split(", ").collect()
}

/// The numbers of `41-43`, or the one of `218`.
fn pointed_to(part: &str) -> Vec<String> {
    let number = |text: &str| text.parse::<u32>().ok();
    match part.split_once('-').and_then(|(first, last)| Some((number(first)?, number(last)?))) {
        Some((first, last)) => (first..=last).map(|number| number.to_string()).collect(),
        None if number(part).is_some() => vec![part.to_owned()],
        None => Vec::new(),
    }
}

fn grade_of(source: &str) -> Grade {
    let mark = source.split(':').next().unwrap_or("");
    match mark {
        "R" | "R26" | "R11" | "RF" | "RA" | "RP" | "RN" => Grade::Proved,
        "D" => Grade::Documented,
        _ => Grade::Reported,
    }
}
