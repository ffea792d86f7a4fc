//! The session that owns a pause is slow or gone when another one asks it to resume; so may be the directory of owners.
//!
//! Goal: whoever asks is answered within ten seconds and told that the window is over, whatever became of the owner; the
//! owner may finish all the same. Method: a session whose code asks, a resume from another session, and an owner that is
//! ended, reset, disposed or busy, or a directory whose steps fail or take long.

use super::asking;
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Owners that do not answer in time.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "the owner of a pause is slow or gone when another session asks it to resume, or the directory of owners is",
    weight: 3,
    sometimes: &["span/resume-execution-for-model", "log/directory-error/get", "log/forward-error/timeout"],
    plan,
};

const ID: &str = "approval/owner-gone-or-slow";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("owner");
    let begin_ms = rng.below(1_000);
    let (mut owner, asked_ms) = asking(&draft, &mut rng, 1, begin_ms, false);
    let asked_elsewhere_ms = asked_ms + 100 + 2 * draft.latency_ms() + rng.below(20_000);
    let mut other = ClientDraft::new(2, rng.below(asked_ms)).as_account_of(1).patient(super::PATIENT_MS);
    other.open();
    other.until(asked_elsewhere_ms);
    for _ in 0..rng.between(1, 3) {
        other.resume(response(&mut rng), Some(owner.name()));
        other.rest(rng.between(1, 15_000));
    }
    other.call(&mut rng, 0);
    trouble(&mut draft, &mut rng, &mut owner, asked_elsewhere_ms);
    draft.client(owner);
    draft.client(other);
    draft.until_idle()
}

/// What keeps the owner, whose pause another session resumes about that time, from answering.
fn trouble(draft: &mut Draft, rng: &mut Rng, owner: &mut ClientDraft, at_ms: u64) {
    let around_ms = at_ms.saturating_sub(20) + rng.below(200);
    let slow = Effect::Delay { ms: *rng.pick(&[50, 4_000, 9_990, 10_010, 25_000]) };
    let step = match rng.below(7) {
        0 => {
            owner.until(around_ms);
            owner.close();
            return;
        }
        1 => return draft.reset(around_ms, owner.name()),
        2 => ("fallback · stub.resume", "s2"),
        3 => ("resume · engine", owner.name()),
        4 => ("fallback · dir.get", "s2"),
        5 => ("fallback · dir.delete", "s2"),
        _ => ("lease.start · dir.put", owner.name()),
    };
    let effect = if rng.chance(1, 2) { fail(*rng.pick(&[ErrorKind::Unknown, ErrorKind::CodeUpdate])) } else { slow };
    draft.fault_by_chance(operation(step.0, *rng.pick(&[Edge::Begin, Edge::End]), 1, step.1), effect);
}
