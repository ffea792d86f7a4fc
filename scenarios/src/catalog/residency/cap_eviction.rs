//! Seed document 001: sessions beyond the cap, opened in waves; the least recently used ones are asked to leave.
//!
//! Goal: an isolate that crosses its cap disposes sessions through their own stubs, and an evicted session serves its
//! next call as if nothing had happened. Method: one account opens some more sessions than the cap allows, several at
//! a time; then the first ones are called, and at the end every session is ended, as the document cleans up.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::Plan;
use crate::rng::Rng;
use crate::seed::Seed;

/// The scenario of seed document 001.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "more sessions are opened than the cap allows: the least recently used are evicted through their own stubs, and serve their next call",
    weight: 4,
    sometimes: &["situation/cap-eviction", "situation/evicted-served-again"],
    plan,
};

const ID: &str = "residency/cap-eviction";
/// Time for one wave of handshakes, in ms, beyond what latency needs.
const WAVE_MS: u64 = 2_000;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("crowd");
    draft.isolates(1);
    let cap = *rng.pick_weighted(&[(6, 2), (6, 4), (3, 8), (1, 24)]);
    draft.cap(cap as u32);
    let (beyond, at_a_time) = (rng.between(1, 2 + cap / 3), rng.between(1, 8));
    let count = cap + beyond;
    let wave_ms = WAVE_MS + draft.latency_ms();
    let opened_ms = (count / at_a_time + 1) * wave_ms;
    // The disposal for the cap is exported within 20 s in the document.
    let called_ms = opened_ms + 20_000 + draft.lateness_ms();
    let closed_ms = called_ms + beyond * 200 + 2 * draft.latency_ms() + 5_000;
    let is_cleaned_up = rng.chance(3, 4);
    for number in 1..=count {
        let mut client = ClientDraft::new(number, (number - 1) / at_a_time * wave_ms).as_account_of(1);
        client.rest(start_gap_ms(&mut rng, number, at_a_time));
        client.open();
        if number <= beyond || rng.chance(1, 4) {
            client.until(called_ms + number * 200);
            client.call(&mut rng, 0);
        }
        if is_cleaned_up {
            client.until(closed_ms + (number - 1) / at_a_time * wave_ms);
            client.close();
        }
        draft.client(client);
    }
    draft.until_idle()
}

/// Handshakes of one wave begin together, or a few milliseconds apart.
fn start_gap_ms(rng: &mut Rng, number: u64, at_a_time: u64) -> u64 {
    if rng.chance(1, 2) { 0 } else { (number - 1) % at_a_time + rng.below(3) }
}
