//! Everything at once.

pub mod everything;
mod others;
mod troubles;
mod uses;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[everything::SCENARIO];
