//! An init that is interrupted between its admission and its build gives back what it had taken until then.
//!
//! Goal: reservation, permit, handle and what was half built are returned. Method: first and second inits of sessions
//! are held at a step between admission and the end, and interrupted there; neighbours are admitted meanwhile.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, Interruptible, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Interrupted inits.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an init is interrupted between its admission and its end: all that it had taken is given back",
    weight: 3,
    sometimes: &["situation/init-interrupted"],
    plan,
};

const ID: &str = "disposal/interrupted-before-build";

/// Suspension points between admission and the end of an init.
const STEPS: &[&str] = &[
    "init · db.open",
    "build · permit",
    "build · import",
    "build · stack",
    "build · describe",
    "build · server",
    "clock · storage.put last-activity-ms",
    "clock · storage.setAlarm idle",
];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("inits");
    draft.isolates(1);
    draft.timeout(rng.between(1_000, 5_000));
    draft.cap(rng.between(1, 3) as u32);
    for number in 1..=rng.between(1, 3) {
        let mut client = ClientDraft::new(number, rng.below(200));
        client.open();
        if number == 1 || rng.chance(1, 3) {
            interrupt(&mut draft, &mut rng, client.name());
        }
        client.rest(2_000 + 2 * draft.latency_ms());
        client.open();
        client.call(&mut rng, 0);
        client.rest(draft.disposed_after_ms());
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}

/// An init of that session is held at a step, and interrupted when it gets there or when it goes on.
fn interrupt(draft: &mut Draft, rng: &mut Rng, session: &str) {
    let step = *rng.pick(STEPS);
    let n = *rng.pick_weighted(&[(3, 1), (1, 2)]);
    if rng.chance(2, 3) {
        let held = Effect::Hold { release: None, for_ms: Some(rng.between(5, 1_500)), fail: None };
        draft.fault_by_chance(operation(step, Edge::Begin, n, session), held);
    }
    let edge = *rng.pick(&[Edge::Begin, Edge::End]);
    draft.fault_by_chance(operation(step, edge, n, session), Effect::Interrupt { what: Interruptible::Init });
}
