//! Snapshots of what the host exported in runs of the stream and destroy scenarios, two fixed seeds each.
//!
//! No value is redacted: a run is deterministic, and a redaction would hide a difference.

use scenarios::catalog;
use scenarios::seed::Seed;
use scenarios::trace::Stream;
use sim::exit_code::ExitCode;
use sim::report::event_text;
use sim::run::{RunOptions, run_plan};

/// Telemetry of the runs of a scenario at these seeds: time, whose, what.
fn check(scenario: &str, seeds: [u64; 2]) {
    let plan = catalog::find(scenario).expect("the scenario exists").plan;
    for seed in seeds {
        let result = run_plan(&plan(Seed(seed)), &RunOptions::default()).expect("the harness runs");
        assert_eq!(result.outcome(), ExitCode::Held, "{scenario} {seed}: {:?}", result.findings);
        let told: String = result.trace.of(Stream::Telemetry).map(|event| event_text(event) + "\n").collect();
        insta::assert_snapshot!(format!("{}-{seed}", scenario.replace('/', "-")), told);
    }
}

#[test]
fn a_call_that_is_cut_and_resumed() {
    check("stream/cut-and-resume", [2, 5]);
}

#[test]
fn results_that_no_listener_took() {
    check("stream/undelivered-result", [1, 2]);
}

#[test]
fn two_listeners_at_once() {
    check("stream/two-listeners", [1, 2]);
}

#[test]
fn results_that_are_too_large_to_be_kept() {
    check("stream/oversize-event", [3, 7]);
}

#[test]
fn streams_older_than_half_an_hour() {
    check("stream/max-age", [1, 3]);
}

#[test]
fn a_client_that_does_not_read() {
    check("stream/slow-reader", [1, 2]);
}

#[test]
fn requests_around_a_delete() {
    check("destroy/around-delete", [0, 1]);
}
