//! Reconnects that are refused more often than a client tries: 404 after another window's DELETE, 503 after a reset.
//!
//! Goal: a client that stops listening, ends or knocks for ever does so by itself, and its session is served as before where
//! it still exists. Method: the listener of a client is lost, and what its GETs come to is refused a drawn number of times;
//! then the client calls.

use super::{connected, connected_ms};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Action, Edge, ErrorKind, Plan};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a client's listener is refused more often than it tries, with 404 or 503",
    weight: 3,
    sometimes: &["client/listens-no-more", "client/knocks-on"],
    plan,
};

const ID: &str = "clients/refused-listener";
/// Owner checks of a handshake: of `initialized`, and of the first GET.
const HANDSHAKE_CHECK_COUNT: u32 = 2;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let (mut client, mut rng) = connected(&draft, 1);
    client.rest(connected_ms(&draft) + rng.below(5_000));
    let lost_ms = client.now_ms();
    if rng.chance(1, 3) {
        let window = window(&draft, lost_ms);
        draft.client(window);
    } else {
        draft.reset(lost_ms, "s1");
        for n in 1..=*rng.pick(&[1, 2, 3, 6]) {
            let check = operation("edge · stub.validate", Edge::Begin, HANDSHAKE_CHECK_COUNT + n, "s1");
            draft.fault_by_chance(check, fail(ErrorKind::CodeUpdate));
        }
    }
    for _ in 0..rng.between(1, 3) {
        client.rest(*rng.pick_weighted(&[(2, 3_000), (2, 10_000), (1, 60_000)]) + rng.below(3_000));
        client.call(&mut rng, 0);
    }
    draft.client(client);
    draft.until_idle()
}

/// Another window of the same account, which ends the session.
fn window(draft: &Draft, at_ms: u64) -> ClientDraft {
    let mut window = ClientDraft::new(2, draft.latency_ms()).as_account_of(1);
    window.until(at_ms);
    window.act(Action::Adopt { of: "s1".to_owned() });
    window.close();
    window
}
