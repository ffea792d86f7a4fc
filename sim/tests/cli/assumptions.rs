//! `sim replay --assumptions` as a person uses it: what a failure needs of the platform, and how well that is known.

use super::SCENARIO;
use super::process::{Scratch, assert_ran};

/// An entry of the corpus in a file of that name.
fn write_entry(scratch: &Scratch, name: &str) {
    let entry = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/by-hand").join(name);
    scratch.write(name, &std::fs::read(entry).expect("an entry of the corpus"));
}

#[test]
fn the_failure_that_an_entry_is_kept_for_is_traced_to_what_it_needs() {
    let scratch = Scratch::new("assumptions");
    write_entry(&scratch, "wiped-session-woken.json");
    let ran = scratch.sim(&["replay", "wiped-session-woken.json", "--assumptions"]);
    assert_ran("assumptions", &ran);
    let told = scratch.sim(&["replay", "wiped-session-woken.json", "--assumptions", "--format", "json"]);
    let json = told.json();
    assert_eq!((told.code, json["run_count"].as_u64().is_some_and(|count| count > 0)), (ran.code, true));
    assert_eq!(json["faults"][0]["evidence"]["grade"], "proved by a probe");
    let needed = json["switches"].as_array().expect("the switches").iter().filter(|each| each["is_needed"] == true);
    let mut told = needed.filter_map(|each| each["what"].as_str());
    assert!(told.all(|what| !what.starts_with("runtime build")), "a build is told habit by habit");
    assert_eq!(scratch.files(), ["wiped-session-woken.json"], "it leaves nothing");
}

#[test]
fn what_the_platform_never_does_is_told() {
    let scratch = Scratch::new("assumptions-never");
    write_entry(&scratch, "transport-outlives-server.json");
    let ran = scratch.sim(&["replay", "transport-outlives-server.json", "--assumptions"]);
    assert!(ran.stdout.contains("no failure that the real platform can show"), "{}", ran.stdout);
}

#[test]
fn what_rests_on_nothing_or_holds_is_said() {
    let scratch = Scratch::new("assumptions-holds");
    let plan = scratch.sim(&["plan", "--scenario", SCENARIO, "--seed", "7"]).stdout;
    scratch.write("plan.json", plan.as_bytes());
    let held = scratch.sim(&["replay", "plan.json", "--assumptions"]);
    assert_eq!(held.code, 2);
    assert!(held.stderr.contains("plan.json: the plan holds, and rests on no assumption"), "{}", held.stderr);
    let other = ["--defect", "idle-alarm-not-rearmed", "--signature", "safety/a/b"];
    let other = scratch.sim(&[&["replay", "plan.json", "--assumptions"], &other[..]].concat());
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("does not show safety/a/b"), "{}", other.stderr);
    let needless = scratch.sim(&["replay", "plan.json", "--signature", "safety/a/b"]);
    assert_eq!(needless.code, 2, "{}", needless.stderr);
    let broken = scratch.sim(&["replay", "plan.json", "--assumptions", "--defect", "idle-alarm-not-rearmed"]);
    assert_eq!(broken.code, 10, "{}", broken.stderr);
    assert!(broken.stdout.contains("nothing of the platform"), "{}", broken.stdout);
}
