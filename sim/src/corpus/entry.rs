//! The format of an entry: a plan with what it is kept for, where it came from, what it must show, and its point.
//!
//! A promise to stored files like the plan's own: unknown fields are refused, and a change of meaning raises [`VERSION`].

mod parse;
#[cfg(test)]
mod tests;
mod validate;

use super::streams::Streams;
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use crate::trial::Answer;
use scenarios::plan::{Core, Plan};
use scenarios::seed::Seed;
use serde::{Deserialize, Serialize};

/// The version of the format that this build writes, and the only one it reads.
pub const VERSION: u32 = 1;

/// One plan that is kept for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Format version, see [`VERSION`].
    pub entry: u32,
    /// What it is kept for.
    pub keeps: Keeps,
    /// Where it came from.
    pub provenance: Provenance,
    /// What its runs must show.
    pub expected: Expected,
    /// How it is known that the run comes to its situation.
    pub point: Point,
    /// Why it is no longer run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
    /// The plan; it draws nothing, so that a new decision anywhere cannot move it.
    pub plan: Plan,
}

/// What an entry is kept for; at least one of these is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keeps {
    /// Defects that show when they are switched on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<String>,
    /// The core in which something shows, where it is not the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Core>,
    /// Number or heading in `FINDINGS.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// In a person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Where a plan came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The scenario that drew it, as in the plan.
    pub scenario: String,
    /// The seed it was drawn from, as in the plan, unless that was shrunk and has seed 0.
    pub seed: Seed,
    /// Digest of the sources of the program that recorded expectations and point, 16 hexadecimal digits.
    pub build: String,
    /// Digest of the plan as it was handed in, before its decisions were pinned; reports and file names show it.
    pub plan: String,
}

/// What the runs of an entry must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The plan as it is.
    pub as_it_is: Shown,
    /// The plan with the defects, or on the core, that it is kept for; absent where it is kept for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Shown>,
}

/// What one run showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// What the run came to, in a word: `held`, `safety`, ….
    pub outcome: String,
    /// What it is about; absent when the run held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What was found beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Signature>,
}

/// How a run that holds is known to come to its situation: what was recorded of the plan as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// How often each fault of the plan was delivered, in its order.
    pub deliveries: Vec<u64>,
    /// Digest of the telemetry, 16 hexadecimal digits.
    pub telemetry_digest: String,
    /// How often each question was asked.
    pub decisions: Streams,
}

impl Shown {
    /// What a run showed, told under the signature that it is about.
    pub fn of(answer: &Answer, about: Option<&Signature>) -> Self {
        let all: Vec<Signature> = answer.findings.iter().map(|found| found.signature.clone()).collect();
        let signature = about.or(all.first()).cloned();
        let mut also: Vec<Signature> = all.into_iter().filter(|each| Some(each) != signature.as_ref()).collect();
        also.sort();
        also.dedup();
        let mut shown = Self { outcome: String::new(), signature, also };
        shown.outcome = shown.code().word().to_owned();
        shown
    }

    /// Everything that was found.
    pub fn signatures(&self) -> impl Iterator<Item = &Signature> {
        self.signature.iter().chain(&self.also)
    }

    /// The exit code that the findings together lead to.
    pub fn code(&self) -> ExitCode {
        ExitCode::merge(self.signatures().map(|signature| signature.outcome))
    }
}

impl Keeps {
    /// Whether a second run, with defects or on another core, belongs to the entry.
    pub fn has_broken_run(&self) -> bool {
        !self.defects.is_empty() || self.core.is_some()
    }

    /// What is switched on for that run, for people: `idle-alarm-destroys, the described core`.
    pub fn names(&self) -> String {
        let core = self.core.map(|core| match core {
            Core::Fixed => "the fixed core",
            Core::Described => "the described core",
        });
        self.defects.iter().map(String::as_str).chain(core).collect::<Vec<_>>().join(", ")
    }
}

impl Entry {
    /// The plan with everything switched on that it is kept for, if it is kept for such.
    pub fn broken_plan(&self) -> Option<Plan> {
        self.keeps.has_broken_run().then(|| broken(&self.plan, &self.keeps))
    }

    /// Readable JSON, two spaces deep, ending with a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("an entry is plain data");
        text.push('\n');
        text
    }
}

/// A plan with everything switched on that is named.
pub fn broken(plan: &Plan, keeps: &Keeps) -> Plan {
    let mut plan = plan.clone();
    plan.defects.extend(keeps.defects.iter().cloned());
    plan.core = keeps.core.unwrap_or(plan.core);
    plan
}
