//! Tests of `disposal-is-recorded` on hand-made traces.

use super::*;
use crate::invariants::testing::{judged, plan_with_failing_alarm_write, story, violation};
use crate::plan::{Edge, When};

#[test]
fn disposals_with_their_log_line_and_span_are_fine() {
    assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    assert_eq!(judged(INVARIANT, story().cut(900)), Verdict::Held);
}

#[test]
fn a_missing_record_is_named() {
    assert_eq!(violation(INVARIANT, story().without(LOG, 2)).what, "a disposal left no log line");
    assert_eq!(violation(INVARIANT, story().without(SPAN, 0)).what, "a disposal left no span");
}

#[test]
fn a_record_too_many_is_named() {
    let log = story().copy(LOG, 0, 1_030);
    assert_eq!(violation(INVARIANT, log).what, "a disposal was told once more than it happened");
    let span = story().copy(SPAN, 2, 97_000);
    assert_eq!(violation(INVARIANT, span).what, "a disposal was told once more than it happened");
    let none = story().without_all("disposal.begin");
    assert_eq!(violation(INVARIANT, none).what, "a disposal was told that did not happen");
}

#[test]
fn records_that_disagree_are_named() {
    let log = story().change(LOG, 0, "activeStreamCount", 3_u64.into());
    let found = violation(INVARIANT, log);
    assert_eq!(found.what, "the log line of a disposal says activeStreamCount 3, it was 0");
    let span = story().change_attribute(0, "mcp.session.idle_ms", 7.into());
    assert_eq!(violation(INVARIANT, span).what, "the span of a disposal says idleMs 7, it was 1000");
    let id = story().change_attribute(0, "mcp.session.id", "other".into());
    assert!(violation(INVARIANT, id).what.contains("different sessions"));
}

#[test]
fn an_idle_disposal_before_its_timeout_is_named() {
    let early = story()
        .change("disposal.begin", 0, "idle_ms", 999_u64.into())
        .change(LOG, 0, "idleMs", 999_u64.into())
        .change_attribute(0, "mcp.session.idle_ms", 999.into());
    assert_eq!(violation(INVARIANT, early).what, "a disposal for idleness after 999 ms, the timeout is 1000 ms");
}

#[test]
fn a_span_that_was_lost_with_its_object_is_not_missed() {
    let lost = story().without(SPAN, 0).without("disposal.end", 0).platform(1_025, "s1", "object.reset", &[]);
    assert_eq!(judged(INVARIANT, lost), Verdict::Held);
}

#[test]
fn a_span_that_was_on_its_way_when_its_object_was_lost_is_not_missed() {
    let lost = |at_ms| story().without(SPAN, 0).platform(at_ms, "s1", "object.gone", &[]);
    assert_eq!(judged(INVARIANT, lost(1_500)), Verdict::Held);
    violation(INVARIANT, lost(4_000));
}

#[test]
fn a_span_that_waited_behind_a_section_until_the_platform_ended_that_is_not_missed() {
    let lost = |why: &'static str, at_ms| {
        story().without(SPAN, 0).platform(at_ms, "s1", "object.reset", &[("kind", why.into())])
    };
    let section = "A call to blockConcurrencyWhile() in a Durable Object waited for too long. The call was canceled and the Durable Object was reset.";
    assert_eq!(judged(INVARIANT, lost(section, 31_500)), Verdict::Held);
    violation(INVARIANT, lost(section, 34_000));
    violation(INVARIANT, lost("internal error", 31_500));
}

#[test]
fn a_span_that_waited_behind_a_section_whose_timers_did_not_fire_is_not_missed() {
    let lost = |jammed_at_ms| {
        let jammed = story().without(SPAN, 0).platform(jammed_at_ms, "s1", "timers.jammed", &[]);
        jammed.platform(4_500, "s1", "object.reset", &[("kind", "code_update".into())])
    };
    assert_eq!(judged(INVARIANT, lost(1_100)), Verdict::Held);
    violation(INVARIANT, lost(4_400));
}

#[test]
fn the_span_of_the_next_disposal_is_not_taken_for_that_of_a_lost_one() {
    // The first disposal hangs until the object is lost; the next one begins in the same millisecond and is recorded.
    let lost = story()
        .without(SPAN, 0)
        .without("disposal.end", 0)
        .without_between(6_020, 6_030)
        .platform(6_024, "s1", "object.reset", &[])
        .dispose(6_024, 1_000, 2, 0);
    assert_eq!(judged(INVARIANT, lost), Verdict::Held);
}

#[test]
fn a_span_that_a_fault_kept_from_being_exported_is_not_missed() {
    let plan_with = |operation: &str| {
        let mut plan = plan_with_failing_alarm_write();
        plan.faults[0].when =
            When::Operation { operation: operation.into(), root: None, edge: Edge::Begin, n: 1, session: None };
        plan
    };
    let lost = |at_ms| story().without(SPAN, 0).fault(at_ms, "fault.delivered", 0).build();
    let export = plan_with("telemetry · export");
    assert_eq!(INVARIANT.judge(&export, &lost(1_023)), Verdict::Held);
    for (plan, at_ms) in [(&export, 900), (&export, 5_000), (&plan_with("dispose · flush"), 1_023)] {
        assert!(matches!(INVARIANT.judge(plan, &lost(at_ms)), Verdict::Violated(_)), "{at_ms}");
    }
}

#[test]
fn a_run_that_was_cut_during_a_disposal_cannot_tell() {
    let cut = story().without("disposal.end", 0).without(SPAN, 0).cut(1_022);
    assert!(matches!(judged(INVARIANT, cut), Verdict::CannotTell(_)));
}
