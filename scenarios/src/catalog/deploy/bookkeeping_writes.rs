//! A deployment refuses a bookkeeping write: the time of the last activity, the alarm, the request's row.
//!
//! Goal: such a write is not worth a session; the next use arms the lost alarm again. Method: one or two bookkeeping
//! writes of a session fail with the text of a deployment, in its first use or a later one.

use super::reason;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, ErrorKind, Plan};
use crate::seed::Seed;

/// Refused bookkeeping writes.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a deployment refuses a write of the idle clock: the session lives on, and its alarm is armed by the next use",
    weight: 3,
    sometimes: &["situation/idle-alarm-rearmed", "log/reset-kind/storage-internal", "log/reset-kind/retryable"],
    plan,
};

const ID: &str = "deploy/bookkeeping-writes";

/// Bookkeeping writes, of which losing one ends nothing.
const WRITES: &[&str] = &[
    "clock · storage.put last-activity-ms",
    "clock · storage.setAlarm idle",
    "rearm · storage.setAlarm idle",
    "dispose · storage.deleteAlarm",
    "dispose · storage.delete last-activity-ms",
];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("writes");
    draft.timeout(rng.between(1_000, 10_000));
    let mut reasons = draft.rng("reasons");
    let mut client = ClientDraft::new(1, 0);
    for _ in 0..rng.between(1, 2) {
        let edge = *rng.pick_weighted(&[(3, Edge::Begin), (1, Edge::End)]);
        let when = operation(rng.pick_name(WRITES), edge, rng.between(1, 3) as u32, client.name());
        let reason = reason(&mut reasons);
        draft.fault_by_chance(when, fail(reason));
    }
    let mut wire = draft.rng("wire");
    if wire.chance(1, 5) {
        // The connection to the object is lost, which only a flag tells.
        let step = *wire.pick(&["edge · stub.validate", "bridge · stub.fetch"]);
        let n = wire.between(1, 3) as u32;
        draft.fault_by_chance(operation(step, Edge::Begin, n, client.name()), fail(ErrorKind::Retryable));
    }
    client.open();
    for _ in 0..rng.between(1, 3) {
        client.rest(rng.between(1, draft.timeout_ms() - 1));
        if rng.chance(1, 4) { client.ping() } else { client.call(&mut rng, 0) }
    }
    client.rest(draft.disposed_after_ms());
    client.call(&mut rng, 0);
    draft.client(client);
    draft.until_idle()
}
