//! A run that fails: its block, its exit code, its files, and the commands that run it again.

use super::SCENARIO;
use super::process::{Scratch, assert_ran};

const DEFECT: [&str; 6] = ["--scenario", SCENARIO, "--seed", "8", "--defect", "idle-alarm-not-rearmed"];

#[test]
fn a_failure_is_told_in_a_block_and_leaves_its_files() {
    let scratch = Scratch::new("failure");
    let ran = scratch.sim(&DEFECT);
    assert_ran("failure", &ran);
    let files = scratch.files();
    let names: Vec<&str> = files.iter().filter_map(|file| file.rsplit('/').next()).collect();
    assert_eq!(names, ["plan.json", "report.json", "report.txt", "trace.jsonl"]);
    let folder = files[0].trim_end_matches("/plan.json");
    assert!(folder.starts_with("reports/idle/stream-stays-open/8-"), "{folder}");
    let report: serde_json::Value =
        serde_json::from_slice(&scratch.read(&format!("{folder}/report.json"))).expect("JSON");
    assert_eq!(report["exit_code"], ran.code);
    let (header, trace) =
        scenarios::trace::read_lines(&scratch.read(&format!("{folder}/trace.jsonl"))).expect("a whole trace");
    assert_eq!((header.scenario.as_str(), header.seed.as_str()), (SCENARIO, "8"));
    assert_eq!(report["run_digest"], format!("{:016x}", trace.run_digest));
}

#[test]
fn the_same_failure_writes_the_same_bytes() {
    let (one, other) = (Scratch::new("bytes-one"), Scratch::new("bytes-other"));
    assert_eq!(one.sim(&DEFECT), other.sim(&DEFECT));
    assert_eq!(one.files(), other.files());
    for file in one.files() {
        assert_eq!(one.read(&file), other.read(&file), "{file}");
    }
}

#[test]
fn both_commands_of_a_failure_run_it_again() {
    let scratch = Scratch::new("again");
    let first = scratch.sim(&DEFECT);
    let commands = first.stdout.lines().filter_map(|line| line.split_once("cargo run -p sim -- "));
    let commands: std::collections::BTreeSet<&str> = commands.map(|(_, arguments)| arguments).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        assert_eq!(scratch.sim(&arguments), first, "{command}");
    }
}

#[test]
fn a_failure_among_the_whole_catalog_is_told_below_its_line() {
    let scratch = Scratch::new("catalog");
    let ran = scratch.sim(&["--seed", "8", "--defect", "grace-without-end"]);
    assert_ran("failure_in_catalog", &ran);
}

#[test]
fn reports_go_where_they_are_told_to() {
    let scratch = Scratch::new("elsewhere");
    let ran = scratch.sim(&[&DEFECT[..], &["--reports", "here/and there"]].concat());
    assert!(scratch.files().iter().all(|file| file.starts_with("here/and there/idle/")), "{:?}", scratch.files());
    assert!(ran.stdout.contains("replay 'here/and there/idle/stream-stays-open/8-"), "{}", ran.stdout);
}

#[test]
fn a_fault_that_never_happens_is_told_and_has_its_exit_code() {
    let scratch = Scratch::new("unmet");
    let mut plan = scratch.sim(&["plan", "--scenario", SCENARIO, "--seed", "8"]).json();
    let operation = model::operations::names()[0];
    let never =
        serde_json::json!({"when": {"operation": operation, "n": 1_000_000}, "effect": {"do": "delay", "ms": 5}});
    plan["faults"] = serde_json::json!([never]);
    scratch.write("plan.json", plan.to_string().as_bytes());
    let ran = scratch.sim(&["replay", "plan.json"]);
    assert_eq!(ran.code, 14, "{}", ran.shown());
    assert!(ran.stdout.contains("FAILED  fault-not-delivered  (reach)"), "{}", ran.stdout);
}

#[test]
fn pins_that_do_not_fit_the_run_are_bad_input_and_named_as_they_are() {
    let scratch = Scratch::new("pins");
    let mut plan = scratch.sim(&["plan", "--scenario", SCENARIO, "--seed", "8"]).json();
    for (pin, value, expected) in [
        (
            "s1/never-asked@17#3",
            1,
            "plan.json: the plan pins decisions that this run never took: `s1/never-asked@17#3`",
        ),
        ("s1/session-id@0#0", u64::MAX, "plan.json: the plan pins s1/session-id@0#0 to 18446744073709551615, but"),
    ] {
        plan["pins"] = serde_json::json!({pin: value});
        scratch.write("plan.json", plan.to_string().as_bytes());
        let sentence = super::bad_input::refused(&scratch.sim(&["replay", "plan.json"]), pin);
        assert!(sentence.starts_with(expected), "{sentence}");
    }
}
