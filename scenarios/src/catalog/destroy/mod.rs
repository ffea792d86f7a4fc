//! Sessions that are ended for good.

pub mod around_delete;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[around_delete::SCENARIO];
