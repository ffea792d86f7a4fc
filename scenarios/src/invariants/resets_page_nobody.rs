//! I36: what the platform does to an object is never reported as a fault of the product.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "resets-page-nobody",
    kind: Kind::Always,
    claim: "a failure whose text is the platform's for a reset is captured by nobody but the lease of an approval",
    covers: &["I36", "I38"],
    judge,
};

/// Texts of the platform (session-core §4.1), in small letters.
const TEXTS: [&str; 7] = [
    "durable object reset because its code was updated",
    "storage operation exceeded timeout",
    "internal error in durable object storage",
    "internal error while starting up durable object",
    "blockconcurrencywhile() in a durable object waited for too long",
    "exceeded its cpu time limit and was reset",
    "internal error; reference =",
];

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut told: BTreeMap<&str, &Event> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in case.trace.of(Stream::Telemetry) {
        let who = event.who().unwrap_or("");
        if event.name == "console.error" {
            told.insert(who, event);
        }
        let Some(message) = event.text("message").filter(|_| event.text("what") == Some("report")) else { continue };
        // A lease says each of its failures, also those that are the platform's (session-core §4.2).
        let is_of_lease = told.get(who).is_some_and(|line| {
            let is_lease = line.text("text").is_some_and(|text| text.contains("pending approval lease"));
            line.at_ms == event.at_ms && is_lease
        });
        if is_of_platform(message) && !is_of_lease && !faults.fails_at_edge(event.at_ms, event.at_ms) {
            violations.push(Violation::at(event, "a reset by the platform was captured"));
        }
    }
    Verdict::of(violations, None)
}

/// Whether a failure with this text is one of the platform's, which everybody recognises.
pub(super) fn is_of_platform(message: &str) -> bool {
    let message = message.trim().to_lowercase();
    message == "destroyed" || TEXTS.iter().any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn captured(trace: Builder, message: &'static str) -> Builder {
        let report = [("what", "report".into()), ("message", message.into())];
        let mut trace = trace.state(50, "s1", "captured", &report);
        trace.retell("captured", Stream::Telemetry);
        trace
    }

    #[test]
    fn a_failure_of_the_product_is_captured_and_one_of_the_platform_is_not() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(judged(INVARIANT, captured(story(), "quota exceeded")), Verdict::Held);
        let reset = captured(story(), "Durable Object reset because its code was updated.");
        assert_eq!(violation(INVARIANT, reset).what, "a reset by the platform was captured");
    }

    #[test]
    fn a_lease_tells_its_failures_whatever_they_are() {
        let line = [("what", "log".into()), ("text", "[mcp-session] pending approval lease start failed:".into())];
        let mut told = story().state(50, "s1", "console.error", &line);
        told.retell("console.error", Stream::Telemetry);
        let reset = captured(told, "Durable Object reset because its code was updated.");
        assert_eq!(judged(INVARIANT, reset), Verdict::Held);
    }
}
