//! Nobody decides: the approval window ends with a decline, and nothing of the pause is left.
//!
//! Goal: a pause ends by itself after its window, whether a resume waits for it, comes later or never, and gives its
//! lease, its timer and its entry in the directory back. Method: sessions whose code asks, silence beyond the window,
//! resumes that wait meanwhile or come afterwards, some of them from another session; directory deletions that fail.

use super::{asking, person};
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::invariants::limits::APPROVAL_MS;
use crate::plan::{Edge, ErrorKind, Plan, When};
use crate::seed::Seed;

/// Windows that end.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "nobody decides within the approval window: the pause is declined by itself, and a later resume is told so",
    weight: 3,
    sometimes: &["situation/lease-expires", "log/error/lease-start-failed", "log/reset/lease-mark-activity"],
    plan,
};

const ID: &str = "approval/expires";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("silence");
    let sessions = *rng.pick_weighted(&[(5, 1), (2, 2)]);
    for number in 1..=sessions {
        let (begin_ms, browser) = (rng.below(3_000), rng.chance(1, 2));
        let (mut client, asked_ms) = asking(&draft, &mut rng, number, begin_ms, browser);
        let over_ms = asked_ms + APPROVAL_MS + draft.latency_ms() + rng.between(100, 20_000);
        if browser && rng.chance(2, 3) {
            client.rest(rng.below(200_000));
            client.resume(response(&mut rng), None);
        }
        if rng.chance(1, 3) {
            client.rest(rng.below(100_000));
            client.call(&mut rng, 0);
        }
        client.until(over_ms);
        client.resume(response(&mut rng), None);
        if rng.chance(1, 3) {
            let mut other = ClientDraft::new(sessions + number, over_ms).as_account_of(1);
            other.open();
            other.rest(rng.between(1, 10_000));
            other.resume(response(&mut rng), Some(client.name()));
            draft.client(other);
        } else if rng.chance(1, 3) {
            let mut late = person(sessions + number, over_ms + rng.below(5_000));
            late.decide(response(&mut rng), Some(client.name()));
            draft.client(late);
        }
        if rng.chance(1, 5) {
            let step = operation("lease.expire · dir.delete", Edge::Begin, 1, client.name());
            draft.fault_by_chance(step, fail(ErrorKind::Unknown));
        }
        trouble(&mut draft, number, &mut client);
        draft.client(client);
    }
    draft.until_idle()
}

/// Sometimes a write of the lease itself fails: as it is taken, or as it expires. A pause whose lease could not be taken
/// has no window; a client that asks once more, and holds a stream, leaves such a one behind.
fn trouble(draft: &mut Draft, number: u64, client: &mut ClientDraft) {
    let mut rng = draft.rng(&format!("lease.{number}"));
    if !rng.chance(1, 2) {
        return;
    }
    let asks_again = rng.chance(1, 2);
    if asks_again {
        client.rest(rng.between(1, 5_000));
        client.stream();
        client.rest(rng.between(1, 200));
        client.ask_often(&mut rng, 1);
        if client.asks_in_browser() {
            client.rest(rng.between(100, 5_000) + 2 * draft.latency_ms());
            client.resume(response(&mut rng), None);
        }
    }
    let taken = ["clock · storage.put last-activity-ms", "clock · storage.setAlarm idle"];
    let (name, root) = match rng.below(3) {
        2 if !asks_again => ("approval · storage.put approval-response", "expire"),
        either => (taken[either as usize % 2], "lease"),
    };
    let when = When::Operation {
        operation: name.to_owned(),
        root: Some(root.to_owned()),
        edge: *rng.pick(&[Edge::Begin, Edge::End]),
        n: if asks_again { 2 } else { 1 },
        session: Some(client.name().to_owned()),
    };
    // A reason that the platform gives is absorbed, and the lease is taken all the same.
    let error = if asks_again || rng.chance(1, 2) { ErrorKind::Unknown } else { ErrorKind::CodeUpdate };
    draft.fault_by_chance(when, fail(error));
}
