//! What a person sees of each command: exit code, standard output and standard error, as snapshots.
//!
//! Counts and the digest of the whole run are blanked, since every new event moves them; times and the digest of the
//! telemetry are what a seed promises and stand as they are.

#[path = "cli/assumptions.rs"]
mod assumptions;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/bench.rs"]
mod bench;
#[path = "cli/contract.rs"]
mod contract;
#[path = "cli/core.rs"]
mod core;
#[path = "cli/corpus.rs"]
mod corpus;
#[path = "cli/defects.rs"]
mod defects;
#[path = "cli/findings.rs"]
mod findings;
#[path = "cli/fuzz.rs"]
mod fuzz;
#[path = "cli/process.rs"]
mod process;
#[path = "cli/reach.rs"]
mod reach;
#[path = "cli/repeat.rs"]
mod repeat;
#[path = "cli/shrink.rs"]
mod shrink;

use process::{Ran, Scratch, assert_ran};

const SCENARIO: &str = "idle/stream-stays-open";

#[test]
fn a_seed_runs_every_scenario_a_line_each() {
    let scratch = Scratch::new("seed");
    assert_ran("seed", &scratch.sim(&["--seed", "42"]));
    assert_eq!(scratch.files(), [] as [&str; 0], "a run that held leaves nothing");
}

#[test]
fn a_seed_is_the_same_in_decimal_in_hexadecimal_and_with_underscores() {
    let scratch = Scratch::new("forms");
    let decimal = scratch.sim(&["--seed", "42"]);
    for form in ["0x2a", "0X2A", "4_2"] {
        assert_eq!(scratch.sim(&["--seed", form]), decimal, "{form}");
    }
    assert_eq!(scratch.sim(&["run", "--seed", "42"]), decimal, "`run` is the default");
}

#[test]
fn a_scenario_tells_the_story_of_its_run() {
    let scratch = Scratch::new("story");
    assert_ran("story", &scratch.sim(&["--scenario", SCENARIO, "--seed", "8"]));
}

#[test]
fn results_are_also_one_json_document() {
    let scratch = Scratch::new("json");
    let ran = scratch.sim(&["--seed", "42", "--format", "json"]);
    assert_eq!(ran.json()["runs"][0]["outcome"], "held");
    assert_ran("seed_json", &ran);
    let ran = scratch.sim(&["--scenario", SCENARIO, "--seed", "8", "--format", "json"]);
    let report = ran.json();
    assert_eq!((&report["seed"], &report["exit_code"], &report["report"]), (&"8".into(), &0.into(), &1.into()));
    assert_eq!(report["checks"].as_array().map(Vec::len), Some(scenarios::invariants::ALL.len()));
}

#[test]
fn without_a_seed_one_is_drawn_and_printed_first() {
    let scratch = Scratch::new("drawn");
    let first_line = |ran: &Ran| ran.stdout.lines().next().unwrap_or_default().to_owned();
    let (one, other) = (scratch.sim(&[]), scratch.sim(&[]));
    let seed = first_line(&one).strip_prefix("seed ").expect("the seed is printed first").to_owned();
    assert_ne!(first_line(&one), first_line(&other), "two draws are the same");
    let again = scratch.sim(&["--seed", &seed]);
    assert_eq!(one.stdout, format!("seed {seed}\n{}", again.stdout));
    let json = scratch.sim(&["--format", "json"]);
    assert_eq!(json.stderr, format!("seed {}\n", json.json()["seed"].as_str().expect("a seed")));
}

#[test]
fn what_there_is_can_be_listed() {
    let scratch = Scratch::new("list");
    assert_ran("list", &scratch.sim(&["list"]));
    assert_ran("list_defects", &scratch.sim(&["list", "defects"]));
    let json = scratch.sim(&["list", "invariants", "--format", "json"]).json();
    assert_eq!(json["invariants"][0]["name"], scenarios::invariants::ALL[0].name);
    let rows = scratch.sim(&["list", "reach"]).stdout;
    assert!(rows.lines().count() == scenarios::reach::rows().len() && rows.starts_with("life-cycle/absent "), "{rows}");
}

#[test]
fn a_plan_is_printed_as_it_is_drawn_and_as_it_is_changed() {
    let scratch = Scratch::new("plan");
    assert_ran("plan", &scratch.sim(&["plan", "--scenario", SCENARIO, "--seed", "8"]));
    let changes = ["--defect", "idle-alarm-destroys", "--set", "resident-runtime-soft-cap=3", "--core", "described"];
    let changed = scratch.sim(&[&["plan", "--scenario", SCENARIO, "--seed", "8"], &changes[..]].concat()).json();
    assert_eq!(changed["defects"][0], "idle-alarm-destroys");
    assert_eq!(changed["config"]["resident_runtime_soft_cap"], 3);
    assert_eq!(changed["core"], "described");
}

#[test]
fn a_printed_plan_replays_to_the_run_that_its_seed_has() {
    let scratch = Scratch::new("replay");
    let plan = scratch.sim(&["plan", "--scenario", SCENARIO, "--seed", "8"]);
    scratch.write("plan.json", plan.stdout.as_bytes());
    let by_seed = scratch.sim(&["--scenario", SCENARIO, "--seed", "8"]);
    assert_eq!(scratch.sim(&["replay", "plan.json"]), by_seed);
}

#[test]
fn the_operations_of_the_host_are_printed() {
    let ran = Scratch::new("operations").sim(&["operations"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let names = model::operations::names();
    assert!(names.iter().all(|name| ran.stdout.contains(name)), "every operation is in the table");
}

#[test]
fn help_and_version_are_results_and_hide_what_is_not_for_people() {
    let scratch = Scratch::new("help");
    let help = scratch.sim(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for command in
        ["run", "list", "plan", "replay", "contract", "corpus", "fuzz", "reach", "meta", "operations", "bench"]
    {
        assert!(help.stdout.contains(&format!("\n  {command} ")), "{command}");
    }
    let meta = scratch.sim(&["meta", "--help"]);
    assert!(!help.stdout.contains("worker") && !help.stdout.contains("bench-part") && !meta.stdout.contains("leak"));
    assert_eq!(scratch.sim(&["--version"]).stdout, format!("sim {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let scratch = Scratch::new("pipe");
    let ran = scratch.sim_into_closed_pipe(&["--scenario", SCENARIO, "--seed", "8"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn what_was_found_is_told_also_where_its_report_cannot_be_written() {
    let scratch = Scratch::new("unwritable");
    scratch.write("taken", b"");
    let failing = ["--seed", "8", "--defect", "idle-alarm-not-rearmed", "--reports", "taken"];
    for one in [&[][..], &["--scenario", SCENARIO]] {
        let ran = scratch.sim(&[&failing[..], one, &["--format", "json"]].concat());
        assert_eq!((ran.code, &ran.json()["exit_code"]), (2, &10.into()), "{}", ran.shown());
        assert!(ran.stderr.starts_with("error: taken/") && ran.stderr.contains(": cannot write: "), "{}", ran.shown());
        let ran = scratch.sim(&[&failing[..], one].concat());
        assert!(ran.code == 2 && ran.stdout.contains("FAILED  "), "{}", ran.shown());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_harness_error() {
    let ran = Scratch::new("full").sim_into_file("/dev/full", &["list"]);
    assert_eq!(ran.code, 20);
    assert_eq!(ran.stderr, "error: cannot write to standard output: no space left on device\n");
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let scratch = Scratch::new("color");
    let plain = scratch.sim(&["--seed", "42"]).stdout;
    assert!(!plain.contains('\u{1b}') && !plain.contains('✓'));
    let bright = scratch.sim(&["--seed", "42", "--color", "always"]).stdout;
    assert!(bright.contains('\u{1b}') && bright.contains('✓'), "{bright}");
    assert_eq!(scratch.sim(&["--seed", "42", "--color", "never"]).stdout, plain);
}
