//! A person decides in time, by the model or in the browser, and the code goes on with what was said.
//!
//! Goal: a decision reaches its execution once, whichever comes first, decision or resume, and the lease of the pause
//! comes back. Method: up to three sessions whose code asks up to three times, decisions between at once and shortly
//! before the end of the approval window, and calls beside and afterwards.

use super::{answer, asking};
use crate::catalog::Scenario;
use crate::catalog::draft::Draft;
use crate::catalog::draft::asking::response;
use crate::plan::Plan;
use crate::seed::Seed;

/// Decisions in time.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a person decides in time, by the model or in the browser, and the code that asked goes on with what was said",
    weight: 4,
    sometimes: &["situation/approval-accepted", "situation/approval-declined", "situation/decision-taken"],
    plan,
};

const ID: &str = "approval/decided";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("people");
    let sessions = *rng.pick_weighted(&[(5, 1), (2, 2), (1, 3)]);
    for number in 1..=sessions {
        let (begin_ms, browser) = (rng.below(3_000), rng.chance(1, 2));
        let (mut client, asked_ms) = asking(&draft, &mut rng, number, begin_ms, browser);
        if rng.chance(1, 4) {
            client.rest(rng.between(1, 5_000));
            client.call(&mut rng, 0);
        }
        let most_ms = *rng.pick_weighted(&[(3, 1_000), (3, 30_000), (2, 230_000 - draft.latency_ms())]);
        let decided_ms = asked_ms + 30 + rng.below(most_ms);
        answer(&mut draft, &mut rng, &mut client, sessions + number, decided_ms);
        if rng.chance(1, 2) {
            client.rest(rng.between(1, 20_000));
            client.resume(response(&mut rng), None);
        }
        client.rest(rng.between(1, 10_000));
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
