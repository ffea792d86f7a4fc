//! The identity provider is away for a while, or a token is too old: requests are refused, and the session is untouched.
//!
//! Goal: neither outcome condemns a session; the next request with a good token is served. Method: sessions in use, one
//! to four requests in a row for which the provider does not answer or is slow, some with a token too old, then requests
//! that it answers again, also after the idle timeout.

use super::any;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, Plan, Token};
use crate::seed::Seed;

/// A provider that is away.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "the identity provider is away for a while, or a token is too old: requests are refused, and the session lives on",
    weight: 3,
    sometimes: &["answer/auth-unavailable"],
    plan,
};

const ID: &str = "identity/provider-blip";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let mut rng = draft.rng("blip");
    for number in 1..=rng.between(1, 3) {
        let mut client = ClientDraft::new(number, rng.below(1_000));
        client.open();
        client.rest(rng.between(1, 500));
        client.call(&mut rng, 0);
        // The handshake and the call asked the provider three times.
        let first = 4 + rng.below(2);
        let length = rng.between(1, 4);
        for n in first..first + length {
            let effect = if rng.chance(1, 4) {
                Effect::Delay { ms: rng.between(50, 5_000) }
            } else {
                fail(ErrorKind::Retryable)
            };
            draft.fault_by_chance(operation("edge · auth.authenticate", Edge::Begin, n as u32, client.name()), effect);
        }
        for _ in 0..length + 1 {
            client.rest(rng.between(1, 3_000));
            if rng.chance(1, 6) {
                client.present(Token::Expired);
                any(&mut client, &mut rng);
                client.present(Token::Own);
            }
            any(&mut client, &mut rng);
        }
        if rng.chance(1, 2) {
            client.rest(draft.disposed_after_ms());
        }
        client.rest(rng.between(1, 3_000));
        client.call(&mut rng, 0);
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}
