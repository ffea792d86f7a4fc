//! A defect with what became of it, as a line of the table and as JSON.

use crate::bench::place::Place;
use crate::strength::Caught;
use crate::text::escaped_in_markdown as escaped;
use model::defect::DefectInfo;
use scenarios::strength::{excuse, predicted};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

/// A defect, with what became of it at each start; nothing where it was not run.
pub struct Row {
    /// The defect.
    pub info: &'static DefectInfo,
    /// What became of it, start by start.
    pub caught: Vec<Caught>,
}

impl Row {
    /// Whether it was run and nothing caught it.
    pub fn survives(&self) -> bool {
        !self.caught.is_empty() && self.caught.iter().all(|caught| caught.first.is_none())
    }

    /// Whether the check that was predicted is among those that catch it.
    pub fn is_right(&self) -> bool {
        self.caught.iter().any(|caught| caught.by_predicted.is_some())
    }

    /// What became of it, as a sentence.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.info.name, self.cells()[2..].join(", "))
    }

    /// Name, prediction, and what became of it.
    pub fn cells(&self) -> Vec<String> {
        let (name, prediction) = (self.info.name.to_owned(), self.prediction().to_owned());
        match &*self.caught {
            [] => vec![name, self.info.source.to_owned(), prediction, self.info.story.to_owned()],
            [caught] => vec![name, prediction, self.told(caught), right(caught)],
            all => vec![name, prediction, self.told_of(all), right_of(all)],
        }
    }

    /// It for programs.
    pub fn json(&self) -> Json {
        let mut row = json!({
            "name": self.info.name,
            "source": self.info.source,
            "story": self.info.story,
            "predicted": self.prediction(),
            "excused": excuse(self.info.name),
        });
        let starts: Vec<Json> = self.caught.iter().map(start_json).collect();
        match (&*self.caught, &*starts) {
            ([], _) => {}
            ([_], [Json::Object(only)]) => only.iter().for_each(|(name, value)| row[name] = value.clone()),
            (all, _) => {
                row["median_within"] = json!(median(all.iter().map(Caught::within)));
                row["median_predicted_within"] = json!(median(all.iter().map(Caught::predicted_within)));
                row["starts"] = Json::Array(starts);
            }
        }
        row
    }

    /// Its cells in a table of Markdown: name, predicted check, starts that caught it, their median, by which checks, and
    /// the median until the predicted one did.
    fn markdown(&self) -> [String; 6] {
        let all = &self.caught;
        let hits = all.iter().filter(|caught| caught.first.is_some()).count();
        let checks: BTreeSet<&str> = all.iter().flat_map(Caught::checks).collect();
        let by = match excuse(self.info.name) {
            Some(why) if checks.is_empty() => format!("excused: {why}"),
            _ => checks.into_iter().map(|check| format!("`{check}`")).collect::<Vec<_>>().join(", "),
        };
        [
            format!("`{}`", self.info.name),
            format!("`{}`", self.prediction()),
            format!("{hits} of {}", all.len()),
            median_cell(all.iter().map(Caught::within)),
            by,
            median_cell(all.iter().map(Caught::predicted_within)),
        ]
    }

    fn prediction(&self) -> &'static str {
        predicted(self.info.name).unwrap_or("nothing")
    }

    fn told(&self, caught: &Caught) -> String {
        match (&caught.first, excuse(self.info.name)) {
            (Some((seed, checks)), _) => {
                format!("caught within {} by {}", count(seed - caught.from + 1), checks.join(", "))
            }
            (None, Some(why)) => format!("survives {}, excused: {why}", count(caught.run_count)),
            (None, None) => format!("SURVIVES {}", count(caught.run_count)),
        }
    }

    fn told_of(&self, all: &[Caught]) -> String {
        let hits = all.iter().filter(|caught| caught.first.is_some()).count();
        if hits == 0 {
            let word = if excuse(self.info.name).is_some() { "survives" } else { "SURVIVES" };
            return format!("{word} {} starts", all.len());
        }
        let checks: BTreeSet<&str> = all.iter().flat_map(|caught| caught.checks()).collect();
        let checks = checks.into_iter().collect::<Vec<_>>().join(", ");
        let median = median_words(all.iter().map(Caught::within));
        format!("caught at {hits} of {} starts, median {median}, by {checks}", all.len())
    }
}

/// The table for a document: the command, where and when, a line a defect, and the sums.
pub fn markdown(rows: &[Row], command: &str, place: &Place, seeds: &Range<u64>) -> String {
    let most = seeds.end - seeds.start;
    let mut out = format!(
        "`{command}`: {}. A start has at most {most} seeds; `>` is a median beyond them.\n\n",
        escaped(&place.line())
    );
    out.push_str("| defect | predicted | caught at starts | median seeds | by | median seeds until predicted |\n");
    out.push_str("|---|---|---:|---:|---|---:|\n");
    for row in rows {
        let _ = writeln!(out, "| {} |", row.markdown().map(|cell| escaped(&cell)).join(" | "));
    }
    let caught = rows.iter().filter(|row| !row.survives()).count();
    let right = rows.iter().filter(|row| row.is_right()).count();
    let runs: u64 = rows.iter().flat_map(|row| &row.caught).map(|caught| caught.run_count).sum();
    let _ = writeln!(out, "\n{} defects, {caught} caught, {right} predicted right, {runs} runs.", rows.len());
    out
}

fn start_json(caught: &Caught) -> Json {
    json!({
        "from": caught.from,
        "run_count": caught.run_count,
        "caught_within": caught.within(),
        "caught_by": caught.checks().collect::<Vec<_>>(),
        "predicted_within": caught.predicted_within(),
    })
}

fn right(caught: &Caught) -> String {
    match caught.predicted_within() {
        Some(seeds) => format!("predicted right, within {}", count(seeds)),
        None if caught.first.is_some() => "predicted wrongly".to_owned(),
        None => "-".to_owned(),
    }
}

fn right_of(all: &[Caught]) -> String {
    let hits = all.iter().filter(|caught| caught.by_predicted.is_some()).count();
    match hits {
        0 if all.iter().any(|caught| caught.first.is_some()) => "predicted wrongly".to_owned(),
        0 => "-".to_owned(),
        _ => format!("predicted right at {hits}, median {}", median_words(all.iter().map(Caught::predicted_within))),
    }
}

fn count(seeds: u64) -> String {
    if seeds == 1 { "1 seed".to_owned() } else { format!("{seeds} seeds") }
}

/// The middle one, or the mean of the two in the middle; nothing if that is a start that needed more than it got.
fn median(within: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    let mut sorted: Vec<u64> = within.map(|seeds| seeds.unwrap_or(u64::MAX)).collect();
    sorted.sort_unstable();
    let (low, high) = (sorted.get(sorted.len().saturating_sub(1) / 2)?, sorted.get(sorted.len() / 2)?);
    (*high < u64::MAX).then(|| f64::midpoint(*low as f64, *high as f64))
}

fn median_words(within: impl Iterator<Item = Option<u64>>) -> String {
    median(within).map_or_else(|| "more than it got".to_owned(), |seeds| format!("{seeds} seeds"))
}

/// The same in a cell: a number, or that it is more than the seeds of a start.
fn median_cell(within: impl Iterator<Item = Option<u64>>) -> String {
    median(within).map_or_else(|| ">".to_owned(), |seeds| seeds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::defect::DEFECTS;

    fn row(caught: Vec<Caught>) -> Row {
        Row { info: &DEFECTS[0], caught }
    }

    fn caught(from: u64, within: Option<u64>, by_predicted: Option<u64>) -> Caught {
        let first = within.map(|seeds| (from + seeds - 1, vec!["alarm-follows-intent".to_owned()]));
        Caught { from, run_count: 5, first, by_predicted: by_predicted.map(|seeds| from + seeds - 1) }
    }

    #[test]
    fn a_row_says_by_what_and_within_how_many_seeds() {
        let wrong = row(vec![caught(10, Some(3), None)]);
        assert_eq!(wrong.cells()[2..], ["caught within 3 seeds by alarm-follows-intent", "predicted wrongly"]);
        let survivor = row(vec![caught(10, None, None)]);
        assert_eq!(survivor.cells()[2..], ["SURVIVES 5 seeds", "-"]);
        assert!(survivor.survives() && !wrong.survives());
        assert_eq!(wrong.json()["caught_within"], 3);
    }

    #[test]
    fn a_document_has_a_line_a_defect_and_the_sums() {
        let rows = [row(vec![caught(0, Some(4), Some(4)), caught(1_000, None, None)])];
        let place = Place {
            date: "2026-12-01".to_owned(),
            profile: "release",
            commit: "28bb9d7".to_owned(),
            cpu: "CPU".to_owned(),
            cores: 2,
            memory_gib: None,
            load: None,
        };
        let told = markdown(&rows, "sim defects", &place, &(0..300));
        let line =
            "| `idle-alarm-not-rearmed` | `idle-runtime-is-released` | 1 of 2 | > | `alarm-follows-intent` | > |\n";
        assert!(told.contains(&line.replace("| > |", "| \\> |")), "{told}");
        assert!(told.ends_with("\n1 defects, 1 caught, 1 predicted right, 10 runs.\n"), "{told}");
    }

    #[test]
    fn several_starts_are_told_by_their_median_and_one_that_needed_more_counts_as_the_most() {
        let even = row(vec![caught(0, Some(4), Some(4)), caught(1_000, Some(2), None), caught(2_000, None, None)]);
        let told = "caught at 2 of 3 starts, median 4 seeds, by alarm-follows-intent";
        assert_eq!(even.cells()[2..], [told, "predicted right at 1, median more than it got"]);
        assert_eq!(
            (&even.json()["median_within"], &even.json()["median_predicted_within"]),
            (&json!(4.0), &Json::Null)
        );
        assert_eq!(even.json()["starts"][1]["caught_within"], 2);
        assert_eq!(median([Some(1), Some(4)].into_iter()), Some(2.5));
        assert_eq!(median([Some(1), None].into_iter()), None);
        let survivor = row(vec![caught(0, None, None), caught(1_000, None, None)]);
        assert_eq!((survivor.cells()[2].as_str(), survivor.survives()), ("SURVIVES 2 starts", true));
    }
}
