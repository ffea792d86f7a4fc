//! Calls that are answered 503 or 500 for a moment, as in a deploy, by what each client makes of it.
//!
//! Goal: a client that ends its session, hangs or fails from then on does so by itself; the host serves whoever asks again. A
//! session that its client ended is gone, and nothing of it is held. Method: clients with personas call while owner checks
//! and forwards of theirs fail once or a few times, with errors that the edge recognises and with others.

use super::{connected, connected_ms};
use crate::catalog::Scenario;
use crate::catalog::draft::{Draft, fail, operation};
use crate::plan::{Edge, ErrorKind, Plan};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "calls are refused for a moment as in a deploy: one client ends its session, one hangs, others ask again",
    weight: 4,
    sometimes: &["client/ends-with-delete", "client/hangs-unheard", "client/skips"],
    plan,
};

const ID: &str = "clients/refused-in-deploy";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let count = *draft.rng("clients").pick_weighted(&[(3, 1), (2, 2), (1, 4)]);
    for number in 1..=count {
        let (mut client, mut rng) = connected(&draft, number);
        client.rest(connected_ms(&draft));
        for _ in 0..rng.between(3, 6) {
            client.rest(rng.between(10, 4_000));
            client.call(&mut rng, 0);
        }
        if rng.chance(1, 3) {
            // Its person starts it again.
            client.rest(rng.between(100, 5_000));
            client.open();
            client.rest(connected_ms(&draft));
            client.call(&mut rng, 0);
        }
        let session = client.name().to_owned();
        draft.client(client);
        let place = *rng.pick(&["edge · stub.validate", "bridge · stub.set-name", "bridge · stub.fetch"]);
        let error = *rng.pick_weighted(&[(3, ErrorKind::CodeUpdate), (1, ErrorKind::Unknown)]);
        // After the handshake.
        let first = rng.between(3, 6) as u32;
        for n in first..=first + rng.below(3) as u32 {
            draft.fault_by_chance(operation(place, Edge::Begin, n, &session), fail(error));
        }
    }
    draft.until_idle()
}
