//! I36: a failure of an init that nobody knows is captured by the session, and by nobody after it.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "init-failures-are-captured",
    kind: Kind::Always,
    claim: "a failure that an init reports in its log is captured, and not again by those to whom it is thrown",
    covers: &["I36"],
    judge,
};

const LINE: &str = "[mcp-session] init failed:";
/// Whoever asked for the start hears of its failure within this time, in ms: some trips of a hostile world.
const THROWN_WITHIN_MS: u64 = 10_000;

fn judge(case: &Case<'_>) -> Verdict {
    let events = &case.trace.events;
    let is_line = |event: &&Event| {
        event.is(Stream::Telemetry, "console.error") && event.text("text").is_some_and(|text| text.starts_with(LINE))
    };
    let mut violations = Vec::new();
    for line in events.iter().filter(is_line) {
        let after = &events[events.partition_point(|event| event.ordinal <= line.ordinal)..];
        let mut captures = after.iter().filter(|event| event.who == line.who && is_capture(event));
        let Some(first) = captures.next().filter(|capture| capture.at_ms == line.at_ms) else {
            violations.push(Violation::at(line, "a failure of an init was captured by nobody"));
            continue;
        };
        // From the next thing that goes wrong on, the same text may be said of that.
        let goes_wrong = |event: &&Event| event.stream == Stream::Fault || event.name == "init.begin" || is_loss(event);
        let until = after.iter().filter(|event| event.ordinal > first.ordinal).find(goes_wrong);
        let is_same = |event: &&Event| {
            event.at_ms <= line.at_ms + THROWN_WITHIN_MS
                && until.is_none_or(|until| event.ordinal < until.ordinal)
                && event.text("message") == first.text("message")
        };
        violations.extend(
            captures.find(is_same).map(|event| Violation::at(event, "a failure of an init was captured again")),
        );
    }
    Verdict::of(violations, None)
}

fn is_capture(event: &Event) -> bool {
    event.stream == Stream::Telemetry && event.text("what") == Some("report")
}

fn is_loss(event: &Event) -> bool {
    event.stream == Stream::Platform && matches!(&*event.name, "object.reset" | "object.gone" | "isolate.ended")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;

    fn told(trace: Builder, at_ms: u64) -> Builder {
        trace.log(at_ms, "s1", "console.error", &[("text", LINE.into()), ("error", "Error: quota".into())])
    }

    fn captured(trace: Builder, at_ms: u64, message: &'static str) -> Builder {
        trace.log(at_ms, "s1", "captured", &[("what", "report".into()), ("message", message.into())])
    }

    #[test]
    fn a_failure_is_captured_once_and_at_once() {
        let one = captured(told(story(), 30), 30, "quota");
        assert_eq!(judged(INVARIANT, one.clone()), Verdict::Held);
        assert_eq!(violation(INVARIANT, told(story(), 30)).what, "a failure of an init was captured by nobody");
        assert_eq!(violation(INVARIANT, captured(told(story(), 30), 31, "quota")).at_ms, 30);
        let again = violation(INVARIANT, captured(one.clone(), 40, "quota"));
        assert_eq!((again.at_ms, &*again.what), (40, "a failure of an init was captured again"));
        assert_eq!(judged(INVARIANT, captured(one.clone(), 40, "another")), Verdict::Held);
        // What failed after a further fault may be that one's doing.
        assert_eq!(judged(INVARIANT, captured(one.fault(35, "fault.delivered", 0), 40, "quota")), Verdict::Held);
    }
}
