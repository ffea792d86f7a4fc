//! Cold builds that overlap at the cap: each counts from its admission, so that they cannot overshoot together.
//!
//! Goal: an admission sees every admission before it that is not finished. Method: residents up to the cap or just
//! below it, then several new sessions within a few milliseconds, some of whose builds are held open by a slow
//! connection list; a second wave meets what the first left.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, Plan};
use crate::seed::Seed;

/// Overlapping admissions.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "several cold builds overlap at the cap: each admission counts those before it, and evicts one session",
    weight: 4,
    sometimes: &["situation/two-builds-at-once", "situation/cap-reached"],
    plan,
};

const ID: &str = "residency/concurrent-cold-builds";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("crowd");
    draft.isolates(1);
    let cap = rng.between(1, 5);
    draft.cap(cap as u32);
    let residents = rng.between(cap.saturating_sub(1).max(1), cap);
    for number in 1..=residents {
        let mut client = ClientDraft::new(number, (number - 1) * rng.between(1, 400));
        client.open();
        client.call(&mut rng, 0);
        draft.client(client);
    }
    let mut begins_ms = residents * 400 + 2_000 + 2 * draft.latency_ms();
    let mut number = residents;
    for _ in 0..rng.between(1, 2) {
        let spread_ms = *rng.pick(&[1, 3, 20, 150]);
        for _ in 0..rng.between(2, 5) {
            number += 1;
            let mut client = ClientDraft::new(number, begins_ms + rng.below(spread_ms));
            client.open();
            client.rest(rng.between(1, 500));
            client.call(&mut rng, 0);
            if rng.chance(1, 3) {
                let slow = Effect::Delay { ms: *rng.pick(&[5, 50, 500, 3_000]) };
                draft.fault_by_chance(operation("build · describe", Edge::Begin, 1, client.name()), slow);
            }
            draft.client(client);
        }
        begins_ms += 8_000 + 2 * draft.latency_ms();
    }
    draft.until_idle()
}
