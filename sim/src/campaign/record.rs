//! What a campaign knows: the runs that were folded, in the order of their seeds, and what they showed. It is a function of
//! build, seeds and options, and of nothing else; it is written as `campaign.json`.

mod parse;

use crate::signature::Signature;
use crate::supervisor::{MEMORY_LIMIT_MIB, RUN_LIMIT_S};
use scenarios::document::without_doubles;
use scenarios::seed::Seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of the format of a record.
pub const VERSION: u32 = 1;
/// At most this many wordings are kept of one signature; the rest is counted only.
pub const WORDINGS_MAX: usize = 8;

pub use parse::FORMAT;

/// Everything that a campaign knows after some seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// See [`VERSION`].
    pub campaign: u32,
    /// Digest of the sources that the program was built from.
    pub build: String,
    /// What was asked for.
    pub options: CampaignOptions,
    /// Seeds that are folded: the first ones of the range, without a gap.
    pub seed_count: u64,
    /// Why it ended; absent while seeds are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<End>,
    /// Runs that were repeated in another worker and compared.
    pub twice_count: u64,
    /// Events of all runs, repetitions not counted.
    pub event_count: u64,
    /// What the runs of each scenario said of each claim.
    #[serde(deserialize_with = "without_doubles")]
    pub scenarios: BTreeMap<String, ScenarioTally>,
    /// How close the runs came to each row of reach, by its name; none before the first run that was judged.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "without_doubles")]
    pub reach: BTreeMap<String, ReachTally>,
    /// What was found, a row a signature.
    #[serde(deserialize_with = "without_doubles")]
    pub findings: BTreeMap<Signature, FindingRow>,
}

/// What decides which runs there are and what becomes of them. The number of jobs and the time are no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignOptions {
    /// The first seed.
    pub from: Seed,
    /// The seed after the last; absent for a campaign that only time, a person or `stop_after` ends.
    pub to: Option<Seed>,
    /// Whether that seed is run too: so only with the largest, which no seed comes after.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub includes_to: bool,
    /// Ids of the scenarios that seeds pick from, in the order of the catalog.
    pub scenarios: Vec<String>,
    /// Arguments that change what is drawn: `--defect=…`, `--set=…`, `--core=…`.
    pub changes: Vec<String>,
    /// Whether every run is repeated, in place of one in sixteen.
    pub is_twice: bool,
    /// Distinct signatures after which it ends.
    pub stop_after: Option<u64>,
    /// Signatures that a baseline knows: they fail nothing and are not counted for `stop_after`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Signature>,
    /// Runs that may be spent on shrinking one finding; 0 for none.
    pub shrink_runs: u64,
    /// Wall-clock time that one run may take, in seconds: a run that takes longer is told with it.
    pub run_limit_s: u64,
    /// Memory that one worker may map, in MiB.
    pub memory_limit_mib: u64,
}

impl CampaignOptions {
    /// A campaign over those seeds, `to` left out, that neither shrinks nor ends early.
    pub fn new(from: Seed, to: Option<Seed>, scenarios: Vec<String>) -> Self {
        Self {
            from,
            to,
            includes_to: false,
            scenarios,
            changes: Vec::new(),
            is_twice: false,
            stop_after: None,
            known: Vec::new(),
            shrink_runs: 0,
            run_limit_s: RUN_LIMIT_S,
            memory_limit_mib: MEMORY_LIMIT_MIB,
        }
    }
}

/// The seeds as they are typed: `0..100`, `7..`, or with the largest seed `0..=18446744073709551615`.
impl fmt::Display for CampaignOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dots = if self.includes_to { "..=" } else { ".." };
        write!(out, "{}{dots}{}", self.from, self.to.map_or(String::new(), |to| to.to_string()))
    }
}

/// Why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Every seed of the range was run.
    AllSeeds,
    /// As many distinct signatures as were asked for had been found.
    StopAfter,
    /// The time was up.
    Time,
    /// A person stopped it.
    Interrupted,
}

/// What the runs of one scenario said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioTally {
    /// Runs, repetitions not counted.
    pub run_count: u64,
    /// Runs that were not judged, since the harness failed or the model crashed.
    pub unjudged_count: u64,
    /// Claims that were violated or could not be told in some run; every other claim held in every judged run.
    #[serde(deserialize_with = "without_doubles")]
    pub claims: BTreeMap<String, ClaimTally>,
}

/// What the runs of one scenario said of one claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimTally {
    /// Runs in which it did not hold.
    pub violated_count: u64,
    /// Runs in which it could not be told.
    pub untold_count: u64,
}

/// How close the runs came to one row of reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReachTally {
    /// Runs that came there, repetitions not counted.
    pub lit_count: u64,
    /// Conditions that the closest run lacked; 0 where some run came there.
    pub distance: u8,
    /// The smallest seed of the closest runs.
    pub seed: Seed,
}

/// All runs of one signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingRow {
    /// The scenario of the smallest seed.
    pub scenario: String,
    /// The smallest seed that shows it.
    pub seed: Seed,
    /// Runs that showed it.
    pub count: u64,
    /// How it was worded, and in how many runs; at most [`WORDINGS_MAX`].
    #[serde(deserialize_with = "without_doubles")]
    pub wordings: BTreeMap<String, u64>,
}
