//! A request that comes while its session's runtime is closed waits for the end of that, and is served by a new runtime.
//!
//! Goal: nobody is served by a dying runtime, and nobody is left waiting. Method: a disposal that a slow or held step
//! stretches out, and requests of several kinds that are aimed at its middle.

use super::{STEPS, idle_client};
use crate::catalog::Scenario;
use crate::catalog::draft::{Draft, operation};
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
    draft.until_idle()
}
