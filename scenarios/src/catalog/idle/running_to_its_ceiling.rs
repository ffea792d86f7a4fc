//! Code that runs for long holds its runtime until the ceiling of 35 minutes.
//!
//! Goal: running work earns leases, up to the ceiling and not beyond. Method: calls that wait for minutes, some beyond
//! the ceiling, by clients that are patient or give up, and short calls beside them.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::invariants::limits::{LEASE_MS, RUNNING_CEILING_MS};
use crate::plan::Plan;
use crate::seed::Seed;

/// Long calls and their ceiling.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "code runs for minutes: its runtime is kept until the ceiling of running sessions",
    weight: 2,
    sometimes: &[
        "alarm/extend-running",
        "alarm/extend-running-remainder",
        "alarm/dispose-running",
        "alarm/dispose-stream",
    ],
    plan,
};

const ID: &str = "idle/running-to-its-ceiling";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(draft.rng("timeout").between(1_000, 300_000));
    let mut rng = draft.rng("client");
    let wait_ms = match rng.below(5) {
        0 => rng.between(draft.timeout_ms(), draft.timeout_ms() + LEASE_MS),
        1 => RUNNING_CEILING_MS - 1_000 + rng.below(2_000),
        2 | 3 => rng.between(RUNNING_CEILING_MS, RUNNING_CEILING_MS + 600_000),
        _ => rng.between(60_000, RUNNING_CEILING_MS),
    };
    let patience_ms = if rng.chance(2, 3) { wait_ms + 600_000 } else { 60_000 };
    let mut client = ClientDraft::new(1, 0).patient(patience_ms);
    client.open();
    client.rest(rng.between(1, 500));
    client.call_beside(&mut rng, wait_ms);
    let is_silent = draft.rng("silence").chance(1, 2);
    for _ in 0..rng.below(3) * u64::from(!is_silent) {
        client.rest(rng.between(1, wait_ms));
        if rng.chance(1, 2) { client.ping() } else { client.call(&mut rng, 0) }
    }
    client.until(wait_ms + draft.disposed_after_ms());
    client.call(&mut rng, 0);
    draft.client(client);
    draft.until_ceiling()
}
