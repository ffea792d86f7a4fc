//! `sim shrink` as a person uses it: what it says, what it leaves, and that the plan it was given stays as it is.

use super::SCENARIO;
use super::process::{Scratch, assert_ran};

/// A failing plan in a file of that name.
fn write_plan(scratch: &Scratch, name: &str) -> String {
    let arguments = ["plan", "--scenario", SCENARIO, "--seed", "7", "--defect", "idle-alarm-not-rearmed"];
    let plan = scratch.sim(&arguments).stdout;
    scratch.write(name, plan.as_bytes());
    plan
}

#[test]
fn a_failing_plan_becomes_a_small_one_that_fails_in_the_same_way() {
    let scratch = Scratch::new("shrink");
    let plan = write_plan(&scratch, "plan.json");
    let ran = scratch.sim(&["shrink", "plan.json"]);
    assert_ran("shrink", &ran);
    assert_eq!(scratch.read("plan.json"), plan.as_bytes(), "the input stays as it is");
    let file = scratch.files().into_iter().find(|file| file.ends_with("shrunk.json")).expect("a shrunk plan");
    let replayed = scratch.sim(&["replay", &file]);
    assert_eq!(replayed.code, ran.code);
    assert!(replayed.stdout.contains("FAILED  alarm-follows-intent"), "{}", replayed.stdout);
}

#[test]
fn a_seed_is_shrunk_without_a_file_and_told_to_programs() {
    let scratch = Scratch::new("shrink-seed");
    let signature = "liveness/idle-runtime-is-released/session";
    let seed = ["--scenario", SCENARIO, "--seed", "7", "--defect", "idle-alarm-not-rearmed"];
    let more = ["--signature", signature, "--out", "least.json", "--format", "json"];
    let ran = scratch.sim(&[&["shrink"], &seed[..], &more[..]].concat());
    let told = ran.json();
    assert_eq!(
        (&told["signature"], &told["is_minimal"], &told["file"]),
        (&signature.into(), &true.into(), &"least.json".into())
    );
    assert_eq!(told["sizes"][0], serde_json::json!({"what": "steps", "before": 24, "after": 2}));
    assert_eq!(told["exit_code"], ran.code);
    assert_eq!(scratch.sim(&["replay", "least.json"]).code, ran.code);
}

#[test]
fn what_cannot_be_shrunk_is_said_in_one_sentence() {
    let scratch = Scratch::new("shrink-refused");
    write_plan(&scratch, "plan.json");
    let before = scratch.files();
    let seed = ["shrink", "--scenario", SCENARIO, "--seed", "42"];
    for (arguments, told) in [
        (&seed[..], "seed 42: the plan holds, there is nothing to shrink"),
        (&["shrink"], "required arguments"),
        (&["shrink", "plan.json", "--scenario", SCENARIO, "--seed", "1"], "cannot be used with"),
        (&["shrink", "plan.json", "--seed", "7"], "cannot be used with"),
        (&["shrink", "plan.json", "--out", "plan.json"], "--out plan.json: is the plan itself"),
        (&["shrink", "plan.json", "--out", "."], "--out .: is a directory"),
        (&["shrink", "plan.json", "--signature", "safety"], "expected outcome/claim/subject"),
        (
            &["shrink", "plan.json", "--signature", "safety/a/b"],
            "plan.json: the plan does not show `safety/a/b`: it shows `",
        ),
        (&["shrink", "none.json"], "none.json: cannot read the plan"),
    ] {
        let ran = scratch.sim(arguments);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{}", ran.shown());
        assert!(ran.stderr.contains(told), "{}", ran.shown());
    }
    assert_eq!(scratch.files(), before, "nothing is written");
}

#[test]
fn pins_that_a_failing_run_does_not_ask_for_are_dropped_and_told() {
    let scratch = Scratch::new("shrink-pins");
    let mut plan: serde_json::Value = serde_json::from_str(&write_plan(&scratch, "plan.json")).expect("JSON");
    plan["pins"] = serde_json::json!({"s1/never-asked@17#3": 1});
    scratch.write("pinned.json", plan.to_string().as_bytes());
    let plain = scratch.sim(&["shrink", "plan.json", "--out", "least.json"]);
    let ran = scratch.sim(&["shrink", "pinned.json", "--out", "least-pinned.json"]);
    assert_eq!(ran.code, plain.code, "{}", ran.shown());
    assert_eq!(scratch.read("least.json"), scratch.read("least-pinned.json"));
    let note = "note: 1 of the pins have no effect in this run, such as s1/never-asked@17#3: they are dropped";
    assert!(ran.stderr.lines().any(|line| line == note), "{}", ran.shown());
}

#[cfg(unix)]
#[test]
fn an_interrupted_shrink_leaves_the_least_plan_so_far() {
    let scratch = Scratch::new("shrink-interrupted");
    let plan = write_plan(&scratch, "plan.json");
    scratch.make_folder("temporary");
    let ran = scratch.sim_interrupted("-INT", &["shrink", "plan.json", "--out", "least.json"], "temporary");
    assert_eq!((ran.code, ran.stdout.as_str()), (130, ""), "{}", ran.shown());
    assert!(
        ran.stderr.contains("interrupted: the least plan so far, which is not minimal, is in least.json"),
        "{}",
        ran.shown()
    );
    assert_eq!(scratch.read("plan.json"), plan.as_bytes());
    let replayed = scratch.sim(&["replay", "least.json"]);
    assert!(replayed.stdout.contains("FAILED  alarm-follows-intent"), "{}", replayed.stdout);
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_the_runs() {
    let scratch = Scratch::new("shrink-unwritable");
    write_plan(&scratch, "plan.json");
    scratch.write("occupied", b"a file");
    let ran = scratch.sim(&["shrink", "plan.json", "--out", "occupied/least.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.shown());
    assert!(
        ran.stderr.contains("occupied/least.json: cannot write") && !ran.stderr.contains("of at most"),
        "{}",
        ran.shown()
    );
}
