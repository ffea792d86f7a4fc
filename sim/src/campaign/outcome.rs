//! A campaign after its end: the record, and for each finding what confirming and shrinking it gave. Every form of output is
//! a function of this.

use super::reach::{self, ReachRow};
use super::record::{End, FindingRow, Record};
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use scenarios::seed::Seed;
use std::path::PathBuf;

/// A campaign that ended, and everything to be said about it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was folded.
    pub record: Record,
    /// One a finding, gravest first, then by signature.
    pub findings: Vec<FindingOutcome>,
    /// Signatures that a baseline knows and this campaign did not meet.
    pub unseen: Vec<Signature>,
    /// Whether a row of reach that is dark and not excused fails the campaign.
    pub is_reach_required: bool,
    /// The arguments of `sim` that run the campaign again: `fuzz --seeds 0..1000 …`.
    pub command: String,
}

impl FindingOutcome {
    /// The smallest seed that shows it; nothing when no seed did, but a plan on the way to another finding's smallest.
    pub fn smallest_seed(&self) -> Option<Seed> {
        (self.row.count > 0).then_some(self.row.seed)
    }
}

/// One finding, with everything that is known about it.
#[derive(Clone, Debug)]
pub struct FindingOutcome {
    /// What it is folded by.
    pub signature: Signature,
    /// Its runs.
    pub row: FindingRow,
    /// Whether a baseline knows it: it is told, and fails nothing.
    pub is_known: bool,
    /// Why it is known, in the words of the baseline; absent where no baseline knows it.
    pub why_known: Option<String>,
    /// The claim in one sentence, and what happened in the run that is shown.
    pub claim: String,
    /// What happened, in one sentence, in the run that is shown: that of the shrunk plan where there is one.
    pub what: String,
    /// The block that a person reads, as `sim replay` prints it, plain.
    pub block: String,
    /// What shrinking gave; absent where nothing could be shrunk.
    pub shrunk: Option<Shrunk>,
    /// Where its files are: `plan.json`, `shrunk.json`, `report.txt`, `trace.jsonl`.
    pub folder: PathBuf,
    /// Commands that run it again, the shortest first.
    pub commands: Vec<String>,
}

/// What shrinking a plan gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// Runs that it took.
    pub run_count: u64,
    /// Whether nothing more can be taken away; otherwise the budget was spent.
    pub is_minimal: bool,
    /// What was there before and what is left: `("steps", 6, 1)`, `("sessions", 2, 1)`, `("lines", 181, 40)`.
    pub sizes: Vec<(&'static str, u64, u64)>,
    /// What seems not to matter, a sentence each that says what was tried: `16 other draws of latency were tried, …`.
    pub irrelevant: Vec<String>,
}

impl Outcome {
    /// That it was interrupted, else the exit code of all findings that no baseline knows, and of dark rows of reach where
    /// these fail.
    pub fn exit_code(&self) -> ExitCode {
        if self.is_interrupted() {
            return ExitCode::Interrupted;
        }
        let found = self.findings.iter().filter(|found| !found.is_known).map(|found| found.signature.outcome);
        let unmet = (!self.unmet().is_empty()).then_some(ExitCode::Unmet);
        ExitCode::merge(found.chain(unmet))
    }

    /// Whether a person ended it, while it ran or while findings were cut down.
    pub fn is_interrupted(&self) -> bool {
        self.record.ended == Some(End::Interrupted)
    }

    /// The rows of reach that fail the campaign.
    pub fn unmet(&self) -> Vec<ReachRow> {
        if !self.is_reach_required {
            return Vec::new();
        }
        reach::rows(&self.record).into_iter().filter(ReachRow::is_unmet).collect()
    }
}
