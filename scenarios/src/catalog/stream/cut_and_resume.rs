//! A client loses the connection of a call and comes back with the cursor that it has.
//!
//! Goal: what a call comes to is not lost with its connection: the GET that follows brings it, before or after it is
//! there, and brings nothing else. Method: one to three clients cut calls before, at and after their answers, wait for
//! less or more than the answer takes, and ask by the cursor, some twice, some without it; a deadline may fall in
//! between, so that another runtime is asked.

use super::{cut_call, recover};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::Plan;
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a client loses the connection of a call and gets the answer by the cursor that it has",
    weight: 6,
    sometimes: &["situation/stream-resumed"],
    plan,
};

const ID: &str = "stream/cut-and-resume";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let count = *draft.rng("clients").pick_weighted(&[(6, 1), (2, 2), (1, 3)]);
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
    if rng.chance(1, 3) {
        client.rest(rng.between(5, 60));
        client.stream();
    }
    for _ in 0..rng.between(1, 3) {
        client.rest(rng.between(10, 500));
        let wait_ms = *rng.pick_weighted(&[(3, 0), (3, 50), (2, 800), (1, 4_000)]);
        if rng.chance(1, 3) {
            // Another result waits for a listener; a cursor must not bring it.
            client.call(&mut rng, 0);
        }
        cut_call(&mut client, &mut rng, draft, wait_ms);
        client.rest(*rng.pick_weighted(&[(3, 1), (3, wait_ms), (2, wait_ms + 500), (1, draft.disposed_after_ms())]));
        recover(&mut client, &mut rng, false);
        if rng.chance(1, 2) {
            client.rest(rng.between(1, 1_000));
            let fresh = rng.chance(1, 3);
            recover(&mut client, &mut rng, fresh);
        }
    }
    client.rest(rng.between(1, 1_000));
    client.call(&mut rng, 0);
    client
}
