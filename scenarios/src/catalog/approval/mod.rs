//! Code that asks a person: who decides, when, where the decision meets its execution, and what is left when nobody does.

pub mod after_restart;
pub mod decided;
pub mod decided_as_it_expires;
pub mod expires;
pub mod owner_gone_or_slow;
pub mod resumed_elsewhere;
pub mod resumed_twice;

use super::Scenario;
use super::draft::asking::response;
use super::draft::{ClientDraft, Draft};
use crate::invariants::limits::APPROVAL_MS;
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    decided::SCENARIO,
    expires::SCENARIO,
    decided_as_it_expires::SCENARIO,
    resumed_elsewhere::SCENARIO,
    resumed_twice::SCENARIO,
    after_restart::SCENARIO,
    owner_gone_or_slow::SCENARIO,
];

/// A client waits that long for an answer, in ms: longer than a resume waits for a decision in the browser.
const PATIENT_MS: u64 = APPROVAL_MS + 60_000;

/// A client of the account of the first one that has opened its session and asked, and says when its code asked, about.
fn asking(draft: &Draft, rng: &mut Rng, number: u64, begin_ms: u64, browser: bool) -> (ClientDraft, u64) {
    let mut client = ClientDraft::new(number, begin_ms).as_account_of(1).patient(PATIENT_MS).in_browser(browser);
    client.open();
    client.rest(rng.between(1, 2_000) + 2 * draft.latency_ms());
    let questions = *rng.pick_weighted(&[(5, 1), (2, 2), (1, 3)]);
    client.ask_often(rng, questions);
    let asked_ms = client.now_ms() + 20;
    (client, asked_ms)
}

/// A person of the first account, who has no session.
fn person(number: u64, at_ms: u64) -> ClientDraft {
    ClientDraft::new(number, at_ms).as_account_of(1)
}

/// A client's resume, and, where its people decide in the browser, a person who decides at that time while it waits or
/// before.
fn answer(draft: &mut Draft, rng: &mut Rng, client: &mut ClientDraft, person_number: u64, at_ms: u64) {
    let said = response(rng);
    if !client.asks_in_browser() {
        client.until(at_ms);
        client.resume(said, None);
        return;
    }
    let mut person = person(person_number, at_ms);
    person.decide(said, Some(client.name()));
    if rng.chance(1, 8) {
        person.decide(response(rng), Some(client.name()));
    }
    draft.client(person);
    client.rest(rng.below(2 * (at_ms.saturating_sub(client.now_ms())).max(1)));
    client.resume(said, None);
}
