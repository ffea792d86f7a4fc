//! Listeners that are ended again and again: by their age, by resets every few minutes, with the runtime at its ceiling.
//!
//! Goal: however a client comes back, at once, after a second or after what it drew, its session is neither lost nor kept
//! busy by it, and what ends a client's listener by its own fault ends nothing else. Method: one to three clients, each with
//! a persona, hold their listeners for more than an hour beside few calls; resets and evictions every few minutes, some
//! close together.

use super::{connected, connected_ms};
use crate::catalog::Scenario;
use crate::catalog::draft::Draft;
use crate::plan::Plan;
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "listeners are ended every few minutes and by their age, and each client comes back in its own way",
    weight: 3,
    sometimes: &["client/listens-again", "client/ends-without-progress", "situation/stream-rotated"],
    plan,
};

const ID: &str = "clients/listener-ended";
/// Longer than two listeners may live (session-core §1.7, MAX_SSE_AGE_MS).
const SPAN_MS: u64 = 2 * 1_800_000 + 300_000;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(300_000);
    let mut rng = draft.rng("story");
    let count = *rng.pick_weighted(&[(3, 1), (2, 2), (1, 3)]);
    for number in 1..=count {
        let (mut client, mut rng) = connected(&draft, number);
        client.rest(connected_ms(&draft));
        for _ in 0..rng.between(1, 4) {
            client.rest(rng.between(1_000, SPAN_MS / 3));
            client.call(&mut rng, 0);
        }
        client.until(SPAN_MS);
        client.call(&mut rng, 0);
        draft.client(client);
    }
    let mut at_ms = connected_ms(&draft);
    while at_ms < SPAN_MS {
        // Some quiet stretches are long enough for a listener to grow old.
        at_ms += *rng.pick_weighted(&[(3, 180_000), (2, 420_000), (2, 1_500), (3, 2_000_000)]) + rng.below(60_000);
        let session = format!("s{}", rng.between(1, count));
        if rng.chance(2, 3) {
            draft.reset(at_ms, &session);
        } else {
            draft.evict(at_ms, &session);
        }
    }
    draft.until_ceiling()
}
