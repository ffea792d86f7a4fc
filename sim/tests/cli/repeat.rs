//! Runs repeat, observing them changes nothing, and `meta` finds it when one does not.

use super::SCENARIO;
use super::process::{Ran, Scratch, assert_ran};

#[test]
fn meta_says_that_runs_repeat() {
    let ran = Scratch::new("meta").sim(&["meta", "--scenario", SCENARIO, "--seeds", "0..6"]);
    assert_ran("meta", &ran);
}

#[test]
fn meta_tells_how_far_runs_depend_on_the_scheduler() {
    let json = Scratch::new("scheduler")
        .sim(&["meta", "--scenario", SCENARIO, "--seeds", "0..4", "--scheduler", "--format", "json"])
        .json();
    assert_eq!(json["scheduler"]["compared"], 4);
    assert!(json["scheduler"]["differing"].is_array());
}

#[test]
fn every_planted_leak_is_found_at_its_first_event_with_both_values() {
    let scratch = Scratch::new("leaks");
    for leak in ["counter", "address", "clock", "select"] {
        // An even number of runs: in the middle of an odd one both workers have run as many before.
        let ran =
            scratch.sim(&["meta", "--scenario", SCENARIO, "--seeds", "0..4", "--plant-leak", leak, "--format", "json"]);
        assert_eq!(ran.code, 13, "{leak}: {}", ran.shown());
        let found = &ran.json()["differences"][0]["first"];
        let planted = format!("planted.{leak}");
        for side in ["one", "other"] {
            assert!(found[side].as_str().is_some_and(|event| event.contains(&planted)), "{leak}: {found}");
        }
        let values =
            found["part"].as_str().and_then(|part| part.strip_prefix("value: ")).expect("the part that differs");
        let (one, other) = values.split_once(", ").expect("both values");
        assert_ne!(one, other, "{leak}");
    }
}

#[test]
fn a_leak_is_told_to_people_with_the_command_that_shows_it_again() {
    let ran =
        Scratch::new("leak-text").sim(&["meta", "--scenario", SCENARIO, "--seeds", "0..2", "--plant-leak", "counter"]);
    assert!(ran.stdout.contains("  first      event 1, value: 0, 1\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("reproduce  cargo run -p sim -- meta "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("2 runs twice: 0 the same, 2 differ, 0 failed\n"), "{}", ran.stdout);
}

/// Of five runs one is lost; the others are as they would be.
fn assert_costs_one_run(ran: &Ran, how: &str) {
    assert_eq!(ran.code, 20, "{}", ran.shown());
    assert!(ran.stdout.contains(&format!("FAILED  {SCENARIO}  seed 3\n  what       {how}")), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("5 runs twice: 4 the same, 0 differ, 1 failed\n"), "{}", ran.stdout);
}

#[test]
fn a_hang_costs_one_run_and_is_told_with_its_seed() {
    let ran = Scratch::new("hang").sim(&[
        "meta",
        "--scenario",
        SCENARIO,
        "--seeds",
        "0..5",
        "--plant-leak",
        "hang",
        "--run-limit-s",
        "5",
    ]);
    assert_costs_one_run(&ran, "no answer within 5 s of wall-clock time, so the worker was ended");
}

#[test]
fn the_death_of_a_worker_costs_one_run_and_is_told_with_its_seed() {
    let ran = Scratch::new("death").sim(&["meta", "--scenario", SCENARIO, "--seeds", "0..5", "--plant-leak", "abort"]);
    assert_costs_one_run(&ran, "the worker died: signal: 6 (SIGABRT)");
}

#[test]
#[cfg(unix)]
fn an_interrupted_meta_cleans_up_and_ends_as_a_shell_expects() {
    let scratch = Scratch::new("interrupt");
    scratch.make_folder("tmp");
    for signal in ["-INT", "-TERM"] {
        // The worker hangs, so that there is something to end.
        let ran = scratch.sim_interrupted(
            signal,
            &["meta", "--scenario", SCENARIO, "--seeds", "3..9", "--plant-leak", "hang"],
            "tmp",
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (130, ""), "{signal}: {}", ran.shown());
        assert_eq!(ran.stderr, "error: interrupted\n");
        assert!(scratch.is_empty("tmp"), "its folder is gone");
    }
}

#[test]
fn observing_a_run_does_not_change_it() {
    let scratch = Scratch::new("observe");
    let digests = |arguments: &[&str]| {
        let told = scratch.sim(&[&["--scenario", SCENARIO, "--seed", "8"], arguments].concat()).stdout;
        let line = told.lines().find(|line| line.starts_with("telemetry ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no digests in\n{told}"))
    };
    let alone = digests(&[]);
    assert_eq!(digests(&["--trace", "trace.jsonl"]), alone);
    let (_, trace) = scenarios::trace::read_lines(&scratch.read("trace.jsonl")).expect("a whole trace");
    assert_eq!(alone, format!("telemetry {:016x}  run {:016x}", trace.telemetry_digest, trace.run_digest));
    let json = scratch.sim(&["--scenario", SCENARIO, "--seed", "8", "--format", "json"]).json();
    assert_eq!(json["run_digest"], format!("{:016x}", trace.run_digest));
}
