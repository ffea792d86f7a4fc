//! Snapshots of what the host exported: spans and log lines of fixed seeds, as the flush delivered them, and of one plan.
//!
//! No value is redacted: a run is deterministic, and a redaction would hide a difference.

use scenarios::catalog;
use scenarios::plan::Plan;
use scenarios::seed::Seed;
use scenarios::trace::{Stream, spans_named};
use sim::report::event_text;
use sim::run::{RunOptions, run_plan};

fn plan_of(seed: u64) -> Plan {
    let scenario = catalog::find("idle/stream-stays-open").expect("the scenario exists");
    (scenario.plan)(Seed(seed))
}

/// Telemetry of a run of one client of that seed's plan: time, whose, what.
fn telemetry(plan: &Plan) -> String {
    let result = run_plan(plan, &RunOptions::default()).expect("the harness runs");
    result.trace.of(Stream::Telemetry).map(|event| event_text(event) + "\n").collect()
}

/// The plan of a seed, cut down to its first client so that a person can read the snapshot.
fn first_client(seed: u64) -> Plan {
    let mut plan = plan_of(seed);
    plan.clients.truncate(1);
    plan
}

#[test]
fn a_tool_call_is_told_under_the_span_that_built_its_server() {
    let result = run_plan(&plan_of(7), &RunOptions::default()).expect("the harness runs");
    let builds: Vec<(&str, &str)> = spans_named(&result.trace, "McpSessionDOSqlite.buildMcpServer")
        .filter_map(|span| Some((span.text("trace")?, span.who()?)))
        .collect();
    let calls: Vec<_> = spans_named(&result.trace, "mcp.host.tool.execute").collect();
    assert!(!calls.is_empty());
    for call in calls {
        assert!(call.text("parent").is_some(), "{}", event_text(call));
        assert!(builds.contains(&(call.text("trace").unwrap_or(""), call.who().unwrap_or(""))), "{}", event_text(call));
    }
}

#[test]
fn telemetry_of_a_calm_seed() {
    insta::assert_snapshot!(telemetry(&first_client(7)));
}

#[test]
fn telemetry_of_a_seed_with_drawn_latencies() {
    insta::assert_snapshot!(telemetry(&first_client(1)));
}

#[test]
fn telemetry_of_the_seed_of_the_readme_with_all_its_clients() {
    insta::assert_snapshot!(telemetry(&plan_of(20)));
}

#[test]
fn plan_of_seed_42() {
    insta::assert_snapshot!(plan_of(42).to_json());
}
