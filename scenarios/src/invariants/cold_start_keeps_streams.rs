//! I10: a start in a cold object closes no connection, and one that replaces a runtime leaves none of its connections.

use super::replay::Replay;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::Stream;
use std::collections::{BTreeMap, BTreeSet};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "cold-start-keeps-streams",
    kind: Kind::Always,
    claim: "a start in a cold object closes none of its connections before it builds, and a start over a runtime closes them all",
    covers: &["I10"],
    judge,
};

/// A start that has not begun to build.
struct Start {
    at_ms: u64,
    is_cold: bool,
    /// Connections that were open when it began.
    sockets: BTreeSet<String>,
}

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut starts: BTreeMap<String, Start> = BTreeMap::new();
    let mut violations = Vec::new();
    Replay::each(case, |replay, event| {
        let Some((who, session)) = event.who().and_then(|who| Some((who, replay.session(who)?))) else { return };
        match (event.stream, &*event.name) {
            // A start that meets a teardown waits for that, and what it would do to connections is dropped.
            (Stream::State, "start.begin") if session.teardown_count == 0 && session.start_count == 0 => {
                let (is_cold, sockets) = (session.runtime.is_none(), session.sockets.clone());
                let start = Start { at_ms: event.at_ms, is_cold, sockets };
                starts.insert(who.into(), start);
            }
            (Stream::Platform, "socket.closed") => {
                // One that fails before it builds ends in a teardown of what it left, connections included.
                let is_failing = |start: &Start| faults.is_disturbed(who, start.at_ms, event.at_ms);
                let is_cold = starts.get(who).is_some_and(|start| start.is_cold && !is_failing(start));
                let is_own = event.text("by") == Some("object") && event.text("reason") == Some("Session closed");
                if is_cold && is_own {
                    violations.push(Violation::at(event, "a cold start closed a connection of its session"));
                }
            }
            (Stream::State, "init.begin") => {
                let Some(start) = starts.remove(who).filter(|start| !start.is_cold) else { return };
                let kept = start.sockets.intersection(&session.sockets).count();
                if kept > 0 && !faults.is_disturbed(who, 0, event.at_ms) {
                    let what = format!("a start over a runtime left {kept} of its connections open");
                    violations.push(Violation::at(event, what));
                }
            }
            (Stream::State, "start.end")
            | (Stream::Platform, "object.constructed" | "object.reset" | "object.gone") => {
                starts.remove(who);
            }
            _ => {}
        }
    });
    Verdict::of(violations, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan_with_failing_alarm_write, story, violation};
    use super::*;

    fn started(trace: Builder) -> Builder {
        trace.state(3_000, "s1", "start.begin", &[("start", 9_u64.into())])
    }

    fn closed(trace: Builder) -> Builder {
        let closed = [("socket", 77_u64.into()), ("by", "object".into()), ("reason", "Session closed".into())];
        trace.platform(3_000, "s1", "socket.closed", &closed)
    }

    fn open(trace: Builder) -> Builder {
        trace.platform(2_500, "s1", "socket.opened", &[("socket", 77_u64.into()), ("method", "GET".into())])
    }

    #[test]
    fn a_cold_start_that_leaves_its_connections_alone_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        let kept = started(open(story())).state(3_001, "s1", "init.begin", &[]);
        assert_eq!(judged(INVARIANT, kept), Verdict::Held);
    }

    #[test]
    fn one_that_closes_them_is_named() {
        let found = violation(INVARIANT, closed(started(open(story()))));
        assert_eq!(found.what, "a cold start closed a connection of its session");
    }

    #[test]
    fn a_cold_start_that_is_made_to_fail_may_close_them() {
        let judged = |at_ms: u64| {
            let trace = closed(started(open(story())).fault_of(at_ms, "s1", "fault.delivered", 0)).build();
            INVARIANT.judge(&plan_with_failing_alarm_write(), &trace)
        };
        assert_eq!(judged(3_000), Verdict::Held);
        assert!(matches!(judged(2_600), Verdict::Violated(_)));
    }

    #[test]
    fn a_start_over_a_runtime_must_close_them() {
        let warm = open(story()).state(2_600, "s1", "runtime.installed", &[("runtime", 9_u64.into())]);
        let left = started(warm.clone()).state(3_001, "s1", "init.begin", &[]);
        assert_eq!(violation(INVARIANT, left).what, "a start over a runtime left 1 of its connections open");
        let all = closed(started(warm)).state(3_001, "s1", "init.begin", &[]);
        assert_eq!(judged(INVARIANT, all), Verdict::Held);
    }
}
