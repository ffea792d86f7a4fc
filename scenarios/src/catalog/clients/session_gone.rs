//! A session that another window has ended, met by clients that open another one, and by clients that do not.
//!
//! Goal: the id that was ended stays ended for whoever goes on with it; a session opened in its place is like any other, and
//! a call that was sent again runs in it. Method: clients with personas hold listeners and call while another window ends
//! their session; calls come before, around and after that, some at once.

use super::{connected, connected_ms};
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a session is ended by another window, and its client opens a new one or goes on with the dead id",
    weight: 4,
    sometimes: &["client/renews", "client/sent-again", "situation/request-meets-condemned"],
    plan,
};

const ID: &str = "clients/session-gone";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let (mut client, mut rng) = connected(&draft, 1);
    client.rest(connected_ms(&draft));
    let ended_ms = client.now_ms() + rng.between(1_000, 5_000);
    if rng.chance(1, 2) {
        client.call(&mut rng, 0);
    }
    client.until((ended_ms + rng.below(60)).saturating_sub(rng.below(30)));
    for _ in 0..rng.between(2, 5) {
        match rng.below(4) {
            0 => client.call_beside(&mut rng, 200),
            1 => client.ping(),
            _ => client.call(&mut rng, 0),
        }
        client.rest(*rng.pick_weighted(&[(3, 5), (2, 500), (2, 3_000), (1, 20_000)]));
    }
    if rng.chance(1, 3) {
        client.close();
    }
    draft.client(client);
    let mut window = ClientDraft::new(2, draft.latency_ms()).as_account_of(1);
    window.until(ended_ms);
    window.act(Action::Adopt { of: "s1".to_owned() });
    window.close();
    draft.client(window);
    draft.until_idle()
}
