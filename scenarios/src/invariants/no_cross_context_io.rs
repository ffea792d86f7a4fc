//! I20: nothing is used from another request's context than the one it was made in.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "no-cross-context-io",
    kind: Kind::Always,
    claim: "no I/O object is used outside the context that it was made in",
    covers: &["I20"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let violations = trace
        .named(Stream::Platform, "io.cross-context")
        .map(|event| {
            let text = event.text("text").unwrap_or("no text");
            Violation::at(event, format!("an I/O object of another context was used: {text}"))
        })
        .collect();
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_run_in_which_every_context_keeps_to_itself_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn a_use_across_contexts_is_named_with_the_platform_s_text() {
        let text = [("text", "Cannot perform I/O on behalf of a different Durable Object.".into())];
        let found = violation(INVARIANT, story().platform(1_022, "s1", "io.cross-context", &text));
        assert!(found.what.ends_with("different Durable Object."));
        assert_eq!(found.session.as_deref(), Some("s1"));
    }
}
