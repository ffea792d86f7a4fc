//! The bridge of a client that does not read gives it up before its backlog fills the memory of the edge.

use super::limits::BACKLOG_BYTES_MAX;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "bridge-backlog-is-bounded",
    kind: Kind::Always,
    claim: "what waits for one client in the edge never exceeds 8 MiB",
    covers: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let backlogs = case.trace.named(Stream::State, "sse.backlog");
    let over = backlogs.filter(|event| event.number("bytes").is_some_and(|bytes| bytes > BACKLOG_BYTES_MAX));
    Verdict::of(over.map(|event| Violation::at(event, "more than 8 MiB wait for one client")).collect(), None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, violation};
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let waits = |bytes: u64| Builder::default().state(1, "s1", "sse.backlog", &[("bytes", bytes.into())]);
        assert_eq!(judged(INVARIANT, waits(8_388_608)), Verdict::Held);
        assert_eq!(violation(INVARIANT, waits(8_388_609)).what, "more than 8 MiB wait for one client");
    }
}
