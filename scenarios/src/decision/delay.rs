//! How long delays are, by severity and question: a table of weighted ranges in ms.

use crate::plan::Severity;
use crate::rng::Rng;

/// The longest delay that is ever drawn or may be pinned, in ms: an alarm a minute late (platform facts 68, 210).
pub const DELAY_MS_MAX: u64 = 60_000;

/// A weighted range of ms, both ends included.
type Band = (u64, (u64, u64));

struct Row {
    /// The question, or its first segment followed by a dot.
    what: &'static str,
    usual: &'static [Band],
    hostile: &'static [Band],
}

/// First match wins; the last row, of any question, is for those that no row names.
const TABLE: &[Row] = &[
    Row {
        // Platform facts 68 and 210: mostly 0 to 10 ms, sometimes hundreds, rarely up to a minute.
        what: "alarm.late",
        usual: &[(950, (0, 10)), (45, (100, 900)), (5, (1_000, 60_000))],
        hostile: &[(600, (0, 10)), (300, (100, 900)), (100, (1_000, 60_000))],
    },
    Row {
        // Platform fact 218: the writes of a turn may still be in flight when the next one begins.
        what: "commit",
        usual: &[(8, (0, 1)), (2, (2, 5))],
        hostile: &[(5, (0, 5)), (4, (6, 50)), (1, (51, 500))],
    },
    Row {
        what: "latency.",
        usual: &[(8, (0, 3)), (2, (4, 20))],
        hostile: &[(5, (0, 5)), (4, (6, 60)), (1, (61, 1_000))],
    },
    Row { what: "", usual: &[(8, (0, 3)), (2, (4, 20))], hostile: &[(5, (0, 5)), (4, (6, 60)), (1, (61, 400))] },
];

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
    let row = row(what);
    let bands = row.usual.iter().chain(row.hostile);
    let longest = bands.map(|(_, (_, most))| *most).max().unwrap_or(0);
    longest.min(DELAY_MS_MAX)
}

fn row(what: &str) -> &'static Row {
    TABLE
        .iter()
        .find(|row| match row.what.strip_suffix('.') {
            Some(segment) => what.split('.').next() == Some(segment),
            None => row.what.is_empty() || row.what == what,
        })
        .expect("the last row matches every question")
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
