//! A session's record is of one organisation, and the token that comes is of another.
//!
//! Goal: no name of one organisation ends up in the record of another, and nobody but the owner is told yes. Method:
//! sessions from before the run, tokens of their own and of other organisations with and without a name, a database that
//! sometimes fails, and owner checks by owners and strangers in between.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::{before_toolkits, call_first, identity, known, props, token};
use crate::catalog::draft::{Draft, fail, operation};
use crate::plan::{Edge, ErrorKind, Plan};
use crate::seed::Seed;
use serde_json::json;

/// Records against tokens.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session with the record of one organization meets a token of another: nothing of the record is offered to it",
    weight: 3,
    sometimes: &["situation/foreign-token-meets-record"],
    plan,
};

const ID: &str = "restore/other-organization";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    let mut rng = draft.rng("organizations");
    for number in 1..=rng.between(1, 2) {
        let session = format!("old{number}");
        let old = known(&session, number);
        draft.stored(if rng.chance(1, 3) { before_toolkits(old) } else { old });
        let worker = format!("w{number}");
        let mut at_ms = rng.between(1, 300);
        for _ in 0..rng.between(2, 5) {
            let who = if rng.chance(1, 2) { number } else { rng.between(1, 3) };
            let names_it = rng.chance(1, 3);
            let (method, arguments) = match rng.below(5) {
                0 | 1 => ("validateMcpSessionOwner", identity(who)),
                2 => {
                    let name = format!("streamable-http:{session}");
                    ("setName", json!({"name": name, "props": props(who, names_it)}))
                }
                _ => ("resolveAndStoreSessionMeta", json!({"token": token(who, names_it)})),
            };
            draft.call(&worker, call_first(at_ms, &session, method, arguments));
            at_ms += *rng.pick(&[1, 400, 4_000, 30_000]);
        }
        if rng.chance(1, 3) {
            let lookup = operation("meta · db.organization", Edge::Begin, rng.between(1, 2) as u32, &session);
            draft.fault_by_chance(lookup, fail(ErrorKind::Unknown));
        }
    }
    draft.until_idle()
}
