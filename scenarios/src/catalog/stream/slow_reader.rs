//! A client that does not read for a while, as more and more comes for it.
//!
//! Goal: what waits for it in the edge has a limit, beyond which its stream is given up; below that it gets everything once
//! it reads again; what is kept of a stream that was given up can be asked for. Method: many large results in one POST,
//! below and above the limit of 8 MiB, for a client that reads nothing for some seconds.

use super::code;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Plan};
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "a client reads nothing while megabytes come for it, and is given up before they fill the edge",
    weight: 1,
    sometimes: &["situation/client-not-draining"],
    plan,
};

const ID: &str = "stream/slow-reader";
/// A text of so many bytes makes an answer, which has it twice, of a little less than what is kept at most.
const TEXT_BYTES: u64 = 60_000;
/// That many such answers exceed the limit of the edge.
const OVER_COUNT: u64 = 72;

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
    client.rest(rng.between(10, 500));
    let stall_ms = rng.between(1, 30) * 1_000;
    client.act(Action::Stall { ms: stall_ms });
    let copies = if rng.chance(1, 2) { rng.between(OVER_COUNT, OVER_COUNT + 8) } else { rng.between(20, 60) };
    let code = code(&client, &mut rng, 10, TEXT_BYTES);
    client.act(Action::Post { code, copies: copies as u32, cut: None });
    client.rest(rng.between(1, 2_000));
    if rng.chance(1, 2) {
        client.act(Action::Recover { fresh: true, cut: None });
    }
    client.until(stall_ms + 1_000);
    client.call(&mut rng, 0);
    client
}
