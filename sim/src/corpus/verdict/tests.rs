//! Reached, drifted and lost, from hand-made answers.

use super::*;
use crate::corpus::entry::Keeps;
use crate::corpus::record::record;
use crate::trial::{Found, Here};
use scenarios::seed::Seed;

/// An entry and what its runs show as long as nothing changes.
fn recorded(keeps: Keeps) -> (Entry, Runs) {
    let plan = (crate::draw::scenarios().next().expect("a scenario").plan)(Seed(22));
    let entry = record(&plan, keeps, false, &mut Here).expect("it can be kept");
    let runs = Runs::of(&entry, &mut Here).expect("the harness runs");
    (entry, runs)
}

fn for_defect() -> (Entry, Runs) {
    recorded(Keeps { defects: vec!["idle-alarm-destroys".to_owned()], ..Keeps::default() })
}

fn found(signature: &str) -> Found {
    Found { signature: signature.parse().expect("a signature"), what: "it happened".to_owned() }
}

fn state(verdict: &Verdict) -> (State, ExitCode) {
    (verdict.state, verdict.code)
}

#[test]
fn nothing_changed_is_reached() {
    let (entry, runs) = for_defect();
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Reached, ExitCode::Held), "{verdict:?}");
}

#[test]
fn other_decisions_and_telemetry_are_drift_and_the_decision_is_named() {
    let (entry, mut runs) = for_defect();
    let repeated = runs.as_it_is.decisions[3].clone();
    let stream = repeated.0.split('#').next().expect("a stream").to_owned();
    runs.as_it_is.decisions.push(repeated);
    runs.as_it_is.decisions.push(("edge/inserted@0#0".to_owned(), 0));
    runs.as_it_is.telemetry_digest = "0".repeat(16);
    runs.broken.as_mut().expect("two runs").findings.push(found("safety/other-claim/session"));
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Drifted, ExitCode::Held));
    assert_eq!(verdict.parting.changed[0].stream, stream);
    let told = verdict.drifts.join("\n");
    for expected in [
        &*format!("the decision {stream} is asked "),
        "the decision edge/inserted@0 is new",
        "telemetry is 0000000000000000, was ",
        "with idle-alarm-destroys it also shows safety/other-claim/session",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn a_defect_that_shows_no_more_is_lost_as_unmet() {
    let (entry, mut runs) = for_defect();
    let broken = runs.broken.as_mut().expect("two runs");
    broken.findings = vec![found("safety/other-claim/session")];
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Lost, ExitCode::Unmet));
    let told = "with idle-alarm-destroys it shows safety/other-claim/session, expected liveness/";
    assert!(verdict.losses[0].starts_with(told), "{:?}", verdict.losses);
}

#[test]
fn a_plan_that_no_longer_holds_is_lost_with_the_code_of_what_failed() {
    for (signature, code) in [
        ("safety/a-claim/session", ExitCode::Safety),
        ("liveness/a-claim/session", ExitCode::Liveness),
        ("crash/does-not-panic/model", ExitCode::Crash),
        ("unmet/fault-is-delivered/reset-at-a-time", ExitCode::Unmet),
        ("harness-error/harness-works/disk", ExitCode::Harness),
    ] {
        let (entry, mut runs) = for_defect();
        runs.as_it_is.findings = vec![found(signature)];
        let verdict = judge(&entry, &runs);
        assert_eq!(state(&verdict), (State::Lost, code), "{signature}: {:?}", verdict.losses);
    }
}

#[test]
fn a_run_that_its_worker_was_lost_over_is_a_harness_error_and_nothing_else() {
    let (entry, mut runs) = for_defect();
    runs.as_it_is = Answer::lost("the worker died: signal 6");
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Lost, ExitCode::Harness));
    assert_eq!(verdict.losses, ["the harness failed as it is: the worker died: signal 6"]);
}

#[test]
fn a_fault_that_is_not_delivered_is_lost_and_one_that_is_more_often_has_drifted() {
    let (mut entry, mut runs) = for_defect();
    (entry.point.deliveries, runs.as_it_is.deliveries) = (vec![1, 1], vec![1, 2]);
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Drifted, ExitCode::Held));
    assert_eq!(verdict.drifts, ["faults[1] is delivered 2 times, was 1"]);
    runs.as_it_is.deliveries = vec![0, 1];
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Lost, ExitCode::Unmet));
    assert_eq!(verdict.losses, ["faults[0] is not delivered any more"]);
}

#[test]
fn a_pin_without_effect_is_drift_where_a_failure_proves_the_point_and_else_a_loss() {
    let unused = "s1/latency.rpc@0#0".to_owned();
    let (entry, mut runs) = for_defect();
    runs.as_it_is.unused_pins = vec![unused.clone()];
    assert_eq!(judge(&entry, &runs).state, State::Reached, "the other run uses it");
    runs.broken.as_mut().expect("two runs").unused_pins = vec![unused.clone()];
    let verdict = judge(&entry, &runs);
    assert_eq!(state(&verdict), (State::Drifted, ExitCode::Held));
    assert!(verdict.drifts[0].starts_with("the pin s1/latency.rpc@0#0 has no effect"), "{:?}", verdict.drifts);

    let (entry, mut runs) = recorded(Keeps { why: Some("a close call".to_owned()), ..Keeps::default() });
    assert_eq!(judge(&entry, &runs).state, State::Reached);
    runs.as_it_is.unused_pins = vec![unused];
    assert_eq!(state(&judge(&entry, &runs)), (State::Lost, ExitCode::Unmet));
}
