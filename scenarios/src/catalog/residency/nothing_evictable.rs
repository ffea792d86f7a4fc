//! The cap is soft: where every resident is in use, one more is built and says that it is beyond the cap.
//!
//! Goal: no session with a live connection, a paused execution or an unanswered request is evicted, and no admission
//! waits or fails. Method: residents at the cap, each kept by a stream, a question to a person or running code, and
//! newcomers; some of them let go later, and the next newcomer finds a candidate.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::seed::Seed;

/// Overflow with nothing evictable.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "every resident is in use when a new session crosses the cap: it is built all the same, and says so",
    weight: 4,
    sometimes: &["situation/cap-overflow"],
    plan,
};

const ID: &str = "residency/nothing-evictable";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("crowd");
    draft.isolates(1);
    let cap = rng.between(1, 4);
    draft.cap(cap as u32);
    let spacing_ms = 600 + 2 * draft.latency_ms();
    let full_ms = cap * spacing_ms + 1_000;
    for number in 1..=cap {
        let mut client = ClientDraft::new(number, (number - 1) * spacing_ms).patient(600_000);
        client.open();
        match rng.below(3) {
            0 => {
                client = client.reopening(true);
                client.stream();
                client.rest(rng.between(1, 50));
                client.call(&mut rng, 0);
                client.until(full_ms + spacing_ms + rng.below(60_000));
                client.act(Action::EndStream {});
            }
            1 => client.ask(&mut rng),
            _ => {
                let wait_ms = full_ms + rng.below(30_000);
                client.call_beside(&mut rng, wait_ms);
            }
        }
        draft.client(client);
    }
    for number in cap + 1..=cap + rng.between(1, 3) {
        let later_ms = if rng.chance(1, 3) { 70_000 } else { 0 };
        let mut client = ClientDraft::new(number, full_ms + later_ms + rng.below(2_000));
        client.open();
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
