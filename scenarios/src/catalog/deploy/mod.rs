//! New code goes live: objects are reset, and writes that were under way are refused.

pub mod bookkeeping_writes;
pub mod busy_fleet;
pub mod meta_write;
pub mod unknown_failures;

use super::Scenario;
use crate::plan::ErrorKind;
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] =
    &[bookkeeping_writes::SCENARIO, meta_write::SCENARIO, unknown_failures::SCENARIO, busy_fleet::SCENARIO];

/// Mostly a deployment, or whatever else the platform may say of itself.
fn reason(rng: &mut Rng) -> ErrorKind {
    *rng.pick_weighted(&[
        (3, ErrorKind::CodeUpdate),
        (1, ErrorKind::StorageTimeout),
        (2, ErrorKind::StorageInternal),
        (1, ErrorKind::StartupInternalError),
        (1, ErrorKind::ConcurrencyReset),
        (1, ErrorKind::CpuLimit),
        (1, ErrorKind::InternalError),
    ])
}
