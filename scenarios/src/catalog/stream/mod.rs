//! Streams and the client's end of them: cut and resumed, undelivered, two at once, too large, too old, not read.

pub mod cut_and_resume;
pub mod max_age;
pub mod more_than_a_bridge_holds;
pub mod oversize_event;
pub mod slow_reader;
pub mod two_listeners;
pub mod undelivered_result;

use super::Scenario;
use super::draft::{ClientDraft, Draft};
use crate::plan::{Action, Cut};
use crate::rng::Rng;

/// One line a scenario.
pub const SCENARIOS: &[Scenario] = &[
    cut_and_resume::SCENARIO,
    undelivered_result::SCENARIO,
    two_listeners::SCENARIO,
    oversize_event::SCENARIO,
    max_age::SCENARIO,
    slow_reader::SCENARIO,
    more_than_a_bridge_holds::SCENARIO,
];

/// Code that waits so long, in ms, and returns a mark of that client's next step; of so many bytes if there are any.
fn code(client: &ClientDraft, rng: &mut Rng, wait_ms: u64, bytes: u64) -> String {
    let mark = client.mark(rng);
    let wait = if wait_ms > 0 { format!("wait {wait_ms}; ") } else { String::new() };
    let value = if bytes > 0 { format!("large {bytes} \"{mark}\"") } else { format!("\"{mark}\"") };
    format!("{wait}return {value}")
}

/// A POST whose connection the client drops around the time of its answer: before, while it is on its way, or after.
pub(super) fn cut_call(client: &mut ClientDraft, rng: &mut Rng, draft: &Draft, wait_ms: u64) {
    let code = code(client, rng, wait_ms, 0);
    let near = *rng.pick_weighted(&[(3, 0), (3, 20), (2, draft.latency_ms().min(2_000))]);
    let cut = match rng.below(6) {
        0 => Cut { after_events: 0, ms: rng.between(1, 60) },
        1 | 2 => Cut { after_events: 1, ms: 0 },
        _ => Cut { after_events: 1, ms: (wait_ms + rng.below(near + 1)).saturating_sub(rng.below(near + 1)) },
    };
    client.act(Action::Post { code, copies: 1, cut: Some(cut) });
}

/// A GET for what was lost; now and then it is cut as well, early enough to meet its own answer.
pub(super) fn recover(client: &mut ClientDraft, rng: &mut Rng, fresh: bool) {
    let cut = match rng.below(6) {
        0 => Some(Cut { after_events: 0, ms: rng.between(1, 80) }),
        1 => Some(Cut { after_events: 1, ms: 0 }),
        _ => None,
    };
    client.act(Action::Recover { fresh, cut });
}
