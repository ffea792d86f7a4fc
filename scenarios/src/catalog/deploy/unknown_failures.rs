//! A write fails in a way that no classifier knows: that is fatal to what needed it, and is captured once.
//!
//! Goal: unknown failures are neither swallowed nor told twice. Method: a storage operation of the idle clock, the meta or
//! the start fails once with an unknown text, in a first or later use.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan};
use crate::seed::Seed;

/// Failures that nobody knows.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a storage operation fails with a text that nobody knows: the start that needed it fails, once captured",
    weight: 3,
    sometimes: &["situation/init-fails", "answer/tool-defect"],
    plan,
};

const ID: &str = "deploy/unknown-failures";

const OPERATIONS: &[&str] = &[
    "clock · storage.put last-activity-ms",
    "clock · storage.setAlarm idle",
    "meta · storage.get session-meta",
    "meta · storage.put session-meta",
    "start · storage.get facet",
    "body · storage.put props",
    "body · storage.get props",
    "validate · storage.get destroy-pending",
];

/// Steps beyond the start, of which failing one ends a request at most.
const BEYOND: &[&str] = &[
    "engine · sandbox.run",
    "post · storage.put stream-reqs",
    "connect · storage.put stream-reqs",
    "event · storage.put",
    "event · storage.list last-seq",
    "send · storage.put undelivered",
    "send · storage.delete stream-reqs",
];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("failures");
    draft.timeout(rng.between(1_000, 10_000));
    for number in 1..=rng.between(1, 2) {
        let mut client = ClientDraft::new(number, rng.below(200));
        let text = Some("quota exceeded for namespace".to_owned());
        let effect = Effect::Fail { error: ErrorKind::Unknown, text, flags: None, lasting: false };
        let n = rng.between(1, 3) as u32;
        draft.fault_by_chance(operation(rng.pick_name(OPERATIONS), Edge::Begin, n, client.name()), effect);
        let mut beyond = draft.rng(&format!("beyond.{number}"));
        if beyond.chance(1, 2) {
            // A session calls twice.
            let n = beyond.between(1, 2) as u32;
            let step = operation("engine · sandbox.run", Edge::Begin, n, client.name());
            draft.fault_by_chance(step, fail(ErrorKind::Unknown));
        } else if beyond.chance(1, 2) {
            let reason = *beyond.pick(&[ErrorKind::Unknown, ErrorKind::CodeUpdate, ErrorKind::StorageInternal]);
            let n = beyond.between(1, 3) as u32;
            draft.fault_by_chance(operation(beyond.pick_name(BEYOND), Edge::Begin, n, client.name()), fail(reason));
        }
        client.open();
        client.rest(rng.between(100, 2_000) + draft.latency_ms());
        if rng.chance(1, 2) {
            client.open();
        }
        client.call(&mut rng, 0);
        client.rest(draft.disposed_after_ms());
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
