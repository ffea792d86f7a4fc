//! One fault at a time, at every suspension point that a run comes by: no claim may be violated by it.
//!
//! Goal: a single fault is absorbed or excused, and where it is neither, a defect was found. Method: in the plan of an
//! ordinary seed the first begin or end of each operation is disturbed; a fault that is not delivered says that the run
//! does not come by there. `SWEEP_SEEDS=1,42,45` sweeps other seeds than those that
//! every test run can afford.

use scenarios::catalog;
use scenarios::invariants::Verdict;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use serde_json::{Value as Json, json};
use sim::exit_code::ExitCode;
use sim::run::{RunOptions, RunResult, run_plan};

/// Names the seeds of a wider sweep.
const SEEDS: &str = "SWEEP_SEEDS";
/// Short runs of one client each: one whose stream is opened again and keeps the session alive, one that idles.
const ORDINARY: &str = "13,8";
/// Runs that come by their operation, at the least.
const REACHED_MIN: usize = 120;

fn seeds() -> Vec<u64> {
    let named = std::env::var(SEEDS);
    named
        .as_deref()
        .unwrap_or(ORDINARY)
        .split(',')
        .map(|seed| seed.parse().expect("seeds, separated by commas"))
        .collect()
}

fn plan_of(seed: u64, operation: &str, edge: &str, effect: &Json) -> Plan {
    let scenario = catalog::find("idle/stream-stays-open").expect("the scenario exists");
    let mut plan = serde_json::to_value((scenario.plan)(Seed(seed))).expect("a plan is plain data");
    plan["faults"] = json!([{"when": {"operation": operation, "edge": edge}, "effect": effect}]);
    Plan::parse(plan.to_string().as_bytes()).expect("the changed plan is a plan")
}

/// What a run shows beside the claims that hold; nothing of a fault that was not delivered.
fn complaints(result: &RunResult) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for judged in &result.judged {
        if let Ok(Verdict::Violated(violations)) = &judged.verdict {
            let first = &violations[0];
            told.push(format!("{}: {} ({})", judged.name, first.what, first.pending.as_deref().unwrap_or("")));
        }
    }
    match result.outcome() {
        ExitCode::Harness | ExitCode::Crash => vec![format!("{:?}", result.findings)],
        _ => told,
    }
}

/// Disturbs each operation that `concerns` once in the plan of each seed; gives how many runs came by theirs.
fn sweep(edge: &str, effect: &Json, concerns: impl Fn(&str) -> bool) -> usize {
    let (mut delivered, mut told) = (0, Vec::new());
    for seed in seeds() {
        for operation in model::operations::names().into_iter().filter(|name| concerns(name)) {
            let plan = plan_of(seed, operation, edge, effect);
            let result = run_plan(&plan, &RunOptions::default()).expect("the harness runs");
            delivered += usize::from(result.faults[0].delivered > 0);
            let here = |complaint: String| format!("seed {seed}, {edge} of {operation}: {complaint}");
            told.extend(complaints(&result).into_iter().map(here));
        }
    }
    assert!(told.is_empty(), "{effect}\n{}", told.join("\n"));
    delivered
}

#[test]
fn no_claim_is_violated_by_an_operation_that_fails_before_its_effect() {
    assert!(sweep("begin", &json!({"do": "fail", "error": "code_update"}), |_| true) >= REACHED_MIN);
}

#[test]
fn no_claim_is_violated_by_an_operation_whose_answer_is_lost() {
    assert!(sweep("end", &json!({"do": "fail", "error": "unknown"}), |_| true) >= REACHED_MIN);
}

#[test]
fn no_claim_is_violated_by_an_operation_that_takes_long() {
    assert!(sweep("begin", &json!({"do": "delay", "ms": 700}), |_| true) >= REACHED_MIN);
}

#[test]
fn no_claim_is_violated_by_a_reset() {
    let is_of_object = |name: &str| !model::operations::is_of_edge(name);
    assert!(sweep("end", &json!({"do": "reset", "kind": "code_update"}), is_of_object) >= REACHED_MIN - 20);
}

#[test]
fn no_claim_is_violated_by_an_interrupt() {
    let of = |scopes: &'static [&'static str]| move |name: &str| scopes.iter().any(|scope| name.starts_with(scope));
    let init = sweep("begin", &json!({"do": "interrupt", "what": "init"}), of(&["init", "meta", "build", "clock"]));
    let disposal = sweep("begin", &json!({"do": "interrupt", "what": "disposal"}), of(&["teardown", "dispose"]));
    assert!(init >= 16 && disposal >= 8, "{init} inits and {disposal} disposals were interrupted");
}
