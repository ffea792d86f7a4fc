//! I47: whatever becomes of the stored copy, an answer is written to the connection that waits for it.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "live-write-survives-the-store",
    kind: Kind::Always,
    claim: "an answer that is due on a live connection is written to it, stored or not",
    covers: &["I47"],
    judge,
};

/// Storing an answer takes one turn; a planned hold is looked up.
const STORED_WITHIN_MS: u64 = 2_000;

fn judge(case: &Case<'_>) -> Verdict {
    let mut due: BTreeMap<(u64, &str), &Event> = BTreeMap::new();
    for event in case.trace.of(Stream::State) {
        let (Some(socket), Some(rpc)) = (event.number("socket"), event.text("rpc")) else { continue };
        match &*event.name {
            "response.due" => {
                due.insert((socket, rpc), event);
            }
            "event.sent" => {
                due.remove(&(socket, rpc));
            }
            _ => {}
        }
    }
    let faults = case.faults();
    let ends_at_ms = case.trace.ends_at_ms;
    let unwritten = due.into_values().filter(|event| {
        let session = event.who().unwrap_or("");
        let is_young = event.at_ms + STORED_WITHIN_MS > ends_at_ms;
        let is_excused = faults.is_disturbed(session, event.at_ms, event.at_ms + STORED_WITHIN_MS)
            || faults.held_ms(event.at_ms, event.at_ms + STORED_WITHIN_MS) > 0;
        !is_young && !is_excused
    });
    Verdict::of(
        unwritten.map(|event| Violation::at(event, "an answer was never written to its connection")).collect(),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    #[test]
    fn an_answer_that_is_due_must_be_sent_on_its_connection() {
        let of = |socket: u64| [("socket", socket.into()), ("rpc", "r1".into())];
        let due = || Builder::default().state(1, "s1", "response.due", &of(7)).phase(9_000, "end");
        assert_eq!(judged(INVARIANT, due().state(1, "s1", "event.sent", &of(7))), Verdict::Held);
        let found = violation(INVARIANT, due().state(1, "s1", "event.sent", &of(8)));
        assert_eq!(found.what, "an answer was never written to its connection");
    }
}
