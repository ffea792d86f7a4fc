//! What is known to part from the recordings, and why.

use super::replay::{Played, StepPlayed};

/// A reason, and which first differences it explains.
pub struct Known {
    /// Why.
    pub reason: &'static str,
    /// Whether it explains this first difference.
    explains: fn(&Played, usize, &StepPlayed) -> bool,
}

/// Every reason; one that explains nothing fails a test.
pub const KNOWN: &[Known] = &[];

/// The reason for a first difference.
pub fn reason(played: &Played, (number, step): (usize, &StepPlayed)) -> Option<&'static str> {
    KNOWN.iter().find(|known| (known.explains)(played, number, step)).map(|known| known.reason)
}
