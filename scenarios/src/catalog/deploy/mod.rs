//! New code goes live: objects are reset, and writes that were under way are refused.

pub mod bookkeeping_writes;
pub mod busy_fleet;
pub mod meta_write;
pub mod unknown_failures;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] =
    &[bookkeeping_writes::SCENARIO, meta_write::SCENARIO, unknown_failures::SCENARIO, busy_fleet::SCENARIO];
