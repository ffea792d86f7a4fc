//! A session is used while or right after its runtime goes, and its next server must not meet the transport of the last.
//!
//! Goal: a restore after a disposal works however close it follows, and no request is left with a server that is gone.
//! Method: sessions at their idle deadline, requests of their clients and of other workers aimed at the milliseconds of
//! the disposal, steps of the teardown held meanwhile, a server whose close fails; then calls that need the new runtime.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::{call, identity};
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan};
use crate::seed::Seed;

/// Restores on the heels of a disposal.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session is used in the milliseconds of its disposal and right after it: its next server has a transport of its own",
    weight: 3,
    sometimes: &["situation/start-during-teardown", "answer/transport-missing"],
    plan,
};

const ID: &str = "restore/stale-transport";

/// Steps of a teardown that are held.
const STEPS: &[&str] =
    &["teardown · server.close", "teardown · db.end", "teardown · db.end dialled", "dispose · storage.deleteAlarm"];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.timeout(draft.rng("timeout").between(1_000, 8_000));
    let mut rng = draft.rng("heels");
    let mut client = ClientDraft::new(1, rng.below(500));
    client.open();
    client.rest(rng.between(1, 500));
    client.call(&mut rng, 0);
    let name = client.name().to_owned();
    let disposed = u32::from(hold_start(&mut draft, &mut client));
    for n in 1..=rng.between(1, 3) {
        if rng.chance(7, 8) {
            let effect = match rng.below(4) {
                0 => fail(ErrorKind::Unknown),
                _ => Effect::Delay { ms: *rng.pick(&[60, 600, 3_000]) },
            };
            let (step, edge) = (*rng.pick(STEPS), *rng.pick(&[Edge::Begin, Edge::End]));
            draft.fault_by_chance(operation(step, edge, disposed + n as u32, &name), effect);
        }
        let spread_ms = *rng.pick(&[20, 100, 800]);
        client.rest(draft.timeout_ms() - 4 + rng.below(spread_ms));
        let met_ms = client.now_ms();
        for _ in 0..rng.below(2) {
            client.call_beside(&mut rng, 0);
        }
        client.call(&mut rng, 0);
        if rng.chance(1, 2) {
            draft.call("worker", call(met_ms + rng.below(spread_ms), &name, "validateMcpSessionOwner", identity(1)));
        }
    }
    draft.client(client);
    draft.until_idle()
}

/// Often the first restore is held between its runtime and its transport, so that a second request finds the one without
/// the other: whether so, after a disposal of its own.
fn hold_start(draft: &mut Draft, client: &mut ClientDraft) -> bool {
    let mut rng = draft.rng("flush");
    if !rng.chance(3, 5) {
        return false;
    }
    // Shorter than the timeout: a start that outlasts it loses its runtime to the alarm.
    let held_ms = (2 * draft.latency_ms() + rng.between(20, 1_000)).min(draft.timeout_ms() / 2);
    let held = Effect::Hold { release: None, for_ms: Some(held_ms), fail: None };
    let edge = *rng.pick(&[Edge::Begin, Edge::End]);
    draft.fault_by_chance(operation("init · flush", edge, 2, client.name()), held);
    client.rest(draft.disposed_after_ms());
    client.call_beside(&mut rng, 0);
    client.rest(held_ms / 4 + rng.below(held_ms / 2));
    if rng.chance(1, 4) {
        client.stream()
    } else {
        client.call(&mut rng, 0)
    }
    client.rest(held_ms);
    true
}
