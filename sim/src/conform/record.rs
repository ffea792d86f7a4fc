//! What was recorded of the real runtime: suites of probes, each with what it answered there.

use super::probe::Side;
use crate::error::Error;
use scenarios::plan::RuntimeBuild;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The recorded data; `sim/data/README.md` tells where it comes from.
const DATA: &str = include_str!("../../data/workerd-probes.json");

/// Flags of the runtime that the replays depend on, off at the compatibility date of the recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `deleteAll()` deletes the alarm too (platform fact 62).
    pub delete_all_deletes_alarm: bool,
    /// An error keeps its type and its own properties over a call (platform facts 93, 99).
    pub enhanced_error_serialization: bool,
}

/// One series of recordings: a build of the runtime, its flags, and the packages that ran on it.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Short name, as `core/2026-05-26`.
    pub name: String,
    /// The sentence of the data that says what it is.
    pub title: String,
    /// Which scripts were run.
    pub side: Side,
    /// The build of the runtime.
    pub build: RuntimeBuild,
    /// Its flags.
    pub flags: Flags,
    /// What was recorded, in the order of the data.
    pub records: Vec<Record>,
}

/// What one probe came to in one suite.
#[derive(Clone, Debug)]
pub struct Record {
    /// Name of the probe within its scripts.
    pub id: String,
    /// What it does, in a sentence.
    pub description: String,
    /// What it answered: one value, or each that was seen where the runs differed.
    pub seen: Vec<Value>,
}

/// The data as it is written.
#[derive(Deserialize)]
struct Document {
    texts: BTreeMap<String, String>,
    suites: Vec<RawSuite>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSuite {
    suite: String,
    runtime: String,
    #[serde(default)]
    compatibility_flags: Vec<String>,
    #[serde(default)]
    packages: BTreeMap<String, String>,
    results: Vec<RawRecord>,
}

#[derive(Deserialize)]
struct RawRecord {
    id: String,
    description: String,
    deterministic: bool,
    observed: Value,
}

/// A value that some of the runs gave.
#[derive(Deserialize)]
struct Seen {
    result: Value,
}

/// Reads the recorded data.
///
/// # Errors
/// A harness error when the data that this program carries is not what it was made for.
pub fn suites() -> Result<Vec<Suite>, Error> {
    read(DATA).map_err(|why| Error::harness(format!("the recorded probes cannot be read: {why}")))
}

fn read(text: &str) -> Result<Vec<Suite>, String> {
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    document.suites.into_iter().map(|suite| suite.read(&document.texts)).collect()
}

impl RawSuite {
    fn read(self, texts: &BTreeMap<String, String>) -> Result<Suite, String> {
        let (build, day) = match self.runtime.as_str() {
            "workerd 2026-05-26" => (RuntimeBuild::May2026, "2026-05-26"),
            "workerd 2026-11-17" => (RuntimeBuild::November2026, "2026-11-17"),
            other => return Err(format!("`{other}` is no build that the platform model knows")),
        };
        let has = |flag: &str| self.compatibility_flags.iter().any(|given| given == flag);
        let flags = Flags {
            delete_all_deletes_alarm: has("delete_all_deletes_alarm"),
            enhanced_error_serialization: has("enhanced_error_serialization"),
        };
        let agents = self.packages.get("agents").cloned();
        let side = if agents.is_some() { Side::Agents } else { Side::Core };
        let flagged = if flags == Flags::default() { "" } else { "+flags" };
        let name = match &agents {
            Some(version) => format!("agents-{version}/{day}"),
            None => format!("core{flagged}/{day}"),
        };
        let records = self.results.into_iter().map(|record| record.read(texts)).collect::<Result<_, _>>()?;
        Ok(Suite { name, title: self.suite, side, build, flags, records })
    }
}

impl RawRecord {
    fn read(self, texts: &BTreeMap<String, String>) -> Result<Record, String> {
        let RawRecord { id, description, deterministic, mut observed } = self;
        spell_out(&mut observed, texts);
        let seen = if deterministic {
            vec![observed]
        } else {
            let several: Vec<Seen> = serde_json::from_value(observed).map_err(|error| format!("{id}: {error}"))?;
            several.into_iter().map(|seen| seen.result).collect()
        };
        Ok(Record { id, description, seen })
    }
}

/// Puts the long texts back that the data names by a short one.
fn spell_out(value: &mut Value, texts: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            let spelled = texts.iter().fold(text.clone(), |text, (short, long)| text.replace(short, long));
            *text = spelled;
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spell_out(item, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|field| spell_out(field, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_six_suites_with_326_records_whose_ids_differ_within_a_suite() {
        let suites = suites().expect("the data is sound");
        let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
        let known = [
            "core/2026-05-26",
            "core/2026-11-17",
            "core+flags/2026-05-26",
            "agents-0.17.3/2026-05-26",
            "agents-0.17.3+executor-patch/2026-05-26",
            "agents-0.32.0/2026-11-17",
        ];
        assert_eq!(names, known);
        assert_eq!(suites.iter().map(|suite| suite.records.len()).sum::<usize>(), 326);
        for suite in &suites {
            let mut ids: Vec<&str> = suite.records.iter().map(|record| record.id.as_str()).collect();
            ids.sort_unstable();
            assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{}", suite.name);
        }
    }

    #[test]
    fn what_varied_gives_each_value_that_was_seen_and_short_texts_are_spelled_out() {
        let text = r#"{"texts": {"<T>": "long"}, "suites": [{"suite": "s", "runtime": "workerd 2026-11-17", "results": [
            {"id": "V", "description": "d", "deterministic": false, "observed": [
                {"times": 3, "result": {"a": "<T>!"}}, {"times": 1, "result": null}]}]}]}"#;
        let suites = read(text).expect("it is sound");
        assert_eq!(suites[0].records[0].seen, [serde_json::json!({"a": "long!"}), Value::Null]);
    }

    #[test]
    fn another_build_is_refused() {
        let text = r#"{"texts": {}, "suites": [{"suite": "s", "runtime": "workerd 2027-01-01", "results": []}]}"#;
        assert!(read(text).is_err_and(|why| why.contains("2027-01-01")));
    }
}
