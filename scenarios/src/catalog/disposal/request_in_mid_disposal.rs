//! A request that comes while its session's runtime is closed waits for the end of that, and is served by a new runtime.
//!
//! Goal: nobody is served by a dying runtime, and nobody is left waiting. Method: a disposal that a slow or held step
//! stretches out, and requests of several kinds that are aimed at its middle.

use super::{STEPS, idle_client};
use crate::catalog::Scenario;
use crate::catalog::draft::direct::make_room;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, Plan};
use crate::seed::Seed;

/// Requests in the middle of a disposal.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "requests come while an idle session's runtime is being closed: they wait, and a new runtime serves them",
    weight: 4,
    sometimes: &["situation/request-during-disposal", "situation/start-during-teardown"],
    plan,
};

const ID: &str = "disposal/request-in-mid-disposal";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("disposal");
    draft.timeout(rng.between(1_000, 5_000));
    let held_ms = *rng.pick(&[20, 300, 3_000]);
    for number in 1..=rng.between(1, 2) {
        let (mut client, due_ms) = idle_client(&draft, &mut rng, number);
        let step = *rng.pick(STEPS);
        let effect = match rng.below(3) {
            0 => Effect::Delay { ms: held_ms },
            _ => Effect::Hold { release: None, for_ms: Some(held_ms), fail: None },
        };
        let edge = *rng.pick(&[Edge::Begin, Edge::End]);
        draft.fault_by_chance(operation(step, edge, 1, client.name()), effect);
        // Alarm and disposal begin somewhere after the deadline; the requests spread over what follows.
        client.until(due_ms + rng.below(20 + held_ms));
        for _ in 0..rng.between(1, 4) {
            match rng.below(5) {
                0 => client.ping(),
                1 => client.call(&mut rng, 0),
                _ => client.call_beside(&mut rng, 0),
            }
            client.rest(rng.below(held_ms / 2 + 5));
        }
        if rng.chance(1, 6) {
            client.close();
        }
        draft.client(client);
    }
    late_call(&mut draft);
    draft.until_idle()
}

/// Sometimes a call has passed its owner check and is late at its session, which a neighbour has asked to make room
/// meanwhile: it comes in the middle of the close.
fn late_call(draft: &mut Draft) {
    let mut rng = draft.rng("late");
    if !rng.chance(4, 5) {
        return;
    }
    let mut client = ClientDraft::new(3, rng.below(500));
    client.open();
    client.rest(rng.between(100, draft.timeout_ms() / 2));
    let (asked_ms, closes_ms) = (client.now_ms(), rng.between(50, 2_000));
    client.call(&mut rng, 0);
    let slow = Effect::Delay { ms: closes_ms };
    // Mostly the server has closed, and what it would be handed is lost.
    let edge = if rng.chance(3, 4) { Edge::End } else { Edge::Begin };
    draft.fault_by_chance(operation("teardown · server.close", edge, 1, client.name()), slow);
    // The two requests of the handshake come before it.
    let late = Effect::Delay { ms: rng.between(40, closes_ms) };
    draft.fault_by_chance(operation("bridge · stub.fetch", Edge::Begin, 3, client.name()), late);
    draft.call("neighbour", make_room(asked_ms + 8 + rng.below(20), client.name()));
    draft.client(client);
}
