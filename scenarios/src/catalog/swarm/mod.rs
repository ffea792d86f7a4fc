//! Everything at once.

pub mod everything;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[everything::SCENARIO];
