//! Streams that grow older than half an hour: a listener is rotated, a call is not.
//!
//! Goal: a listener ends gracefully at the first frame after its age and comes back; a call keeps its stream until its
//! answer. Method: a listener held for longer than 30 minutes beside calls that take about as long, near and beyond.

use super::code;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan, Severity};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a listener is rotated after half an hour, and a call that takes longer keeps its stream",
    weight: 2,
    sometimes: &["situation/stream-rotated"],
    plan,
};

const ID: &str = "stream/max-age";
/// Age at which a listener is rotated (session-core §1.7, MAX_SSE_AGE_MS).
const MAX_AGE_MS: u64 = 1_800_000;
/// Longer than the longest call.
const PATIENCE_MS: u64 = 4 * MAX_AGE_MS;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.timeout(300_000);
    // Beyond the running ceiling a session loses its runtime; late alarms and slow wires stay below it.
    if draft.world().severity == Severity::Hostile {
        draft.world().severity = Severity::Usual;
    }
    let client = client(&draft);
    draft.client(client);
    draft.until_idle()
}

fn client(draft: &Draft) -> ClientDraft {
    let mut rng = draft.rng("client");
    let mut client = ClientDraft::new(1, 0).patient(PATIENCE_MS).reopening(rng.chance(1, 2));
    client.open();
    if rng.chance(2, 3) {
        client.rest(rng.between(5, 60));
        client.stream();
    }
    client.rest(rng.between(10, 5_000));
    let wait_ms = *rng.pick_weighted(&[(2, 25_000), (1, MAX_AGE_MS - 60_000), (4, MAX_AGE_MS + 60_000)]);
    let wait_ms = wait_ms + rng.below(60_000);
    let code = code(&client, &mut rng, wait_ms, 0);
    client.act(Action::Call { code, overlap: rng.chance(1, 4) });
    client.rest(rng.between(1, 2_000));
    client.call(&mut rng, 0);
    client
}
