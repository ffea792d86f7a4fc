//! Records from bytes. A record is read back to go on with its campaign, so everything that is later added, subtracted or
//! shown is bounded here, and what contradicts itself is refused instead of carried on.

use super::{FindingRow, ReachTally, Record, ScenarioTally, VERSION, WORDINGS_MAX};
use scenarios::bad_input::BadInput;
use scenarios::document::Format;
use scenarios::reach::CONDITION_COUNT_MAX;
use scenarios::seed::Seed;
use std::collections::BTreeSet;

/// How records begin.
pub const FORMAT: Format =
    Format { what: "campaign record", version_field: "campaign", version: VERSION, bytes_max: 64 * 1024 * 1024 };
/// The most runs of a campaign: a thousand times the largest that is planned for.
const RUN_COUNT_MAX: u64 = 1_000_000_000_000;
/// The most events of all its runs.
const EVENT_COUNT_MAX: u64 = 1_000_000_000_000_000_000;
/// The most scenarios.
const SCENARIO_COUNT_MAX: usize = 1_000;
/// The most changes, and the longest of them, scenario ids, claims and wordings, in bytes.
const TEXT_BYTES_MAX: usize = 1_000;
/// The longest wording, in bytes: a panic may say much.
const WORDING_BYTES_MAX: usize = 100_000;

impl Record {
    /// Reads what [`Record::to_json`] wrote.
    ///
    /// # Errors
    /// Anything that is no record, and a record that contradicts itself: place, problem and remedy.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadInput> {
        let record: Self = FORMAT.read(bytes)?;
        record.validate()?;
        Ok(record)
    }

    /// The record as a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record is plain data") + "\n"
    }

    fn validate(&self) -> Result<(), BadInput> {
        text("build", &self.build)?;
        self.validate_options()?;
        let from = self.options.from.0;
        count("seed_count", self.seed_count, RUN_COUNT_MAX)?;
        if self.seed_count > self.seed_total().unwrap_or(u64::MAX - from) {
            return Err(wrong("seed_count", format!("{} seeds are more than the range has", self.seed_count)));
        }
        count("twice_count", self.twice_count, self.seed_count)?;
        count("event_count", self.event_count, EVENT_COUNT_MAX)?;
        let ids: BTreeSet<&str> = self.options.scenarios.iter().map(String::as_str).collect();
        let mut run_count = 0;
        for (id, tally) in &self.scenarios {
            let place = format!("scenarios[{:?}]", crate::text::shortened(id, 60));
            known(&place, id, &ids)?;
            tally.validate(&place)?;
            run_count += tally.run_count;
        }
        if run_count != self.seed_count {
            return Err(wrong("scenarios", format!("{run_count} runs of {} seeds", self.seed_count)));
        }
        for (id, tally) in &self.scenarios {
            let violated = tally.claims.iter().filter(|(_, claim)| claim.violated_count > 0);
            for (claim, _) in violated {
                if self.findings.keys().all(|signature| signature.claim != *claim) {
                    let place = format!("scenarios[{:?}]", crate::text::shortened(id, 60));
                    let claim = crate::text::shortened(claim, 60);
                    return Err(wrong(&place, format!("{claim} is violated, and no finding says so")));
                }
            }
        }
        for (name, tally) in &self.reach {
            let place = format!("reach[{:?}]", crate::text::shortened(name, 60));
            text(&place, name)?;
            tally.validate(&place, from, self.seed_count)?;
        }
        for (signature, row) in &self.findings {
            let place = format!("findings[\"{signature}\"]");
            known(&format!("{place}.scenario"), &row.scenario, &ids)?;
            row.validate(&place, from, self.seed_count)?;
        }
        Ok(())
    }

    fn validate_options(&self) -> Result<(), BadInput> {
        let options = &self.options;
        if options.includes_to && options.to != Some(Seed(u64::MAX)) {
            return Err(wrong("options.includes_to", "only the largest seed is named as one that is run too"));
        }
        if options.to.is_some_and(|to| to <= options.from && !options.includes_to) {
            return Err(wrong("options.to", "the range has no seed in it"));
        }
        if !(1..=SCENARIO_COUNT_MAX).contains(&options.scenarios.len()) {
            return Err(wrong("options.scenarios", format!("expected 1 to {SCENARIO_COUNT_MAX} of them")));
        }
        let mut ids = BTreeSet::new();
        for (index, id) in options.scenarios.iter().enumerate() {
            let place = format!("options.scenarios[{index}]");
            text(&place, id)?;
            if !is_id(id) {
                return Err(wrong(&place, "expected an id such as idle/stream-stays-open"));
            }
            if !ids.insert(id) {
                return Err(wrong(&place, format!("{id} stands twice")));
            }
        }
        if options.changes.len() > TEXT_BYTES_MAX {
            return Err(wrong("options.changes", format!("more than {TEXT_BYTES_MAX} of them")));
        }
        for (index, change) in options.changes.iter().enumerate() {
            let place = format!("options.changes[{index}]");
            text(&place, change)?;
            if !change.starts_with("--") {
                return Err(wrong(&place, "expected an argument such as --defect=NAME"));
            }
        }
        if options.stop_after == Some(0) {
            return Err(wrong("options.stop_after", "expected a number from 1"));
        }
        count("options.shrink_runs", options.shrink_runs, RUN_COUNT_MAX)?;
        count("options.run_limit_s", options.run_limit_s, RUN_COUNT_MAX)?;
        count("options.memory_limit_mib", options.memory_limit_mib, RUN_COUNT_MAX)
    }
}

impl ScenarioTally {
    fn validate(&self, place: &str) -> Result<(), BadInput> {
        count(&format!("{place}.run_count"), self.run_count, RUN_COUNT_MAX)?;
        count(&format!("{place}.unjudged_count"), self.unjudged_count, self.run_count)?;
        for (claim, tally) in &self.claims {
            let place = format!("{place}.claims[{:?}]", crate::text::shortened(claim, 60));
            text(&place, claim)?;
            count(&format!("{place}.violated_count"), tally.violated_count, self.run_count)?;
            count(&format!("{place}.untold_count"), tally.untold_count, self.run_count - tally.violated_count)?;
        }
        Ok(())
    }
}

impl ReachTally {
    fn validate(&self, place: &str, from: u64, seed_count: u64) -> Result<(), BadInput> {
        count(&format!("{place}.lit_count"), self.lit_count, seed_count)?;
        if (self.lit_count > 0) != (self.distance == 0) {
            let told = format!("{} runs came there, and the closest lacked {}", self.lit_count, self.distance);
            return Err(wrong(&format!("{place}.distance"), told));
        }
        count(&format!("{place}.distance"), self.distance.into(), CONDITION_COUNT_MAX as u64)?;
        is_run(&format!("{place}.seed"), self.seed, from, seed_count)
    }
}

impl FindingRow {
    fn validate(&self, place: &str, from: u64, seed_count: u64) -> Result<(), BadInput> {
        is_run(&format!("{place}.seed"), self.seed, from, seed_count)?;
        if self.count == 0 {
            return Err(wrong(&format!("{place}.count"), "is 0"));
        }
        count(&format!("{place}.count"), self.count, seed_count)?;
        if self.wordings.len() > WORDINGS_MAX {
            return Err(wrong(&format!("{place}.wordings"), format!("more than {WORDINGS_MAX} of them")));
        }
        for (wording, times) in &self.wordings {
            let place = format!("{place}.wordings[{:?}]", crate::text::shortened(wording, 60));
            count(&place, *times, RUN_COUNT_MAX)?;
            if wording.len() > WORDING_BYTES_MAX {
                return Err(wrong(&place, format!("more than {WORDING_BYTES_MAX} bytes of text")));
            }
        }
        Ok(())
    }
}

/// Ids are paths of names: nothing that leads out of a folder.
fn is_id(id: &str) -> bool {
    let is_plain = |each: char| each.is_ascii_lowercase() || each.is_ascii_digit() || each == '-';
    id.split('/').all(|part| !part.is_empty() && part.chars().all(is_plain))
}

fn is_run(place: &str, seed: Seed, from: u64, seed_count: u64) -> Result<(), BadInput> {
    if seed.0 >= from && seed.0 - from < seed_count {
        return Ok(());
    }
    Err(wrong(place, "is none of the seeds that were run"))
}

fn known(place: &str, id: &str, ids: &BTreeSet<&str>) -> Result<(), BadInput> {
    if ids.contains(id) {
        return Ok(());
    }
    let shown = crate::text::shortened(id, 60);
    Err(wrong(place, format!("`{shown}` is none of options.scenarios")))
}

fn count(place: &str, found: u64, most: u64) -> Result<(), BadInput> {
    if found <= most {
        return Ok(());
    }
    Err(wrong(place, format!("{found}, at most {most} is possible")))
}

fn text(place: &str, value: &str) -> Result<(), BadInput> {
    if value.is_empty() || value.len() > TEXT_BYTES_MAX {
        return Err(wrong(place, format!("{} bytes of text, expected 1 to {TEXT_BYTES_MAX}", value.len())));
    }
    if value.contains(char::is_control) {
        return Err(wrong(place, "control characters in the text"));
    }
    Ok(())
}

/// Nobody edits a record: whatever is wrong, the campaign is begun anew beside it.
fn wrong(place: &str, problem: impl Into<String>) -> BadInput {
    BadInput::new(
        place,
        problem,
        "the record was changed or damaged, so take the unchanged one or begin the campaign anew",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::output::sample;

    fn reach(record: &mut Record, lit_count: u64, distance: u8, seed: u64) {
        let tally = ReachTally { lit_count, distance, seed: Seed(seed) };
        record.reach.insert("life-cycle/resident".to_owned(), tally);
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let mut record = sample::outcome().record;
        reach(&mut record, 60, 0, 2);
        assert_eq!(Record::parse(record.to_json().as_bytes()), Ok(record));
    }

    #[test]
    fn a_record_that_contradicts_itself_is_refused_with_its_place() {
        type Change = fn(&mut Record);
        let wrong: [(Change, &str); 14] = [
            (|record| record.options.to = Some(record.options.from), "options.to: the range has no seed in it"),
            (|record| record.seed_count -= 1, "scenarios: 100 runs of 99 seeds"),
            (|record| record.seed_count = u64::MAX, "seed_count: 18446744073709551615, at most"),
            (|record| record.options.from = Seed(u64::MAX - 1), "options.to: the range"),
            (|record| record.options.scenarios[0] = "../../etc".into(), "options.scenarios[0]: expected an id"),
            (|record| record.options.scenarios.truncate(1), "is none of options.scenarios"),
            (|record| record.options.changes.push("; rm".into()), "options.changes[1]: expected an argument"),
            (|record| record.twice_count = 1_000_000, "twice_count"),
            (|record| record.event_count = u64::MAX, "event_count"),
            (
                |record| record.scenarios.values_mut().for_each(|tally| tally.unjudged_count = tally.run_count + 1),
                ".unjudged_count",
            ),
            (|record| reach(record, 60, 4, 2), ".distance: 60 runs came there, and the closest lacked 4"),
            (|record| reach(record, 0, 4, 100), ".seed: is none of the seeds that were run"),
            (|record| record.findings.values_mut().for_each(|row| row.count = 0), ".count: is 0"),
            (
                |record| record.findings.values_mut().for_each(|row| row.seed = Seed(u64::MAX)),
                ".seed: is none of the seeds that were run",
            ),
        ];
        for (change, expected) in wrong {
            let mut record = sample::outcome().record;
            change(&mut record);
            let told = Record::parse(record.to_json().as_bytes()).expect_err(expected).to_string();
            assert!(told.contains(expected), "{told}");
        }
        let doubled =
            sample::outcome().record.to_json().replacen("\"seed_count\"", "\"seed_count\": 1, \"seed_count\"", 1);
        let told = Record::parse(doubled.as_bytes()).expect_err("twice").to_string();
        assert!(told.contains("duplicate field `seed_count`"), "{told}");
    }
}
