//! What is measured in a process of its own: its memory is nobody else's, and its instructions can be counted.
//!
//! A part is a line of JSON, the argument of the hidden command `bench-part`; its answer is a line on standard output.

use super::child::{self, NotRun};
use super::speed::{Kind, one_run};
use super::{crowd, floor, memory, now, plans_of_mix};
use crate::draw::{self, Overrides};
use crate::error::Error;
use scenarios::plan::Plan;
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::sync::Arc;

/// One thing to do, some number of times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Part {
    /// Runs the first seeds of a campaign over some scenarios, only digested.
    Host {
        /// Ids of the scenarios.
        scenarios: Vec<String>,
        /// How many seeds.
        seeds: u32,
        /// How often.
        repeat: u32,
    },
    /// Plays what the clients of the same runs sent and got, without a host.
    Floor {
        /// Ids of the scenarios.
        scenarios: Vec<String>,
        /// How many seeds.
        seeds: u32,
        /// How often.
        repeat: u32,
    },
    /// Runs one world with many sessions, only digested.
    Crowd {
        /// Whose sessions they are.
        crowd: crowd::Crowd,
        /// How often.
        repeat: u32,
    },
    /// Runs plans in turn, only digested, a tenth as many before the first reading of the memory.
    Growth {
        /// Ids of the scenarios.
        scenarios: Vec<String>,
        /// How many seeds.
        seeds: u32,
        /// Runs between the readings.
        runs: u32,
    },
}

/// What came of a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartAnswer {
    /// Wall-clock time of what was repeated, in seconds.
    pub seconds: f64,
    /// Resident memory before it, in KiB; nothing where the system does not tell it.
    pub before_kib: Option<u64>,
    /// Resident memory after it, in KiB.
    pub after_kib: Option<u64>,
    /// The most resident memory that the process ever had, in KiB.
    pub peak_kib: Option<u64>,
}

impl Part {
    /// Does it in this process.
    ///
    /// # Errors
    /// A usage error for an unknown scenario; harness errors of runs.
    pub fn perform(&self, changes: &Overrides) -> Result<PartAnswer, Error> {
        match self {
            Self::Host { scenarios, seeds, repeat } => {
                let plans = plans(scenarios, *seeds, changes)?;
                // What the floor is played from is also heard here, so that it is no difference between them.
                let _scripts = scripts(&plans)?;
                timed(*repeat, || plans.iter().try_for_each(|plan| one_run(plan, Kind::Digested).map(drop)))
            }
            Self::Floor { scenarios, seeds, repeat } => {
                let scripts = scripts(&plans(scenarios, *seeds, changes)?)?;
                timed(*repeat, || scripts.iter().try_for_each(|script| floor::play(script).map(drop)))
            }
            Self::Crowd { crowd, repeat } => {
                let plan = crowd.plan();
                timed(*repeat, || one_run(&plan, Kind::Digested).map(drop))
            }
            Self::Growth { scenarios, seeds, runs } => {
                let plans = plans(scenarios, *seeds, changes)?;
                let run = |count: u32| -> Result<(), Error> {
                    let mut taken = plans.iter().cycle().take(count as usize);
                    taken.try_for_each(|plan| one_run(plan, Kind::Digested).map(drop))
                };
                run(runs / 10)?;
                timed(1, || run(*runs))
            }
        }
    }
}

fn plans(scenarios: &[String], seeds: u32, changes: &Overrides) -> Result<Vec<Plan>, Error> {
    let among = scenarios.iter().map(|id| draw::scenario(id)).collect::<Result<Vec<_>, _>>()?;
    plans_of_mix(changes, seeds, &among)
}

fn scripts(plans: &[Plan]) -> Result<Vec<Arc<floor::Script>>, Error> {
    plans.iter().map(|plan| floor::record(plan).map(Arc::new)).collect()
}

fn timed(repeat: u32, mut once: impl FnMut() -> Result<(), Error>) -> Result<PartAnswer, Error> {
    let before_kib = memory::resident_kib();
    let began = now();
    for _ in 0..repeat {
        once()?;
    }
    let seconds = now().duration_since(began).as_secs_f64();
    Ok(PartAnswer { seconds, before_kib, after_kib: memory::resident_kib(), peak_kib: memory::peak_kib() })
}

/// Has another process of this program do it.
///
/// # Errors
/// A harness error when that fails; an interruption.
pub fn in_process(part: &Part, change_arguments: &[String]) -> Result<PartAnswer, Error> {
    let mut command = child::this_program()?;
    command.args(arguments(part, change_arguments));
    let failed = |how: &str| Error::harness(format!("a process that measures failed: {how}"));
    match child::run(&mut command, None)? {
        Ok(ended) if ended.code == Some(0) => {
            serde_json::from_str(&ended.stdout).map_err(|error| failed(&format!("its answer cannot be read: {error}")))
        }
        Ok(ended) => Err(failed(&crate::text::shortened(ended.stderr.trim(), 300))),
        Err(NotRun::NotStarted(error)) => Err(failed(&crate::files::reason(&error))),
        Err(NotRun::Ended) => Err(failed("it said too much")),
    }
}

/// The arguments with which this program does it.
pub fn arguments(part: &Part, change_arguments: &[String]) -> Vec<String> {
    let asked = serde_json::to_string(part).expect("a part is plain data");
    let mut arguments = vec!["bench-part".to_owned(), asked];
    arguments.extend_from_slice(change_arguments);
    arguments
}

/// The same under another program that takes it as its last arguments.
///
/// # Errors
/// A harness error when the system does not say where this program is.
pub fn under(mut program: Command, part: &Part, change_arguments: &[String]) -> Result<Command, Error> {
    program.arg(child::this_program()?.get_program()).args(arguments(part, change_arguments));
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_as_they_are_written_and_unknown_ones_refused() {
        let crowd = crowd::Crowd { sessions: 3, calls: 1, is_direct: true };
        let scenarios = vec!["idle/stream-stays-open".to_owned()];
        for part in [
            Part::Host { scenarios: scenarios.clone(), seeds: 2, repeat: 1 },
            Part::Floor { scenarios: scenarios.clone(), seeds: 2, repeat: 1 },
            Part::Crowd { crowd, repeat: 2 },
            Part::Growth { scenarios, seeds: 1, runs: 10 },
        ] {
            let line = arguments(&part, &[]).pop().expect("the part");
            assert_eq!(serde_json::from_str::<Part>(&line).ok(), Some(part));
        }
        assert!(serde_json::from_str::<Part>(r#"{"part":"else"}"#).is_err());
    }

    #[test]
    fn every_part_does_what_it_is_asked_for() {
        let scenarios = vec!["idle/stream-stays-open".to_owned()];
        let crowd = crowd::Crowd { sessions: 2, calls: 1, is_direct: false };
        for part in [
            Part::Host { scenarios: scenarios.clone(), seeds: 1, repeat: 1 },
            Part::Floor { scenarios: scenarios.clone(), seeds: 1, repeat: 1 },
            Part::Crowd { crowd, repeat: 1 },
            Part::Growth { scenarios, seeds: 1, runs: 3 },
        ] {
            let answer = part.perform(&Overrides::default()).expect("it is done");
            assert!(answer.seconds > 0.0, "{part:?}");
        }
        let unknown = Part::Growth { scenarios: vec!["no/such".to_owned()], seeds: 1, runs: 1 };
        assert!(unknown.perform(&Overrides::default()).is_err());
    }
}
