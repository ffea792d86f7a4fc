//! More restores at once than an isolate builds at a time, and objects that are reset while they wait for their turn.
//!
//! Goal: a permit goes to whoever still waits for it, and nobody else. Method: sessions of one isolate whose runtimes are
//! gone come back within a few milliseconds; the first builds are slow, some of those behind are reset in the queue, and
//! come back themselves at once, later, or never.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Edge, Effect, Plan};
use crate::seed::Seed;

/// Resets among builds that wait.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "restores wait for their turn to build, and some are reset in the queue: nobody builds in their place",
    weight: 2,
    sometimes: &["situation/build-queued", "situation/build-queue-timeout", "situation/build-queue-left"],
    plan,
};

const ID: &str = "residency/reset-in-the-queue";
/// Builds of an isolate at a time (session-core §1.7, MAX_CONCURRENT_BUILDS).
const AT_A_TIME: u64 = 4;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("queue");
    draft.isolates(1);
    draft.timeout(rng.between(1_000, 3_000));
    let count = AT_A_TIME + rng.between(2, 5);
    let back_ms = count * 300 + draft.disposed_after_ms() + 2 * draft.latency_ms();
    let built_ms = *rng.pick(&[500, 2_000, 6_000, 11_000]);
    for number in 1..=count {
        let mut client = ClientDraft::new(number, (number - 1) * 300);
        client.open();
        // The first are in the middle of a build when the others come.
        let behind_ms = if number <= AT_A_TIME { 0 } else { 50 + draft.latency_ms() };
        client.until(back_ms + behind_ms + rng.below(30));
        client.call(&mut rng, 0);
        if number <= AT_A_TIME {
            let slow = Effect::Delay { ms: built_ms + draft.latency_ms() + rng.below(built_ms) };
            draft.fault_by_chance(operation("build · stack", Edge::Begin, 2, client.name()), slow);
        } else if rng.chance(2, 3) {
            draft.reset(client.now_ms() + rng.between(5, 100) + rng.below(draft.latency_ms()), client.name());
            client.rest(*rng.pick(&[150, 1_000, 5_000]));
            if rng.chance(3, 4) {
                client.call(&mut rng, 0);
            }
        }
        draft.client(client);
    }
    draft.until_idle()
}
