//! A disposal that is interrupted finishes its teardown first, and only its bookkeeping can be lost.
//!
//! Goal: the teardown is never half done, and who waits for it never goes on early. Method: a step of a disposal is held,
//! the disposal is interrupted meanwhile, requests come before and after that, and the next idle time disposes again.

use super::{STEPS, idle_client};
use crate::catalog::Scenario;
use crate::catalog::draft::{Draft, operation};
use crate::plan::{Edge, Effect, Interruptible, Plan, ResetKind, When};
use crate::rng::Rng;
use crate::seed::Seed;

/// Interrupted disposals.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a disposal is interrupted at any of its steps: the teardown finishes all the same, and the session goes on",
    weight: 4,
    sometimes: &["situation/disposal-interrupted", "situation/reset-meets-teardown"],
    plan,
};

const ID: &str = "disposal/interrupted";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("disposal");
    draft.timeout(rng.between(1_000, 5_000));
    let (mut client, due_ms) = idle_client(&draft, &mut rng, 1);
    let held_ms = rng.between(20, 2_000);
    interrupt(&mut draft, &mut rng, client.name(), held_ms);
    reset(&mut draft, client.name());
    if rng.chance(2, 3) {
        client.until(due_ms + rng.below(20 + held_ms));
        for _ in 0..rng.between(1, 3) {
            if rng.chance(1, 2) {
                client.call_beside(&mut rng, 0)
            } else {
                client.call(&mut rng, 0)
            }
            client.rest(rng.below(held_ms));
        }
    }
    client.until(due_ms + draft.disposed_after_ms() + held_ms);
    client.call(&mut rng, 0);
    draft.client(client);
    draft.until_idle()
}

/// A step is held, and the disposal is interrupted at that step or at a later edge.
fn interrupt(draft: &mut Draft, rng: &mut Rng, session: &str, held_ms: u64) {
    let what = Interruptible::Disposal;
    let at_step = rng.below(STEPS.len() as u64) as usize;
    let (step, edge) = (STEPS[at_step], *rng.pick(&[Edge::Begin, Edge::End]));
    let held = Effect::Hold { release: None, for_ms: Some(held_ms), fail: None };
    draft.fault_by_chance(operation(step, edge, 1, session), held);
    let later = STEPS[rng.between(0, at_step as u64) as usize];
    let when: When = operation(later, *rng.pick(&[Edge::Begin, Edge::End]), 1, session);
    draft.fault_by_chance(when, Effect::Interrupt { what });
}

/// Sometimes a deployment ends the object in the middle of it, and no code of the disposal runs on.
fn reset(draft: &mut Draft, session: &str) {
    let mut rng = draft.rng("deployment");
    if rng.chance(1, 2) {
        // Mostly while the runtime itself is being closed.
        let step = if rng.chance(5, 6) { "teardown · server.close" } else { rng.pick_name(STEPS) };
        let when = operation(step, *rng.pick(&[Edge::Begin, Edge::End]), 1, session);
        draft.fault_by_chance(when, Effect::Reset { kind: ResetKind::CodeUpdate });
    }
}
