//! Somebody else's token comes with a session's id: another account, the same account elsewhere, or a token too old.
//!
//! Goal: strangers are turned away each time and the owner notices nothing, whatever state the session is in. Method: a
//! session that is resident, cold or condemned, requests on its id with its own and other tokens in turn, and owner
//! checks by other workers beside them.

use super::any;
use crate::catalog::Scenario;
use crate::catalog::draft::direct::{call, identity};
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Plan, Token};
use crate::seed::Seed;

/// Strangers.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "strangers come with a session's id, to a session that is resident, cold or condemned: they are turned away, and the owner is served",
    weight: 3,
    sometimes: &["situation/foreign-caller"],
    plan,
};

const ID: &str = "identity/foreign-caller";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("callers");
    for number in 1..=rng.between(1, 2) {
        let mut client = ClientDraft::new(number, rng.below(1_000));
        client.open();
        for _ in 0..rng.between(2, 5) {
            client.rest(*rng.pick(&[1, 300, 2_000]));
            if rng.chance(1, 3) {
                client.rest(draft.disposed_after_ms());
            }
            client.present(*rng.pick(&[Token::Own, Token::OtherAccount, Token::OtherOrganization, Token::Expired]));
            any(&mut client, &mut rng);
            if rng.chance(1, 3) {
                let at_ms = client.now_ms() + rng.below(20);
                draft
                    .call("worker", call(at_ms, client.name(), "validateMcpSessionOwner", identity(rng.between(1, 3))));
            }
        }
        if rng.chance(1, 4) {
            client.present(Token::Own);
            client.close();
            client.rest(rng.below(2_000));
            client.present(*rng.pick(&[Token::Own, Token::OtherAccount]));
            client.ping();
        }
        client.present(Token::Own);
        client.rest(rng.between(1, 2_000));
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
