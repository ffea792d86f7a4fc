//! The outcome of a campaign as text for people: each finding with its block and commands, then one line with the verdict.

use super::super::outcome::{FindingOutcome, Outcome};
use super::super::reach;
use super::super::record::Record;
use super::{lines, seen_in, shrunk_line, verdict};
use crate::exit_code::ExitCode;
use crate::report::Style;
use crate::text::printable;
use anstyle::{AnsiColor, Effects, Style as Ansi};
use std::fmt::Write;

/// Width of the labels of a finding, as in a report.
const LABEL_WIDTH: usize = 10;

const GOOD: Ansi = AnsiColor::Green.on_default();
const BAD: Ansi = AnsiColor::Red.on_default().effects(Effects::BOLD);
const KNOWN: Ansi = AnsiColor::Yellow.on_default();

/// What `sim fuzz` prints at its end.
pub fn text(outcome: &Outcome, style: Style) -> String {
    let mut out = String::new();
    for found in &outcome.findings {
        finding(&mut out, found, outcome, style);
        out.push('\n');
    }
    for signature in &outcome.unseen {
        let _ = writeln!(out, "no longer seen: {}", printable(&signature.to_string()));
    }
    if !outcome.record.reach.is_empty() {
        out.push_str(&super::reach::unmet_lines(&outcome.unmet()));
        let _ = writeln!(out, "reach: {}", reach::sentence(&reach::rows(&outcome.record)));
    }
    let (ansi, sign) = if outcome.exit_code() == ExitCode::Held { (GOOD, '✓') } else { (BAD, '✗') };
    let sign = if style.has_glyphs { format!("{sign} ") } else { String::new() };
    let head = painted(&format!("{sign}{}", outcome.exit_code().word()), ansi, style);
    let _ = writeln!(out, "{head}  {}", printable(&verdict(outcome)));
    out
}

/// What is known of findings that could not be run again or kept.
pub fn unsettled(record: &Record) -> String {
    let mut out = String::new();
    for (signature, row) in &record.findings {
        let (seed, scenario) = (row.seed, printable(&row.scenario));
        let _ = writeln!(
            out,
            "{}  in {} of {} runs, smallest seed {seed}, {scenario}; neither run again nor kept",
            printable(&signature.to_string()),
            row.count,
            record.seed_count
        );
    }
    out
}

fn finding(out: &mut String, found: &FindingOutcome, outcome: &Outcome, style: Style) {
    let (ansi, sign) = if found.is_known { (KNOWN, '?') } else { (BAD, '✗') };
    let sign = if style.has_glyphs { format!("{sign} ") } else { String::new() };
    let signature = found.signature.to_string();
    let head = painted(&format!("{sign}{}", printable(&signature)), ansi, style);
    let scenario = printable(&found.row.scenario);
    let known = if found.is_known { ", known" } else { "" };
    let _ = writeln!(out, "{head}  {}, {scenario}{known}", seen_in(found, outcome));
    label(out, "known", found.why_known.as_slice());
    if let Some(shrunk) = &found.shrunk {
        label(out, "shrunk", &[shrunk_line(shrunk)]);
        label(out, "regardless", &shrunk.irrelevant);
    }
    for line in lines(&found.block) {
        let _ = writeln!(out, "{line}");
    }
    let commands: Vec<String> =
        found.commands.iter().filter(|command| !found.block.contains(*command)).cloned().collect();
    label(out, "run again", &commands);
    label(out, "files", &[crate::report::quoted(&crate::files::shown(&found.folder))]);
}

/// A label and its lines, each under the other; nothing when there are none.
fn label(out: &mut String, label: &str, lines: &[String]) {
    for (line, label) in lines.iter().zip(std::iter::once(label).chain(std::iter::repeat(""))) {
        let _ = writeln!(out, "  {label:<LABEL_WIDTH$} {}", printable(line));
    }
}

fn painted(text: &str, ansi: Ansi, style: Style) -> String {
    if style.is_colored { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
}
