//! A runtime on its way out, and what comes in meanwhile.

pub mod build_failure;
pub mod interrupted;
pub mod interrupted_before_build;
pub mod request_in_mid_disposal;
pub mod two_triggers;

use super::Scenario;
use super::draft::{ClientDraft, Draft};
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    request_in_mid_disposal::SCENARIO,
    interrupted::SCENARIO,
    two_triggers::SCENARIO,
    interrupted_before_build::SCENARIO,
    build_failure::SCENARIO,
];

/// Suspension points of a disposal; the handle is closed in one of two ways.
const STEPS: &[&str] = &[
    "dispose · teardown",
    "teardown · server.close",
    "teardown · db.end",
    "teardown · db.end dialled",
    "dispose · storage.deleteAlarm",
    "dispose · storage.delete last-activity-ms",
    "dispose · flush",
];

/// A client that opens its session and calls once, and when its runtime may be disposed at the earliest.
fn idle_client(draft: &Draft, rng: &mut Rng, number: u64) -> (ClientDraft, u64) {
    let mut client = ClientDraft::new(number, rng.below(50));
    client.open();
    client.rest(rng.between(1, 400));
    client.call(rng, 0);
    let due_ms = client.now_ms() + draft.timeout_ms();
    (client, due_ms)
}
