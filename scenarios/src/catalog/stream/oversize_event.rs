//! Results that are too large to be kept, and streams that have more than is kept.
//!
//! Goal: an answer is written whatever becomes of its copy; a stream over its limits of 64 events or 2 MiB loses old
//! events and never the newest. Method: results around 120 KiB and far above, many calls in one POST, cut and resumed.

use super::code;
use crate::catalog::Scenario;
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{Action, Cut, Plan};
use crate::rng::Rng;
use crate::seed::Seed;

/// See the file.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "results that are too large to be kept are answered, and a full stream loses its oldest events only",
    weight: 2,
    sometimes: &["log/event-store-skipped-oversize"],
    plan,
};

const ID: &str = "stream/oversize-event";
/// A text of so many bytes makes an answer, which has it twice, about as long as what is kept at most.
const AT_THE_LIMIT_BYTES: u64 = 61_250;

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.draw_timeout();
    let client = client(&draft);
    draft.client(client);
    draft.until_idle()
}

fn client(draft: &Draft) -> ClientDraft {
    let mut rng = draft.rng("client");
    let mut client = ClientDraft::new(1, 0);
    client.open();
    for _ in 0..rng.between(1, 3) {
        client.rest(rng.between(10, 500));
        let (bytes, copies) = size(&mut rng);
        let code = code(&client, &mut rng, wait_ms(copies), bytes);
        let cut = rng.chance(1, 2).then(|| Cut { after_events: 1, ms: rng.below(40) });
        let is_cut = cut.is_some();
        client.act(Action::Post { code, copies, cut });
        client.rest(rng.between(1, 2_000));
        if is_cut || rng.chance(1, 3) {
            let fresh = rng.chance(1, 3);
            client.act(Action::Recover { fresh, cut: None });
        }
    }
    client.rest(rng.between(1, 500));
    client.call(&mut rng, 0);
    client
}

/// Bytes of a result, and how many of them stand in one POST.
fn size(rng: &mut Rng) -> (u64, u32) {
    match rng.below(8) {
        0..=2 => (AT_THE_LIMIT_BYTES - 150 + rng.below(301), 1),
        3 | 4 => (rng.between(100_000, 400_000), 1),
        5 => (0, rng.between(60, 75) as u32),
        6 => (60_000, rng.between(16, 20) as u32),
        _ => (rng.between(100, 2_000), rng.between(2, 6) as u32),
    }
}

/// Many calls of one POST overlap a little longer.
fn wait_ms(copies: u32) -> u64 {
    u64::from(copies > 1) * 20
}
