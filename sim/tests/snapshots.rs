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

/// The same, of a run that tells of `subjects`: a seed that no longer does must not pass for one with another snapshot.
fn telemetry_with(subjects: &[&str], plan: &Plan) -> String {
    let told = telemetry(plan);
    for subject in subjects {
        assert!(told.contains(&format!("  {subject}  ")), "this seed no longer tells of {subject}: choose another");
    }
    told
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
    let subjects = ["mcp.host.tool.execute", "mcp_session_idle_runtime_dispose", "mcp.session.idle_runtime_dispose"];
    insta::assert_snapshot!(telemetry_with(&subjects, &first_client(8)));
}

#[test]
fn telemetry_of_a_client_that_holds_its_stream() {
    let subjects = ["mcp_session_running_lease_extension", "sse_max_age_close"];
    insta::assert_snapshot!(telemetry_with(&subjects, &first_client(7)));
}

#[test]
fn telemetry_of_a_seed_with_drawn_latencies() {
    let subjects = ["mcp.host.tool.execute", "mcp.session.idle_runtime_dispose"];
    insta::assert_snapshot!(telemetry_with(&subjects, &first_client(1)));
}

#[test]
fn telemetry_of_all_clients_of_a_seed() {
    let subjects = ["mcp.host.tool.execute", "mcp.session.idle_runtime_dispose"];
    insta::assert_snapshot!(telemetry_with(&subjects, &plan_of(20)));
}

#[test]
fn plan_of_seed_42() {
    insta::assert_snapshot!(plan_of(42).to_json());
}
