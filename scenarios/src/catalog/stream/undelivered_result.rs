//! Results that no GET has acknowledged, and a fresh GET that brings them all.
//!
//! Goal: what a session answered stays obtainable until a listener took it. Method: calls, some of which are cut; then GETs
//! without a cursor, some of which are cut themselves, and which must bring again what they did not deliver.

use super::{cut_call, recover};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::Plan;
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "results that no listener took are brought by a fresh GET, again and again until one has them",
    weight: 5,
    sometimes: &["situation/answer-undelivered", "situation/undelivered-fetched"],
    plan,
};

const ID: &str = "stream/undelivered-result";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let count = *draft.rng("clients").pick_weighted(&[(6, 1), (2, 2)]);
    for number in 1..=count {
        let client = client(&draft, number);
        draft.client(client);
    }
    draft.until_idle()
}

fn client(draft: &Draft, number: u64) -> ClientDraft {
    let mut rng = draft.rng(&format!("client.{number}"));
    let mut client = ClientDraft::new(number, if number == 1 { 0 } else { rng.below(2_000) });
    client.open();
    for _ in 0..rng.between(1, 3) {
        for _ in 0..rng.between(0, 3) {
            client.rest(rng.between(1, 300));
            client.call(&mut rng, 0);
        }
        client.rest(rng.between(1, 300));
        let wait_ms = *rng.pick_weighted(&[(4, 0), (2, 100), (1, 2_000)]);
        cut_call(&mut client, &mut rng, draft, wait_ms);
        let idle_ms = draft.disposed_after_ms();
        client.rest(*rng.pick_weighted(&[(5, wait_ms + draft.latency_ms()), (2, wait_ms), (1, wait_ms + idle_ms)]));
        for _ in 0..rng.between(1, 3) {
            recover(&mut client, &mut rng, true);
            client.rest(rng.between(1, 1_000));
        }
    }
    if rng.chance(1, 2) {
        client.stream();
        client.rest(rng.between(100, 2_000));
    }
    client.call(&mut rng, 0);
    client
}
