//! Entries and their verdicts as people and programs read them.

use crate::corpus::entry::{Entry, Keeps, Shown};
use crate::corpus::store::Stored;
use crate::corpus::verdict::{State, Verdict};
use crate::text::{printable, shortened};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// A row of the list.
pub(super) fn row(stored: &Stored) -> Vec<String> {
    let Stored { name, entry } = stored;
    let retired = entry.retired.as_ref().map(|why| format!(" (retired: {})", shortened(why, 60)));
    let keeps = format!("{}{}", keeps_of(&entry.keeps), retired.unwrap_or_default());
    let Entry { expected, provenance, .. } = entry;
    let about = expected.broken.as_ref().unwrap_or(&expected.as_it_is);
    vec![name.to_string(), keeps, shown(about), provenance.seed.to_string(), provenance.build.clone()]
}

/// What an entry is kept for, in few words.
pub(super) fn keeps_of(keeps: &Keeps) -> String {
    let mut told = Vec::new();
    if keeps.has_broken_run() {
        told.push(keeps.names());
    }
    told.extend(keeps.finding.as_ref().map(|finding| format!("finding {}", shortened(finding, 60))));
    told.extend(keeps.why.as_ref().map(|why| shortened(why, 60)));
    told.join("; ")
}

/// What a run shows, in few words.
pub(super) fn shown(shown: &Shown) -> String {
    let about = shown.signature.as_ref().map_or_else(|| shown.outcome.clone(), ToString::to_string);
    match shown.also.len() {
        0 => about,
        more => format!("{about}, {more} more"),
    }
}

/// An entry of the list, for programs.
pub(super) fn json_entry(stored: &Stored) -> Json {
    let Entry { keeps, provenance, expected, retired, .. } = &stored.entry;
    json!({
        "name": stored.name.as_str(), "keeps": keeps, "provenance": provenance, "expected": expected, "retired": retired,
    })
}

/// A line for an entry, and one for each thing to be said of it.
pub(super) fn lines(stored: &Stored, verdict: &Verdict, widest: usize) -> String {
    let Entry { keeps, expected, .. } = &stored.entry;
    let about = match &expected.broken {
        Some(broken) => format!("{}; with {}: {}", shown(&expected.as_it_is), keeps.names(), shown(broken)),
        None => shown(&expected.as_it_is),
    };
    let word = if verdict.state == State::Lost { "LOST" } else { verdict.state.word() };
    let mut out = format!("{word:<7}  {:<widest$}  {about}\n", stored.name.as_str());
    for told in verdict.losses.iter().chain(&verdict.drifts) {
        let _ = writeln!(out, "         {}", printable(told));
    }
    out
}

/// The last line: how many entries came to what.
pub(super) fn sum(verdicts: &[Verdict], accept: bool) -> String {
    let count = |state: State| verdicts.iter().filter(|verdict| verdict.state == state).count();
    let noun = if verdicts.len() == 1 { "entry" } else { "entries" };
    let (reached, drifted, lost) = (count(State::Reached), count(State::Drifted), count(State::Lost));
    let recorded = if accept && drifted > 0 { " and recorded again" } else { "" };
    format!("corpus: {} {noun}, {reached} reached, {drifted} drifted{recorded}, {lost} lost\n", verdicts.len())
}

/// What an entry came to, for programs.
pub(super) fn json_verdict(stored: &Stored, verdict: &Verdict) -> Json {
    json!({
        "name": stored.name.as_str(),
        "state": verdict.state.word(),
        "exit_code": verdict.code.number(),
        "losses": verdict.losses,
        "drifts": verdict.drifts,
        "decisions": verdict.parting,
    })
}
