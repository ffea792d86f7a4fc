//! Sessions that nobody uses for a while: their runtimes go, the sessions stay.

pub mod stream_stays_open;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[stream_stays_open::SCENARIO];
