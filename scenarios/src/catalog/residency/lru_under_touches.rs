//! Who was used last is asked last: touches decide the order in which sessions leave.
//!
//! Goal: the victim is the evictable session with the oldest activity. Method: residents at the cap that are touched in
//! a random order, some within the same millisecond, some through their streams' answers, then newcomers one by one.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Action, Cut, Edge, Effect, Plan};
use crate::seed::Seed;

/// Touches against the order of eviction.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "residents at the cap are touched in a random order, and newcomers evict the least recently used each time",
    weight: 3,
    sometimes: &["situation/cap-eviction", "situation/eviction-meets-request", "situation/eviction-meets-busy"],
    plan,
};

const ID: &str = "residency/lru-under-touches";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("touches");
    draft.isolates(1);
    let cap = rng.between(2, 5);
    draft.cap(cap as u32);
    let spacing_ms = 600 + 2 * draft.latency_ms();
    let touched_ms = cap * spacing_ms + 1_000;
    let span_ms = *rng.pick(&[1, 5, 400, 20_000]);
    let mut begins_ms = touched_ms + rng.below(3 * span_ms + 1);
    for number in 1..=cap {
        let mut client = ClientDraft::new(number, (number - 1) * spacing_ms);
        client.open();
        client.until(touched_ms);
        for _ in 0..rng.below(4) {
            client.rest(rng.below(span_ms));
            if rng.chance(1, 4) { client.ping() } else { client.call(&mut rng, 0) }
        }
        let mut gone = draft.rng(&format!("gone.{number}"));
        if gone.chance(1, 4) {
            // Its client leaves a call: no connection is there, and the session owes an answer all the same.
            let code = format!("wait {}; return \"{number}\"", 20_000 + gone.below(60_000));
            client.act(Action::Post { code, copies: 1, cut: Some(Cut { after_events: 1, ms: gone.below(100) }) });
        }
        let mut slow = draft.rng(&format!("slow.{number}"));
        if slow.chance(3, 4) {
            // Its server closes slowly, so that a touch may meet its eviction.
            let step = operation("teardown · server.close", Edge::Begin, 1, client.name());
            let slow_ms = slow.between(20, 2_000) + draft.latency_ms();
            draft.fault_by_chance(step, Effect::Delay { ms: slow_ms });
            let newcomer_ms = begins_ms + slow.below(2) * spacing_ms;
            client.until(newcomer_ms + 10 + slow.below(slow_ms));
            client.call(&mut slow, 0);
        }
        draft.client(client);
    }
    for number in cap + 1..=cap + rng.between(1, 4) {
        let mut client = ClientDraft::new(number, begins_ms);
        client.open();
        if rng.chance(1, 2) {
            client.call(&mut rng, 0);
        }
        draft.client(client);
        begins_ms += rng.between(1, 2) * spacing_ms;
    }
    draft.until_idle()
}
