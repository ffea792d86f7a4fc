//! `sim conform`: what was recorded of the real runtime still comes out of the model, and the comparison can fail.

use sim::conform::{self, Outcome, Verdict};
use std::process::Command;

fn listed(outcomes: &[&Outcome]) -> String {
    outcomes.iter().map(|outcome| format!("{} in {}: {:?}\n", outcome.id, outcome.suite, outcome.verdict)).collect()
}

/// Every record that is replayed agrees or is excused, and enough of them are.
#[test]
fn the_model_does_what_the_real_runtime_did() {
    let outcomes = conform::check(|_, _| true).expect("the data is sound");
    assert_eq!(outcomes.len(), 326);
    let wrong: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.verdict.exit_code().number() != 0).collect();
    assert!(wrong.is_empty(), "\n{}", listed(&wrong));
    let agree = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Agrees).count();
    assert!(agree >= 280, "{agree} agree");
    let unexplained: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| matches!(outcome.verdict, Verdict::NotReplayed(why) if why == conform::UNWRITTEN))
        .collect();
    assert!(unexplained.is_empty(), "\n{}", listed(&unexplained));
}

/// A replay is a run of a world: it gives the same answer each time.
#[test]
fn a_replay_repeats() {
    let wanted = |suite: &str, id: &str| {
        suite.ends_with("/2026-05-26") && ["A23", "G10", "S13", "AL1", "AG15", "MC10"].contains(&id)
    };
    let answers = || conform::check(wanted).expect("the data is sound").into_iter().map(|each| each.simulated);
    assert!(answers().eq(answers()));
}

fn sim(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sim")).arg("conform").args(arguments).output().expect("sim starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn one_probe_is_shown_in_full_and_the_sum_is_said() {
    let (code, out, _) = sim(&["--probe", "S8", "--suite", "core/2026-05-26"]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "S8  put awaited, then ctx.abort() with no other await");
    let value = |word: &str| lines.iter().find_map(|line| line.trim_start().strip_prefix(word)).map(str::trim);
    assert!(value("real").is_some_and(|real| real.contains("abort after awaited put")));
    assert_eq!(value("real"), value("simulated"));
    assert_eq!(value("verdict"), Some("agrees"));
    assert_eq!(lines.last(), Some(&"conform: 1 record, 1 replayed, 1 agree, 0 differ, 0 excused, 0 not replayed"));
}

#[test]
fn the_result_is_had_as_json() {
    let (code, out, _) = sim(&["--probe", "X6", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!((code, &told["exit_code"]), (Some(0), &serde_json::json!(0)));
    assert_eq!(told["summary"], serde_json::json!({"agrees": 2}));
    assert_eq!(told["probes"][1]["real"][0], told["probes"][1]["simulated"]);
}

#[test]
fn unknown_names_are_refused_with_what_there_is() {
    for (arguments, hint) in [(["--probe", "S99"], "S9"), (["--suite", "core/2025"], "core/2026-05-26")] {
        let (code, out, complaint) = sim(&arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(complaint.contains(hint), "{complaint}");
    }
}
