//! How soon a defect is caught: the seeds of a campaign, run with it until the check that is to catch it does.

use crate::campaign::fleet::Orders;
use crate::campaign::record::{CampaignOptions, End, Record};
use crate::campaign::search::{self, Watcher};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::interrupt;
use model::defect::DefectInfo;
use scenarios::seed::Seed;
use scenarios::strength::{expected, predicted};
use std::num::NonZeroUsize;
use std::ops::Range;

/// What became of a defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// The first seed that was run.
    pub from: u64,
    /// How many seeds it got; where it was caught, those up to the one that did it.
    pub run_count: u64,
    /// The first seed whose run fails, and the checks that fail it, in the order of their names.
    pub first: Option<(u64, Vec<String>)>,
    /// The first seed that the predicted check fails.
    pub by_predicted: Option<u64>,
}

impl Caught {
    /// How many seeds it took until a check caught it.
    pub fn within(&self) -> Option<u64> {
        self.first.as_ref().map(|(seed, _)| seed - self.from + 1)
    }

    /// How many seeds it took until the predicted check did.
    pub fn predicted_within(&self) -> Option<u64> {
        self.by_predicted.map(|seed| seed - self.from + 1)
    }

    /// The checks that caught it first.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.first.iter().flat_map(|(_, checks)| checks).map(String::as_str)
    }
}

/// Runs the seeds with a defect, one scenario each as in any campaign, until the check that is to catch it has.
///
/// What is told depends on the seeds alone: results are folded in their order.
///
/// # Errors
/// A harness error when a worker cannot be started or a run ends one; an interruption.
pub fn hunt(
    info: &DefectInfo,
    seeds: Range<u64>,
    orders: &Orders,
    jobs: NonZeroUsize,
    tell: &mut dyn FnMut(&str),
) -> Result<Caught, Error> {
    let scenarios = orders.scenarios.iter().map(|scenario| scenario.id.to_owned()).collect();
    let mut record = Record::new(CampaignOptions {
        changes: vec![format!("--defect={}", info.name)],
        ..CampaignOptions::new(Seed(seeds.start), Some(Seed(seeds.end)), scenarios)
    });
    search::search(&mut record, orders, jobs, &mut Hunter { expected: expected(info.name), tell })?;
    if record.ended == Some(End::Interrupted) {
        interrupt::answer();
        return Err(Error::Interrupted);
    }
    Ok(caught(&record, info))
}

fn caught(record: &Record, info: &DefectInfo) -> Caught {
    let findings = || record.findings.iter().filter(|(signature, _)| is_verdict(signature.outcome));
    let first = findings().map(|(_, row)| row.seed).min();
    let by = |seed: Seed| {
        let mut checks: Vec<String> =
            findings().filter(|(_, row)| row.seed == seed).map(|(signature, _)| signature.claim.clone()).collect();
        checks.sort();
        checks.dedup();
        (seed.0, checks)
    };
    let is_predicted = |claim: &str| predicted(info.name) == Some(claim);
    let of_predicted = findings().filter(|(signature, _)| is_predicted(&signature.claim));
    let by_predicted = of_predicted.map(|(_, row)| row.seed.0).min();
    let of_expected = findings().filter(|(signature, _)| expected(info.name) == Some(&*signature.claim));
    let last = of_expected.map(|(_, row)| row.seed.0 - record.options.from.0 + 1).min().unwrap_or(record.seed_count);
    Caught { from: record.options.from.0, run_count: last, first: first.map(by), by_predicted }
}

/// Whether a finding is a check's: a crash says something of a defect too, a harness error nothing.
fn is_verdict(outcome: ExitCode) -> bool {
    matches!(outcome, ExitCode::Safety | ExitCode::Liveness | ExitCode::Crash)
}

struct Hunter<'a> {
    expected: Option<&'static str>,
    /// Told what a person should know and no result says.
    tell: &'a mut dyn FnMut(&str),
}

impl Watcher for Hunter<'_> {
    fn look(&mut self, record: &Record) -> Result<Option<End>, Error> {
        if interrupt::is_asked_for() {
            return Ok(Some(End::Interrupted));
        }
        let is_caught = record.findings.keys().any(|signature| Some(&*signature.claim) == self.expected);
        Ok(is_caught.then_some(End::StopAfter))
    }

    fn note(&mut self, note: &str) {
        (self.tell)(note);
    }
}
