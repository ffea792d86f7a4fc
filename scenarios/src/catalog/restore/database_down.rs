//! The organisation database is down or slow when sessions need their identity.
//!
//! Goal: a session that knows its organisation needs no database to come back, one that does not is tried three times
//! and then told so, and works once the database does. Method: sessions with and without a record whose tokens do not
//! name their organisation, started by other workers while one, two, three or all lookups fail or are slow, and started
//! again; sessions of clients, whose tokens name it, beside them.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::{before_toolkits, call_first, identity, known, props, stored, token};
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Edge, Effect, ErrorKind, Plan, When};
use crate::rng::Rng;
use crate::seed::Seed;
use serde_json::json;

/// Identities without a database.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "the organization database is down or slow: sessions that know their organization come back all the same",
    weight: 3,
    sometimes: &["span/resolve-session-meta/database", "span/resolve-organization"],
    plan,
};

const ID: &str = "restore/database-down";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    let mut rng = draft.rng("sessions");
    for number in 1..=rng.between(1, 3) {
        let session = format!("old{number}");
        let has_record = rng.chance(2, 3);
        draft.stored(match has_record {
            true if rng.chance(1, 3) => before_toolkits(known(&session, number)),
            true => known(&session, number),
            false => stored(&session, json!({})),
        });
        let worker = format!("w{number}");
        let mut at_ms = rng.between(1, 300);
        for _ in 0..rng.between(1, 4) {
            let name = json!({"name": format!("streamable-http:{session}"), "props": props(number, false)});
            let (method, arguments) = match rng.below(if has_record { 4 } else { 2 }) {
                0 => ("resolveAndStoreSessionMeta", json!({"token": token(number, false)})),
                1 => ("setName", name),
                2 => ("onStart", json!({"props": props(number, false)})),
                _ => ("validateMcpSessionOwner", identity(number)),
            };
            draft.call(&worker, call_first(at_ms, &session, method, arguments));
            at_ms += *rng.pick(&[1, 500, 3_000, 30_000]);
        }
        outage(&mut draft, &mut rng, &session);
    }
    if rng.chance(1, 2) {
        let mut client = ClientDraft::new(9, rng.below(300));
        client.open();
        client.rest(draft.disposed_after_ms());
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}

/// Some lookups of a session fail or are slow.
fn outage(draft: &mut Draft, rng: &mut Rng, session: &str) {
    let lookup = |n: u64| When::Operation {
        operation: "meta · db.organization".to_owned(),
        root: None,
        edge: Edge::Begin,
        n: n as u32,
        session: Some(session.to_owned()),
    };
    let down = |lasting| Effect::Fail {
        error: ErrorKind::Unknown,
        text: Some("organization lookup: CONNECT_TIMEOUT".to_owned()),
        flags: None,
        lasting,
    };
    match rng.below(5) {
        0 => draft.fault_by_chance(lookup(1), down(true)),
        1 => draft.fault_by_chance(lookup(1), Effect::Delay { ms: rng.between(50, 20_000) }),
        _ => {
            for n in 1..=rng.between(1, 4) {
                draft.fault_by_chance(lookup(n), down(false));
            }
        }
    }
}
