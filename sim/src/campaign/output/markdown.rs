//! The outcome of a campaign as Markdown, for the page of a CI run: verdict, table of findings, their blocks, scenarios.
//!
//! Method: GitHub drops a summary of a step as a whole when it is over 1 MiB. So every part has a share of a budget, is
//! added row by row and block by block while it fits, and what did not fit is told in a sentence.

use super::super::outcome::{FindingOutcome, Outcome};
use super::super::reach::{self, Light, ReachRow};
use super::super::record::ScenarioTally;
use super::{ClaimCounts, claims_of, counted, cut, lines, run_count, scenarios_of, shrunk_line, typed, verdict};
use crate::exit_code::ExitCode;
use crate::text::{printable, shortened};
use std::fmt::Write;

/// The most bytes of a summary: other commands of the step may add to it.
pub const BYTES_MAX: usize = 900 * 1024;
/// The most bytes of each table and of the list of what is no longer seen.
const TABLE_BYTES_MAX: usize = BYTES_MAX / 6;
/// The most bytes of one finding below the table.
const FINDING_BYTES_MAX: usize = 64 * 1024;
/// The longest text in a cell or heading, in characters.
const CELL_CHARS_MAX: usize = 300;

/// What a person reads on the page of the run.
pub fn markdown(outcome: &Outcome) -> String {
    let mark = match outcome.exit_code() {
        ExitCode::Held => "✅",
        ExitCode::Interrupted => "⏸️",
        _ => "❌",
    };
    let mut out = format!("## {mark} {}: {}\n\n", outcome.exit_code().word(), inline(&verdict(outcome)));
    let _ = writeln!(out, "{}\n", code(&shortened(&typed(&outcome.command), 2_000)));
    let mut left_out = Vec::new();
    if !outcome.findings.is_empty() {
        out.push_str(
            "| finding | runs | smallest seed | scenario | known | run it again |\n|---|--:|--:|---|---|---|\n",
        );
        let rows = outcome.findings.iter().map(|found| finding_row(found, outcome));
        push(&mut out, rows, TABLE_BYTES_MAX, "row", "of the table of findings", &mut left_out);
        out.push('\n');
    }
    let unseen = outcome.unseen.iter().map(|signature| format!("- no longer seen: {}\n", code(&signature.to_string())));
    push(&mut out, unseen, TABLE_BYTES_MAX, "signature", "no longer seen", &mut left_out);
    if !outcome.unseen.is_empty() {
        out.push('\n');
    }
    let mut scenarios = String::from(
        "### Scenarios\n\n| scenario | runs | not judged | violated | could not be told |\n|---|--:|--:|---|---|\n",
    );
    let rows = scenarios_of(outcome).into_iter().map(|(id, tally)| scenario_row(id, &tally));
    let mut left_out_below = Vec::new();
    push(&mut scenarios, rows, TABLE_BYTES_MAX, "row", "of the table of scenarios", &mut left_out_below);
    scenarios.push_str(&reach(outcome));
    let room = BYTES_MAX.saturating_sub(out.len() + scenarios.len() + 1_000);
    push(&mut out, outcome.findings.iter().map(finding), room, "block", "of findings", &mut left_out);
    left_out.extend(left_out_below);
    out.push_str(&scenarios);
    if !left_out.is_empty() {
        let _ = writeln!(
            out,
            "\nLeft out, since a summary has room for so much only: {}. All of it is in `findings.json`.",
            left_out.join(", ")
        );
    }
    out
}

/// What of reach is lit and dark, and every dark row that nobody excuses. There are as many rows as the program knows.
fn reach(outcome: &Outcome) -> String {
    if outcome.record.reach.is_empty() {
        return String::new();
    }
    let rows = reach::rows(&outcome.record);
    let mut out = format!("\n### Reach\n\n{}\n\n", inline(&reach::sentence(&rows)));
    out.push_str("| group | rows | lit | dark, excused | dark |\n|---|--:|--:|--:|--:|\n");
    for (group, rows) in reach::groups(&rows) {
        let lit = rows.iter().filter(|row| row.is_lit()).count();
        let excused = rows.iter().filter(|row| !row.is_lit() && row.excuse.is_some()).count();
        let dark = rows.len() - lit - excused;
        let _ = writeln!(out, "| {} | {} | {lit} | {excused} | {dark} |", code(group.name), rows.len());
    }
    let is_told = |row: &&ReachRow| row.excuse.is_none() && matches!(row.light, Light::Dark { .. });
    if rows.iter().any(|row| is_told(&row)) {
        out.push_str("\n| dark row | what it is | closest seed | scenario | how close |\n|---|---|--:|---|---|\n");
    }
    for row in rows.iter().filter(is_told) {
        let Light::Dark { seed, .. } = row.light else { continue };
        let scenario = reach::scenario_of(&outcome.record, seed).map_or("", |scenario| scenario.id);
        let (name, claim, closest) = (code(row.row.name), inline(row.row.claim), row.closest().unwrap_or_default());
        let _ = writeln!(out, "| {name} | {claim} | {seed} | {} | {} |", code(scenario), inline(&closest));
    }
    out
}

/// Adds texts while they fit, and notes how many did not.
fn push(
    out: &mut String,
    texts: impl ExactSizeIterator<Item = String>,
    bytes_max: usize,
    noun: &str,
    of_what: &str,
    left_out: &mut Vec<String>,
) {
    let (all, end) = (texts.len(), out.len() + bytes_max);
    for (index, text) in texts.enumerate() {
        if out.len() + text.len() > end {
            left_out.push(format!("{} {of_what}", counted((all - index) as u64, noun)));
            return;
        }
        out.push_str(&text);
    }
}

fn finding_row(found: &FindingOutcome, outcome: &Outcome) -> String {
    let row = &found.row;
    let known = match &found.why_known {
        Some(why) => inline(&shortened(why, CELL_CHARS_MAX)),
        None if found.is_known => "yes".to_owned(),
        None => String::new(),
    };
    let command = found.commands.first().map_or(String::new(), |command| code(&shortened(command, CELL_CHARS_MAX)));
    let (signature, scenario) = (code(&found.signature.to_string()), code(&shortened(&row.scenario, CELL_CHARS_MAX)));
    let runs = run_count(outcome);
    let seed = found.smallest_seed().map_or_else(|| "none, met on the way".to_owned(), |seed| seed.to_string());
    format!("| {signature} | {} of {runs} | {seed} | {scenario} | {known} | {command} |\n", row.count)
}

fn finding(found: &FindingOutcome) -> String {
    let mut out = format!("### {}\n\n", code(&found.signature.to_string()));
    let _ = writeln!(out, "{}\n", inline(&shortened(&found.what, 1_000)));
    if let Some(shrunk) = &found.shrunk {
        let _ = writeln!(out, "- shrunk: {}", inline(&shortened(&shrunk_line(shrunk), 1_000)));
        for sentence in shrunk.irrelevant.iter().take(100) {
            let _ = writeln!(out, "- {}", inline(&shortened(sentence, CELL_CHARS_MAX)));
        }
        out.push('\n');
    }
    for command in found.commands.iter().take(10) {
        let _ = writeln!(out, "- {}", code(&shortened(command, 2_000)));
    }
    let block = lines(&found.block).collect::<Vec<_>>().join("\n");
    let shown = cut(&block, FINDING_BYTES_MAX);
    let fence = "`".repeat(longest_run(shown).max(2) + 1);
    let _ = writeln!(out, "\n{fence}text\n{shown}\n{fence}\n");
    if shown.len() < block.len() {
        let left = block.len() - shown.len();
        let _ = writeln!(
            out,
            "{} of this block left out; the whole of it is in `report.txt` of its folder.\n",
            counted(left as u64, "byte")
        );
    }
    out
}

fn scenario_row(id: &str, tally: &ScenarioTally) -> String {
    let claims = claims_of(tally);
    let told = |of: fn(ClaimCounts) -> u64| {
        let counts =
            claims.iter().map(|claim| (*claim, of(ClaimCounts::of(tally, claim)))).filter(|(_, count)| *count > 0);
        let cells: Vec<_> = counts.map(|(claim, count)| format!("{} {count}", code(&shortened(claim, 100)))).collect();
        let shown = cells.iter().take(30).cloned().collect::<Vec<_>>().join("<br>");
        if cells.len() > 30 { format!("{shown}<br>and {} more", cells.len() - 30) } else { shown }
    };
    let (violated, untold) = (told(|counts| counts.violated), told(|counts| counts.untold));
    let id = code(&shortened(id, CELL_CHARS_MAX));
    format!("| {id} | {} | {} | {violated} | {untold} |\n", tally.run_count, tally.unjudged_count)
}

/// Text from outside in a sentence or cell: nothing in it is markup, a mention, or the end of a cell.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let text = printable(text);
    let mut letters = text.chars().peekable();
    while let Some(each) = letters.next() {
        let is_markup = match each {
            '&' | '<' | '>' | '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '@' | '#' | '$' => true,
            // A link or an emoji, unless it ends a clause.
            ':' => letters.peek().is_some_and(|next| !next.is_whitespace()),
            _ => false,
        };
        if is_markup {
            let _ = write!(out, "&#{};", u32::from(each));
        } else {
            out.push(each);
        }
    }
    out
}

/// Text as code. In a table no code span can hold a `|`, and none a run of backticks at its ends, so that such text is
/// written as an element.
fn code(text: &str) -> String {
    let text = printable(text);
    if text.contains(['`', '|', '\\']) || text.trim() != text || text.is_empty() {
        return format!("<code>{}</code>", inline(&text));
    }
    format!("`{text}`")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|each| each != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::output::sample;

    #[test]
    fn markup_of_text_from_outside_is_text() {
        assert_eq!(inline("<b>|@me"), "&#60;b&#62;&#124;&#64;me");
        assert_eq!(code("fuzz --seeds 0..9"), "`fuzz --seeds 0..9`");
        assert_eq!(code("a|`b`"), "<code>a&#124;&#96;b&#96;</code>");
    }

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks_in_its_block() {
        let mut found = sample::outcome().findings.remove(0);
        found.block = "one\n`````\n# forged\n".to_owned();
        assert!(finding(&found).contains("\n``````text\none\n`````\n# forged\n``````\n"));
    }

    #[test]
    fn a_summary_keeps_its_budget_and_says_what_is_left_out() {
        let mut outcome = sample::outcome();
        let one = outcome.findings[0].clone();
        let large = FindingOutcome { block: "é".repeat(40_000), ..one };
        outcome.findings = vec![large; 1_000];
        outcome.unseen = vec![outcome.findings[0].signature.clone(); 10_000];
        let told = markdown(&outcome);
        assert!(told.len() <= BYTES_MAX && told.len() > BYTES_MAX / 2, "{} bytes", told.len());
        let last = told.lines().last().expect("a last line");
        assert!(last.starts_with("Left out, since"), "{last}");
        for what in [" rows of the table of findings", " blocks of findings", " signatures no longer seen"] {
            assert!(last.contains(what), "{last}");
        }
        assert!(told.contains(" bytes of this block left out"));
        outcome.findings.truncate(1);
        outcome.unseen.clear();
        assert!(!markdown(&outcome).contains("Left out, since"));
    }
}
