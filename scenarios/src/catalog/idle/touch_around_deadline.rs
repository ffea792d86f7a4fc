//! A session is used just before, at or just after its idle deadline, several times in a row.
//!
//! Goal: use and alarm may meet in any order; the session is served each time, and goes at last. Method: gaps between
//! uses that lie within a few milliseconds, or a few seconds, of the timeout.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// Uses that meet the alarm.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session is used within milliseconds of its idle deadline, again and again: it is served each time",
    weight: 4,
    plan,
};

const ID: &str = "idle/touch-around-deadline";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(draft.rng("timeout").between(1_000, 8_000));
    for number in 1..=draft.rng("neighbours").between(1, 2) {
        let mut rng = draft.rng(&format!("client.{number}"));
        let mut client = ClientDraft::new(number, rng.below(50));
        client.open();
        for _ in 0..rng.between(2, 6) {
            let gap_ms = gap_ms(&draft, &mut rng);
            client.rest(gap_ms);
            touch(&mut client, &mut rng);
        }
        draft.client(client);
    }
    draft.until_idle()
}

fn gap_ms(draft: &Draft, rng: &mut Rng) -> u64 {
    let around_ms = *rng.pick(&[2, 12, 60, 900]);
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
