//! A session is ended while many requests are on their way to it: before, during and after its DELETE, and after the wipe.
//!
//! Goal: whoever comes after the answer to the DELETE is told 404 and nothing else, whoever came before is served or told
//! the same, and nobody gets a bare failure. Method: mostly 24 requests of the owner's other windows and of strangers, at
//! times drawn around the DELETE, around the alarm that wipes the session a second later, and long after; DELETE twice;
//! some sessions are cold when they are ended.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::call;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Action, Edge, Effect, Plan, ResetKind};
use crate::rng::Rng;
use crate::seed::Seed;
use serde_json::Value as Json;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "requests meet a session around its DELETE, and are served or told 404",
    weight: 6,
    sometimes: &[
        "situation/delete-accepted",
        "situation/request-meets-condemned",
        "situation/delete-repeated",
        "situation/request-during-destroy",
    ],
    plan,
};

const ID: &str = "destroy/around-delete";
/// Time between condemning a session and wiping it (session-core §1.7, DESTROY_ALARM_DELAY_MS).
const WIPED_AFTER_MS: u64 = 1_000;
const REQUEST_COUNT: u64 = 24;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.personas(1, 4);
    draft.draw_timeout();
    let mut rng = draft.rng("story");
    let is_cold = rng.chance(1, 4);
    let opened_ms = 2_000 + draft.latency_ms();
    let close_ms = opened_ms + rng.between(500, 3_000) + if is_cold { draft.disposed_after_ms() } else { 0 };
    let owner = owner(&mut rng, close_ms);
    draft.client(owner);
    let window_count = rng.between(2, 5);
    // Nearly always all of them, sometimes fewer.
    let request_count = if rng.chance(7, 8) { REQUEST_COUNT } else { rng.between(window_count, REQUEST_COUNT) };
    for number in 2..2 + window_count {
        let share = request_count / window_count + u64::from(number - 2 < request_count % window_count);
        let window = window(&draft, number, opened_ms, close_ms, share);
        draft.client(window);
    }
    if rng.chance(1, 3) {
        // The wiped object is there for a little longer.
        let aborting = operation("destroy · abort", Edge::Begin, 1, "s1");
        draft.fault_by_chance(aborting, Effect::Delay { ms: rng.between(1, 40) });
    }
    meet(&mut draft, close_ms, is_cold);
    draft.until_idle()
}

/// Sometimes an operator condemns the session, past its owner check, while the start that the DELETE brings about is slow;
/// or its destruction takes a while, in which the other windows go on asking; or the object is lost in the middle of it.
fn meet(draft: &mut Draft, close_ms: u64, is_cold: bool) {
    let mut rng = draft.rng("operator");
    let slow_ms = rng.between(20, 600);
    let slow = Effect::Delay { ms: slow_ms };
    let condemned_ms = close_ms + rng.below(slow_ms);
    match rng.below(8) {
        0..=3 if is_cold => {
            draft.fault_by_chance(operation("build · describe", Edge::Begin, 2, "s1"), slow);
            draft.call("operator", call(condemned_ms, "s1", "_cf_scheduleDestroy", Json::Null));
        }
        1 => {
            let closes = if is_cold { 2 } else { 1 };
            draft.fault_by_chance(operation("teardown · server.close", Edge::Begin, closes, "s1"), slow);
        }
        2 => draft.fault_by_chance(operation("destroy · teardown", Edge::Begin, 1, "s1"), slow),
        3 => {
            let steps =
                ["destroy · teardown", "destroy · storage.put destroy-pending", "destroy · storage.deleteAlarm"];
            let reset = Effect::Reset { kind: ResetKind::CodeUpdate };
            draft.fault_by_chance(operation(rng.pick_name(&steps), Edge::End, 1, "s1"), reset);
        }
        _ => {}
    }
}

/// Opens the session, uses it, and ends it, often twice.
fn owner(rng: &mut Rng, close_ms: u64) -> ClientDraft {
    let mut owner = ClientDraft::new(1, 0);
    owner.open();
    owner.rest(rng.between(5, 200));
    if rng.chance(1, 2) {
        owner.stream();
    }
    owner.call(rng, 0);
    owner.until(close_ms);
    owner.close();
    if rng.chance(1, 2) {
        owner.rest(rng.below(2 * WIPED_AFTER_MS));
        owner.close();
    }
    if rng.chance(1, 2) {
        owner.rest(rng.below(2 * WIPED_AFTER_MS));
        owner.ping();
    }
    owner
}

/// Another window of the owner, or a stranger, with its share of the requests.
fn window(draft: &Draft, number: u64, opened_ms: u64, close_ms: u64, share: u64) -> ClientDraft {
    let mut rng = draft.rng(&format!("window.{number}"));
    let mut window = ClientDraft::new(number, opened_ms);
    if !rng.chance(1, 4) {
        window = window.as_account_of(1);
    }
    window.act(Action::Adopt { of: "s1".to_owned() });
    let mut times: Vec<u64> = (0..share).map(|_| at_ms(&mut rng, close_ms)).collect();
    times.sort_unstable();
    for at_ms in times {
        window.until(at_ms);
        match rng.below(8) {
            0 => window.stream(),
            1 => window.close(),
            2 => window.ping(),
            _ => window.call_beside(&mut rng, 0),
        }
    }
    window
}

/// Around the DELETE, its answer, the wipe, or any time after.
fn at_ms(rng: &mut Rng, close_ms: u64) -> u64 {
    match rng.below(8) {
        0..=2 => (close_ms + rng.below(60)).saturating_sub(rng.below(30)),
        3..=5 => close_ms + WIPED_AFTER_MS + rng.below(60),
        6 => close_ms + rng.below(WIPED_AFTER_MS),
        _ => close_ms + WIPED_AFTER_MS + rng.below(20_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_seeds_have_all_the_requests() {
        let count = |seed| {
            let plan = plan(Seed(seed));
            let windows = plan.clients.iter().filter(|client| client.name != "s1");
            let steps = windows.flat_map(|window| &window.steps);
            steps.filter(|step| !matches!(step.action, Action::Adopt { .. })).count() as u64
        };
        let counts: Vec<u64> = (0..50).map(count).collect();
        let full = counts.iter().filter(|count| **count == REQUEST_COUNT).count();
        assert!((35..50).contains(&full) && counts.iter().all(|count| *count <= REQUEST_COUNT), "{counts:?}");
    }
}
