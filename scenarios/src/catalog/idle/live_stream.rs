//! A client that keeps a live connection holds its runtime for as long, and one whose stream has ended does not.
//!
//! Goal: the idle policy sees live connections and no others. Method: streams that are opened again when they end (the
//! first one only replays what was undelivered), streams that are ended after a while, and silence beyond the timeout,
//! sometimes beyond the ceiling of 35 minutes. No listener comes to it: at 30 minutes it is rotated, and to open it again is
//! a use. The streams of calls do, in `running_to_its_ceiling`.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::invariants::limits::RUNNING_CEILING_MS;
use crate::plan::{Action, Plan};
use crate::seed::Seed;

/// Streams that the idle policy sees.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a live stream keeps an idle runtime, beyond its rotation and the ceiling, until it is ended",
    weight: 2,
    sometimes: &[
        "situation/stream-seen-by-alarm",
        "alarm/extend-stream",
        "situation/stream-reopened",
        "situation/stream-rotated",
    ],
    plan,
};

const ID: &str = "idle/live-stream";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    for number in 1..=draft.rng("neighbours").between(1, 2) {
        let mut rng = draft.rng(&format!("client.{number}"));
        let mut client = ClientDraft::new(number, rng.below(1_000)).reopening(rng.chance(5, 6));
        client.open();
        client.rest(rng.between(1, 200));
        client.stream();
        client.rest(rng.between(1, 200));
        client.call(&mut rng, 0);
        let timeout = draft.timeout_ms();
        let silence_ms = match rng.below(3) {
            0 => rng.between(1, timeout),
            1 => timeout + draft.latency_ms() + rng.below(300_000),
            _ => RUNNING_CEILING_MS - 5_000 + rng.below(400_000),
        };
        client.rest(silence_ms);
        if rng.chance(1, 2) {
            client.act(Action::EndStream {});
            client.rest(rng.between(1, 2 * timeout));
        }
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
