//! A session that is cold is used again: who starts it, what it still knows, and what its clients keep.

pub mod capability_carried;
pub mod database_down;
pub mod hibernated_streams;
pub mod other_organization;
pub mod single_flight;
pub mod stale_transport;

use super::Scenario;
use super::draft::Draft;
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    single_flight::SCENARIO,
    stale_transport::SCENARIO,
    hibernated_streams::SCENARIO,
    database_down::SCENARIO,
    capability_carried::SCENARIO,
    other_organization::SCENARIO,
];

/// Makes that session cold at some time from `from_ms` on: by its idle alarm, out of memory or by a reset. Returns when
/// it is cold.
fn cool(draft: &mut Draft, rng: &mut Rng, session: &str, from_ms: u64) -> u64 {
    let at_ms = from_ms + draft.latency_ms();
    match rng.below(4) {
        0 => draft.evict(at_ms, session),
        1 => draft.reset(at_ms, session),
        _ => return from_ms + draft.disposed_after_ms(),
    }
    at_ms + rng.between(2, 50)
}
