//! The format of an entry: a plan with what it is kept for, where it came from, what it must show, and its point.
//!
//! A promise to stored files like the plan's own: unknown fields are refused, and a change of meaning raises [`VERSION`].

use super::streams::Streams;
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use crate::trial::Answer;
use scenarios::bad_input::{BadInput, PLAN_BYTES_MAX, from_json, text_of};
use scenarios::plan::{self, Core, Plan};
use scenarios::seed::Seed;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The version of the format that this build writes, and the only one it reads.
pub const VERSION: u32 = 1;
/// The longest reason, in bytes.
pub const TEXT_BYTES_MAX: usize = 1_000;
/// The most other signatures that are expected of a run.
const ALSO_COUNT_MAX: usize = 100;

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
    /// The seed it was drawn from, as in the plan.
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

    /// Reads an entry and validates it, its plan included.
    ///
    /// # Errors
    /// Anything that is not a valid entry, with place, problem and remedy.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadInput> {
        if bytes.len() > PLAN_BYTES_MAX {
            return Err(BadInput::new(
                format!("{} bytes", bytes.len()),
                format!("an entry has at most {PLAN_BYTES_MAX} bytes (16 MiB)"),
                "check that it is an entry",
            ));
        }
        let text = text_of(bytes, "entry")?;
        let head = Head::of(text)?;
        head.check()?;
        let is_current = head.plan.as_ref().and_then(|plan| plan.get("version")) == Some(&Json::from(plan::VERSION));
        let entry: Self = if is_current {
            // Straight from the text, so that errors keep line and column.
            serde_json::from_str(text).map_err(|error| from_json(&error, "entry"))?
        } else {
            with_upgraded_plan(text, head.plan)?
        };
        entry.validate()?;
        Ok(entry)
    }

    /// Whether a file that may be a plan is an entry.
    pub fn is_one(bytes: &[u8]) -> bool {
        let head = std::str::from_utf8(bytes).ok().and_then(|text| serde_json::from_str::<Head>(text).ok());
        head.is_some_and(|head| head.entry.is_some())
    }

    /// Readable JSON, two spaces deep, ending with a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("an entry is plain data");
        text.push('\n');
        text
    }

    /// Checks what the types cannot.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), BadInput> {
        self.plan.validate().map_err(|refusal| BadInput { place: format!("plan.{}", refusal.place), ..refusal })?;
        if self.plan.entropy.is_some() {
            return Err(BadInput::new(
                "plan.entropy",
                "a plan that is kept draws nothing",
                "add the plan with `sim corpus add`, which pins what it draws",
            ));
        }
        self.validate_keeps()?;
        self.validate_provenance()?;
        shown("expected.as_it_is", &self.expected.as_it_is)?;
        match (&self.expected.broken, self.keeps.has_broken_run()) {
            (Some(broken), true) if broken.signature.is_some() => shown("expected.broken", broken)?,
            (None, false) => {}
            _ => {
                return Err(BadInput::new(
                    "expected.broken",
                    "it tells what a run with the defects or the core of `keeps` shows, and is there with them only",
                    "write both or neither",
                ));
            }
        }
        self.validate_point()
    }

    fn validate_keeps(&self) -> Result<(), BadInput> {
        let Keeps { core, finding, why, .. } = &self.keeps;
        for (place, value) in [("keeps.finding", finding), ("keeps.why", why), ("retired", &self.retired)] {
            value.as_ref().map_or(Ok(()), |value| text(place, value))?;
        }
        if !self.keeps.has_broken_run() && finding.is_none() && why.is_none() {
            return Err(BadInput::new(
                "keeps",
                "nothing says what the entry is kept for",
                "give defects, finding or why",
            ));
        }
        if core.is_some_and(|core| core == self.plan.core) {
            return Err(BadInput::new("keeps.core", "it is the core of the plan itself", "remove it"));
        }
        // The plan itself is valid: only its defects can be wrong now.
        let switched_on = broken(&self.plan, &self.keeps);
        switched_on.validate().map_err(|refusal| BadInput { place: "keeps.defects".to_owned(), ..refusal })
    }

    fn validate_provenance(&self) -> Result<(), BadInput> {
        let Provenance { scenario, seed, build, plan } = &self.provenance;
        if *scenario != self.plan.scenario || *seed != self.plan.seed {
            return Err(BadInput::new(
                "provenance",
                "scenario and seed are not those of the plan",
                "write the plan's own",
            ));
        }
        hexadecimal("provenance.build", build, 16)?;
        hexadecimal("provenance.plan", plan, 8)
    }

    fn validate_point(&self) -> Result<(), BadInput> {
        let (told, faults) = (self.point.deliveries.len(), self.plan.faults.len());
        if told != faults {
            return Err(BadInput::new(
                "point.deliveries",
                format!("{told} of them, but the plan has {faults} faults"),
                "give each fault its number",
            ));
        }
        hexadecimal("point.telemetry_digest", &self.point.telemetry_digest, 16)
    }
}

/// A plan with everything switched on that is named.
pub fn broken(plan: &Plan, keeps: &Keeps) -> Plan {
    let mut plan = plan.clone();
    plan.defects.extend(keeps.defects.iter().cloned());
    plan.core = keeps.core.unwrap_or(plan.core);
    plan
}

/// What is read before the whole: the versions.
#[derive(Deserialize)]
struct Head {
    entry: Option<Json>,
    plan: Option<Json>,
}

impl Head {
    fn of(text: &str) -> Result<Self, BadInput> {
        if !text.trim_start().starts_with('{') {
            return Err(BadInput::new(
                "line 1 column 1",
                "an entry is a JSON object and begins with {",
                "check that it is an entry",
            ));
        }
        serde_json::from_str(text).map_err(|error| from_json(&error, "entry"))
    }

    fn check(&self) -> Result<(), BadInput> {
        match self.entry.as_ref().map(Json::as_u64) {
            Some(Some(version)) if version == u64::from(VERSION) => Ok(()),
            Some(Some(newer)) if newer > u64::from(VERSION) => Err(BadInput::new(
                "entry",
                format!("entry is version {newer}, this build reads {VERSION}"),
                "use the sim that wrote it",
            )),
            Some(_) => Err(BadInput::new("entry", format!("expected the version, {VERSION}"), "correct the number")),
            None => Err(BadInput::new(
                "entry",
                "the version is missing, so this is no entry of a corpus",
                "add a plan with `sim corpus add FILE --name SLUG`",
            )),
        }
    }
}

/// An entry whose plan is of another version: the plan's own reader brings it to this one, or says why not.
fn with_upgraded_plan(text: &str, plan: Option<Json>) -> Result<Entry, BadInput> {
    let Some(plan) = plan else {
        return Err(BadInput::new("plan", "an entry holds a plan, and this has none", "check that it is an entry"));
    };
    let plan = Plan::parse(plan.to_string().as_bytes())
        .map_err(|refusal| BadInput { place: format!("plan: {}", refusal.place), ..refusal })?;
    let mut raw: Json = serde_json::from_str(text).map_err(|error| from_json(&error, "entry"))?;
    raw["plan"] = serde_json::to_value(plan).expect("a plan is plain data");
    serde_json::from_value(raw).map_err(|error| from_json(&error, "entry"))
}

fn shown(place: &str, shown: &Shown) -> Result<(), BadInput> {
    let code = shown.code();
    if shown.outcome != code.word() {
        return Err(BadInput::new(
            format!("{place}.outcome"),
            format!("its signatures are of the outcome `{}`", code.word()),
            "write that outcome, or correct the signatures",
        ));
    }
    let voids = [ExitCode::Harness, ExitCode::Nondeterminism];
    if shown.signatures().any(|signature| voids.contains(&signature.outcome)) {
        return Err(BadInput::new(
            place,
            "a run that proves nothing is expected",
            "add a plan whose runs can be judged",
        ));
    }
    if shown.signature.is_none() && !shown.also.is_empty() || shown.also.len() > ALSO_COUNT_MAX {
        return Err(BadInput::new(
            format!("{place}.also"),
            format!("expected at most {ALSO_COUNT_MAX} signatures beside `signature`"),
            "take some out, or name the first one in `signature`",
        ));
    }
    Ok(())
}

fn text(place: &str, value: &str) -> Result<(), BadInput> {
    if value.trim().is_empty() || value.len() > TEXT_BYTES_MAX || value.chars().any(char::is_control) {
        return Err(BadInput::new(
            place,
            format!("expected 1 to {TEXT_BYTES_MAX} bytes of text on one line"),
            "write a short text",
        ));
    }
    Ok(())
}

fn hexadecimal(place: &str, value: &str, digits: usize) -> Result<(), BadInput> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if value.len() == digits && value.bytes().all(is_digit) {
        return Ok(());
    }
    Err(BadInput::new(place, format!("expected {digits} hexadecimal digits in small letters"), "copy them again"))
}

#[cfg(test)]
mod tests;
