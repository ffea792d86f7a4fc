//! The heartbeat of a session that is kept awake and its idle deadline share one alarm slot.
//!
//! Goal: whichever comes last into the slot, the idle deadline is kept. Method: sessions whose code asks, which takes a
//! keep-alive reference and a heartbeat every 30 s, with idle timeouts around multiples of that, calls that take and
//! give back references around both, and answers in the same milliseconds.

use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, Plan};
use crate::seed::Seed;

/// Two needs in one slot.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "the heartbeat of a session that waits for a person meets its idle deadline in the one alarm slot",
    weight: 3,
    sometimes: &["situation/heartbeat-over-idle-alarm"],
    plan,
};

const ID: &str = "alarm/heartbeat-meets-deadline";
/// How often a session that is kept awake is woken, in ms (session-core §1.7).
const HEARTBEAT_MS: u64 = 30_000;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("slot");
    let timeout_ms = HEARTBEAT_MS * rng.between(1, 3) - 40 + rng.below(80);
    draft.timeout(if rng.chance(1, 4) { rng.between(1_000, 100_000) } else { timeout_ms });
    for number in 1..=rng.between(1, 2) {
        let mut client = ClientDraft::new(number, rng.below(1_000));
        client.open();
        client.rest(rng.between(1, 500) + draft.latency_ms());
        client.ask_often(&mut rng, 1);
        let asked_ms = client.now_ms();
        for _ in 0..rng.below(4) {
            let beat_ms = asked_ms + HEARTBEAT_MS * rng.between(1, 4);
            client.until(beat_ms - 20 + rng.below(80));
            if rng.chance(1, 2) { client.ping() } else { client.call(&mut rng, 0) }
        }
        if rng.chance(2, 3) {
            client.rest(rng.below(2 * HEARTBEAT_MS));
            client.resume(response(&mut rng), None);
        }
        if rng.chance(1, 3) {
            let step = *rng.pick(&[
                "sched · storage.setAlarm heartbeat",
                "rearm · storage.getAlarm",
                "rearm · storage.setAlarm idle",
            ]);
            let slow = Effect::Delay { ms: rng.between(1, 200) };
            draft.fault_by_chance(operation(step, Edge::Begin, rng.between(1, 3) as u32, client.name()), slow);
        }
        draft.client(client);
    }
    draft.until_idle()
}
