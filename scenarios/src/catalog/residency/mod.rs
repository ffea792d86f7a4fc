//! More sessions than an isolate means to hold: who is asked to leave, who is counted, and that nobody waits for it.

pub mod busy_neighbours;
pub mod cap_eviction;
pub mod concurrent_cold_builds;
pub mod eviction_request_lost;
pub mod lru_under_touches;
pub mod nothing_evictable;
pub mod reservation_returned;
pub mod reset_in_the_queue;

use super::Scenario;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    cap_eviction::SCENARIO,
    concurrent_cold_builds::SCENARIO,
    reservation_returned::SCENARIO,
    reset_in_the_queue::SCENARIO,
    nothing_evictable::SCENARIO,
    eviction_request_lost::SCENARIO,
    busy_neighbours::SCENARIO,
    lru_under_touches::SCENARIO,
];
