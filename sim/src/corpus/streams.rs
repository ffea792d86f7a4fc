//! The decisions of a run, counted a stream: `who/what@step` to how often it was asked; and where two runs part.

use scenarios::decision::DecisionName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often each question was asked, written `{"s1": "commit@0*6 latency.rpc@1*3"}`: a line an actor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Streams(BTreeMap<String, u64>);

impl Streams {
    /// The streams of decisions that were taken.
    pub fn of(decisions: &[(String, u64)]) -> Self {
        let mut counts = BTreeMap::new();
        for (name, _) in decisions {
            *counts.entry(stream_of(name).to_owned()).or_insert(0) += 1;
        }
        Self(counts)
    }

    /// How many streams there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was decided.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a later run parts from these streams; its decisions stand in the order taken.
    pub fn parting(&self, later: &[(String, u64)]) -> Parting {
        let now = Self::of(later);
        let mut parting = Parting::default();
        for (name, _) in later {
            let stream = stream_of(name);
            let count = now.0[stream];
            let known = match self.0.get(stream) {
                None => &mut parting.new,
                Some(before) if *before != count => &mut parting.changed,
                Some(_) => continue,
            };
            if known.iter().all(|told| told.stream != stream) {
                let before = self.0.get(stream).copied().unwrap_or(0);
                known.push(Count { stream: stream.to_owned(), before, now: count });
            }
        }
        let gone = self.0.iter().filter(|(stream, _)| !now.0.contains_key(*stream));
        parting.changed.extend(gone.map(|(stream, before)| Count { stream: stream.clone(), before: *before, now: 0 }));
        parting
    }
}

/// How the decisions of a run differ from those that were recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parting {
    /// Streams that were asked more or less often, in the order of the later run; those that are gone stand last.
    pub changed: Vec<Count>,
    /// Streams that were not there, in the order of the later run.
    pub new: Vec<Count>,
}

/// How often a stream was asked then and now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// `who/what@step`.
    pub stream: String,
    /// When it was recorded.
    pub before: u64,
    /// In the later run.
    pub now: u64,
}

/// The stream of a decision: its name without the number of the occurrence.
fn stream_of(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(stream, _)| stream)
}

impl From<Streams> for BTreeMap<String, String> {
    fn from(streams: Streams) -> Self {
        let mut lines: BTreeMap<String, String> = BTreeMap::new();
        for (stream, count) in &streams.0 {
            let (who, question) = stream.split_once('/').unwrap_or(("", stream));
            let line = lines.entry(who.to_owned()).or_default();
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&format!("{question}*{count}"));
        }
        lines
    }
}

impl TryFrom<BTreeMap<String, String>> for Streams {
    type Error = String;

    fn try_from(lines: BTreeMap<String, String>) -> Result<Self, String> {
        let mut counts = BTreeMap::new();
        for (who, line) in &lines {
            for told in line.split(' ') {
                let (stream, count) = read(who, told)
                    .ok_or_else(|| format!("`{}` is no count such as `latency.rpc@1*3`", told.escape_debug()))?;
                if counts.insert(stream, count).is_some() {
                    return Err(format!("`{}` is counted twice", told.escape_debug()));
                }
            }
        }
        Ok(Self(counts))
    }
}

/// Reads `latency.rpc@1*3` of that actor.
fn read(who: &str, told: &str) -> Option<(String, u64)> {
    let (question, count) = told.rsplit_once('*')?;
    let is_plain = count.bytes().all(|byte| byte.is_ascii_digit());
    let count = count.parse().ok().filter(|count| is_plain && *count > 0)?;
    let stream = format!("{who}/{question}");
    DecisionName::parse(&format!("{stream}#0"))?;
    Some((stream, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decisions(names: &[&str]) -> Vec<(String, u64)> {
        names.iter().map(|name| ((*name).to_owned(), 0)).collect()
    }

    #[test]
    fn streams_are_read_as_they_are_written_and_nothing_else_is() {
        let streams =
            Streams::of(&decisions(&["s1/order.rpc:edge>s1@0#0", "s1/order.rpc:edge>s1@0#1", "edge/late@2#0"]));
        let json = serde_json::to_string(&streams).expect("plain data");
        assert_eq!(json, r#"{"edge":"late@2*1","s1":"order.rpc:edge>s1@0*2"}"#);
        assert_eq!(serde_json::from_str::<Streams>(&json).expect("as written"), streams);
        for wrong in [
            r#"{"s1":"late"}"#,
            r#"{"s1":"late@1"}"#,
            r#"{"s1":"late@1*0"}"#,
            r#"{"s1":"late@1*-1"}"#,
            r#"{"s1":"late@1*+1"}"#,
            r#"{"s1":"late@1*2 late@1*2"}"#,
            r#"{"s1":"late@1*2  late@2*2"}"#,
            r#"{"s1":""}"#,
            r#"{"":"late@1*2"}"#,
        ] {
            assert!(serde_json::from_str::<Streams>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_stream_that_drifted_is_named_in_the_order_of_the_run() {
        let before = Streams::of(&decisions(&["a/x@0#0", "z/y@0#0", "m/q@0#0", "m/q@0#1"]));
        let later = decisions(&["z/y@0#0", "z/y@0#1", "n/new@0#0", "a/x@0#0", "a/x@0#1"]);
        let parting = before.parting(&later);
        let told = |counts: &[Count]| {
            counts.iter().map(|each| format!("{} {} {}", each.stream, each.before, each.now)).collect::<Vec<_>>()
        };
        assert_eq!(told(&parting.changed), ["z/y@0 1 2", "a/x@0 1 2", "m/q@0 2 0"]);
        assert_eq!(told(&parting.new), ["n/new@0 0 1"]);
        assert_eq!(before.parting(&decisions(&["m/q@0#0", "m/q@0#1", "z/y@0#0", "a/x@0#0"])), Parting::default());
    }
}
