//! A session that waits for a person is kept until its own ceiling, and not longer.
//!
//! Goal: paused leases are extended up to the ceiling of paused sessions, whatever streams there are; the expired pause
//! cannot be resumed afterwards. Method: code that asks, silence around the approval window and the ceiling, and a
//! resume before, between or after them.

use crate::catalog::Scenario;
use crate::catalog::draft::{APPROVAL_WINDOW_MS, ClientDraft, Draft};
use crate::plan::{Plan, Response};
use crate::seed::Seed;

/// Pauses and their ceiling.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session waits for a person: it is kept until the ceiling of paused sessions, and goes then",
    weight: 3,
    sometimes: &["alarm/extend-paused", "situation/lease-expires"],
    plan,
};

const ID: &str = "idle/paused-to-its-ceiling";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    for number in 1..=draft.rng("neighbours").between(1, 2) {
        let mut rng = draft.rng(&format!("client.{number}"));
        let mut client = ClientDraft::new(number, rng.below(1_000)).reopening(rng.chance(1, 4));
        client.open();
        if rng.chance(1, 2) {
            client.rest(rng.between(1, 200));
            client.stream();
        }
        client.rest(rng.between(1, 200));
        client.ask(&mut rng);
        let ceiling_ms = draft.timeout_ms() + APPROVAL_WINDOW_MS;
        let silence_ms = match rng.below(5) {
            0 => rng.between(1, APPROVAL_WINDOW_MS - 1_000),
            1 => APPROVAL_WINDOW_MS - 20 + rng.below(40),
            2 => ceiling_ms - 20 + rng.below(40),
            _ => rng.between(APPROVAL_WINDOW_MS, 2 * ceiling_ms),
        };
        client.rest(silence_ms);
        let response = *rng.pick(&[Response::Accept, Response::Accept, Response::Decline, Response::Cancel]);
        client.resume(response, None);
        if rng.chance(1, 2) {
            client.rest(rng.between(1, 2 * draft.timeout_ms()));
            client.call(&mut rng, 0);
        }
        draft.client(client);
    }
    draft.until_idle()
}
