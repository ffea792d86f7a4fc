//! How long delays are, by severity and question: a table of weighted ranges in ms.

use super::strays::{Band, told};
use crate::plan::Severity;
use crate::rng::Rng;

/// The longest delay that is ever drawn or may be pinned, in ms: an alarm a minute late (platform facts 68, 210).
pub const DELAY_MS_MAX: u64 = 60_000;

struct Row {
    what: What,
    usual: &'static [Band],
    hostile: &'static [Band],
    /// The longest delay of the row.
    most_ms: u64,
}

/// The questions of a row.
enum What {
    /// This one.
    Is(&'static str),
    /// Those whose first segment is this.
    BeginsWith(&'static str),
    /// All.
    Any,
}

/// First match wins; the last row, of any question, is for those that no row names.
static TABLE: [Row; 4] = [
    // Platform facts 68 and 210: mostly 0 to 10 ms, sometimes hundreds, rarely up to a minute.
    Row::new(
        What::Is("alarm.late"),
        &[(950, (0, 10)), (45, (100, 900)), (5, (1_000, 60_000))],
        &[(600, (0, 10)), (300, (100, 900)), (100, (1_000, 60_000))],
    ),
    // Platform fact 218: the writes of a turn may still be in flight when the next one begins.
    Row::new(What::Is("commit"), &[(8, (0, 1)), (2, (2, 5))], &[(5, (0, 5)), (4, (6, 50)), (1, (51, 500))]),
    Row::new(What::BeginsWith("latency"), &[(8, (0, 3)), (2, (4, 20))], &[(5, (0, 5)), (4, (6, 60)), (1, (61, 1_000))]),
    Row::new(What::Any, &[(8, (0, 3)), (2, (4, 20))], &[(5, (0, 5)), (4, (6, 60)), (1, (61, 400))]),
];

impl Row {
    const fn new(what: What, usual: &'static [Band], hostile: &'static [Band]) -> Row {
        let (usual_ms, hostile_ms) = (longest(usual), longest(hostile));
        let most_ms = if usual_ms > hostile_ms { usual_ms } else { hostile_ms };
        Row { what, usual, hostile, most_ms: if most_ms > DELAY_MS_MAX { DELAY_MS_MAX } else { most_ms } }
    }

    fn is_for(&self, what: &str) -> bool {
        match self.what {
            What::Is(question) => what == question,
            What::BeginsWith(segment) => {
                what.strip_prefix(segment).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
            What::Any => true,
        }
    }
}

/// The longest delay of some bands.
const fn longest(bands: &[Band]) -> u64 {
    let (mut index, mut longest) = (0, 0);
    while index < bands.len() {
        let (_, (_, most)) = bands[index];
        longest = if most > longest { most } else { longest };
        index += 1;
    }
    longest
}

/// Draws a delay. Calm draws nothing and is 0.
pub(super) fn draw_ms(severity: Severity, what: &str, rng: &mut Rng) -> u64 {
    let bands = match severity {
        Severity::Calm => return 0,
        Severity::Usual => row(what).usual,
        Severity::Hostile => row(what).hostile,
    };
    let (least, most) = *rng.pick_weighted(bands);
    rng.between(least, most)
}

/// The longest delay of that question in any severity, in ms.
pub(super) fn most_ms(what: &str) -> u64 {
    row(what).most_ms
}

/// The ranges of that question in words, for usual and hostile worlds.
pub fn delay_ranges(what: &str) -> [String; 2] {
    let row = row(what);
    [row.usual, row.hostile].map(told)
}

fn row(what: &str) -> &'static Row {
    TABLE.iter().find(|row| row.is_for(what)).expect("the last row matches every question")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Entropy, Seed};

    fn draws(severity: Severity, what: &str, count: usize) -> Vec<u64> {
        let mut rng = Rng::named(&Entropy::of("test", Seed(9)), what);
        (0..count).map(|_| draw_ms(severity, what, &mut rng)).collect()
    }

    #[test]
    fn a_calm_world_delays_nothing() {
        assert!(draws(Severity::Calm, "alarm.late", 100).iter().all(|ms| *ms == 0));
    }

    #[test]
    fn alarms_are_mostly_on_time_and_sometimes_very_late() {
        let late = draws(Severity::Usual, "alarm.late", 4_000);
        let punctual = late.iter().filter(|ms| **ms <= 10).count();
        assert!((3_700..3_900).contains(&punctual), "{punctual}");
        assert!(late.iter().any(|ms| *ms >= 1_000));
        assert!(late.iter().all(|ms| *ms <= DELAY_MS_MAX));
    }

    #[test]
    fn every_draw_is_within_what_a_pin_may_say() {
        for what in ["alarm.late", "commit", "latency.rpc", "latency", "build.slow"] {
            for severity in [Severity::Usual, Severity::Hostile] {
                let most = draws(severity, what, 2_000).into_iter().max();
                assert!(most <= Some(most_ms(what)), "{what}");
            }
        }
    }

    #[test]
    fn usual_latencies_are_short_and_commits_shorter() {
        assert!(draws(Severity::Usual, "latency.rpc", 500).iter().all(|ms| *ms <= 20));
        assert!(draws(Severity::Usual, "commit", 500).iter().all(|ms| *ms <= 5));
    }
}
