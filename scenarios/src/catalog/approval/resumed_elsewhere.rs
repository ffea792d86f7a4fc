//! The model resumes from another session: the directory tells who owns the pause, and the owner resumes it.
//!
//! Goal: a pause is found from any session of its account, and from no other account's. Method: sessions whose code
//! asks, resumes from other sessions of the same account, of another account and of another organisation, before,
//! after and while the owner resumes by itself, and owners whose runtime is gone by then.

use super::asking;
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft, fail};
use crate::plan::{Edge, ErrorKind, Plan, When};
use crate::seed::Seed;

/// Resumes across sessions.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a paused execution is resumed from another session: its owner is found and asked, and strangers are turned away",
    weight: 4,
    sometimes: &["situation/resumed-elsewhere"],
    plan,
};

const ID: &str = "approval/resumed-elsewhere";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("elsewhere");
    let begin_ms = rng.below(1_000);
    let (mut owner, asked_ms) = asking(&draft, &mut rng, 1, begin_ms, false);
    let from_ms = asked_ms + 100 + 2 * draft.latency_ms();
    let span_ms = *rng.pick_weighted(&[(2, 5), (4, 2_000), (3, 60_000), (2, 250_000)]);
    for number in 2..=1 + rng.between(1, 3) {
        let account = *rng.pick_weighted(&[(4, 1), (2, number)]);
        let mut other = ClientDraft::new(number, rng.below(asked_ms)).as_account_of(account).patient(super::PATIENT_MS);
        other.open();
        if rng.chance(1, 4) {
            other.ask_often(&mut rng, 1);
        }
        other.until(from_ms + rng.below(span_ms));
        for _ in 0..rng.between(1, 3) {
            other.resume(response(&mut rng), Some(owner.name()));
            other.rest(rng.between(1, 2_000));
        }
        other.call(&mut rng, 0);
        draft.client(other);
    }
    if rng.chance(1, 2) {
        owner.until(from_ms + rng.below(span_ms));
        owner.resume(response(&mut rng), None);
        owner.rest(rng.between(1, 2_000));
        owner.call(&mut rng, 0);
    }
    draft.client(owner);
    if draft.rng("lease").chance(1, 2) {
        // A pause that comes of a resume takes its lease before the resume is answered.
        let taken = When::Operation {
            operation: "sched · storage.setAlarm heartbeat".to_owned(),
            root: Some("lease".to_owned()),
            edge: Edge::Begin,
            n: 2,
            session: Some("s1".to_owned()),
        };
        draft.fault_by_chance(taken, fail(ErrorKind::Unknown));
    }
    draft.until_idle()
}
