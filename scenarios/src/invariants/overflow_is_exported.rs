//! I17: the span of an init says that the cap overflowed exactly if it did.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream, spans_named};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "overflow-is-exported",
    kind: Kind::Always,
    claim: "the span of an init has the mark of an overflow exactly if the cap was reached and nobody could be asked",
    covers: &["I17"],
    judge,
};

const SPAN: &str = "McpSessionDO.init";
const ATTRIBUTE: &str = "mcp.isolate.cap_overflow";

fn judge(case: &Case<'_>) -> Verdict {
    // When each init of a session began, and whether it overflowed.
    let mut inits: BTreeMap<&str, Vec<(u64, bool)>> = BTreeMap::new();
    for event in case.trace.of(Stream::State) {
        let Some(who) = event.who() else { continue };
        match &*event.name {
            "init.begin" => inits.entry(who).or_default().push((event.at_ms, false)),
            "cap.overflow" => {
                if let Some((_, has_overflowed)) = inits.get_mut(who).and_then(|inits| inits.last_mut()) {
                    *has_overflowed = true;
                }
            }
            _ => {}
        }
    }
    let violations = spans_named(case.trace, SPAN).filter_map(|span| {
        let start_ms = span.number("start_at_ms")?;
        let mut of_span = inits.get(span.who()?)?.iter().filter(|(begun_ms, _)| *begun_ms == start_ms);
        let so = of_span.next().filter(|_| of_span.next().is_none())?.1;
        let is_told = is_true(span);
        let what = match (so, is_told) {
            (true, false) => "an init overflowed the cap, and its span does not say so",
            (false, true) => "the span of an init tells of an overflow that was none",
            _ => return None,
        };
        Some(Violation::at(span, what))
    });
    Verdict::of(violations.collect(), None)
}

fn is_true(span: &Event) -> bool {
    span.attribute(ATTRIBUTE).is_some_and(|value| value.as_bool() == Some(true) || value.as_str() == Some("true"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;
    use serde_json::json;

    fn exported(trace: Builder, attributes: serde_json::Value) -> Builder {
        let span = [("what", "span".into()), ("start_at_ms", 3_u64.into()), ("attributes", attributes.into())];
        trace.log(7, "s1", SPAN, &span)
    }

    #[test]
    fn the_mark_stands_on_the_span_of_the_init_that_overflowed() {
        let (with, without) = (json!({ ATTRIBUTE: true }), json!({}));
        let over = || story().state(4, "s1", "cap.overflow", &[("isolate", "i1".into())]);
        assert_eq!(judged(INVARIANT, exported(story(), without.clone())), Verdict::Held);
        assert_eq!(judged(INVARIANT, exported(over(), with.clone())), Verdict::Held);
        assert_eq!(
            violation(INVARIANT, exported(over(), without)).what,
            "an init overflowed the cap, and its span does not say so"
        );
        assert_eq!(
            violation(INVARIANT, exported(story(), with)).what,
            "the span of an init tells of an overflow that was none"
        );
    }
}
