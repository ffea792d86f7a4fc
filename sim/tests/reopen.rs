//! A client that opens again has a second session: each is told, judged and disturbed under an alias of its own.

use std::path::Path;

use scenarios::plan::Plan;
use scenarios::trace::Stream;
use serde_json::{Value as Json, json};
use sim::exit_code::ExitCode;
use sim::run::{RunOptions, RunResult, run_plan};

/// A calm world whose client opens, calls, opens again and calls; with these faults and last steps.
fn run(faults: Json, more: &[Json]) -> RunResult {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/by-hand/initialized-cleared-late.json");
    let entry = sim::corpus::store::read(&path).expect("an entry of the corpus");
    let mut plan = serde_json::to_value(entry.plan).expect("a plan is plain data");
    let call = |at_ms: u64, text: &str| json!({"at_ms": at_ms, "action": {"do": "call", "code": format!("return \"{text}\"")}});
    let open = |at_ms: u64| json!({"at_ms": at_ms, "action": {"do": "open"}});
    let steps = [open(1), call(200, "first"), open(400), call(600, "second")];
    plan["scenario"] = json!("test/reopen");
    plan["faults"] = faults;
    plan["clients"][0]["steps"] = steps.iter().chain(more).cloned().collect();
    let plan = Plan::parse(plan.to_string().as_bytes()).expect("the changed plan is a plan");
    run_plan(&plan, &RunOptions::default()).expect("the harness runs")
}

fn who(result: &RunResult, stream: Stream, name: &str) -> Vec<String> {
    let named = result.trace.of(stream).filter(|event| event.name == name);
    named.filter_map(|event| event.who().map(str::to_owned)).collect()
}

#[test]
fn both_sessions_are_told_apart_and_every_claim_holds() {
    let result = run(json!([]), &[]);
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
    // Both are disposed; the touch restores the one in use.
    assert_eq!(who(&result, Stream::State, "runtime.installed"), ["s1", "s1.2", "s1.2"]);
    assert_eq!(who(&result, Stream::State, "runtime.released"), ["s1", "s1.2", "s1.2"]);
    let requests = who(&result, Stream::History, "request.begin");
    assert!(requests.iter().all(|who| who == "s1"), "a client keeps its name: {requests:?}");
    let is_of_second_open = |name: &scenarios::decision::DecisionName| &*name.who == "s1.2" && name.step >= 2;
    let second = result.trace.decisions.iter().filter(|drawn| drawn.name.who.starts_with("s1."));
    assert!(second.map(|drawn| &drawn.name).all(is_of_second_open), "decisions are named by the client's step");
}

#[test]
fn a_fault_of_the_second_session_meets_that_one() {
    let reset =
        |at_ms: u64| json!([{"when": {"at_ms": at_ms, "session": "s1.2"}, "effect": {"do": "reset", "kind": "moved"}}]);
    let result = run(reset(700), &[]);
    assert_eq!(who(&result, Stream::Platform, "object.reset"), ["s1.2"]);
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
    assert_eq!(run(reset(300), &[]).outcome(), ExitCode::Unmet, "it is not there yet");
}

#[test]
fn an_end_by_the_client_ends_the_session_in_use() {
    let result = run(json!([]), &[json!({"at_ms": 800, "action": {"do": "close"}})]);
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
    assert_eq!(who(&result, Stream::Platform, "storage.wiped"), ["s1.2"]);
}
