//! Megabytes of answers that no listener took, and clients that come for them.
//!
//! Goal: a session can be listened to however much was never acknowledged, and everything of it is brought in the end.
//! Method: POSTs of many large answers each, together below or above the 8 MiB that a bridge holds for its client, then GETs
//! without a cursor, one after the other.

use super::code;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a client comes for more answers than the edge can hold for it, and gets them all, a part at a time",
    weight: 1,
    sometimes: &["situation/replay-bounded"],
    plan,
};

const ID: &str = "stream/more-than-a-bridge-holds";
/// A text of so many bytes makes an answer, which has it twice, of which a stream keeps eighteen.
const TEXT_BYTES: u64 = 56_000;
const ANSWERS: u32 = 18;
/// That many full streams are just above what a bridge holds.
const OVER_COUNT: u64 = 5;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(300_000);
    let client = client(&draft);
    draft.client(client);
    draft.until_idle()
}

fn client(draft: &Draft) -> ClientDraft {
    let mut rng = draft.rng("client");
    let mut client = ClientDraft::new(1, 0);
    client.open();
    for _ in 0..rng.between(OVER_COUNT - 1, OVER_COUNT + 1) {
        client.rest(rng.between(10, 500));
        let code = code(&client, &mut rng, 10, TEXT_BYTES);
        client.act(Action::Post { code, copies: ANSWERS, cut: None });
    }
    for _ in 0..rng.between(2, 3) {
        client.rest(rng.between(100, 2_000));
        client.act(Action::Recover { fresh: true, cut: None });
    }
    client.call(&mut rng, 0);
    client
}
