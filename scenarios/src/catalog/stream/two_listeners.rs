//! A client that holds two standalone listeners, or three, while it calls.
//!
//! Goal: listeners live beside each other; each result is sent on one stream and replayed to one listener at a time.
//! Method: listeners opened at once or one after the other, among calls whose results wait for one of them; clients that
//! open an ended stream again and clients that do not.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a client holds two listeners at once, and neither takes the other's place",
    weight: 4,
    sometimes: &["situation/two-listeners"],
    plan,
};

const ID: &str = "stream/two-listeners";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let client = client(&draft);
    draft.client(client);
    draft.until_idle()
}

fn client(draft: &Draft) -> ClientDraft {
    let mut rng = draft.rng("client");
    let mut client = ClientDraft::new(1, 0).reopening(rng.chance(2, 3));
    client.open();
    for _ in 0..rng.between(2, 4) {
        client.rest(*rng.pick_weighted(&[(3, 0), (2, 20), (2, 1_500)]));
        client.act(Action::Listen {});
        for _ in 0..rng.between(0, 2) {
            client.rest(*rng.pick_weighted(&[(3, 1), (2, 300), (1, 1_200)]));
            client.call(&mut rng, 0);
        }
    }
    client.rest(rng.between(1, 3_000));
    client.call(&mut rng, 0);
    if rng.chance(1, 2) {
        client.rest(rng.between(1, 2_000));
        client.act(Action::EndStream {});
        client.call(&mut rng, 0);
    }
    client
}
