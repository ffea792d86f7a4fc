//! Folds runs into the record of a campaign, one seed after the other in their order.

use super::record::{CampaignOptions, ClaimTally, End, FindingRow, ReachTally, Record, VERSION, WORDINGS_MAX};
use crate::exit_code::ExitCode;
use crate::signature::Signature;
use crate::trial::{Answer, Found};
use scenarios::catalog::Scenario;
use scenarios::reach;
use scenarios::seed::Seed;
use std::collections::{BTreeMap, BTreeSet};

/// The longest wording that is kept, in characters: a panic may say much.
const WORDING_CHARS_MAX: usize = 1_000;

/// What one seed of a campaign showed.
#[derive(Clone)]
pub struct SeedResult {
    /// The scenario that the seed picked.
    pub scenario: &'static Scenario,
    /// What its run showed.
    pub answer: Answer,
    /// What the same run showed in another worker, if it was repeated.
    pub again: Option<Answer>,
}

impl Record {
    /// A campaign before its first seed.
    pub fn new(options: CampaignOptions) -> Self {
        Self {
            campaign: VERSION,
            build: env!("SIM_BUILD").to_owned(),
            options,
            seed_count: 0,
            ended: None,
            twice_count: 0,
            event_count: 0,
            scenarios: BTreeMap::new(),
            reach: BTreeMap::new(),
            findings: BTreeMap::new(),
        }
    }

    /// The seed that is folded next; none when all were.
    pub fn next_seed(&self) -> Option<Seed> {
        let next = self.options.from.0.checked_add(self.seed_count)?;
        self.last_seed().filter(|last| next <= last.0).map(|_| Seed(next))
    }

    /// The last seed of the range; of one without an end the one before the largest.
    pub fn last_seed(&self) -> Option<Seed> {
        let to = self.options.to.map_or(u64::MAX, |to| to.0);
        if self.options.includes_to { Some(Seed(to)) } else { to.checked_sub(1).map(Seed) }
    }

    /// How many seeds there are in all, if that is known.
    pub fn seed_total(&self) -> Option<u64> {
        let without_to = self.options.to?.0.saturating_sub(self.options.from.0);
        // Nobody comes to the end of the range of all, of which one is not counted.
        Some(without_to.saturating_add(u64::from(self.options.includes_to)))
    }

    /// Findings that no baseline knows.
    pub fn new_count(&self) -> u64 {
        self.findings.keys().filter(|signature| !self.options.known.contains(signature)).count() as u64
    }

    /// Whether as many new findings are there as were asked for.
    pub fn has_enough(&self) -> bool {
        self.options.stop_after.is_some_and(|most| self.new_count() >= most)
    }

    /// Folds the next seed. After it the record may have ended by itself.
    pub fn fold(&mut self, result: &SeedResult) {
        let Some(seed) = self.next_seed() else { return };
        let SeedResult { scenario: Scenario { id: scenario, .. }, answer, again } = result;
        self.seed_count += 1;
        self.event_count += answer.event_count;
        self.twice_count += u64::from(again.is_some());
        self.tally(scenario, answer);
        self.reach(seed, &answer.reach);
        let differing = again.as_ref().filter(|again| *again != answer).map(|again| difference(answer, again));
        let mut counted = BTreeSet::new();
        for found in answer.findings.iter().chain(&differing) {
            if counted.insert(&found.signature) {
                self.add(scenario, seed, found);
            }
        }
        self.ended = if self.has_enough() {
            Some(End::StopAfter)
        } else if self.next_seed().is_none() {
            Some(End::AllSeeds)
        } else {
            None
        };
    }

    fn tally(&mut self, scenario: &str, answer: &Answer) {
        let tally = self.scenarios.entry(scenario.to_owned()).or_default();
        tally.run_count += 1;
        let is_void = |found: &Found| matches!(found.signature.outcome, ExitCode::Harness | ExitCode::Crash);
        tally.unjudged_count += u64::from(answer.findings.iter().any(is_void));
        let claims = &mut tally.claims;
        let mut claim = |name: &str, change: fn(&mut ClaimTally)| change(claims.entry(name.to_owned()).or_default());
        answer.untold.iter().for_each(|name| claim(name, |tally| tally.untold_count += 1));
        let is_claim = |found: &&Found| matches!(found.signature.outcome, ExitCode::Safety | ExitCode::Liveness);
        let violated: BTreeSet<&str> =
            answer.findings.iter().filter(is_claim).map(|found| &*found.signature.claim).collect();
        violated.into_iter().for_each(|name| claim(name, |tally| tally.violated_count += 1));
    }

    /// Folds how close a run came to each row: a digit a row, in their order.
    fn reach(&mut self, seed: Seed, digits: &str) {
        let distances = digits.bytes().map(|digit| digit.saturating_sub(b'0'));
        for (row, distance) in reach::rows().iter().zip(distances) {
            let lit_count = u64::from(distance == 0);
            match self.reach.get_mut(row.name) {
                None => drop(self.reach.insert(row.name.to_owned(), ReachTally { lit_count, distance, seed })),
                Some(tally) => {
                    tally.lit_count += lit_count;
                    if distance < tally.distance {
                        (tally.distance, tally.seed) = (distance, seed);
                    }
                }
            }
        }
    }

    fn add(&mut self, scenario: &str, seed: Seed, found: &Found) {
        let row = self.findings.entry(found.signature.clone()).or_insert_with(|| FindingRow {
            scenario: scenario.to_owned(),
            seed,
            count: 0,
            wordings: BTreeMap::new(),
        });
        row.count += 1;
        let wording: String = found.what.chars().take(WORDING_CHARS_MAX).collect();
        if row.wordings.len() < WORDINGS_MAX || row.wordings.contains_key(&wording) {
            *row.wordings.entry(wording).or_default() += 1;
        }
    }
}

/// The signature of runs that are not the same twice.
pub fn nondeterminism() -> Signature {
    Signature::new(ExitCode::Nondeterminism, "same-plan-same-run", "run")
}

fn difference(one: &Answer, other: &Answer) -> Found {
    let is_lost = |answer: &Answer| answer.run_digest.is_empty();
    let part = if is_lost(one) != is_lost(other) {
        "a worker is lost in one of two runs"
    } else if one.telemetry_digest != other.telemetry_digest {
        "two runs export different telemetry"
    } else if one.run_digest != other.run_digest {
        "two runs export the same telemetry and differ elsewhere"
    } else {
        "two runs are the same and are judged differently"
    };
    Found { signature: nondeterminism(), what: part.to_owned() }
}

#[cfg(test)]
mod tests;
