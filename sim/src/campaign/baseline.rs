//! Baselines: signatures that are known, with the reason why, so that a campaign fails only by what is new.

use super::outcome::{FindingOutcome, Outcome};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::files;
use crate::signature::Signature;
use scenarios::bad_input::BadInput;
use scenarios::document::Format;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How baselines begin.
pub const FORMAT: Format =
    Format { what: "baseline", version_field: "baseline", version: 1, bytes_max: 4 * 1024 * 1024 };
/// The most signatures of a baseline.
const KNOWN_COUNT_MAX: usize = 10_000;
/// The longest reason, in bytes.
const WHY_BYTES_MAX: usize = 1_000;

/// The known signatures, as a file holds them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Version of the format.
    baseline: u32,
    /// What is known, by signature.
    known: Vec<Known>,
}

/// One known signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// What is known.
    pub signature: Signature,
    /// Why it is not repaired, for the person who meets it.
    pub why: String,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// Anything else, with place, problem and remedy; a signature that stands twice, and one without a reason.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadInput> {
        let mut read: Self = FORMAT.read(bytes)?;
        let count = read.known.len();
        if count > KNOWN_COUNT_MAX {
            let problem = format!("{count} signatures, at most {KNOWN_COUNT_MAX} are allowed");
            return Err(BadInput::new("known", problem, "repair something"));
        }
        for (index, known) in read.known.iter().enumerate() {
            let wrong = |problem: &str, remedy: &str| {
                Err(BadInput::new(format!("known[{index}].why"), format!("the reason {problem}"), remedy))
            };
            if known.why.trim().is_empty() {
                return wrong("is empty", "say why this finding is accepted");
            }
            if known.why.len() > WHY_BYTES_MAX {
                return wrong(&format!("has more than {WHY_BYTES_MAX} bytes"), "shorten it");
            }
            if known.why.contains(char::is_control) {
                return wrong("has control characters", "write it on one line");
            }
        }
        read.known.sort_by(|one, other| one.signature.cmp(&other.signature));
        if let Some(pair) = read.known.windows(2).find(|pair| pair[0].signature == pair[1].signature) {
            return Err(BadInput::new("known", format!("{} stands twice", pair[0].signature), "remove one"));
        }
        Ok(read)
    }

    /// Reads the baseline of a file; the empty one without a file.
    ///
    /// # Errors
    /// A usage error that names the file, the place in it, what was expected and what to do.
    pub fn of_file(path: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = path else { return Ok(Self { baseline: FORMAT.version, known: Vec::new() }) };
        let bytes = files::read_bounded(path, FORMAT.what, FORMAT.bytes_max)?;
        Self::parse(&bytes).map_err(|refusal| {
            Error::usage(crate::text::printable(&refusal.in_file(&path.to_string_lossy()).to_string()))
        })
    }

    /// Every signature that is known.
    pub fn signatures(&self) -> impl Iterator<Item = &Signature> {
        self.known.iter().map(|known| &known.signature)
    }

    /// The baseline that knows everything that a campaign found, and what was known before. Reasons that were given are kept.
    pub fn of(outcome: &Outcome, before: &Self) -> Self {
        let one = |found: &FindingOutcome| {
            let what = crate::text::shortened(&found.what, 200);
            let why = found.why_known.clone().unwrap_or_else(|| format!("not explained yet: {what}"));
            Known { signature: found.signature.clone(), why }
        };
        let unseen = before.known.iter().filter(|known| outcome.unseen.contains(&known.signature)).cloned();
        // That the harness failed, or did not repeat a run, is nothing to get used to.
        let is_of_product =
            |found: &&FindingOutcome| !matches!(found.signature.outcome, ExitCode::Harness | ExitCode::Nondeterminism);
        let mut known: Vec<_> = outcome.findings.iter().filter(is_of_product).map(one).chain(unseen).collect();
        known.sort_by(|one, other| one.signature.cmp(&other.signature));
        known.dedup_by(|one, other| one.signature == other.signature);
        Self { baseline: FORMAT.version, known }
    }

    /// The baseline as a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a baseline is plain data") + "\n"
    }

    /// Why this signature is known, if it is.
    pub fn knows(&self, signature: &Signature) -> Option<&str> {
        let at = self.known.binary_search_by(|known| known.signature.cmp(signature)).ok()?;
        Some(&self.known[at].why)
    }

    /// What is known and was not met.
    pub fn unseen<'a>(&self, met: impl IntoIterator<Item = &'a Signature>) -> Vec<Signature> {
        let met: std::collections::BTreeSet<&Signature> = met.into_iter().collect();
        self.known.iter().map(|known| &known.signature).filter(|known| !met.contains(known)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::output::sample;

    const TWO: &str = r#"{"baseline": 1, "known": [
        {"signature": "safety/b/session", "why": "later"},
        {"signature": "liveness/a/world", "why": "it is the platform's"}]}"#;

    #[test]
    fn a_baseline_knows_its_signatures_and_says_which_were_not_met() {
        let baseline = Baseline::parse(TWO.as_bytes()).expect("a baseline");
        let met = "safety/b/session".parse().expect("a signature");
        let other = "safety/b/isolate".parse().expect("a signature");
        assert_eq!((baseline.knows(&met), baseline.knows(&other)), (Some("later"), None));
        assert_eq!(baseline.unseen([&met, &other]), ["liveness/a/world".parse().expect("a signature")]);
        assert_eq!(Baseline::parse(baseline.to_json().as_bytes()), Ok(baseline));
    }

    #[test]
    fn the_baseline_of_an_outcome_knows_all_of_the_product_and_keeps_reasons() {
        let before = Baseline::parse(TWO.as_bytes()).expect("a baseline");
        let unseen = vec!["liveness/a/world".parse().expect("a signature")];
        let outcome = Outcome { unseen, ..sample::outcome() };
        let baseline = Baseline::of(&outcome, &before);
        assert_eq!(baseline.knows(&outcome.unseen[0]), Some("it is the platform's"));
        for found in &outcome.findings {
            let why = baseline.knows(&found.signature);
            let is_of_product = !matches!(found.signature.outcome, ExitCode::Harness | ExitCode::Nondeterminism);
            assert_eq!(why.is_some(), is_of_product, "{}", found.signature);
            assert!(found.why_known.is_none() || !is_of_product || found.why_known.as_deref() == why, "{why:?}");
        }
        assert_eq!(Baseline::parse(baseline.to_json().as_bytes()), Ok(baseline));
    }

    #[test]
    fn the_baseline_of_the_checks_is_one() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/baseline.json");
        Baseline::parse(&std::fs::read(path).expect("the file is there")).expect("a baseline");
    }

    #[test]
    fn what_is_no_baseline_is_refused_with_its_place() {
        for (from, to, expected) in [
            ("\"baseline\": 1", "\"baseline\": 2", "baseline: baseline is version 2"),
            ("liveness/a/world", "safety/b/session", "known: safety/b/session stands twice: remove one"),
            ("\"later\"", "\" \"", "known[0].why: the reason is empty"),
            ("\"later\"", "\"a\\u001b[31m\"", "known[0].why: the reason has control characters"),
            ("safety/b/session", "safety/B", "expected outcome/claim/subject such as"),
            ("\"why\": \"later\"", "\"why\": \"later\", \"until\": 1", "unknown field `until`"),
        ] {
            assert!(TWO.contains(from));
            let told = Baseline::parse(TWO.replace(from, to).as_bytes()).expect_err(expected).to_string();
            assert!(told.contains(expected), "{told}");
        }
        let long = TWO.replace("later", &"x".repeat(WHY_BYTES_MAX + 1));
        assert!(Baseline::parse(long.as_bytes()).expect_err("long").problem.contains("more than 1000 bytes"));
    }
}
