//! A session that waits for a person is kept until its own ceiling, and not longer.
//!
//! Goal: paused leases are extended up to the ceiling of paused sessions, whatever streams there are; the expired pause
//! cannot be resumed afterwards. Method: code that asks, silence around the approval window and the ceiling, and a
//! resume before, between or after them. A pause is a use, and its window ends before its ceiling comes; so the touch of
//! many a lease is lost: with its lease, which then never expires, or alone, after code that ran for long.

use crate::catalog::Scenario;
use crate::catalog::draft::{APPROVAL_WINDOW_MS, ClientDraft, Draft, fail};
use crate::plan::{Action, Edge, ErrorKind, Plan, Response, When};
use crate::rng::Rng;
use crate::seed::Seed;

/// Pauses and their ceiling.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session waits for a person: it is kept until the ceiling of paused sessions, and goes then",
    weight: 3,
    sometimes: &[
        "alarm/extend-paused",
        "alarm/dispose-paused",
        "alarm/dispose-paused-with-stream",
        "situation/lease-expires",
    ],
    plan,
};

const ID: &str = "idle/paused-to-its-ceiling";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    for number in 1..=draft.rng("neighbours").between(1, 2) {
        let mut rng = draft.rng(&format!("client.{number}"));
        let is_unleased = rng.chance(1, 2);
        let reopens = rng.chance(if is_unleased { 3 } else { 1 }, 4);
        let mut client = ClientDraft::new(number, rng.below(1_000)).reopening(reopens);
        client.open();
        if reopens || rng.chance(1, 2) {
            client.rest(rng.between(1, 200));
            client.stream();
        }
        client.rest(rng.between(1, 200));
        let ceiling_ms = draft.timeout_ms() + APPROVAL_WINDOW_MS;
        if is_unleased {
            client = unleased(&mut draft, &mut rng, client);
        } else {
            client.ask(&mut rng);
        }
        let silence_ms = match rng.below(5) {
            _ if is_unleased => ceiling_ms + draft.lateness_ms() + rng.below(ceiling_ms),
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

/// Asks, and the touch of the lease fails: for a reason that nobody knows, so that there is no lease; or for one that the
/// platform gives, which is absorbed, and the session counts as idle since the call began.
fn unleased(draft: &mut Draft, rng: &mut Rng, client: ClientDraft) -> ClientDraft {
    let is_absorbed = rng.chance(1, 2);
    let ran_ms = if is_absorbed { draft.timeout_ms() + rng.between(1_000, 100_000) } else { 0 };
    let mut client = client.patient(ran_ms + 120_000);
    let when = When::Operation {
        operation: "clock · storage.put last-activity-ms".to_owned(),
        root: Some("lease".to_owned()),
        edge: Edge::Begin,
        n: 1,
        session: Some(client.name().to_owned()),
    };
    draft.fault_by_chance(when, fail(if is_absorbed { ErrorKind::CodeUpdate } else { ErrorKind::Unknown }));
    let mark = client.mark(rng);
    let code = format!("wait {ran_ms}; ask {{\"kind\":\"form\",\"message\":\"{mark}\"}}; return \"{mark}\"");
    client.act(Action::Call { code, overlap: false });
    client.rest(ran_ms);
    client
}
