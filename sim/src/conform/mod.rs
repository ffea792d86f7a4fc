//! Replaying on our platform what probes did on the real runtime, and comparing the answers.
//!
//! Each probe is a program of operations on objects of our platform, in the file of its group; it answers in the shape
//! that was recorded (`record`), and `verdict` compares, knowing nothing of any probe. What cannot be compared, replayed
//! or mended stands in named lists with its reason.

mod agents;
mod alarm_handler;
mod alarms;
mod background;
mod contexts;
pub mod core;
mod errors;
mod eviction;
mod excuses;
mod front;
mod gates;
mod memory;
mod naming;
mod object;
mod probe;
mod record;
mod resets;
mod restarts;
mod retries;
mod sections;
mod sockets;
mod storage;
mod turns;
mod verdict;
mod world;

use crate::capture::Caught;
use crate::error::Error;
use crate::exit_code::ExitCode;
use record::{Record, Suite};
use serde_json::Value;
use verdict::LeftOut;

pub use excuses::UNWRITTEN;
pub use probe::Side;

/// What one record came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the suite.
    pub suite: String,
    /// What that suite is, in a sentence.
    pub suite_title: String,
    /// Id of the probe.
    pub id: String,
    /// What it does.
    pub description: String,
    /// The group whose file replays it.
    pub group: Option<&'static str>,
    /// What was recorded, without what is left out.
    pub real: Vec<Value>,
    /// What is left out of it, with the reasons.
    pub left_out: Vec<(&'static str, &'static str)>,
    /// What of it may differ, where that is excused.
    pub excused: Vec<&'static str>,
    /// Decisions of its world that are not the calm ones: name, value, reason.
    pub drawn: Vec<(&'static str, u64, &'static str)>,
    /// What the replay answered.
    pub simulated: Option<Value>,
    /// How they compare.
    pub verdict: Verdict,
}

/// How a recorded and a simulated answer compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are the same.
    Agrees,
    /// They are not.
    Differs,
    /// They are not in what is excused, for this reason, and are in everything else.
    Excused(&'static str),
    /// Something is excused, and yet the same now.
    StaleExcuse(&'static str),
    /// The replay broke off.
    Crashed(Caught),
    /// It is not replayed, for this reason.
    NotReplayed(&'static str),
}

impl Verdict {
    /// The word used in tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Excused(_) => "excused",
            Self::StaleExcuse(_) => "excused, but agrees",
            Self::Crashed(_) => "crashed",
            Self::NotReplayed(_) => "not replayed",
        }
    }

    /// What this verdict alone leads to: a model that is not like the real platform is a claim of ours that is wrong.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Agrees | Self::Excused(_) | Self::NotReplayed(_) => ExitCode::Held,
            Self::Differs | Self::StaleExcuse(_) => ExitCode::Safety,
            Self::Crashed(_) => ExitCode::Crash,
        }
    }
}

/// Names of all suites, in the order of the data.
///
/// # Errors
/// A harness error when the data cannot be read.
pub fn suite_names() -> Result<Vec<String>, Error> {
    Ok(record::suites()?.into_iter().map(|suite| suite.name).collect())
}

/// Ids of all probes, in the order of the data.
///
/// # Errors
/// As [`suite_names`].
pub fn probe_ids() -> Result<Vec<String>, Error> {
    let mut ids: Vec<String> = Vec::new();
    for record in record::suites()?.into_iter().flat_map(|suite| suite.records) {
        if !ids.contains(&record.id) {
            ids.push(record.id);
        }
    }
    Ok(ids)
}

/// Replays every record whose suite and id are wanted, and compares.
///
/// # Errors
/// Harness errors of data and threads.
pub fn check(is_wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = Vec::new();
    for suite in record::suites()? {
        for record in suite.records.iter().filter(|record| is_wanted(&suite.name, &record.id)) {
            outcomes.push(check_one(&suite, record)?);
        }
    }
    Ok(outcomes)
}

fn check_one(suite: &Suite, record: &Record) -> Result<Outcome, Error> {
    let found = probe::find(suite.side, &record.id);
    let left_out = excuses::left_out_of(suite.side, &record.id);
    let mut outcome = Outcome {
        suite: suite.name.clone(),
        suite_title: suite.title.clone(),
        id: record.id.clone(),
        description: record.description.clone(),
        group: found.map(|(group, _)| group.name),
        real: record.seen.iter().map(|real| verdict::without(real, &left_out)).collect(),
        left_out: left_out.iter().map(|LeftOut { path, why, .. }| (*path, *why)).collect(),
        excused: Vec::new(),
        drawn: Vec::new(),
        simulated: None,
        verdict: Verdict::NotReplayed(excuses::reason(suite.side, &record.id)),
    };
    let Some((_, probe)) = found else { return Ok(outcome) };
    outcome.drawn = probe.drawn_in(&suite.name).iter().map(|drawn| (drawn.what, drawn.value, drawn.why)).collect();
    let excuse = excuses::excuse(&suite.name, &record.id);
    outcome.verdict = match world::replay(probe, suite)? {
        Err(caught) => Verdict::Crashed(caught),
        Ok(simulated) => {
            let verdict = match excuse {
                None if verdict::agrees(&record.seen, &simulated, &left_out) => Verdict::Agrees,
                None => Verdict::Differs,
                Some(excuse) => {
                    outcome.excused = excuse.paths.to_vec();
                    judged(verdict::agrees_but_for(&record.seen, &simulated, &left_out, excuse.paths), excuse.why)
                }
            };
            outcome.simulated = Some(simulated);
            verdict
        }
    };
    Ok(outcome)
}

/// What becomes of an excused record, by whether the rest agrees and whether every part of the excuse is needed.
fn judged((rest_agrees, is_needed): (bool, bool), why: &'static str) -> Verdict {
    match (rest_agrees, is_needed) {
        (false, _) => Verdict::Differs,
        (true, true) => Verdict::Excused(why),
        (true, false) => Verdict::StaleExcuse(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::plan::RuntimeBuild;

    fn suite_of(build: RuntimeBuild) -> Suite {
        let suites = record::suites().expect("the data is sound");
        suites.into_iter().find(|suite| suite.side == Side::Core && suite.build == build).expect("there is one")
    }

    /// Where two builds were seen to differ, the one does not pass for the other.
    #[test]
    fn the_comparison_fails_on_what_another_build_did() {
        let (older, newer) = (suite_of(RuntimeBuild::May2026), suite_of(RuntimeBuild::November2026));
        for id in ["A17", "EV5", "G6", "RS3", "S1", "X4"] {
            let record = newer.records.iter().find(|record| record.id == id).expect("it was recorded");
            let outcome = check_one(&older, record).expect("it is replayed");
            assert_eq!(outcome.verdict, Verdict::Differs, "{id}");
            assert_eq!(outcome.verdict.exit_code(), ExitCode::Safety);
            assert_eq!(check_one(&newer, record).expect("it is replayed").verdict, Verdict::Agrees, "{id}");
        }
    }

    #[test]
    fn an_excuse_holds_for_a_difference_only() {
        assert_eq!(judged((true, true), "known").exit_code(), ExitCode::Held);
        assert_eq!(judged((true, false), "known"), Verdict::StaleExcuse("known"));
        assert_eq!(judged((true, false), "known").exit_code(), ExitCode::Safety);
        assert_eq!(judged((false, true), "known"), Verdict::Differs);
    }
}
