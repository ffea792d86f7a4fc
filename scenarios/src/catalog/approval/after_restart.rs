//! The session restarts between the question and the answer: its pause is gone, and everybody is told so.
//!
//! Goal: no answer meets a pause that is not the one that was asked about, a decision that nobody takes does no harm, and
//! the session goes on. Method: a session whose code asks, a reset, an eviction from memory or a deployment at a time
//! around the answer, a resume by the model, in the browser or elsewhere, and the code asked anew.

use super::{answer, asking};
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, ErrorKind, Plan};
use crate::seed::Seed;

/// Pauses that their session does not survive.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session restarts between a question and its answer: the pause is gone, and the code is run and asks anew",
    weight: 3,
    sometimes: &["situation/reset-meets-paused"],
    plan,
};

const ID: &str = "approval/after-restart";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("restart");
    let (begin_ms, browser) = (rng.below(1_000), rng.chance(1, 3));
    let (mut client, asked_ms) = asking(&draft, &mut rng, 1, begin_ms, browser);
    let settled_ms = asked_ms + 100 + 2 * draft.latency_ms();
    let answered_ms = settled_ms + rng.below(20_000);
    let restart_ms = match rng.below(3) {
        0 => answered_ms.saturating_sub(10) + rng.below(60),
        1 => settled_ms + rng.below(20_000),
        _ => asked_ms + rng.below(100),
    };
    match rng.below(3) {
        0 => draft.evict(restart_ms, client.name()),
        _ => draft.reset(restart_ms, client.name()),
    }
    if browser && rng.chance(1, 2) {
        // The reset meets the person's page.
        let step = *rng.pick(&["edge · stub.get-paused", "edge · stub.approve"]);
        let reset = fail(*rng.pick(&[ErrorKind::CodeUpdate, ErrorKind::ConcurrencyReset, ErrorKind::Destroyed]));
        draft.fault_by_chance(operation(step, Edge::Begin, 1, "s2"), reset);
    }
    answer(&mut draft, &mut rng, &mut client, 2, answered_ms);
    if rng.chance(1, 2) {
        let mut other = ClientDraft::new(3, rng.below(asked_ms)).as_account_of(1).patient(super::PATIENT_MS);
        other.open();
        other.until(answered_ms + rng.below(5_000));
        other.resume(response(&mut rng), Some(client.name()));
        draft.client(other);
    }
    client.rest(rng.between(1, 5_000));
    client.ask_often(&mut rng, 1);
    client.rest(200 + rng.below(2_000));
    answer_again(&mut draft, &mut rng, &mut client);
    draft.client(client);
    draft.until_idle()
}

/// The question that was asked anew is answered too.
fn answer_again(draft: &mut Draft, rng: &mut crate::rng::Rng, client: &mut ClientDraft) {
    let at_ms = client.now_ms() + rng.below(5_000);
    answer(draft, rng, client, 4, at_ms);
}
