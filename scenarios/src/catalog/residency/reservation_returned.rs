//! A cold build that comes to nothing gives back the place that it was counted for.
//!
//! Goal: the number of builds in flight returns to what it was however a build ends: failed, interrupted while it is
//! admitted, imports or opens, or cut off with its object. Method: sessions at the cap, a build that ends so, and new
//! sessions afterwards, whose admissions would evict too much if the count had drifted.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, at, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Interruptible, Plan, ResetKind};
use crate::rng::Rng;
use crate::seed::Seed;

/// Builds that come to nothing.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a cold build fails, is interrupted or is cut off with its object: the place it was counted for is free again",
    weight: 4,
    sometimes: &["situation/init-interrupted", "situation/init-fails"],
    plan,
};

const ID: &str = "residency/reservation-returned";

/// Steps of a build at which it can end early.
const STEPS: &[&str] =
    &["build · import", "build · stack", "build · describe", "build · permit", "meta · db.organization"];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    let mut rng = draft.rng("builds");
    draft.isolates(1);
    let cap = rng.between(2, 4);
    draft.cap(cap as u32);
    let residents = rng.between(1, cap);
    let spacing_ms = 1_500 + 2 * draft.latency_ms();
    for number in 1..=residents {
        let mut client = ClientDraft::new(number, (number - 1) * spacing_ms);
        client.open();
        client.call(&mut rng, 0);
        draft.client(client);
    }
    let failed_ms = residents * spacing_ms + 1_000;
    let failing = rng.between(1, 2);
    for number in residents + 1..=residents + failing {
        let mut client = ClientDraft::new(number, failed_ms + rng.below(30));
        client.open();
        end_early(&mut draft, &mut rng, client.name(), client.now_ms());
        client.rest(5_000 + 2 * draft.latency_ms());
        client.open();
        client.call(&mut rng, 0);
        draft.client(client);
    }
    let first = residents + failing + 1;
    for number in first..=first + rng.between(0, 2) {
        let mut client = ClientDraft::new(number, failed_ms + rng.below(400));
        client.rest(if rng.chance(1, 2) { 0 } else { 12_000 + 2 * draft.latency_ms() });
        client.open();
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}

/// The build of that session, which begins soon after that time, does not come to its end.
fn end_early(draft: &mut Draft, rng: &mut Rng, session: &str, begins_ms: u64) {
    let step = *rng.pick(STEPS);
    let edge = *rng.pick(&[Edge::Begin, Edge::End]);
    let held_ms = rng.between(40, 800);
    let held = Effect::Hold { release: None, for_ms: Some(held_ms + 1_000), fail: None };
    let meanwhile = at(begins_ms + draft.latency_ms() + held_ms, session);
    match rng.below(6) {
        0 => draft.fault_by_chance(operation(step, edge, 1, session), fail(ErrorKind::Unknown)),
        1 => draft.fault_by_chance(operation(step, edge, 1, session), fail(ErrorKind::CodeUpdate)),
        2 | 3 => {
            draft.fault_by_chance(operation(step, edge, 1, session), Effect::Interrupt { what: Interruptible::Init })
        }
        4 => {
            draft.fault_by_chance(operation(step, edge, 1, session), held);
            draft.fault_by_chance(meanwhile, Effect::Interrupt { what: Interruptible::Init });
        }
        _ => {
            draft.fault_by_chance(operation(step, edge, 1, session), held);
            draft.fault_by_chance(meanwhile, Effect::Reset { kind: ResetKind::CodeUpdate });
        }
    }
}
