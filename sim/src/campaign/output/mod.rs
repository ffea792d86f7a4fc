//! What a campaign says at its end, in every form: pure functions of the outcome to text, without a clock, a machine or
//! the number of jobs, so that the same campaign writes the same bytes.

mod github;
mod json;
mod junit;
mod markdown;
pub mod reach;
#[cfg(test)]
pub mod sample;
#[cfg(test)]
mod tests;
mod text;

use super::outcome::{FindingOutcome, Outcome, Shrunk};
use super::record::{ClaimTally, End, ScenarioTally};
use crate::exit_code::ExitCode;
use crate::shrink;
use crate::text::{counted, printable};
use scenarios::invariants;

pub use github::{github, shielded};
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use text::{text, unsettled};

/// What every run must do beside the claims: the outcome that tells otherwise, its name as a case, and the demand.
const DEMANDS: [(ExitCode, &str, &str); 4] = [
    (ExitCode::Crash, "comes-to-rest-without-a-panic", "the modelled system does not panic and comes to rest"),
    (ExitCode::Nondeterminism, "same-plan-same-run", "the same plan gives the same run"),
    (ExitCode::Unmet, "faults-are-delivered", "every fault that the plan asks for is delivered"),
    (ExitCode::Harness, "harness-works", "the harness itself does not fail"),
];

/// What the runs of a scenario said of a claim, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClaimCounts {
    held: u64,
    violated: u64,
    untold: u64,
}

impl ClaimCounts {
    fn of(tally: &ScenarioTally, claim: &str) -> Self {
        let ClaimTally { violated_count, untold_count } = tally.claims.get(claim).copied().unwrap_or_default();
        let judged = tally.run_count.saturating_sub(tally.unjudged_count);
        let held = judged.saturating_sub(violated_count).saturating_sub(untold_count);
        Self { held, violated: violated_count, untold: untold_count }
    }
}

/// The claims of a scenario: every invariant in its order, then whatever else the record counts.
fn claims_of(tally: &ScenarioTally) -> Vec<&str> {
    let all: Vec<&str> = invariants::ALL.iter().map(|invariant| invariant.name).collect();
    let others = tally.claims.keys().map(String::as_str).filter(|name| !all.contains(name));
    all.iter().copied().chain(others).collect()
}

/// Every scenario that was asked for, in its order, with what its runs said; none of them may have been picked.
fn scenarios_of(outcome: &Outcome) -> Vec<(&str, ScenarioTally)> {
    let record = &outcome.record;
    let asked = record.options.scenarios.iter().map(String::as_str);
    asked.map(|id| (id, record.scenarios.get(id).cloned().unwrap_or_default())).collect()
}

fn run_count(outcome: &Outcome) -> u64 {
    outcome.record.scenarios.values().fold(0, |sum, tally| sum.saturating_add(tally.run_count))
}

/// The findings that fail something, and those that a baseline knows.
fn new_and_known(outcome: &Outcome) -> (Vec<&FindingOutcome>, Vec<&FindingOutcome>) {
    outcome.findings.iter().partition(|found| !found.is_known)
}

/// The verdict in one sentence: what was run, why it ended, what was found.
fn verdict(outcome: &Outcome) -> String {
    let (new, known) = new_and_known(outcome);
    let found = match (new.len(), known.len()) {
        (0, 0) => "nothing was found".to_owned(),
        (0, known) => format!("nothing new was found, {} of a baseline {}", counted(known, "finding"), were(known)),
        (new, 0) => format!("{} {} found", counted(new, "finding"), was(new)),
        (new, known) => {
            format!("{} {} found that no baseline knows, and {known} known", counted(new, "finding"), was(new))
        }
    };
    let dark = match outcome.unmet().len() {
        0 => String::new(),
        dark => format!("; {} of reach {} dark", counted(dark, "row"), if dark == 1 { "is" } else { "are" }),
    };
    format!("{}, {}: {found}{dark}", counted(run_count(outcome), "run"), end(outcome))
}

fn was(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

fn were(count: usize) -> &'static str {
    if count == 1 { "was seen again" } else { "were seen again" }
}

/// Which seeds were run, and why no more.
fn end(outcome: &Outcome) -> String {
    let record = &outcome.record;
    let from = record.options.from;
    let seeds = match from.0.checked_add(record.seed_count) {
        Some(end) => format!("seeds {from}..{end}"),
        None => format!("seeds {from}..={}", u64::MAX),
    };
    let why = match record.ended {
        Some(End::AllSeeds) => return seeds,
        Some(End::StopAfter) => "ended since enough was found",
        Some(End::Time) => "ended by its time limit",
        Some(End::Interrupted) => "interrupted",
        None => "not at its end",
    };
    format!("{seeds} ({why})")
}

/// In how many runs a finding was met.
fn seen_in(found: &FindingOutcome, outcome: &Outcome) -> String {
    match found.row.count {
        0 => "met while another finding was cut down".to_owned(),
        count => format!("{count} of {}, smallest seed {}", counted(run_count(outcome), "run"), found.row.seed),
    }
}

/// What shrinking gave, in one line.
fn shrunk_line(shrunk: &Shrunk) -> String {
    match shrunk.is_minimal {
        true => {
            let runs = counted(shrunk.run_count, "run");
            format!("{} ({runs}, nothing more can be taken away)", shrink::sizes_text(shrunk))
        }
        false => shrink::sizes_text(shrunk),
    }
}

/// The command as a person types it, from the arguments of `sim`.
fn typed(arguments: &str) -> String {
    format!("cargo run -p sim -- {arguments}")
}

/// The lines of a block, each safe to show.
fn lines(block: &str) -> impl Iterator<Item = String> + '_ {
    block.trim_end_matches('\n').split('\n').map(|line| printable(line).into_owned())
}

/// At most that many bytes of a text, cut between characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
