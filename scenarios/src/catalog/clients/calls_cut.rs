//! Calls whose connection is lost on the way: before anything came, before the first event id, and after it.
//!
//! Goal: a client that can ask for what it lost gets it, one that cannot hangs or errs by itself, and neither costs its session
//! anything. Method: clients with personas lose the connections of calls that take less or more time than their resume waits,
//! some across a deadline, some while another call of theirs runs.

use super::{connected, connected_ms};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Cut, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a real client loses the connection of a call, before or after its first event id",
    weight: 5,
    sometimes: &[
        "client/resumes-a-call",
        "client/hangs-to-time-out",
        "client/hangs-for-ever",
        "client/ends-with-delete",
    ],
    plan,
};

const ID: &str = "clients/calls-cut";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let count = *draft.rng("clients").pick_weighted(&[(4, 1), (2, 2)]);
    for number in 1..=count {
        let (mut client, mut rng) = connected(&draft, number);
        client.rest(connected_ms(&draft));
        for _ in 0..rng.between(1, 4) {
            client.rest(rng.between(10, 3_000));
            if rng.chance(1, 4) {
                client.call_beside(&mut rng, 1_500);
            }
            cut_call(&mut client, &mut rng);
            if rng.chance(1, 6) {
                client.rest(draft.disposed_after_ms());
            }
        }
        client.rest(rng.between(1, 3_000));
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}

fn cut_call(client: &mut ClientDraft, rng: &mut Rng) {
    let wait_ms = *rng.pick_weighted(&[(3, 50), (3, 800), (2, 1_500), (1, 6_000)]);
    let mark = client.mark(rng);
    let cut = match rng.below(5) {
        // While the request is on its way, or its head is: nothing came.
        0 => Cut { after_events: 0, ms: rng.between(1, 12) },
        1 | 2 => Cut { after_events: 1, ms: 0 },
        _ => Cut { after_events: 1, ms: rng.between(1, wait_ms) },
    };
    client.act(Action::Post { code: format!("wait {wait_ms}; return \"{mark}\""), copies: 1, cut: Some(cut) });
}
