//! Sessions that nobody uses for a while: their runtimes go, the sessions stay.

pub mod live_stream;
pub mod paused_to_its_ceiling;
pub mod running_to_its_ceiling;
pub mod stream_stays_open;
pub mod touch_around_deadline;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    stream_stays_open::SCENARIO,
    touch_around_deadline::SCENARIO,
    live_stream::SCENARIO,
    paused_to_its_ceiling::SCENARIO,
    running_to_its_ceiling::SCENARIO,
];
