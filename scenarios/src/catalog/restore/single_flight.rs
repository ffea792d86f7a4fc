//! Everybody comes at once to a cold session: owner check, framework, model resume, approval.
//!
//! Goal: one start serves them all, whoever was first. Method: a session that is made cold, then within a few
//! milliseconds requests of its client, owner checks, framework starts and approvals of other workers, while a step of
//! the start is slow or fails; and the same again.

use super::cool;
use crate::catalog::Scenario;
use crate::catalog::draft::direct::{about, call, identity, respond};
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan};
use crate::rng::Rng;
use crate::seed::Seed;
use serde_json::Value as Json;

/// Starters that meet.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "owner check, framework, model resume and approval come to one cold session in the same milliseconds: one start serves all",
    weight: 4,
    sometimes: &["situation/start-joined"],
    plan,
};

const ID: &str = "restore/single-flight";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    let mut rng = draft.rng("starters");
    let mut client = ClientDraft::new(1, rng.below(500));
    client.open();
    client.rest(rng.between(1, 500));
    client.call(&mut rng, 0);
    let name = client.name().to_owned();
    for round in 0..rng.between(1, 3) {
        let from_ms = client.now_ms() + draft.latency_ms();
        let cold_ms = cool(&mut draft, &mut rng, &name, from_ms) + rng.below(2_000);
        let spread_ms = *rng.pick(&[1, 3, 12, 60]);
        client.until(cold_ms + rng.below(spread_ms));
        for _ in 0..rng.below(3) {
            client.call_beside(&mut rng, 0);
        }
        client.call(&mut rng, 0);
        for worker in 1..=rng.between(1, 5) {
            let (method, arguments) = starter(&mut rng);
            let begins_ms = cold_ms + rng.below(spread_ms);
            draft.call(&format!("w{worker}"), call(begins_ms, &name, method, arguments));
        }
        hinder(&mut draft, &mut rng, &name, round + 2);
        client.rest(2_000 + 2 * draft.latency_ms());
    }
    draft.client(client);
    draft.until_idle()
}

/// A method that starts a cold session, with its arguments.
fn starter(rng: &mut Rng) -> (&'static str, Json) {
    // The framework's own start comes with each request of the client; called by itself it would replace a runtime.
    match rng.below(6) {
        0..=2 => ("validateMcpSessionOwner", identity(1)),
        3 => ("resumeExecutionForModel", respond(1, "exec_unknown", "accept")),
        4 => ("getPausedExecutionForApproval", about(1, "exec_unknown")),
        _ => ("resumeExecutionForApproval", respond(1, "exec_unknown", "decline")),
    }
}

/// A step of about that start is slow, or sometimes fails; or the write of its idle clock is lost.
fn hinder(draft: &mut Draft, rng: &mut Rng, session: &str, n: u64) {
    const STEPS: &[&str] = &["build · import", "build · stack", "build · describe", "body · storage.get props"];
    const WRITES: &[&str] = &["clock · storage.put last-activity-ms", "clock · storage.setAlarm idle"];
    let (step, effect) = match rng.below(9) {
        0..=2 => return,
        3 => (*rng.pick(STEPS), fail(*rng.pick(&[ErrorKind::Unknown, ErrorKind::CodeUpdate]))),
        4 | 5 => (*rng.pick(WRITES), fail(*rng.pick(&[ErrorKind::CodeUpdate, ErrorKind::StorageTimeout]))),
        _ => (*rng.pick(STEPS), Effect::Delay { ms: rng.between(1, 300) }),
    };
    let n = if WRITES.contains(&step) { rng.between(1, 3 * n) } else { n };
    draft.fault_by_chance(operation(step, Edge::Begin, n as u32, session), effect);
}
