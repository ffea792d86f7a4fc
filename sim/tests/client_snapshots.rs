//! Snapshots of what the host exported in runs of the scenarios about real clients, two fixed seeds each.
//!
//! No value is redacted: a run is deterministic, and a redaction would hide a difference.

use scenarios::catalog;
use scenarios::seed::Seed;
use scenarios::trace::Stream;
use sim::exit_code::ExitCode;
use sim::report::event_text;
use sim::run::{RunOptions, run_plan};

/// Telemetry of the runs of a scenario at these seeds: time, whose, what; after what their clients did by themselves.
fn check(scenario: &str, seeds: [u64; 2]) {
    let plan = catalog::find(scenario).expect("the scenario exists").plan;
    for seed in seeds {
        let result = run_plan(&plan(Seed(seed)), &RunOptions::default()).expect("the harness runs");
        assert_eq!(result.outcome(), ExitCode::Held, "{scenario} {seed}: {:?}", result.findings);
        let habits = result.trace.of(Stream::History).filter(|event| event.name.starts_with("client."));
        let events = habits.chain(result.trace.of(Stream::Telemetry));
        let told: String = events.map(|event| event_text(event) + "\n").collect();
        insta::assert_snapshot!(format!("{}-{seed}", scenario.replace('/', "-")), told);
    }
}

#[test]
fn listeners_that_are_ended_again_and_again() {
    check("clients/listener-ended", [3, 15]);
}

#[test]
fn a_listener_that_is_refused_too_often() {
    check("clients/refused-listener", [1, 53]);
}

#[test]
fn calls_whose_connection_is_lost() {
    check("clients/calls-cut", [5, 24]);
}

#[test]
fn a_session_that_another_window_ended() {
    check("clients/session-gone", [4, 34]);
}

#[test]
fn calls_that_are_refused_for_a_moment() {
    check("clients/refused-in-deploy", [3, 36]);
}
