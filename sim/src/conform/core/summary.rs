//! What came of all programs, for the table and for the generated file.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Played, Program, described, play, reason};
use crate::text::counted;

/// What came of all programs.
pub struct Summary {
    /// How many there are.
    pub programs: usize,
    /// How many agree in everything after every step.
    pub whole: usize,
    /// Steps that were compared.
    pub steps: usize,
    /// Stretches in which gates were opened in another order than recorded.
    pub reordered: usize,
    /// Those that part.
    pub parting: Vec<Parting>,
}

/// A program that parts from what was recorded.
pub struct Parting {
    /// What became of it, up to the first difference.
    pub played: Played,
    /// Why, as far as it is known.
    pub reason: Option<&'static str>,
}

impl Summary {
    /// Replays all programs.
    pub fn of(programs: &[Program]) -> Summary {
        let defects = described();
        let mut summary = Summary { programs: programs.len(), whole: 0, steps: 0, reordered: 0, parting: Vec::new() };
        for program in programs {
            let played = play(program, &defects, false);
            summary.steps += played.steps.len();
            summary.reordered += played.reordered();
            if played.is_whole() {
                summary.whole += 1;
            } else {
                let reason = reason(&played);
                summary.parting.push(Parting { played, reason });
            }
        }
        summary
    }

    /// Whether every difference has a reason.
    pub fn is_explained(&self) -> bool {
        self.parting.iter().all(|parting| parting.reason.is_some())
    }

    /// How many programs part for each reason.
    pub fn by_reason(&self) -> BTreeMap<&'static str, usize> {
        let mut count = BTreeMap::new();
        for parting in &self.parting {
            *count.entry(parting.reason.unwrap_or(UNKNOWN)).or_default() += 1;
        }
        count
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        format!(
            "{} of {} agree in every step, {} part ({} steps compared; in {} of them gates were opened in another order)",
            self.whole,
            counted(self.programs, "program"),
            self.parting.len(),
            self.steps,
            self.reordered,
        )
    }

    /// The table of the differences.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for Parting { played, reason } in &self.parting {
            let Some((number, step)) = played.first_difference() else { continue };
            let Some(first) = step.differences.first() else { continue };
            let side = |side: &Option<String>| {
                side.as_ref().map_or("–".to_owned(), |side| format!("`{}`", side.replace('|', "\\|")))
            };
            let (recorded, here) = (side(&first.recorded), side(&first.here));
            let (what, place, reason) = (first.what, &first.place, reason.unwrap_or(UNKNOWN));
            let _ = writeln!(
                out,
                "| {} | {number} `{}` | {what} {place} | {recorded} | {here} | {reason} |",
                played.id, step.told
            );
        }
        out
    }
}

/// Where no reason is known.
pub const UNKNOWN: &str = "?";
