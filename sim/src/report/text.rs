//! A report as text for people: the line of a run, its story, the block of each finding, a summary.

use super::{Block, FaultLine, Report, Style};
use crate::exit_code::ExitCode;
use crate::run::FaultRow;
use crate::text::{printable, table};
use anstyle::{AnsiColor, Effects, Style as Ansi};
use scenarios::ledgers::Ledger;
use scenarios::seed::Seed;
use scenarios::story::Line;
use std::fmt::Write;

/// Width of the labels of a block.
const LABEL_WIDTH: usize = 10;

const GOOD: Ansi = AnsiColor::Green.on_default();
const BAD: Ansi = AnsiColor::Red.on_default().effects(Effects::BOLD);
const OPEN: Ansi = AnsiColor::Yellow.on_default();
const QUIET: Ansi = Ansi::new().effects(Effects::DIMMED);

/// The line of a run among others: sign, id, verdict, events, virtual time, digest of the telemetry.
pub fn line(report: &Report, id_width: usize, style: Style) -> String {
    let (verdict, ansi, sign) = verdict_of(report);
    let sign = if style.has_glyphs { format!("{sign} ") } else { String::new() };
    let (events, ends_at_ms) = (report.event_count, report.ends_at_ms);
    let id = printable(&report.scenario);
    let head = painted(&format!("{sign}{id:<id_width$}  {verdict:<14}"), ansi, style);
    format!("{head}  {events:>7} events  {ends_at_ms:>10} ms  telemetry {}\n", report.telemetry_digest)
}

fn verdict_of(report: &Report) -> (String, Ansi, char) {
    let open = count(report, "cannot tell");
    match report.outcome {
        ExitCode::Held if open > 0 => (format!("held, {open} open"), OPEN, '?'),
        ExitCode::Held => ("held".to_owned(), GOOD, '✓'),
        other => (other.word().to_owned(), BAD, '✗'),
    }
}

fn count(report: &Report, verdict: &str) -> usize {
    report.checks.iter().filter(|check| check.verdict == verdict).count()
}

/// The last line of a run through the catalog.
pub fn catalog_summary(seed: Seed, reports: &[Report]) -> String {
    let held = reports.iter().filter(|report| report.outcome == ExitCode::Held).count();
    let failed = reports.len() - held;
    let noun = if reports.len() == 1 { "scenario" } else { "scenarios" };
    format!("seed {seed}: {} {noun}, {held} held, {failed} failed\n", reports.len())
}

/// Lines of story of which a shortened one shows as many at its begin and at its end.
const STORY_ENDS: usize = 100;

/// The story of a run, in fixed columns; the middle of a long one is left out unless it `is_whole`.
pub fn story(report: &Report, is_whole: bool, style: Style) -> String {
    let mut out = String::new();
    let count = report.story.len();
    let is_whole = is_whole || count <= 3 * STORY_ENDS;
    for (index, line) in report.story.iter().enumerate() {
        if !is_whole && (STORY_ENDS..count - STORY_ENDS).contains(&index) {
            if index == STORY_ENDS {
                let left_out = count - 2 * STORY_ENDS;
                let _ = writeln!(out, "          ..  {left_out} lines left out: `--whole-story` tells them too");
            }
            continue;
        }
        let text = printable(&line.to_string()).into_owned();
        let ansi = match line.kind {
            scenarios::story::LineKind::Fault => BAD,
            scenarios::story::LineKind::Phase => QUIET,
            _ => Ansi::new(),
        };
        let _ = writeln!(out, "{}", painted(&text, ansi, style));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The blocks of all findings, an empty line after each.
pub fn findings(report: &Report, style: Style) -> String {
    report.blocks.iter().map(|block| block_text(block, report, style) + "\n").collect()
}

/// What was judged, and the digests: the end of what is said about one run.
pub fn summary(report: &Report, style: Style) -> String {
    let mut out = String::new();
    for check in report.checks.iter().filter(|check| check.verdict == "cannot tell") {
        let why = printable(check.why.as_deref().unwrap_or(""));
        let _ = writeln!(out, "{}  {}: {why}", painted("cannot tell", OPEN, style), check.name);
    }
    out += &faults(&report.faults);
    let (verdict, ansi, sign) = verdict_of(report);
    let sign = if style.has_glyphs { format!("{sign} ") } else { String::new() };
    let (held, violated, open) = (count(report, "held"), count(report, "violated"), count(report, "cannot tell"));
    let head = painted(&format!("{sign}{}  {verdict}", printable(&report.scenario)), ansi, style);
    let _ = writeln!(out, "{head}  {held} claims held, {violated} violated, {open} cannot tell");
    let (events, operations, ends_at_ms) = (report.event_count, report.operation_count, report.ends_at_ms);
    let _ = writeln!(
        out,
        "seed {}  plan {}  {events} events  {operations} operations  {ends_at_ms} ms",
        report.seed, report.plan_digest
    );
    let _ = writeln!(out, "telemetry {}  run {}", report.telemetry_digest, report.run_digest);
    out
}

/// A line a fault, with what it does; those that may find no occasion and found none are counted.
fn faults(faults: &[FaultLine]) -> String {
    let mut out = String::new();
    let is_idle = |line: &&FaultLine| line.may_miss && line.row.delivered == 0;
    for line in faults.iter().filter(|line| !is_idle(line)) {
        let FaultRow { fault, requested, armed, delivered } = line.row;
        let what = printable(&line.what);
        let _ = writeln!(out, "faults[{fault}]  requested {requested}, armed {armed}, delivered {delivered}  {what}");
    }
    let idle_count = faults.iter().filter(is_idle).count();
    if idle_count > 0 {
        let _ = writeln!(out, "{idle_count} of {} faults found no occasion, which was left to chance", faults.len());
    }
    out
}

/// What was taken and given back: a heading, then a line a thing.
pub fn ledgers(ledgers: &[Ledger]) -> String {
    let row = |ledger: &Ledger| {
        let counts = [ledger.taken, ledger.returned, ledger.lost].map(|count| count.to_string());
        [vec![ledger.thing.to_owned()], counts.to_vec(), vec![ledger.open().to_string()]].concat()
    };
    let head = ["ledger", "taken", "returned", "lost", "open"].map(str::to_owned).to_vec();
    let rows: Vec<_> = std::iter::once(head).chain(ledgers.iter().map(row)).collect();
    format!("\n{}", table(&rows, &[1, 2, 3, 4]))
}

/// Everything about a run, as it is kept in a file.
pub fn whole(report: &Report) -> String {
    let plain = Style::default();
    findings(report, plain) + &story(report, true, plain) + &summary(report, plain)
}

fn block_text(block: &Block, report: &Report, style: Style) -> String {
    let sign = if style.has_glyphs { "✗ " } else { "" };
    let mut out = painted(&format!("{sign}FAILED"), BAD, style);
    let _ = writeln!(out, "  {}  ({})", printable(&block.name), block.kind);
    let _ = writeln!(out, "        {}", printable(&block.claim));
    let scenario = format!("{}   seed {}   plan {}", report.scenario, report.seed, report.plan_digest);
    row(&mut out, "scenario", &[scenario]);
    row(&mut out, "what", std::slice::from_ref(&block.what));
    row(&mut out, "when", &when(block, report).into_iter().collect::<Vec<_>>());
    row(&mut out, "place", &block.place.iter().cloned().collect::<Vec<_>>());
    row(&mut out, "pending", &block.pending.iter().cloned().collect::<Vec<_>>());
    row(&mut out, "also", &block.also);
    row(&mut out, "steps", &step_lines(block));
    row(&mut out, "around", &around_lines(&block.around));
    row(&mut out, "reproduce", &report.reproduce);
    out
}

/// A label and its lines, each under the other; nothing when there are none.
fn row(out: &mut String, label: &str, lines: &[String]) {
    for (line, label) in lines.iter().zip(std::iter::once(label).chain(std::iter::repeat(""))) {
        let _ = writeln!(out, "  {label:<LABEL_WIDTH$} {}", printable(line));
    }
}

fn when(block: &Block, report: &Report) -> Option<String> {
    let at_ms = block.at_ms?;
    let event = block.event.map_or(String::new(), |event| format!(", event {event} of {}", report.event_count));
    Some(format!("{at_ms} ms{event}"))
}

fn step_lines(block: &Block) -> Vec<String> {
    let width = time_width(block.steps.iter().map(|step| step.at_ms));
    block.steps.iter().map(|step| format!("{:>width$} ms  {}  {}", step.at_ms, step.client, step.text)).collect()
}

fn around_lines(lines: &[Line]) -> Vec<String> {
    let width = time_width(lines.iter().map(|line| line.at_ms));
    let who = lines.iter().map(|line| line.who.chars().count()).max().unwrap_or(0);
    lines
        .iter()
        .map(|line| format!("{:>width$} ms  {:<9}  {:<who$}  {}", line.at_ms, line.kind.word(), line.who, line.text))
        .collect()
}

fn time_width(times: impl Iterator<Item = u64>) -> usize {
    times.max().map_or(0, |most| most.to_string().len())
}

fn painted(text: &str, ansi: Ansi, style: Style) -> String {
    if style.is_colored && ansi != Ansi::new() { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
