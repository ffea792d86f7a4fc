//! Tests of `gauge-matches-residents` on hand-made traces.

use super::*;
use crate::invariants::testing::{Builder, judged, story, violation};

#[test]
fn a_gauge_that_follows_every_install_and_release_is_fine() {
    assert_eq!(judged(INVARIANT, story()), Verdict::Held);
}

#[test]
fn a_release_that_the_gauge_does_not_follow_is_named() {
    let found = violation(INVARIANT, story().without("gauge", 1));
    assert_eq!(found.what, "the gauge of isolate i1 says 1, resident are 0");
}

#[test]
fn a_gauge_that_counts_one_session_twice_is_named() {
    violation(INVARIANT, story().change("gauge", 2, "residents", 2_u64.into()));
}

#[test]
fn a_span_that_was_annotated_before_the_release_is_named() {
    let early = story().change_attribute(0, ATTRIBUTE, 1_u64.into());
    let found = violation(INVARIANT, early);
    assert!(found.what.starts_with("a disposal span reports 1 resident runtimes"));
    let silent = story().change_attribute(0, ATTRIBUTE, serde_json::Value::Null);
    assert!(violation(INVARIANT, silent.clone()).what.contains("lacks"));
    // An interrupt skips the bookkeeping that puts it there.
    let interrupted = silent.change("disposal.end", 0, "outcome", "interrupted".into());
    assert_eq!(
        judged(INVARIANT, interrupted.change("mcp.session.idle_runtime_dispose", 0, "end_at_ms", 1_023_u64.into())),
        Verdict::Held
    );
}

#[test]
fn a_neighbour_that_came_in_between_explains_a_higher_number() {
    let trace = story()
        .platform(900, "s2", "object.constructed", &[("isolate", "i1".into())])
        .state(1_022, "s2", "runtime.installed", &[("runtime", 7_u64.into())])
        .state(1_022, "i1", "gauge", &[("isolate", "i1".into()), ("residents", 1_u64.into())])
        .state(1_900, "s2", "runtime.released", &[("runtime", 7_u64.into())])
        .state(1_900, "i1", "gauge", &[("isolate", "i1".into()), ("residents", 0_u64.into())])
        .change_attribute(0, ATTRIBUTE, 1_u64.into())
        .change("mcp.session.idle_runtime_dispose", 0, "end_at_ms", 1_023_u64.into());
    assert_eq!(judged(INVARIANT, trace), Verdict::Held);
}

#[test]
fn after_the_loss_of_a_resident_object_its_isolate_is_not_judged() {
    let lost = story()
        .cut(30)
        .platform(31, "s1", "object.reset", &[("kind", "code_update".into())])
        .platform(40, "s1", "object.constructed", &[("isolate", "i1".into())])
        .state(41, "s1", "runtime.installed", &[("runtime", 2_u64.into())])
        .state(41, "i1", "gauge", &[("isolate", "i1".into()), ("residents", 2_u64.into())]);
    assert_eq!(judged(INVARIANT, lost.clone()), Verdict::Held);
    let from_the_start = lost.without("gauge", 0).without_between(0, 4).state(
        4,
        "s1",
        "runtime.installed",
        &[("runtime", 1_u64.into())],
    );
    let unplaced = from_the_start.platform(3, "s1", "object.constructed", &[("isolate", "i1".into())]);
    // The gauge was missing before the loss, and that is still a violation.
    violation(INVARIANT, unplaced);
}

#[test]
fn the_span_of_an_interrupted_disposal_need_not_tell_the_gauge() {
    let bare = |trace: Builder| trace.change_attribute(1, ATTRIBUTE, serde_json::Value::Null);
    let interrupted = |at: usize| bare(story()).change("disposal.end", at, "outcome", "interrupted".into());
    assert_eq!(judged(INVARIANT, interrupted(1)), Verdict::Held);
    for other in [0, 2] {
        violation(INVARIANT, interrupted(other));
    }
    violation(INVARIANT, bare(story()));
    // An object that is lost before the disposal tells how it ended, and one that is lost after it.
    let lost = |trace: Builder, at_ms: u64| trace.platform(at_ms, "s1", "object.reset", &[("kind", "cpu".into())]);
    assert_eq!(judged(INVARIANT, lost(bare(story()).without("disposal.end", 1), 6_025).cut(90_000)), Verdict::Held);
    violation(INVARIANT, lost(bare(story()), 6_030).cut(90_000));
}
