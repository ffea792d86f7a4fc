//! Several reasons to dispose a runtime at once: it is torn down once.
//!
//! Goal: however many triggers overlap or repeat, one teardown, one decrement, one record each. Method: the idle alarm,
//! requests to make room, a start that replaces the runtime and the end of the session meet at one session.

use super::{STEPS, idle_client};
use crate::catalog::Scenario;
use crate::catalog::draft::direct::{call, make_room};
use crate::catalog::draft::{Draft, operation};
use crate::plan::{CallPlan, Edge, Effect, Plan};
use crate::seed::Seed;
use serde_json::Value as Json;

/// Overlapping triggers.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "the idle alarm, requests to make room and a start meet at one runtime: it is torn down once",
    weight: 3,
    sometimes: &["situation/two-disposals-at-once", "life-cycle/disposing-to-condemned"],
    plan,
};

const ID: &str = "disposal/two-triggers";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("triggers");
    draft.timeout(rng.between(1_000, 5_000));
    let (mut client, due_ms) = idle_client(&draft, &mut rng, 1);
    let held_ms = *rng.pick_weighted(&[(1, 0), (1, 5), (2, 200), (3, 2_000)]);
    if held_ms > 0 {
        let held = Effect::Hold { release: None, for_ms: Some(held_ms), fail: None };
        draft.fault_by_chance(operation(rng.pick_name(STEPS), Edge::Begin, 1, client.name()), held);
    }
    for number in 1..=rng.between(1, 3) {
        let worker = format!("neighbour-{number}");
        let mut at_ms = due_ms - 5 + rng.below(15 + held_ms);
        for _ in 0..rng.between(1, 2) {
            let overlap = rng.chance(1, 2);
            draft.call(&worker, CallPlan { overlap, ..make_room(at_ms, client.name()) });
            at_ms += rng.below(20);
        }
    }
    if rng.chance(1, 2) {
        client.until(due_ms + rng.below(20 + held_ms));
        match rng.below(3) {
            0 => client.close(),
            1 => client.ping(),
            _ => client.call(&mut rng, 0),
        }
    }
    condemn(&mut draft, client.name(), due_ms, held_ms);
    draft.client(client);
    draft.until_idle()
}

/// Sometimes somebody condemns the session in the same milliseconds, past its owner check.
fn condemn(draft: &mut Draft, session: &str, due_ms: u64, held_ms: u64) {
    let mut rng = draft.rng("operator");
    if rng.chance(1, 2) {
        let at_ms = due_ms - 5 + rng.below(15 + held_ms);
        draft.call("operator", call(at_ms, session, "_cf_scheduleDestroy", Json::Null));
    }
}
