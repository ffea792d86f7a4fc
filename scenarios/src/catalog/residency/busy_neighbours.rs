//! More builds at a time than an isolate allows: they queue for a permit, and go on without one after ten seconds.
//!
//! Goal: at most four builds hold a permit, each gives it back once, and a full queue delays a build by ten seconds at
//! most. Method: up to a dozen sessions open within a second, several of whose builds are slow, fail or are cut off.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, at, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Interruptible, Plan};
use crate::seed::Seed;

/// A crowd of slow builds.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "more sessions are built at once than permits exist: they queue, and none waits longer than ten seconds",
    weight: 3,
    sometimes: &["situation/build-queued", "situation/build-queue-timeout", "situation/build-queue-left"],
    plan,
};

const ID: &str = "residency/busy-neighbours";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("crowd");
    draft.isolates(1);
    draft.cap(rng.between(2, 16) as u32);
    let is_jammed = draft.rng("jam").chance(1, 4);
    let spread_ms = *rng.pick(&[1, 10, 100, 1_000]);
    for number in 1..=rng.between(5, 12) {
        let mut client = ClientDraft::new(number, rng.below(spread_ms));
        let client_begins_ms = client.now_ms();
        client.open();
        client.rest(rng.between(1, 2_000));
        client.call(&mut rng, 0);
        let effect = match rng.below(8) {
            0..=2 => Some(Effect::Delay { ms: rng.between(100, 8_000) }),
            3 | 4 => Some(Effect::Delay { ms: rng.between(8_000, 14_000) }),
            5 => Some(fail(ErrorKind::Unknown)),
            _ => None,
        };
        // Sometimes all who have a permit are slow, so that the others wait in vain.
        let effect = if is_jammed && number <= 4 { Some(Effect::Delay { ms: 10_500 + number * 500 }) } else { effect };
        if let Some(effect) = effect {
            let step = *rng.pick(&["build · import", "build · stack", "build · describe"]);
            draft.fault_by_chance(operation(step, Edge::Begin, 1, client.name()), effect);
        }
        let mut impatient = draft.rng(&format!("impatient.{number}"));
        if impatient.chance(1, 8) {
            // Its init is interrupted, wherever it stands: in the queue for one.
            let at_ms = client_begins_ms + impatient.below(8_000);
            draft.fault_by_chance(at(at_ms, client.name()), Effect::Interrupt { what: Interruptible::Init });
        }
        draft.client(client);
    }
    draft.until_idle()
}
