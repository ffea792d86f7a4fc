//! The same pause is resumed twice: at once, after it was answered, with another response, from two sides.
//!
//! Goal: the first response counts, and whoever asks again is told the same for as long as the engine is there. Method:
//! a session whose code asks, pairs of resumes within milliseconds or seconds of each other, some of them while a step
//! of the first is held, some from another session, and repetitions of both.

use super::asking;
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, Plan};
use crate::seed::Seed;

/// Repeated resumes.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a paused execution is resumed twice, at once or one after the other: the first response counts for both",
    weight: 3,
    sometimes: &["situation/resumed-twice"],
    plan,
};

const ID: &str = "approval/resumed-twice";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("twice");
    let begin_ms = rng.below(1_000);
    let (mut client, asked_ms) = asking(&draft, &mut rng, 1, begin_ms, false);
    client.until(asked_ms + 100 + 2 * draft.latency_ms() + rng.below(30_000));
    let twice_ms = client.now_ms();
    client.resume_beside(response(&mut rng), None);
    client.rest(*rng.pick(&[0, 0, 1, 5, 200, 3_000]));
    client.resume(response(&mut rng), None);
    if rng.chance(1, 3) {
        let step = *rng.pick(&["resume · engine", "resume · race", "resume · join", "lease.finish · dir.delete"]);
        let held = Effect::Delay { ms: rng.between(1, 3_000) };
        draft.fault_by_chance(operation(step, Edge::Begin, 1, client.name()), held);
    }
    if rng.chance(1, 2) {
        let mut other = ClientDraft::new(2, rng.below(asked_ms)).as_account_of(1).patient(super::PATIENT_MS);
        other.open();
        other.until(twice_ms.saturating_sub(5) + rng.below(10));
        other.resume(response(&mut rng), Some(client.name()));
        draft.client(other);
    }
    for _ in 0..rng.below(4) {
        client.rest(rng.between(1, 10_000));
        client.resume(response(&mut rng), None);
    }
    draft.client(client);
    draft.until_idle()
}
