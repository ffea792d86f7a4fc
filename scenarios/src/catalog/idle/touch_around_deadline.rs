//! A session is used just before, at or just after its idle deadline, several times in a row.
//!
//! Goal: use and alarm may meet in any order; the session is served each time, and goes at last. Method: gaps between
//! uses that lie within a few milliseconds, or a few seconds, of the timeout.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, operation};
use crate::plan::{Action, Edge, Effect, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Uses that meet the alarm.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session is used within milliseconds of its idle deadline, again and again: it is served each time",
    weight: 4,
    sometimes: &[
        "situation/touch-before-deadline",
        "situation/touch-at-deadline",
        "situation/touch-after-deadline",
        "situation/touch-during-alarm",
    ],
    plan,
};

const ID: &str = "idle/touch-around-deadline";
/// How long after its deadline a session is used where alarms are late, in ms at most.
const LATE_MS: u64 = 4_000;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(draft.rng("timeout").between(1_000, 8_000));
    for number in 1..=draft.rng("neighbours").between(1, 2) {
        let mut rng = draft.rng(&format!("client.{number}"));
        let mut client = ClientDraft::new(number, rng.below(50));
        client.open();
        let held_ms = hold_alarms(&mut draft, client.name());
        for _ in 0..rng.between(2, 6) {
            let gap_ms = gap_ms(&draft, &mut rng, held_ms);
            client.rest(gap_ms);
            touch(&mut client, &mut rng);
        }
        draft.client(client);
    }
    draft.until_idle()
}

/// Often its alarm takes a while, so long in ms: no use comes to it while it reads, and some while it flushes at its end.
fn hold_alarms(draft: &mut Draft, session: &str) -> u64 {
    let mut rng = draft.rng(&format!("alarm.{session}"));
    if rng.chance(1, 3) {
        return 0;
    }
    let held_ms = rng.between(20, 900);
    let steps = [
        "alarm · storage.get last-activity-ms",
        "alarm · storage.list stream-reqs",
        "dispose · flush",
        "dispose · flush",
    ];
    for n in 1..=2 {
        let step = operation(rng.pick_name(&steps), *rng.pick(&[Edge::Begin, Edge::End]), n, session);
        draft.fault_by_chance(step, Effect::Delay { ms: held_ms });
    }
    held_ms
}

fn gap_ms(draft: &Draft, rng: &mut Rng, held_ms: u64) -> u64 {
    if held_ms > 0 && rng.chance(1, 2) {
        return draft.timeout_ms() + rng.below(held_ms);
    }
    if draft.lateness_ms() > LATE_MS && rng.chance(1, 4) {
        // Alarms are late in this world: it is used once it is due.
        return draft.timeout_ms() + rng.between(1, LATE_MS);
    }
    let around_ms = *rng.pick_weighted(&[(3, 0), (1, 2), (1, 12), (2, 60), (1, 900)]);
    draft.timeout_ms() - around_ms + rng.below(2 * around_ms + 1)
}

fn touch(client: &mut ClientDraft, rng: &mut Rng) {
    match rng.below(8) {
        0 => client.ping(),
        1 => {
            client.stream();
            client.act(Action::EndStream {});
        }
        2 => client.call_beside(rng, 0),
        3 => {
            let wait_ms = rng.between(1, 40);
            client.call(rng, wait_ms);
        }
        _ => client.call(rng, 0),
    }
}
