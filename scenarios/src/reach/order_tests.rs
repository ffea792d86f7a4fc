//! Rows that are about one session, client or execution: what another one does, or what comes in the other order, does
//! not light them.

use super::*;
use crate::invariants::Case;
use crate::invariants::testing::{self, Builder};
use crate::trace::Value;

type Fields = [(&'static str, Value)];

fn is_lit(name: &str, trace: Builder) -> bool {
    let at = rows().iter().position(|row| row.name == name).unwrap_or_else(|| panic!("there is no row {name}"));
    judge(&Case::new(&testing::plan(), &trace.build())).remove(at) == Reached::Yes
}

fn begin(request: u64, op: &'static str, more: &Fields) -> Vec<(&'static str, Value)> {
    [&[("request", request.into()), ("op", op.into())], more].concat()
}

fn end(request: u64, outcome: &'static str) -> Vec<(&'static str, Value)> {
    vec![("request", request.into()), ("outcome", outcome.into()), ("status", 200_u64.into())]
}

/// The window of `exec_1` ends at 10 ms and its lease goes at 20 ms; somebody decides about an execution meanwhile.
fn expiry(decided_ms: u64, answered_ms: u64, execution: &'static str) -> Builder {
    let of = |execution: &'static str| ("execution", Value::from(execution));
    let mut told: Vec<(u64, u64)> = vec![(1, 0), (10, 1), (11, 2), (19, 3), (20, 4), (decided_ms, 5), (answered_ms, 6)];
    told.sort_unstable();
    told.into_iter().fold(Builder::default(), |story, (at_ms, what)| match what {
        0 => story.state(at_ms, "s1", "execution.paused", &[of("exec_1")]),
        1 => story.log(at_ms, "s1", "mcp_pending_approval_lease_expire", &[("executionId", "exec_1".into())]),
        2 => story.state(at_ms, "s1", "approval.recorded", &[of("exec_1"), ("action", "decline".into())]),
        3 => story.state(at_ms, "s1", "execution.resumed", &[of("exec_1"), ("action", "decline".into())]),
        4 => story.state(at_ms, "s1", "lease.returned", &[of("exec_1"), ("by", "expiry".into())]),
        5 => story.history(at_ms, "s2", "request.begin", &begin(9, "decide", &[of(execution)])),
        _ => story.history(at_ms, "s2", "request.end", &end(9, "answered")),
    })
}

#[test]
fn a_decision_meets_an_expiry_only_while_one_of_them_runs() {
    let meets = |decided_ms, answered_ms, execution| {
        is_lit("situation/decision-meets-expiry", expiry(decided_ms, answered_ms, execution))
    };
    assert!(meets(8, 30, "exec_1"), "on its way as the window ends");
    assert!(meets(15, 17, "exec_1"), "asked and answered while the expiry runs");
    assert!(!meets(3, 5, "exec_1"), "answered before");
    assert!(!meets(25, 30, "exec_1"), "asked after");
    assert!(!meets(8, 30, "exec_2"), "about another execution");
}

#[test]
fn an_expiry_is_no_decision_of_a_person() {
    for row in ["situation/decision-recorded", "situation/approval-declined", "situation/decision-taken"] {
        assert!(!is_lit(row, expiry(8, 30, "exec_1")), "{row}");
        assert!(!is_lit(row, expiry(25, 30, "exec_1")), "{row}");
    }
    let of = ("execution", Value::from("exec_1"));
    let decided = |by: &'static str| {
        Builder::default()
            .history(2, "s2", "request.begin", &begin(9, by, std::slice::from_ref(&of)))
            .state(3, "s1", "approval.recorded", &[of.clone(), ("action", "decline".into())])
            .history(4, "s2", "request.end", &end(9, "answered"))
            .state(5, "s1", "approval.taken", &[of.clone(), ("action", "decline".into())])
            .state(6, "s1", "execution.resumed", &[of.clone(), ("action", "decline".into())])
    };
    for row in ["situation/decision-recorded", "situation/approval-declined", "situation/decision-taken"] {
        assert!(is_lit(row, decided("decide")), "{row}");
        assert!(!is_lit(row, decided("look")), "{row}");
    }
}

#[test]
fn a_fresh_get_brings_only_what_its_client_did_not_have() {
    let brings = |request: u64| [("request", request.into()), ("brings", "response".into()), ("rpc", "r1".into())];
    let story = |get: &Fields| {
        let mut asked = begin(2, "recover", &[("method", "GET".into())]);
        asked.extend_from_slice(get);
        let call = begin(1, "call", &[("method", "POST".into())]);
        Builder::default().history(1, "s1", "request.begin", &call).history(5, "s1", "request.begin", &asked)
    };
    let name = "situation/undelivered-fetched";
    assert!(is_lit(name, story(&[]).history(6, "s1", "request.event", &brings(2))));
    let had = story(&[]).history(5, "s1", "request.event", &brings(1));
    assert!(!is_lit(name, had.history(6, "s1", "request.event", &brings(2))), "the call brought it");
    let cursor = story(&[("cursor", "c1:1".into())]);
    assert!(!is_lit(name, cursor.history(6, "s1", "request.event", &brings(2))), "not a fresh GET");
    let others = story(&[]).history(5, "s2", "request.event", &brings(7));
    assert!(is_lit(name, others.history(6, "s1", "request.event", &brings(2))), "what another client has is no matter");
}

#[test]
fn what_happened_to_another_does_not_count_nor_what_comes_later() {
    let exec = |which: &'static str| [("execution", Value::from(which))];
    let again = |who, settled_ms| {
        let story = Builder::default().state(1, who, "execution.resumed", &exec("exec_1"));
        let told: [(u64, &'static str, &'static str); 2] =
            [(3, "execution.paused", "exec_2"), (settled_ms, "execution.settled", "exec_1")];
        let mut told = told.to_vec();
        told.sort_unstable();
        let add = |story: Builder, (at_ms, name, execution): (u64, &str, &'static str)| {
            story.state(at_ms, if name == "execution.paused" { "s1" } else { who }, name, &exec(execution))
        };
        is_lit("situation/pauses-again", told.into_iter().fold(story, add))
    };
    assert!(again("s1", 4) && !again("s2", 4), "the resumed one of another session");
    assert!(!again("s1", 2), "the resumed one is over: another pauses");
    let reset = |who, reset_ms, asked_ms| {
        let call = begin(1, "call", &[]);
        let mut told = vec![(reset_ms, 0), (asked_ms, 1)];
        told.sort_unstable();
        let story = told.into_iter().fold(Builder::default(), |story, (at_ms, what)| match what {
            0 => story.platform(at_ms, who, "object.reset", &[]),
            _ => story.history(at_ms, "s1", "request.begin", &call),
        });
        is_lit("situation/served-after-reset", story.history(9, "s1", "request.end", &end(1, "answered")))
    };
    assert!(reset("s1", 1, 2) && !reset("s2", 1, 2) && !reset("s1", 2, 1));
    let reopened = |ended: &'static str, by: &'static str| {
        let story = Builder::default().history(1, ended, "stream.end", &[("request", 1_u64.into()), ("by", by.into())]);
        is_lit("situation/stream-reopened", story.history(2, "s1", "request.begin", &begin(2, "stream", &[])))
    };
    assert!(reopened("s1", "server") && !reopened("s2", "server") && !reopened("s1", "client"));
}

#[test]
fn a_start_after_a_disposal_is_one_that_found_no_runtime_since() {
    let joined = |names: &[&str]| {
        let told = (1..).zip(names).fold(Builder::default(), |story, (at_ms, name)| match *name {
            "object.constructed" => story.platform(at_ms, "s1", name, &[("isolate", "i1".into())]),
            name => story.state(at_ms, "s1", name, &[("reason", "idle".into())]),
        });
        is_lit("situation/start-joined-after-disposal", told)
    };
    assert!(joined(&["disposal.begin", "disposal.end", "start.begin", "start.joined"]));
    assert!(!joined(&["object.constructed", "object.constructed", "start.begin", "start.joined"]), "never disposed");
    let restarted = ["disposal.begin", "disposal.end", "runtime.installed", "start.begin", "start.joined"];
    assert!(!joined(&restarted), "it has a runtime");
    assert!(!joined(&["start.begin", "start.joined", "start.end", "disposal.begin"]), "disposed later");
}

#[test]
fn running_work_goes_at_its_ceiling_only_if_the_alarm_came_then() {
    let disposed = |idle_ms: u64| {
        let row = [("key", Value::from("__mcp_stream_reqs__:c1"))];
        let story = Builder::default().state(1, "s1", "activity", &[]).platform(1, "s1", "storage.put", &row);
        let story = story.platform(1 + idle_ms, "s1", "alarm.fired", &[("retry", 0_u64.into())]);
        is_lit("alarm/dispose-running", story.state(2 + idle_ms, "s1", "disposal.begin", &[("reason", "idle".into())]))
    };
    assert!(disposed(2_100_000) && !disposed(241_009));
}
