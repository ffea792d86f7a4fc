//! The outcome of a campaign as annotations of GitHub's workflow runs: commands that the runner reads from standard output.
//!
//! Method: of each kind only ten a step are shown, so each signature gets one, and where there are more than ten the last
//! points to the summary.

use super::super::outcome::{FindingOutcome, Outcome};
use super::{counted, seen_in, verdict};
use crate::exit_code::ExitCode;
use crate::text::{printable, shortened};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_128;

/// Annotations of a kind that are shown of a step.
const ANNOTATION_COUNT_MAX: usize = 10;
/// The longest text of an annotation, in characters.
const TEXT_CHARS_MAX: usize = 1_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Error,
    Warning,
    Notice,
}

impl Kind {
    fn of(found: &FindingOutcome) -> Self {
        match found.signature.outcome {
            _ if found.is_known => Kind::Notice,
            ExitCode::Unmet => Kind::Warning,
            _ => Kind::Error,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Warning => "warning",
            Kind::Notice => "notice",
        }
    }
}

/// One annotation for each signature, and one with the verdict where nothing is wrong.
pub fn github(outcome: &Outcome) -> String {
    let mut out = String::new();
    let unmet = outcome.unmet();
    if !unmet.is_empty() {
        let names: Vec<&str> = unmet.iter().map(|row| row.row.name).collect();
        let text = format!("{} dark and not excused: {}", counted(names.len(), "row"), names.join(", "));
        annotation(&mut out, Kind::Error, "reach", &text);
    }
    for kind in [Kind::Error, Kind::Warning, Kind::Notice] {
        let of_kind: Vec<_> = outcome.findings.iter().filter(|found| Kind::of(found) == kind).collect();
        let is_calm = matches!(outcome.exit_code(), ExitCode::Held | ExitCode::Interrupted);
        let ends_with_verdict = kind == Kind::Notice && is_calm;
        let begins_with_reach = kind == Kind::Error && !unmet.is_empty();
        let room = ANNOTATION_COUNT_MAX - usize::from(ends_with_verdict) - usize::from(begins_with_reach);
        let shown = if of_kind.len() > room { room - 1 } else { of_kind.len() };
        for found in &of_kind[..shown] {
            annotation(&mut out, kind, &found.signature.to_string(), &sentence(found, outcome));
        }
        if shown < of_kind.len() {
            let left = counted(of_kind.len() - shown, "finding");
            annotation(&mut out, kind, "more findings", &format!("{left} more: see the summary of this step"));
        }
        if ends_with_verdict {
            annotation(&mut out, kind, "sim fuzz", &verdict(outcome));
        }
    }
    out
}

/// Text for standard output in which the runner looks for no commands, whatever the text says.
///
/// The word that switches commands on again is drawn from the text, which therefore cannot hold it.
pub fn shielded(text: &str) -> String {
    let word = format!("sim-{:032x}", xxh3_128(text.as_bytes()));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("::stop-commands::{word}\n{text}{end}::{word}::\n")
}

fn sentence(found: &FindingOutcome, outcome: &Outcome) -> String {
    let row = &found.row;
    let claim = if found.claim.is_empty() { String::new() } else { format!(" ({})", found.claim) };
    let mut text = format!("{}{claim}. ", found.what);
    if let Some(why) = &found.why_known {
        let _ = write!(text, "Known: {why}. ");
    }
    let _ = write!(text, "{}, {}", seen_in(found, outcome), row.scenario);
    if let Some(command) = found.commands.first() {
        let _ = write!(text, ". Run it again: {command}");
    }
    text
}

fn annotation(out: &mut String, kind: Kind, title: &str, text: &str) {
    let title = property(&shortened(title, 200));
    let _ = writeln!(out, "::{} title={title}::{}", kind.word(), data(&shortened(text, TEXT_CHARS_MAX)));
}

/// Text after the second `::`.
fn data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, between `=` and `,` or `::`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::output::sample;

    #[test]
    fn what_separates_commands_and_their_parts_is_escaped() {
        assert_eq!(data("100%\r\n::error::x"), "100%25\\r\\n::error::x");
        assert_eq!(property("a: b, 5%"), "a%3A b%2C 5%25");
    }

    #[test]
    fn at_most_ten_of_a_kind_are_written_and_the_last_points_to_the_rest() {
        let mut outcome = sample::outcome();
        let (error, notice) =
            (outcome.findings[0].clone(), FindingOutcome { is_known: true, ..outcome.findings[0].clone() });
        for (of_kind, more) in [(10, 0), (11, 2), (25, 16)] {
            outcome.findings = vec![error.clone(); of_kind];
            outcome.findings.extend(vec![notice.clone(); of_kind]);
            let told = github(&outcome);
            assert_eq!(told.matches("::error ").count(), 10, "{told}");
            assert_eq!(told.matches("::notice ").count(), 10, "{told}");
            assert_eq!(
                told.matches(&format!("::{more} findings more: see the summary")).count(),
                if more == 0 { 0 } else { 2 }
            );
        }
        outcome.findings = vec![notice; 25];
        let told = github(&outcome);
        assert_eq!(told.lines().count(), 10);
        assert!(told.contains("::17 findings more"), "{told}");
    }

    #[test]
    fn shielded_text_holds_no_command_for_the_runner() {
        let text = "fine\n::error::forged\n##[group]forged";
        let told = shielded(text);
        let lines: Vec<_> = told.lines().collect();
        let word = lines[0].strip_prefix("::stop-commands::").expect("commands are stopped first");
        assert_eq!(lines.last(), Some(&&*format!("::{word}::")), "and go on last");
        assert!(!text.contains(word) && lines[1..4].join("\n") == text);
    }
}
