//! A deployment refuses the write of what identifies a session: its start fails, and nobody is paged.
//!
//! Goal: without stored meta no session is served, a reset's refusal is not captured, and the client's next try works.
//! Method: the write fails once, with a reset's text or another, at the first start of one of a few sessions.

use super::reason;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, ErrorKind, Plan};
use crate::seed::Seed;

/// A refused write of the meta.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a deployment refuses the write of a session's meta: its start fails without a page, and the next try works",
    weight: 3,
    sometimes: &["situation/start-fails"],
    plan,
};

const ID: &str = "deploy/meta-write";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("writes");
    draft.timeout(rng.between(1_000, 10_000));
    for number in 1..=rng.between(1, 3) {
        let mut client = ClientDraft::new(number, rng.below(300));
        if number == 1 || rng.chance(1, 3) {
            let is_unknown = rng.chance(1, 4);
            let error = if is_unknown { ErrorKind::Unknown } else { reason(&mut draft.rng("reasons")) };
            let edge = *rng.pick(&[Edge::Begin, Edge::End]);
            draft.fault(operation("meta · storage.put session-meta", edge, 1, client.name()), fail(error));
        }
        client.open();
        client.rest(rng.between(100, 2_000) + draft.latency_ms());
        client.open();
        client.call(&mut rng, 0);
        client.rest(draft.disposed_after_ms());
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
