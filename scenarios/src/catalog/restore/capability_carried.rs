//! What a client was found to be able to do is remembered over every restore, and nothing is invented.
//!
//! Goal: the capability that was kept last stays in the record whatever starts, disposals and failures come, and a
//! session for which none was kept has none. Method: sessions of clients and sessions from before the run, capabilities
//! kept by other workers at any time, restores between, writes that fail, and identities resolved again.

use super::cool;
use crate::catalog::Scenario;
use crate::catalog::draft::direct::{call_first, identity, known, props, token};
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, ErrorKind, Plan};
use crate::rng::Rng;
use crate::seed::Seed;
use serde_json::json;

/// Capabilities that are carried.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a client's capability is kept once: every restore carries it, a failed write harms nobody, and none is invented",
    weight: 3,
    sometimes: &["span/persist-apps-enabled", "span/persist-apps-enabled/lost"],
    plan,
};

const ID: &str = "restore/capability-carried";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    let mut rng = draft.rng("capabilities");
    let mut client = ClientDraft::new(1, rng.below(300));
    client.open();
    let name = client.name().to_owned();
    let is_kept = rng.chance(3, 4);
    for _ in 0..rng.between(1, 3) {
        client.rest(rng.between(100, 2_000) + 2 * draft.latency_ms());
        if is_kept {
            keep(&mut draft, &mut rng, &name, client.now_ms());
        } else {
            draft.call("worker", call_first(client.now_ms(), &name, "validateMcpSessionOwner", identity(1)));
        }
        let from_ms = client.now_ms() + draft.latency_ms();
        let cold_ms = cool(&mut draft, &mut rng, &name, from_ms);
        client.until(cold_ms + rng.below(500));
        client.call(&mut rng, 0);
    }
    draft.client(client);
    if rng.chance(2, 3) {
        before_the_run(&mut draft, &mut rng);
    }
    draft.until_idle()
}

/// A worker keeps a capability; sometimes the write fails.
fn keep(draft: &mut Draft, rng: &mut Rng, session: &str, at_ms: u64) {
    let enabled = json!({"enabled": rng.chance(2, 3)});
    draft.call("worker", call_first(at_ms, session, "persistAppsEnabled", enabled));
    if rng.chance(1, 6) {
        let step = operation("meta · storage.put session-meta", Edge::Begin, rng.between(2, 4) as u32, session);
        draft.fault_by_chance(step, fail(*rng.pick(&[ErrorKind::Unknown, ErrorKind::CodeUpdate])));
    }
}

/// A session from before the run, with or without a capability, whose identity is resolved again and again.
fn before_the_run(draft: &mut Draft, rng: &mut Rng) {
    let mut old = known("old", 2);
    if let (true, Some(meta)) = (rng.chance(2, 3), old.values.get_mut("session-meta")) {
        meta["appsEnabled"] = json!(rng.chance(1, 2));
    }
    draft.stored(old);
    let mut at_ms = rng.between(1, 500);
    for _ in 0..rng.between(1, 4) {
        match rng.below(4) {
            0 => keep(draft, rng, "old", at_ms),
            1 => {
                let arguments = json!({"name": "streamable-http:old", "props": props(2, true)});
                draft.call("worker", call_first(at_ms, "old", "setName", arguments));
            }
            _ => {
                let arguments = json!({"token": token(2, rng.chance(1, 2))});
                draft.call("worker", call_first(at_ms, "old", "resolveAndStoreSessionMeta", arguments));
            }
        }
        at_ms += *rng.pick(&[1, 300, 5_000, 60_000]);
    }
}
