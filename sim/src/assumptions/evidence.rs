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
    /// It was seen of something else, and is taken to be so here.
    Analogy,
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
            Grade::Analogy => "by analogy only",
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
    /// How well that of them is known that is known least: each by the best of its sources.
    pub grade: Grade,
}

impl Evidence {
    /// What is known by these facts, each as a [`scenarios::plan::Turned`] names them.
    ///
    /// # Panics
    /// At a number or a source that is in no list: the caller's are constants.
    pub fn of(proofs: &'static [&'static str]) -> Self {
        let (mut facts, mut sources, mut grades) = (Vec::new(), Vec::new(), Vec::new());
        for proof in proofs {
            let (number, own, is_analogy) = parts(proof);
            let best = own.iter().map(|source| grade_of(source)).min().unwrap_or(Grade::Unknown);
            grades.push(if is_analogy { best.max(Grade::Analogy) } else { best });
            facts.push(number);
            sources.extend(own.into_iter().filter(|source| !sources.contains(source)).collect::<Vec<_>>());
        }
        Self { facts, sources, grade: grades.into_iter().max().unwrap_or(Grade::Unknown) }
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

/// The fact, the sources of it that count, and whether they saw something else: `16 [R:EV2]`, `84 by analogy`.
fn parts(proof: &'static str) -> (&'static str, Vec<&'static str>, bool) {
    let (text, is_analogy) = proof.strip_suffix(" by analogy").map_or((proof, false), |text| (text, true));
    let (number, chosen) = match text.strip_suffix(']').and_then(|text| text.split_once(" [")) {
        Some((number, chosen)) => (number, Some(chosen)),
        None => (text, None),
    };
    let fact = fact_list::all().find(|fact| fact.number == number);
    let fact = fact.unwrap_or_else(|| panic!("no fact about the platform has the number {number}"));
    let all: Vec<&str> = fact.sources.split(", ").collect();
    let own: Vec<&str> = chosen.map_or_else(|| all.clone(), |chosen| chosen.split(", ").collect());
    let unknown = own.iter().find(|source| !all.contains(source));
    assert!(unknown.is_none(), "fact {number} does not rest on {unknown:?}");
    (number, own, is_analogy)
}

fn grade_of(source: &str) -> Grade {
    let mark = source.split(':').next().unwrap_or("");
    match mark {
        "R" | "R26" | "R11" | "RF" | "RA" | "RP" | "RN" => Grade::Proved,
        "D" => Grade::Documented,
        _ => Grade::Reported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::QUESTIONS;
    use scenarios::plan::TURNED;

    #[test]
    fn every_value_of_a_switch_and_of_a_question_names_facts_and_sources_that_there_are() {
        TURNED.iter().filter(|turned| !turned.is_by_build()).for_each(|turned| drop(Evidence::of(turned.facts)));
        for question in QUESTIONS.iter().filter(|question| !question.facts.is_empty()) {
            for value in [1, 2, 3, 100, 20_000, u64::MAX] {
                assert!(!Evidence::of(question.proof_of(value)).facts.is_empty(), "{} of {value}", question.noun);
            }
        }
    }

    #[test]
    fn a_grade_is_that_of_the_weakest_fact_and_of_the_needed_value() {
        assert_eq!(Evidence::of(&["7"]).grade, Grade::Proved);
        assert_eq!(Evidence::of(&["7", "24"]).grade, Grade::Documented);
        assert_eq!(Evidence::of(&["24", "113"]).grade, Grade::Reported);
        let of = |switch: &str, value: &str| {
            let turned = TURNED.iter().find(|turned| turned.switch == switch && turned.value == value);
            Evidence::of(turned.expect("it is one").facts).grade
        };
        assert_eq!(of("eviction", "idle-only"), Grade::Proved);
        assert_eq!(of("eviction", "pending-work-too"), Grade::Documented);
        assert_eq!(of("sockets_after_reset", "silent"), Grade::Analogy);
        let late = QUESTIONS.iter().find(|question| question.has("alarm.late")).expect("it is one");
        assert_eq!(Evidence::of(late.proof_of(10)).grade, Grade::Proved);
        assert_eq!(Evidence::of(late.proof_of(60_000)).grade, Grade::Documented);
    }

    #[test]
    #[should_panic(expected = "does not rest on")]
    fn a_source_that_a_fact_does_not_have_is_refused() {
        let _ = Evidence::of(&["16 [R:EV9]"]);
    }
}
