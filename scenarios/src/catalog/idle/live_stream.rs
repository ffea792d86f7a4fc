//! A client that keeps a live connection holds its runtime until the ceiling, and one whose stream has ended does not.
//!
//! Goal: the idle policy sees live connections and no others. Method: streams that are opened again when they end (the
//! first one only replays what was undelivered), streams that are ended after a while, and silence beyond the timeout,
//! sometimes beyond the ceiling of 35 minutes. A stream is rotated before, at 30 minutes, and to open it again is a use; so
//! some of these touches are lost, and the stream lives to the ceiling.

use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::invariants::limits::RUNNING_CEILING_MS;
use crate::plan::{Action, Edge, Effect, ErrorKind, Plan, When};
use crate::seed::Seed;

/// Streams that the idle policy sees.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a live stream keeps an idle runtime until the ceiling, or until it is ended",
    weight: 2,
    sometimes: &["situation/stream-seen-by-alarm", "alarm/extend-stream", "alarm/dispose-stream"],
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
        let kind = rng.below(5);
        if kind > 2 {
            lose_touches(&mut draft, client.name());
        }
        let silence_ms = match kind {
            0 => rng.between(1, timeout),
            1 => timeout + draft.latency_ms() + rng.below(300_000),
            3.. => RUNNING_CEILING_MS + draft.lateness_ms() + rng.between(10_000, 400_000),
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

/// From the rotation of its stream on the touches of its owner checks are lost, for a reason that is absorbed. Those before
/// it are of the end of the handshake, of its first stream, of its call and of its second stream.
fn lose_touches(draft: &mut Draft, session: &str) {
    let when = When::Operation {
        operation: "clock · storage.put last-activity-ms".to_owned(),
        root: Some("validate".to_owned()),
        edge: Edge::Begin,
        n: 5,
        session: Some(session.to_owned()),
    };
    let lost = Effect::Fail { error: ErrorKind::CodeUpdate, text: None, flags: None, lasting: true };
    draft.fault_by_chance(when, lost);
}
