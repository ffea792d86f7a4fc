//! A build that fails leaves nothing behind, and the next request builds again.
//!
//! Goal: the failed init's handle is closed, its place is free, and the session can be used as soon as the cause is
//! gone. Method: a step of the first or of a later build fails once or for a while, with an unknown error or a reset's.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan};
use crate::seed::Seed;

/// Failed builds.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a build fails, of a new session or of one that is restored: nothing is left behind, and the next request builds again",
    weight: 3,
    sometimes: &["situation/init-fails", "situation/start-fails"],
    plan,
};

const ID: &str = "disposal/build-failure";

/// Suspension points of an init at which it can fail.
const STEPS: &[&str] = &["build · import", "build · stack", "build · describe", "build · server", "init · db.open"];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    let mut rng = draft.rng("builds");
    draft.timeout(rng.between(1_000, 5_000));
    for number in 1..=rng.between(1, 2) {
        let mut client = ClientDraft::new(number, rng.below(100));
        let n = *rng.pick_weighted(&[(1, 1), (2, 2)]);
        let error = *rng.pick(&[ErrorKind::Unknown, ErrorKind::CodeUpdate, ErrorKind::InternalError]);
        let effect = Effect::Fail { error, text: None, flags: None, lasting: false };
        let edge = *rng.pick(&[Edge::Begin, Edge::End]);
        draft.fault_by_chance(operation(rng.pick_name(STEPS), edge, n, client.name()), effect);
        client.open();
        client.rest(1_000 + draft.latency_ms());
        if n == 1 {
            client.open();
        }
        client.call(&mut rng, 0);
        client.rest(draft.disposed_after_ms());
        if rng.chance(1, 2) {
            client.call_beside(&mut rng, 0);
        }
        client.call(&mut rng, 0);
        client.rest(rng.between(1, 3_000));
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
