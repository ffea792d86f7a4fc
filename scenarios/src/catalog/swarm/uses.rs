//! What a client of a swarm may do.

use crate::catalog::draft::asking::response;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::catalog::stream::{cut_call, recover};
use crate::plan::{Action, Token};
use crate::rng::Rng;

/// All of it; a swarm has some.
pub const USES: &[Use] = &[
    Use::Call,
    Use::Work,
    Use::Beside,
    Use::Ping,
    Use::Stream,
    Use::Listen,
    Use::EndStream,
    Use::Stall,
    Use::Cut,
    Use::Ask,
    Use::Resume,
    Use::Decide,
    Use::Reopen,
    Use::Present,
];

/// A kind of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Code that answers at once.
    Call,
    /// Code that takes its time.
    Work,
    /// Code that is not waited for.
    Beside,
    /// A ping.
    Ping,
    /// A standalone GET stream.
    Stream,
    /// One more of them.
    Listen,
    /// The client closes what it listens to.
    EndStream,
    /// It reads nothing for a while.
    Stall,
    /// It loses the connection of a call, and asks for the answer.
    Cut,
    /// Code that asks a person, once or twice.
    Ask,
    /// The model answers for its person, its own question or somebody else's.
    Resume,
    /// A person decides in the console.
    Decide,
    /// Ends the session and opens another.
    Reopen,
    /// Comes with another token once.
    Present,
}

/// Draws one use of that kind.
pub fn use_it(what: Use, draft: &Draft, client: &mut ClientDraft, rng: &mut Rng, client_count: u64) {
    match what {
        Use::Call => client.call(rng, 0),
        Use::Work => {
            let wait_ms = rng.between(1, draft.timeout_ms().min(20_000));
            client.call(rng, wait_ms);
        }
        Use::Beside => {
            let wait_ms = rng.below(3_000);
            client.call_beside(rng, wait_ms);
        }
        Use::Ping => client.ping(),
        Use::Stream => client.stream(),
        Use::Listen => client.act(Action::Listen {}),
        Use::EndStream => client.act(Action::EndStream {}),
        Use::Stall => client.act(Action::Stall { ms: rng.between(1, 20_000) }),
        Use::Cut => {
            let wait_ms = *rng.pick(&[0, 50, 800]);
            cut_call(client, rng, draft, wait_ms);
            client.rest(*rng.pick(&[1, wait_ms + 500]));
            let fresh = rng.chance(1, 3);
            recover(client, rng, fresh);
        }
        Use::Ask => {
            let questions = rng.between(1, 2);
            client.ask_often(rng, questions);
        }
        Use::Resume => {
            let of = asker(rng, client_count);
            client.resume(response(rng), of.as_deref());
        }
        Use::Decide => {
            let of = asker(rng, client_count);
            client.decide(response(rng), of.as_deref());
        }
        Use::Reopen => {
            client.close();
            client.rest(rng.below(3_000));
            client.open();
        }
        Use::Present => {
            client.present(*rng.pick(&[Token::OtherAccount, Token::OtherOrganization, Token::Expired, Token::Revoked]));
            client.ping();
            client.present(Token::Own);
        }
    }
}

/// Whose question is answered: mostly one's own.
fn asker(rng: &mut Rng, client_count: u64) -> Option<String> {
    rng.chance(1, 4).then(|| name(rng.between(1, client_count)))
}

fn name(number: u64) -> String {
    format!("s{number}")
}
