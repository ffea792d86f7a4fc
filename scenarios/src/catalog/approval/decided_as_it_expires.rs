//! The decision comes in the very milliseconds in which the approval window ends.
//!
//! Goal: one of the two wins, the execution gets exactly one response, and everybody is told what it came to. Method: a
//! session whose code asks, a decision by the model or in the browser that is aimed at the end of the window to within
//! some milliseconds, steps of the expiry and of the record held so that they overlap, and resumes that repeat it.

use super::{answer, asking};
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{Draft, operation};
use crate::invariants::limits::APPROVAL_MS;
use crate::plan::{Edge, Effect, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Decision against expiry.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a person decides in the very milliseconds in which the approval window ends: the code gets one response",
    weight: 3,
    sometimes: &["situation/lease-expires", "situation/lease-ends-by-resume", "situation/decision-meets-expiry"],
    plan,
};

const ID: &str = "approval/decided-as-it-expires";

/// Steps that are held so that decision and expiry overlap.
const STEPS: &[&str] = &[
    "approval · storage.put approval-response",
    "approval · storage.delete approval-response",
    "approval · wait",
    "lease.expire · engine.resume",
    "lease.expire · dir.delete",
    "resume · engine",
];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("race");
    let browser = rng.chance(1, 2);
    let begin_ms = rng.below(1_000);
    let (mut client, asked_ms) = asking(&draft, &mut rng, 1, begin_ms, browser);
    let decided_ms = aim(&mut draft, &mut rng, client.name(), asked_ms + APPROVAL_MS);
    answer(&mut draft, &mut rng, &mut client, 2, decided_ms);
    for _ in 0..rng.below(3) {
        let (step, edge) = (*rng.pick(STEPS), *rng.pick(&[Edge::Begin, Edge::End]));
        let step = operation(step, edge, 1, client.name());
        draft.fault_by_chance(step, Effect::Delay { ms: rng.between(1, 400) });
    }
    for _ in 0..rng.below(3) {
        client.rest(rng.between(1, 5_000));
        client.resume(response(&mut rng), None);
    }
    client.rest(rng.between(1, 5_000));
    client.call(&mut rng, 0);
    draft.client(client);
    draft.until_idle()
}

/// When the decision is made about a window that ends at that time or soon after it: around its end, or in the middle of an
/// expiry whose record takes a while.
fn aim(draft: &mut Draft, rng: &mut Rng, session: &str, ends_ms: u64) -> u64 {
    if rng.chance(1, 2) {
        let spread_ms = *rng.pick(&[6, 60, 600 + draft.latency_ms()]);
        return ends_ms - spread_ms / 2 + rng.below(spread_ms);
    }
    let slow_ms = (2 * draft.latency_ms()).min(15_000);
    let step = operation("approval · storage.put approval-response", Edge::Begin, 1, session);
    draft.fault_by_chance(step, Effect::Delay { ms: slow_ms });
    ends_ms + rng.below(slow_ms)
}
