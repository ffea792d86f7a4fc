//! What a campaign says of reach: each row lit or dark, how close the closest run came, and which dark rows fail.

use super::record::{CampaignOptions, ReachTally, Record};
use scenarios::catalog::{self, Scenario};
use scenarios::reach::{self, Group, Sometimes};
use scenarios::seed::Seed;
use std::collections::BTreeSet;

/// A row after a campaign.
#[derive(Clone, Debug)]
pub struct ReachRow {
    /// Which.
    pub row: &'static Sometimes,
    /// What the runs came to.
    pub light: Light,
    /// Why it may be dark, if it may.
    pub excuse: Option<&'static str>,
    /// Whether the scenarios of the campaign have to light it: with the whole catalog every row, else their own.
    pub is_required: bool,
}

/// What the runs of a campaign came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Light {
    /// Some run came there.
    Lit {
        /// In how many runs.
        count: u64,
        /// The smallest seed of them.
        seed: Seed,
    },
    /// None did.
    Dark {
        /// Conditions that the closest run lacked.
        distance: u8,
        /// The smallest seed of the closest runs.
        seed: Seed,
    },
    /// No run was judged.
    Untold,
}

impl ReachRow {
    /// Whether some run came there.
    pub fn is_lit(&self) -> bool {
        matches!(self.light, Light::Lit { .. })
    }

    /// Whether it fails the campaign: it is required, dark, and nobody excuses it.
    pub fn is_unmet(&self) -> bool {
        self.is_required && !self.is_lit() && self.excuse.is_none()
    }

    /// Whether its excuse is no longer needed.
    pub fn is_stale(&self) -> bool {
        self.is_lit() && self.excuse.is_some()
    }

    /// How far the closest run came: `2 of 4 conditions; missing: its alarm fires`.
    pub fn closest(&self) -> Option<String> {
        let Light::Dark { distance, .. } = self.light else { return None };
        let all = self.row.condition_count();
        let met = all.saturating_sub(usize::from(distance));
        Some(format!("{met} of {all} conditions; missing: {}", self.row.missing(distance)))
    }
}

/// All rows, in their order.
pub fn rows(record: &Record) -> Vec<ReachRow> {
    let required = required(&record.options);
    let told = |row: &&'static Sometimes| ReachRow {
        row,
        light: record.reach.get(row.name).map_or(Light::Untold, light),
        excuse: reach::excuse(row.name),
        is_required: required.as_ref().is_none_or(|names| names.contains(row.name)),
    };
    reach::rows().iter().map(told).collect()
}

/// The rows of each group, in their order.
pub fn groups(rows: &[ReachRow]) -> impl Iterator<Item = (&'static Group, &[ReachRow])> {
    let mut left = rows;
    reach::GROUPS.iter().map(move |group| {
        let (of_group, others) = left.split_at(group.rows.len());
        left = others;
        (group, of_group)
    })
}

fn light(tally: &ReachTally) -> Light {
    match *tally {
        ReachTally { lit_count: 0, distance, seed } => Light::Dark { distance, seed },
        ReachTally { lit_count: count, seed, .. } => Light::Lit { count, seed },
    }
}

/// Names of the rows that scenarios must light which are not the whole catalog; nothing where all rows are required.
fn required(options: &CampaignOptions) -> Option<BTreeSet<&'static str>> {
    let is_asked = |scenario: &&Scenario| options.scenarios.iter().any(|id| id == scenario.id);
    if catalog::all().all(|scenario| is_asked(&scenario)) {
        return None;
    }
    Some(catalog::all().filter(is_asked).flat_map(|scenario| scenario.sometimes).copied().collect())
}

/// The scenario that a seed of the campaign ran.
pub fn scenario_of(record: &Record, seed: Seed) -> Option<&'static Scenario> {
    let among: Vec<&Scenario> = record.options.scenarios.iter().filter_map(|id| catalog::find(id)).collect();
    catalog::pick(seed, &among)
}

/// All rows in one sentence: `120 of 200 rows lit; 80 dark, 78 of them excused`.
pub fn sentence(rows: &[ReachRow]) -> String {
    let lit = rows.iter().filter(|row| row.is_lit()).count();
    let dark = rows.len() - lit;
    let excused = rows.iter().filter(|row| !row.is_lit() && row.excuse.is_some()).count();
    let excused = match excused {
        _ if dark == 0 => "none dark".to_owned(),
        excused if excused == dark => format!("{dark} dark, all of them excused"),
        excused => format!("{dark} dark, {excused} of them excused"),
    };
    format!("{lit} of {} rows lit; {excused}", rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::output::sample;
    use crate::exit_code::ExitCode;

    fn row(name: &str, record: &Record) -> ReachRow {
        rows(record).into_iter().find(|row| row.row.name == name).expect("a row")
    }

    #[test]
    fn a_row_is_lit_or_tells_what_the_closest_run_lacked() {
        let record = sample::with_reach().record;
        let lit = row("life-cycle/resident", &record);
        assert_eq!(lit.light, Light::Lit { count: 60, seed: Seed(2) });
        assert_eq!((lit.closest(), lit.is_unmet()), (None, false));
        let dark = row("alarm/dispose-quiet", &record);
        let told = "2 of 4 conditions; missing: its alarm fires once it has been idle for the timeout";
        assert_eq!(dark.closest().as_deref(), Some(told));
        assert_eq!(row("alarm/fails", &record).light, Light::Untold);
    }

    #[test]
    fn the_whole_catalog_must_light_every_row_and_a_part_of_it_its_own() {
        let mut outcome = sample::with_reach();
        assert!(rows(&outcome.record).iter().all(|row| row.is_required));
        assert!(outcome.unmet().iter().any(|row| row.row.name == "alarm/dispose-quiet"));
        outcome.record.options.scenarios = vec!["no/such-scenario".to_owned()];
        assert!(rows(&outcome.record).iter().all(|row| !row.is_required && !row.is_unmet()));
        assert!(outcome.unmet().is_empty());
    }

    #[test]
    fn dark_rows_fail_only_a_campaign_that_must_reach_them() {
        let mut outcome = sample::with_reach();
        outcome.findings.clear();
        assert_eq!(outcome.exit_code(), ExitCode::Unmet);
        outcome.is_reach_required = false;
        assert_eq!(outcome.exit_code(), ExitCode::Held);
    }

    #[test]
    fn groups_have_the_rows_that_begin_with_their_name() {
        let rows = rows(&sample::with_reach().record);
        assert_eq!(groups(&rows).map(|(_, rows)| rows.len()).sum::<usize>(), rows.len());
        for (group, rows) in groups(&rows) {
            assert!(rows.iter().all(|row| row.row.name.starts_with(&format!("{}/", group.name))), "{}", group.name);
        }
    }
}
