//! A step of the alarm fails: the platform tries it again, and it comes to the same.
//!
//! Goal: an alarm that failed a few times is as good as a late one, and no session is left without. Method: sessions that
//! idle, hold a stream, run code or wait for a person, whose alarm's reads and lease writes fail up to three times in a
//! row or are slow, with uses between the tries.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Action, Edge, Effect, ErrorKind, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Alarms that fail.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an alarm fails and is tried again by the platform: the session is disposed or kept as if it had come late",
    weight: 3,
    sometimes: &["alarm/fails"],
    plan,
};

const ID: &str = "alarm/throws-and-retries";

/// Steps of an alarm that can fail.
const STEPS: &[&str] = &[
    "alarm · storage.get last-activity-ms",
    "alarm · storage.list stream-reqs",
    "alarm · storage.get destroy-pending",
    "alarm · storage.setAlarm paused-lease",
    "alarm · storage.setAlarm running-lease",
    "alarm.sdk · storage.get destroy-pending",
];

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    let mut rng = draft.rng("alarms");
    for number in 1..=rng.between(1, 3) {
        let mut client = ClientDraft::new(number, rng.below(1_000)).patient(600_000);
        client.open();
        client.rest(200 + 2 * draft.latency_ms());
        client = busy(&draft, &mut rng, client);
        trouble(&mut draft, &mut rng, client.name());
        if rng.chance(1, 2) {
            // Between two tries, which come 2, 4, 8 s after each other.
            client.rest(draft.timeout_ms() + rng.below(20_000));
            client.call(&mut rng, 0);
        }
        draft.client(client);
    }
    draft.until_idle()
}

/// What keeps the session beyond its idle deadline, if anything does.
fn busy(draft: &Draft, rng: &mut Rng, mut client: ClientDraft) -> ClientDraft {
    match rng.below(4) {
        0 => {
            client = client.reopening(true);
            client.stream();
            client.rest(2 * draft.timeout_ms());
            client.act(Action::EndStream {});
        }
        1 => client.ask(rng),
        2 => client.call_beside(rng, 2 * draft.timeout_ms()),
        _ => client.call(rng, 0),
    }
    client
}

/// A step of the alarm fails a few times in a row, or is slow.
fn trouble(draft: &mut Draft, rng: &mut Rng, session: &str) {
    let step = *rng.pick(STEPS);
    if rng.chance(1, 5) {
        let slow = Effect::Delay { ms: rng.between(1, 5_000) };
        return draft.fault_by_chance(operation(step, Edge::Begin, 1, session), slow);
    }
    let error = *rng.pick(&[ErrorKind::Unknown, ErrorKind::StorageTimeout, ErrorKind::InternalError]);
    for n in 1..=rng.between(1, 3) {
        draft.fault_by_chance(operation(step, Edge::Begin, n as u32, session), fail(error));
    }
}
