//! The outcome of a campaign as JUnit XML: a suite a scenario, a case a claim. A case a seed would make files that nobody
//! can open.

use super::super::outcome::{FindingOutcome, Outcome};
use super::super::reach::{self, ReachRow};
use super::super::record::ScenarioTally;
use super::{ClaimCounts, DEMANDS, claims_of, counted, lines, scenarios_of, shrunk_line, typed, verdict};
use crate::exit_code::ExitCode;
use crate::text::{printable, shortened};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write;

/// The longest text of a message, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// The suite of what is asked of no scenario alone.
const CAMPAIGN: &str = "campaign";

/// All claims of all scenarios as cases. There are no times, durations or ids in it.
pub fn junit(outcome: &Outcome) -> String {
    let mut report = Report::new("sim fuzz");
    for (id, tally) in scenarios_of(outcome) {
        let mut suite = TestSuite::new(plain(id));
        suite.add_property(("sim.runs", tally.run_count.to_string().as_str()));
        suite.add_property(("sim.campaign", plain(&typed(&outcome.command)).as_str()));
        suite.add_test_cases(claims_of(&tally).into_iter().map(|claim| claim_case(outcome, id, &tally, claim)));
        suite.add_test_cases(DEMANDS.iter().map(|demand| demand_case(outcome, id, &tally, demand)));
        report.add_test_suite(suite);
    }
    report.add_test_suite(campaign_suite(outcome));
    report.to_string().expect("a report is written to memory, and its text holds only what XML can")
}

/// What is asked of the campaign as a whole: that nobody broke it off, and where reach is required, a case a group of it.
fn campaign_suite(outcome: &Outcome) -> TestSuite {
    let mut suite = TestSuite::new(CAMPAIGN);
    let ended = if outcome.is_interrupted() { skipped(&verdict(outcome)) } else { TestCaseStatus::success() };
    suite.add_test_case(case(CAMPAIGN, "came-to-its-end", ended));
    if outcome.is_reach_required {
        let rows = reach::rows(&outcome.record);
        suite.add_test_cases(reach::groups(&rows).map(|(group, rows)| reach_case(group.name, rows)));
    }
    suite
}

fn reach_case(group: &str, rows: &[ReachRow]) -> TestCase {
    let unmet: Vec<&ReachRow> = rows.iter().filter(|row| row.is_unmet()).collect();
    if unmet.is_empty() {
        return case(CAMPAIGN, &format!("reach/{group}"), TestCaseStatus::success());
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(format!("{} dark and not excused", counted(unmet.len(), "row")));
    status.set_type("reach");
    let line = |row: &&ReachRow| format!("{}: {}", row.row.name, row.closest().unwrap_or_default());
    status.set_description(plain(&unmet.iter().map(line).collect::<Vec<_>>().join("\n")));
    case(CAMPAIGN, &format!("reach/{group}"), status)
}

fn claim_case(outcome: &Outcome, id: &str, tally: &ScenarioTally, claim: &str) -> TestCase {
    let counts = ClaimCounts::of(tally, claim);
    let is_claim = |found: &&FindingOutcome| {
        found.signature.claim == claim && matches!(found.signature.outcome, ExitCode::Safety | ExitCode::Liveness)
    };
    let met: Vec<_> = outcome.findings.iter().filter(is_claim).filter(|found| is_met(found, id)).collect();
    if counts.violated == 0 && !met.is_empty() {
        return failed(id, claim, "met while another finding was cut down", &met);
    }
    if counts.violated > 0 {
        let head = format!("violated in {} of {}", counts.violated, counted(tally.run_count, "run"));
        return failed(id, claim, &head, &nearest(outcome, id, is_claim));
    }
    let status = if counts.held > 0 {
        TestCaseStatus::success()
    } else if tally.run_count == 0 {
        skipped("no seed picked this scenario")
    } else if counts.untold > 0 {
        skipped(&format!(
            "could not be told in {}: no run came to what the claim is about",
            counted(counts.untold, "run")
        ))
    } else {
        skipped("no run could be judged")
    };
    case(id, claim, status)
}

/// Whether no seed showed it in that scenario, but a plan on the way to another finding's smallest.
fn is_met(found: &FindingOutcome, id: &str) -> bool {
    found.row.count == 0 && found.row.scenario == id
}

/// Findings of the kind that begin in this scenario, or else all of the kind: a row knows the scenario of its smallest
/// seed only.
fn nearest<'a>(
    outcome: &'a Outcome,
    id: &str,
    is_meant: impl Fn(&&'a FindingOutcome) -> bool,
) -> Vec<&'a FindingOutcome> {
    let all: Vec<_> = outcome.findings.iter().filter(is_meant).collect();
    let here: Vec<_> = all.iter().copied().filter(|found| found.row.scenario == id).collect();
    if here.is_empty() { all } else { here }
}

fn demand_case(outcome: &Outcome, id: &str, tally: &ScenarioTally, demand: &(ExitCode, &str, &str)) -> TestCase {
    let (code, name, sentence) = *demand;
    let found: Vec<_> =
        outcome.findings.iter().filter(|found| found.signature.outcome == code && found.row.scenario == id).collect();
    if !found.is_empty() {
        return failed(id, name, &format!("not so: {sentence}"), &found);
    }
    let status = if tally.run_count > 0 { TestCaseStatus::success() } else { skipped("no seed picked this scenario") };
    case(id, name, status)
}

fn failed(id: &str, name: &str, head: &str, found: &[&FindingOutcome]) -> TestCase {
    let new: Vec<_> = found.iter().filter(|found| !found.is_known).collect();
    if new.is_empty() && !found.is_empty() {
        let whys: Vec<_> = found.iter().filter_map(|found| found.why_known.as_deref()).collect();
        return case(id, name, skipped(&format!("known: {head}: {}", whys.join("; "))));
    }
    let mut message = head.to_owned();
    let mut text = String::new();
    if let Some(first) = new.first() {
        let command = first.commands.first().map_or("", String::as_str);
        let seed = first.smallest_seed().map_or(String::new(), |seed| format!(", smallest seed {seed}"));
        let _ = write!(message, "{seed} ({}): {command}", first.row.scenario);
    }
    for found in &new {
        let _ = writeln!(text, "{}\n{}", found.signature, found.what);
        if let Some(shrunk) = &found.shrunk {
            let _ = writeln!(text, "shrunk: {}", shrunk_line(shrunk));
        }
        let _ = writeln!(text, "\n{}\n", found.block.trim_end());
        for command in &found.commands {
            let _ = writeln!(text, "{command}");
        }
        text.push('\n');
    }
    let is_error = new.iter().any(|found| found.signature.outcome == ExitCode::Harness);
    let kind = if is_error { NonSuccessKind::Error } else { NonSuccessKind::Failure };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(plain(&shortened(&message, MESSAGE_CHARS_MAX)));
    status.set_type(new.first().map_or_else(|| "finding".to_owned(), |found| plain(&found.signature.to_string())));
    status.set_description(lines(&text).map(|line| plain(&line)).collect::<Vec<_>>().join("\n"));
    let mut case = case(id, name, status);
    if let Some(first) = new.first() {
        case.add_property(("sim.signature", plain(&first.signature.to_string()).as_str()));
        if let Some(seed) = first.smallest_seed() {
            case.add_property(("sim.seed", seed.to_string().as_str()));
        }
    }
    case
}

fn case(id: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(plain(name), status);
    case.set_classname(plain(id));
    case
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(plain(&shortened(why, MESSAGE_CHARS_MAX)));
    status
}

/// Text that XML can hold: control characters and the two non-characters that it excludes are written out.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for each in printable(text).chars() {
        match each {
            '\u{fffe}' | '\u{ffff}' => out.extend(each.escape_unicode()),
            each => out.push(each),
        }
    }
    out
}
