//! A session leaves memory and keeps its sockets: a cold start leaves them open, a start that replaces a runtime does not.
//!
//! Goal: the streams that wake a session survive its start, and the result of the call that woke it arrives. Method: a
//! client that holds its stream open, evictions from memory while nothing happens, then calls, further streams, alarms
//! and starts by other workers; and starts of a session that is still resident.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::{call, identity};
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::seed::Seed;
use serde_json::Value as Json;

/// Hibernated streams.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session leaves memory with its streams open: a cold start keeps them, and a warm one closes them",
    weight: 3,
    sometimes: &["situation/cold-start-keeps-streams", "situation/warm-restart-closes-streams"],
    plan,
};

const ID: &str = "restore/hibernated-streams";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let timeout_ms = *draft.rng("timeout").pick(&[4_000, 60_000, 300_000]);
    draft.timeout(timeout_ms);
    let mut rng = draft.rng("streams");
    let mut client = ClientDraft::new(1, rng.below(500)).reopening(rng.chance(5, 6));
    client.open();
    client.rest(rng.between(5, 60));
    client.stream();
    // The first stream replays the handshake's answer and ends; the client opens it again.
    client.rest(1_500 + 2 * draft.latency_ms());
    let name = client.name().to_owned();
    for _ in 0..rng.between(1, 4) {
        let at_ms = client.now_ms() + rng.between(1, 2_000);
        if rng.chance(2, 3) {
            draft.evict(at_ms, &name);
        }
        let woken_ms = at_ms + rng.between(1, 3_000);
        match rng.below(5) {
            0 => {
                draft.call("worker", call(woken_ms, &name, "onStart", Json::Null));
                // A start over a runtime ends the calls that it meets.
                client.until(woken_ms + 500 + 2 * draft.latency_ms());
            }
            1 => draft.call("worker", call(woken_ms, &name, "validateMcpSessionOwner", identity(1))),
            _ => {}
        }
        client.until(woken_ms + rng.below(20));
        match rng.below(6) {
            0 => client.ping(),
            1 => client.rest(timeout_ms),
            2 => {
                client.call_beside(&mut rng, 0);
                client.call(&mut rng, 0);
            }
            _ => client.call(&mut rng, 0),
        }
        client.rest(500 + 2 * draft.latency_ms());
    }
    if rng.chance(1, 2) {
        client.act(Action::EndStream {});
    }
    draft.client(client);
    draft.until_idle()
}
