//! What the one alarm of a session comes to: without a name, with a pause, when it fails, and when two needs share it.

pub mod heartbeat_meets_deadline;
pub mod throws_and_retries;
pub mod unnamed_while_paused;
pub mod unnamed_with_record;
pub mod unnamed_without_record;

use super::Scenario;
use super::draft::direct::known;
use crate::plan::StoredObject;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    unnamed_with_record::SCENARIO,
    unnamed_without_record::SCENARIO,
    unnamed_while_paused::SCENARIO,
    throws_and_retries::SCENARIO,
    heartbeat_meets_deadline::SCENARIO,
];

/// An object whose id never had a name, and whose storage has that of a session, with an alarm that is due at that time.
/// Nothing says when it was used last, so the first alarm builds its runtime.
fn recorded(session: &str, number: u64, alarm_at_ms: u64) -> StoredObject {
    StoredObject { named: false, alarm_at_ms: Some(alarm_at_ms), ..known(session, number) }
}
