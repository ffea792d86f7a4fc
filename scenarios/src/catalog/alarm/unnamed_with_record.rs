//! The alarm of a session that is not in memory: on the older runtime it is constructed without its name, and its
//! storage tells it.
//!
//! Goal: the alarm cleans up nothing that has a name, the session is told by its id, and its next use is served. Method:
//! sessions of clients that leave memory or are reset before their idle alarm is due, objects whose id never had a name
//! and whose storage has one, and uses of both around the alarm and after it.

use super::recorded;
use crate::catalog::Scenario;
use crate::catalog::draft::direct::call;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Plan, RuntimeBuild};
use crate::rng::Rng;
use crate::seed::Seed;
use serde_json::Value as Json;

/// Nameless alarms whose storage knows the name.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an alarm wakes a session without its name, which its storage tells: the session is disposed by its id, and serves again",
    weight: 4,
    sometimes: &["alarm/name-from-storage"],
    plan,
};

const ID: &str = "alarm/unnamed-with-record";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    if draft.rng("build").chance(4, 5) {
        draft.world().runtime_build = RuntimeBuild::May2026;
    }
    draft.draw_timeout();
    let mut rng = draft.rng("alarms");
    for number in 1..=rng.between(1, 2) {
        let client = cooled(&mut draft, &mut rng, number);
        draft.client(client);
    }
    for number in 1..=rng.below(3) {
        let session = format!("old{number}");
        let first_ms = rng.between(1, 2_000);
        draft.stored(recorded(&session, 7, first_ms));
        if rng.chance(1, 2) {
            let at_ms = first_ms + draft.timeout_ms() - 20 + rng.below(500);
            draft.call(&format!("late-{session}"), call(at_ms, &session, "markActivity", Json::Null));
        }
    }
    draft.until_idle()
}

/// A client whose session is not in memory when its alarm comes.
fn cooled(draft: &mut Draft, rng: &mut Rng, number: u64) -> ClientDraft {
    let mut client = ClientDraft::new(number, rng.below(2_000));
    client.open();
    for _ in 0..rng.between(1, 2) {
        client.rest(rng.between(1, 500));
        client.call(rng, 0);
        let settled_ms = client.now_ms() + draft.latency_ms() + 20;
        let due_ms = client.now_ms() + draft.timeout_ms();
        let at_ms = settled_ms + rng.below(due_ms.saturating_sub(settled_ms).max(1));
        if rng.chance(1, 2) {
            draft.evict(at_ms, client.name())
        } else {
            draft.reset(at_ms, client.name())
        }
        if rng.chance(1, 3) {
            client.until(due_ms - 10 + rng.below(40));
        } else {
            client.rest(draft.disposed_after_ms());
        }
        client.call(rng, 0);
    }
    client
}
