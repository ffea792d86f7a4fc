//! A candidate that never hears the request, or hears it late: the next admission passes it over until its grace is over.
//!
//! Goal: a lost request changes nothing about the candidate, costs the cap one place at most, and the candidate can be
//! chosen again 15 s later. Method: residents at the cap, requests that fail or hang, and newcomers before and after
//! the grace.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Lost eviction requests.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a request to make room is lost or late: nothing changes, others are asked, and it is asked again after its grace",
    weight: 4,
    sometimes: &["situation/eviction-request-lost"],
    plan,
};

const ID: &str = "residency/eviction-request-lost";
/// How long a candidate that was asked is passed over, in ms (session-core §1.7, EVICTION_REQUEST_GRACE_MS).
const GRACE_MS: u64 = 15_000;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("crowd");
    draft.isolates(1);
    let cap = rng.between(1, 3);
    draft.cap(cap as u32);
    let spacing_ms = 600 + 2 * draft.latency_ms();
    for number in 1..=cap {
        let mut client = ClientDraft::new(number, (number - 1) * spacing_ms);
        client.open();
        if rng.chance(1, 2) {
            client.call(&mut rng, 0);
        }
        draft.client(client);
    }
    let mut begins_ms = cap * spacing_ms + 1_000;
    for number in cap + 1..=cap + rng.between(2, 4) {
        let mut client = ClientDraft::new(number, begins_ms);
        client.open();
        client.call(&mut rng, 0);
        if number == cap + 1 || rng.chance(1, 3) {
            lose(&mut draft, &mut rng, client.name());
        }
        draft.client(client);
        begins_ms += match rng.below(4) {
            0 => rng.between(1, 300),
            1 => GRACE_MS - rng.below(20),
            2 => GRACE_MS + rng.below(20),
            _ => rng.between(1_000, 2 * GRACE_MS),
        };
    }
    draft.until_idle()
}

/// The request that this session's admission sends does not arrive, or late, or its failure comes late.
fn lose(draft: &mut Draft, rng: &mut Rng, session: &str) {
    let unreachable = "stub unreachable".to_owned();
    let effect = match rng.below(4) {
        0 | 1 => Effect::Fail { error: ErrorKind::Unknown, text: Some(unreachable), flags: None, lasting: false },
        2 => Effect::Delay { ms: rng.between(10, 20_000) },
        _ => {
            Effect::Hold { release: None, for_ms: Some(rng.between(10, 20_000)), fail: Some(ErrorKind::InternalError) }
        }
    };
    draft.fault_by_chance(operation("init · stub.request-cap-eviction", Edge::Begin, 1, session), effect);
}
