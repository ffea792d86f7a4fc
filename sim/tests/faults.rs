//! The fault kernel: each thing that can be done is done, at a time or at an edge of an operation, and shows in the trace.

use std::path::Path;

use scenarios::plan::{Plan, UNKNOWN_ERROR_TEXT};
use scenarios::trace::{Event, Stream};
use serde_json::{Value as Json, json};
use sim::exit_code::ExitCode;
use sim::run::{Finding, RunOptions, RunResult, run_plan};

/// A calm world with one session that is used, idles, and is used again; with these faults and pins.
fn plan(faults: Json, pins: Json) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/by-hand/initialized-cleared-late.json");
    let entry = sim::corpus::store::read(&path).expect("an entry of the corpus");
    let mut plan = serde_json::to_value(entry.plan).expect("a plan is plain data");
    plan["scenario"] = json!("test/faults");
    plan["faults"] = faults;
    plan["pins"] = pins;
    Plan::parse(plan.to_string().as_bytes()).expect("the changed plan is a plan")
}

fn run(faults: Json) -> RunResult {
    run_plan(&plan(faults, json!({})), &RunOptions::default()).expect("the harness runs")
}

fn at(operation: &str, root: &str, edge: &str) -> Json {
    json!({"operation": operation, "root": root, "edge": edge, "n": 1, "session": "s1"})
}

fn one(when: Json, effect: Json) -> Json {
    json!([{"when": when, "effect": effect}])
}

fn first<'a>(result: &'a RunResult, stream: Stream, name: &str) -> Option<&'a Event> {
    result.trace.of(stream).find(|event| event.name == name)
}

fn has(result: &RunResult, stream: Stream, name: &str, field: &str, value: &str) -> bool {
    result.trace.of(stream).any(|event| event.name == name && event.text(field) == Some(value))
}

fn delivered(result: &RunResult) -> bool {
    result.faults.iter().all(|row| row.delivered >= row.requested)
        && first(result, Stream::Fault, "fault.delivered").is_some()
}

#[test]
fn a_storage_write_that_fails_once_is_absorbed_where_the_host_absorbs_it() {
    let fail = json!({"do": "fail", "error": "code_update"});
    let result = run(one(at("clock · storage.setAlarm idle", "init", "begin"), fail));
    assert!(delivered(&result));
    assert!(first(&result, Stream::Telemetry, "mcp_session_durable_object_reset").is_some());
    assert!(first(&result, Stream::Telemetry, "captured").is_none(), "a recognised reset is never captured");
    assert!(has(&result, Stream::State, "init.end", "outcome", "ok"));
}

#[test]
fn an_idle_session_is_evicted_and_a_busy_one_is_not() {
    let result = run(one(json!({"at_ms": 2_000, "session": "s1"}), json!({"do": "evict"})));
    assert!(delivered(&result));
    assert!(has(&result, Stream::Platform, "object.gone", "reason", "evicted"));
    assert!(result.findings.is_empty(), "the next request is served by a new incarnation: {:?}", result.findings);
    let build = json!({"operation": "build · stack", "edge": "begin", "n": 1, "session": "s1"});
    let evict = json!({"when": {"at_ms": 100, "session": "s1"}, "effect": {"do": "evict"}});
    let busy = run(json!([{"when": build, "effect": {"do": "hold", "for_ms": 150}}, evict]));
    assert!(matches!(busy.findings[..], [Finding::Unmet(_)]), "{:?}", busy.findings);
    assert!(!has(&busy, Stream::Platform, "object.gone", "reason", "evicted"));
}

#[test]
fn an_unknown_failure_of_the_same_write_fails_init_and_is_captured_once() {
    let fail = json!({"do": "fail", "error": "unknown", "text": "quota exceeded for namespace"});
    let result = run(one(at("clock · storage.setAlarm idle", "init", "begin"), fail));
    assert!(delivered(&result));
    let captured = result.trace.of(Stream::Telemetry).filter(|event| event.name == "captured").count();
    assert_eq!(captured, 1);
    assert!(has(&result, Stream::State, "init.end", "outcome", "failed"));
}

#[test]
fn a_delayed_call_takes_that_much_longer() {
    let took = |result: &RunResult| {
        let begin =
            result.trace.of(Stream::History).find(|e| e.name == "request.begin" && e.text("op") == Some("call"));
        let begin = begin.expect("a call begins");
        let same = |event: &&Event| event.name == "request.end" && event.number("request") == begin.number("request");
        result.trace.of(Stream::History).find(same).expect("it ends").at_ms - begin.at_ms
    };
    let calm = took(&run(json!([])));
    // The first owner check is that of the notification, the second the first call's.
    let when = json!({"operation": "edge · stub.validate", "edge": "begin", "n": 2, "session": "s1"});
    let delayed = run(one(when, json!({"do": "delay", "ms": 700})));
    assert!(delivered(&delayed));
    assert_eq!(took(&delayed), calm + 700);
}

#[test]
fn a_hold_ends_at_a_time_and_the_release_is_recorded() {
    let hold = json!({"do": "hold", "release": {"at_ms": 3900}});
    let result = run(one(at("teardown · server.close", "dispose", "begin"), hold));
    assert!(delivered(&result));
    assert_eq!(first(&result, Stream::Fault, "fault.released").map(|event| event.at_ms), Some(3900));
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
}

#[test]
fn a_held_write_can_be_made_to_fail_when_it_is_released_and_then_has_no_effect() {
    for fail in [Json::Null, json!("unknown")] {
        let mut hold = json!({"do": "hold", "for_ms": 300});
        if !fail.is_null() {
            hold["fail"] = fail.clone();
        }
        let result = run(one(at("clock · storage.setAlarm idle", "init", "begin"), hold));
        assert!(delivered(&result));
        let held = first(&result, Stream::Fault, "fault.delivered").expect("it was held").at_ms;
        let set = |event: &&Event| event.name == "alarm.set" && event.text("root") == Some("init");
        let set_at = result.trace.of(Stream::Platform).find(set).map(|event| event.at_ms);
        let outcome = first(&result, Stream::State, "init.end").and_then(|event| event.text("outcome"));
        let expected = if fail.is_null() { Some("ok") } else { Some("failed") };
        assert_eq!(outcome, expected);
        assert!(set_at.is_none_or(|set_at| set_at >= held + 300), "nothing before the release");
        assert_eq!(has(&result, Stream::Telemetry, "captured", "message", UNKNOWN_ERROR_TEXT), !fail.is_null());
    }
}

#[test]
fn a_hold_ends_when_another_operation_begins() {
    let release = json!({"operation": "validate · storage.get destroy-pending", "n": 3, "session": "s1"});
    let hold = json!({"do": "hold", "release": release});
    let result = run(one(at("teardown · server.close", "dispose", "begin"), hold));
    assert!(delivered(&result));
    assert!(first(&result, Stream::Fault, "fault.released").is_some());
}

#[test]
fn an_interrupted_init_ends_interrupted_and_the_next_request_is_served() {
    let result = run(one(at("build · stack", "init", "begin"), json!({"do": "interrupt", "what": "init"})));
    assert!(delivered(&result));
    assert!(has(&result, Stream::State, "init.end", "outcome", "interrupted"));
}

#[test]
fn an_interrupted_disposal_finishes_its_teardown_and_loses_its_bookkeeping() {
    let interrupt = json!({"do": "interrupt", "what": "disposal"});
    let result = run(one(at("teardown · server.close", "dispose", "begin"), interrupt));
    assert!(delivered(&result));
    assert!(has(&result, Stream::State, "disposal.end", "outcome", "interrupted"));
    assert!(first(&result, Stream::State, "runtime.released").is_some());
}

#[test]
fn an_interrupt_that_finds_nothing_to_interrupt_is_unmet() {
    let interrupts = |what: &str| json!({"do": "interrupt", "what": what});
    // A call that is served touches no init and no disposal, nor does its owner check at the edge.
    let served = |operation: &str| json!({"operation": operation, "edge": "begin", "n": 2});
    let whens = [
        (served("edge · stub.validate"), "init"),
        (served("validate · storage.get destroy-pending"), "disposal"),
        (at("teardown · server.close", "dispose", "begin"), "init"),
        (json!({"at_ms": 1000, "session": "s1"}), "init"),
        (json!({"at_ms": 1000, "session": "s1"}), "disposal"),
    ];
    for (when, what) in whens {
        let result = run(one(when.clone(), interrupts(what)));
        assert!(matches!(result.findings.as_slice(), [Finding::Unmet(_)]), "{when} {what}: {:?}", result.findings);
        assert!(first(&result, Stream::Fault, "fault.delivered").is_none(), "{when} {what}");
    }
}

#[test]
fn of_two_faults_at_one_edge_that_exclude_each_other_only_one_is_delivered() {
    let counts = |effects: [Json; 2]| -> Vec<u64> {
        let when = at("teardown · server.close", "dispose", "begin");
        let faults = effects.map(|effect| json!({"when": when, "effect": effect}));
        run(json!(faults)).faults.iter().map(|row| row.delivered).collect()
    };
    let delay = json!({"do": "delay", "ms": 5});
    let fail = json!({"do": "fail", "error": "unknown"});
    let reset = json!({"do": "reset", "kind": "moved"});
    let interrupt = |what: &str| json!({"do": "interrupt", "what": what});
    assert_eq!(counts([delay.clone(), fail.clone()]), [1, 0]);
    assert_eq!(counts([fail, reset]), [0, 1]);
    assert_eq!(counts([interrupt("init"), interrupt("disposal")]), [0, 1]);
    assert_eq!(counts([interrupt("disposal"), delay]), [1, 1], "an interrupt and a delay go together");
}

#[test]
fn an_interrupt_at_a_time_ends_the_disposal_that_runs_then() {
    let hold =
        json!({"when": at("teardown · server.close", "dispose", "begin"), "effect": {"do": "hold", "for_ms": 200}});
    let held = run(json!([hold.clone()]));
    let begin = first(&held, Stream::State, "disposal.begin").expect("a disposal").at_ms;
    let interrupt = json!({"do": "interrupt", "what": "disposal"});
    let result = run(json!([hold, {"when": {"at_ms": begin + 100, "session": "s1"}, "effect": interrupt}]));
    assert!(delivered(&result));
    assert!(has(&result, Stream::State, "disposal.end", "outcome", "interrupted"));
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
}

#[test]
fn a_reset_of_an_object_that_is_not_in_memory_is_unmet() {
    let reset =
        |at_ms: u64| json!({"when": {"at_ms": at_ms, "session": "s1"}, "effect": {"do": "reset", "kind": "moved"}});
    let result = run(json!([reset(1000), reset(1001)]));
    let counts: Vec<u64> = result.faults.iter().map(|row| row.delivered).collect();
    assert_eq!(counts, [1, 0]);
    assert_eq!(result.outcome(), ExitCode::Unmet);
}

#[test]
fn a_reset_at_a_time_ends_the_object_and_the_session_goes_on() {
    let result = run(one(json!({"at_ms": 1000, "session": "s1"}), json!({"do": "reset", "kind": "code_update"})));
    assert!(delivered(&result));
    let gone = first(&result, Stream::Platform, "object.gone").expect("the object is gone");
    assert_eq!((gone.at_ms, gone.who()), (1000, Some("s1")));
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
}

#[test]
fn a_reset_at_an_operation_drops_what_follows_it() {
    let result =
        run(one(at("dispose · storage.deleteAlarm", "dispose", "begin"), json!({"do": "reset", "kind": "moved"})));
    assert!(delivered(&result));
    assert!(first(&result, Stream::State, "disposal.end").is_none_or(|event| event.at_ms > 4000));
}

#[test]
fn an_answer_to_a_build_inside_a_section_is_not_blocked_by_a_timer_from_before_it() {
    // The incarnation after a reset is restored outside of any section, idles at once, and starts again inside one while
    // the span of its disposal is on its way: that is a timer, which blocks timers on the older build (platform fact 33).
    let reset = json!({"do": "reset", "kind": "cpu"});
    let mut changed = plan(one(json!({"at_ms": 1000, "session": "s1"}), reset), json!({}));
    changed.config.session_timeout_ms = 2;
    changed.clients[0].steps.truncate(2);
    changed.clients[0].steps[1].at_ms = 2_000;
    let result = run_plan(&changed, &RunOptions::default()).expect("the harness runs");
    assert!(delivered(&result));
    let resets = result.trace.of(Stream::Platform).filter(|event| event.name == "object.reset");
    assert_eq!(resets.count(), 1, "the one of the plan, and none for a section that hangs");
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
}

#[test]
fn a_fault_that_never_happens_is_reported_as_unmet() {
    let when = json!({"operation": "teardown · server.close", "n": 1000});
    let result = run(one(when, json!({"do": "delay", "ms": 5})));
    assert!(matches!(result.findings.as_slice(), [Finding::Unmet(_)]), "{:?}", result.findings);
    assert_eq!(result.outcome(), ExitCode::Unmet);
}

#[test]
fn a_pinned_decision_is_taken_as_pinned() {
    let pinned = plan(json!([]), json!({"s1/alarm.late@1#0": 50}));
    let result = run_plan(&pinned, &RunOptions::default()).expect("the harness runs");
    let fired = first(&result, Stream::Platform, "alarm.fired").expect("the alarm fires");
    assert_eq!(fired.number("late_ms"), Some(50));
}

#[test]
fn a_pin_that_does_not_fit_its_decision_is_a_harness_error_that_names_it() {
    for (pin, below) in [("s1/alarm.late@1#0", "below"), ("s1/session-id@0#0", "below")] {
        let pinned = plan(json!([]), json!({pin: u64::MAX}));
        let result = run_plan(&pinned, &RunOptions::default()).expect("the harness runs");
        let [Finding::Harness { what, panic: None }] = &*result.findings else { panic!("{:?}", result.findings) };
        assert!(what.contains(pin) && what.contains(below), "{what}");
    }
}

#[test]
fn a_fault_with_an_unknown_root_is_a_harness_error_that_names_it() {
    let result = run(one(at("teardown · server.close", "disposal", "begin"), json!({"do": "delay", "ms": 5})));
    assert_eq!(result.outcome(), ExitCode::Harness);
    assert!(format!("{:?}", result.findings).contains("the root `disposal`"), "{:?}", result.findings);
}

#[test]
fn a_pin_that_no_decision_asks_for_is_a_harness_error_that_names_it() {
    let pinned = plan(json!([]), json!({"s1/never.asked@0#0": 1}));
    let result = run_plan(&pinned, &RunOptions::default()).expect("the harness runs");
    assert_eq!(result.outcome(), ExitCode::Harness);
    assert!(format!("{:?}", result.findings).contains("s1/never.asked@0#0"));
}
