//! A deployment in the middle of a busy day: every object is reset with whatever it was doing.
//!
//! Goal: sessions survive: who was cut off can ask again and is served from what is stored. Method: up to a dozen
//! sessions with calls, streams and pauses under way, one or two deployments, and calls before and after.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::Plan;
use crate::rng::Rng;
use crate::seed::Seed;

/// Deployments over busy sessions.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a deployment resets a fleet of busy sessions: each is served again from what it has stored",
    weight: 4,
    sometimes: &["situation/reset-meets-request", "situation/served-after-reset"],
    plan,
};

const ID: &str = "deploy/busy-fleet";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let mut rng = draft.rng("fleet");
    let deployed_ms = rng.between(500, 6_000);
    for number in 1..=rng.between(2, 10) {
        let client = client(&draft, number, deployed_ms);
        draft.client(client);
    }
    draft.deploy(deployed_ms);
    if rng.chance(1, 3) {
        draft.deploy(deployed_ms + rng.between(1, 10_000));
    }
    draft.until_idle()
}

fn client(draft: &Draft, number: u64, deployed_ms: u64) -> ClientDraft {
    let mut rng = draft.rng(&format!("client.{number}"));
    let mut client = ClientDraft::new(number, rng.below(deployed_ms));
    client.open();
    if rng.chance(1, 3) {
        client.stream();
    }
    for _ in 0..rng.between(1, 4) {
        client.rest(rng.below(deployed_ms));
        use_it(&mut client, &mut rng);
    }
    client.until(deployed_ms + rng.between(1, 30_000));
    client.call(&mut rng, 0);
    client.reopening(rng.chance(1, 3))
}

fn use_it(client: &mut ClientDraft, rng: &mut Rng) {
    match rng.below(8) {
        0 => client.ping(),
        1 => client.ask(rng),
        2 => {
            let wait_ms = rng.between(100, 5_000);
            client.call_beside(rng, wait_ms);
        }
        _ => client.call(rng, 0),
    }
}
