//! An account loses access: its next request is refused and condemns the session, which is wiped.
//!
//! Goal: a positive refusal by the provider ends the session for good, in whatever state it is, and nothing else does.
//! Method: sessions that are resident, cold, paused or streaming, requests with a revoked or suspended token, more
//! requests at once and after the wiping, and then a new session.

use super::any;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Plan, Token};
use crate::seed::Seed;

/// Access that is revoked.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an account loses access: its request is refused, its session is condemned and wiped, and a new one can be opened",
    weight: 3,
    sometimes: &["situation/access-revoked"],
    plan,
};

const ID: &str = "identity/revoked";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("access");
    for number in 1..=rng.between(1, 2) {
        let mut client = ClientDraft::new(number, rng.below(1_000)).reopening(rng.chance(1, 4));
        client.open();
        client.rest(rng.between(1, 500));
        match rng.below(4) {
            0 => client.stream(),
            1 => client.ask(&mut rng),
            2 => client.rest(draft.disposed_after_ms()),
            _ => client.call(&mut rng, 0),
        }
        client.rest(rng.between(1, 1_000));
        client.present(*rng.pick(&[Token::Revoked, Token::Suspended]));
        for _ in 0..rng.between(1, 3) {
            any(&mut client, &mut rng);
            client.rest(rng.below(700));
        }
        client.present(Token::Own);
        client.rest(*rng.pick(&[0, 20, 900, 1_000, 1_100, 5_000]));
        any(&mut client, &mut rng);
        client.rest(3_000 + 2 * draft.latency_ms() + draft.lateness_ms());
        client.ping();
        client.open();
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
