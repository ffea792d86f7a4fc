//! Calls whose connection is lost on the way: before anything came, before the first event id, and after it.
//!
//! Goal: a client that can ask for what it lost gets it, one that cannot hangs or errs by itself, and neither costs its session
//! anything. Method: clients with personas lose the connections of calls that take less or more time than their resume waits,
//! some across a deadline, some while another call of theirs runs; now and then the GETs that follow are refused or ended too.

use super::{connected, connected_ms};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Action, Cut, Edge, ErrorKind, Plan};
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
            if rng.chance(1, 4) {
                // While it is resumed, which then ends before it brings anything.
                draft.reset(client.now_ms() + 1_000 + rng.below(1_500), client.name());
            }
            if rng.chance(1, 6) {
                client.rest(draft.disposed_after_ms());
            }
        }
        client.rest(rng.between(1, 3_000));
        client.call(&mut rng, 0);
        refuse_some(&mut draft, &mut rng, client.name());
        draft.client(client);
    }
    draft.until_idle()
}

/// Some requests in a row are refused, those for what was lost among them.
fn refuse_some(draft: &mut Draft, rng: &mut Rng, session: &str) {
    if !rng.chance(1, 3) {
        return;
    }
    let first = rng.between(5, 9) as u32;
    for n in first..first + rng.between(1, 4) as u32 {
        let check = operation("edge · stub.validate", Edge::Begin, n, session);
        draft.fault_by_chance(check, fail(ErrorKind::CodeUpdate));
    }
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
