//! What only a platform that misbehaves does: a table of questions with weighted ranges, 0 for not at all.
//!
//! Unlike a delay, such a question is not even asked where the answer can only be 0: in a calm world, or without
//! entropy, unless a pin is about it.

use crate::plan::Severity;
use crate::rng::Rng;

/// A weighted range, both ends included.
pub(super) type Band = (u64, (u64, u64));

/// One question.
pub struct Stray {
    /// The question, as decisions name it.
    pub what: &'static str,
    usual: &'static [Band],
    hostile: &'static [Band],
}

const fn stray(what: &'static str, usual: &'static [Band], hostile: &'static [Band]) -> Stray {
    Stray { what, usual, hostile }
}

/// Every question. The numbers of facts are those of `model/PLATFORM.md`, section 17.
pub static STRAYS: &[Stray] = &[
    // Fact 215, in ms of idleness: drawn once an incarnation.
    stray("eviction", &[(97, (0, 0)), (3, (10_000, 140_000))], &[(88, (0, 0)), (12, (10_000, 140_000))]),
    // Fact 215: 1 for an eviction that cuts off work in the background; asked where there is such work.
    stray("eviction.pending-work", &[(9, (0, 0)), (1, (1, 1))], &[(4, (0, 0)), (1, (1, 1))]),
    // Fact 24: 1 for a code update that waits until its object is idle.
    stray("update.deferred", &[(9, (0, 0)), (1, (1, 1))], &[(4, (0, 0)), (1, (1, 1))]),
    // Fact 216, in operations of the incarnation: drawn once for each.
    stray("reset", &[(398, (0, 0)), (2, (1, 300))], &[(98, (0, 0)), (2, (1, 300))]),
    // Fact 217: 1 for a zombie.
    stray("reset.zombie", &[(9, (0, 0)), (1, (1, 1))], &[(4, (0, 0)), (1, (1, 1))]),
    // Fact 211, in ms until the alarm comes again.
    stray("alarm.again", &[(199, (0, 0)), (1, (1, 2_000))], &[(97, (0, 0)), (3, (1, 60_000))]),
    // Fact 212: 1 for a retry that is a first try at once.
    stray("alarm.count-lost", &[(49, (0, 0)), (1, (1, 1))], &[(9, (0, 0)), (1, (1, 1))]),
    // Fact 213, in ms; 0 for lost.
    stray("alarm.stuck", &[(1, (0, 0)), (1, (10_000, 60_000))], &[(1, (0, 0)), (1, (10_000, 60_000))]),
    // Fact 214: 1 for an alarm that brings no name although its build would.
    stray("alarm.nameless", &[(49, (0, 0)), (1, (1, 1))], &[(9, (0, 0)), (1, (1, 1))]),
    // Fact 226, in ms that the tail is late.
    stray("tail", &[(49, (0, 0)), (1, (1, 20))], &[(19, (0, 0)), (1, (1, 1_000))]),
    // Fact 224: 1 for a broken stream, 2 for silence.
    stray("stream.end", &[(17, (0, 0)), (2, (1, 1)), (1, (2, 2))], &[(13, (0, 0)), (5, (1, 1)), (2, (2, 2))]),
    // Fact 225: 1 for noticed at the next write, 2 for never.
    stray("leaving", &[(9, (0, 0)), (1, (1, 1))], &[(6, (0, 0)), (3, (1, 1)), (1, (2, 2))]),
    // Fact 220: 1 for a flag that outlives a hop.
    stray("flags.kept", &[(9, (0, 0)), (1, (1, 1))], &[(9, (0, 0)), (1, (1, 1))]),
];

impl Stray {
    /// The question of that name.
    ///
    /// # Panics
    /// When there is none: whoever asks it forgot its line in the table.
    pub(super) fn of(what: &str) -> &'static Stray {
        STRAYS.iter().find(|stray| stray.what == what).unwrap_or_else(|| panic!("`{what}` is no stray of the table"))
    }

    /// Draws an answer; calm is 0.
    pub(super) fn draw(&self, severity: Severity, rng: &mut Rng) -> u64 {
        let bands = match severity {
            Severity::Calm => return 0,
            Severity::Usual => self.usual,
            Severity::Hostile => self.hostile,
        };
        let (least, most) = *rng.pick_weighted(bands);
        rng.between(least, most)
    }

    /// The largest answer in any severity.
    pub(super) fn most(&self) -> u64 {
        self.usual.iter().chain(self.hostile).map(|(_, (_, most))| *most).max().unwrap_or(0)
    }

    /// Its ranges in words, for usual and hostile worlds: `98 % 0, 2 % 1 to 20`.
    pub fn ranges(&self) -> [String; 2] {
        [self.usual, self.hostile].map(told)
    }
}

/// Weighted ranges in words.
pub(super) fn told(bands: &[Band]) -> String {
    let all: u64 = bands.iter().map(|(weight, _)| weight).sum();
    let band = |(weight, (least, most)): &Band| {
        let tenths = weight * 1_000 / all;
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        format!("{}.{} % {range}", tenths / 10, tenths % 10)
    };
    bands.iter().map(band).collect::<Vec<_>>().join(", ")
}

/// Whether a question is one of the table.
pub fn is_stray(what: &str) -> bool {
    STRAYS.iter().any(|stray| stray.what == what)
}
