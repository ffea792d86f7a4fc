//! What real clients do by themselves, and what that does to their sessions.

pub mod calls_cut;
pub mod listener_ended;
pub mod refused_in_deploy;
pub mod refused_listener;
pub mod session_gone;

use super::Scenario;
use super::draft::{ClientDraft, Draft, personas};
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    listener_ended::SCENARIO,
    refused_listener::SCENARIO,
    calls_cut::SCENARIO,
    session_gone::SCENARIO,
    refused_in_deploy::SCENARIO,
];

/// A client of that number with some persona, which has opened its session, and its draws.
fn connected(draft: &Draft, number: u64) -> (ClientDraft, Rng) {
    let mut rng = draft.rng(&format!("client.{number}"));
    let persona = personas::any(&mut draft.rng(&format!("persona.{number}")));
    let at_ms = if number == 1 { 0 } else { rng.below(2_000) };
    let mut client = ClientDraft::new(number, at_ms).behaving_like(persona);
    client.open();
    (client, rng)
}

/// Time for a handshake with all that a persona does before it, in ms.
fn connected_ms(draft: &Draft) -> u64 {
    2_000 + 4 * draft.latency_ms()
}
