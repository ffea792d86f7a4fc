//! `sim defects`: what can be broken, what is predicted of it, and how soon a campaign catches it.

use super::process::Scratch;

#[test]
fn defects_are_listed_with_what_is_predicted_of_them() {
    let scratch = Scratch::new("defects");
    let ran = scratch.sim(&["defects"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, model::defect::DEFECTS.len()));
    let first = ran.stdout.lines().next().expect("a line a defect");
    assert!(first.starts_with("idle-alarm-not-rearmed ") && first.contains("idle-runtime-is-released"), "{first}");
    let json = scratch.sim(&["defects", "--defect", "lease-log-throws", "--format", "json"]).json();
    assert_eq!(json["defects"][0]["predicted"], "nameless-alarm-ends");
    assert!(json["defects"][0]["excused"].is_string() && json["defects"][0].get("caught_by").is_none());
}

#[test]
fn a_defect_is_caught_within_the_same_seeds_by_any_number_of_workers() {
    let scratch = Scratch::new("defects-run");
    let run = |jobs: &str| {
        let seeds = ["--seeds", "0..64", "--jobs", jobs];
        scratch.sim(&[&["defects", "--run", "--defect", "idle-alarm-not-rearmed"][..], &seeds].concat())
    };
    let ran = run("1");
    assert_eq!((ran.code, &ran.stdout), (0, &run("2").stdout), "{}", ran.shown());
    assert!(ran.stdout.contains("predicted right, within "), "{}", ran.shown());
    assert!(ran.stdout.ends_with("1 defects, 1 caught, 1 predicted right\n"), "{}", ran.shown());
}

#[test]
fn several_starts_tell_the_median_of_the_seeds_that_were_needed() {
    let scratch = Scratch::new("defects-starts");
    let run = |more: &[&str]| {
        let chosen = ["--defect", "idle-alarm-not-rearmed", "--scenario", "idle/stream-stays-open", "--seeds", "0..8"];
        scratch.sim(&[&["defects", "--run", "--starts", "3"][..], &chosen, more].concat())
    };
    let ran = run(&[]);
    assert!(ran.code == 0 && ran.stdout.contains("caught at 3 of 3 starts, median "), "{}", ran.shown());
    let row = run(&["--format", "json"]).json()["defects"][0].clone();
    let starts: Vec<u64> =
        row["starts"].as_array().expect("starts").iter().filter_map(|it| it["from"].as_u64()).collect();
    assert_eq!(starts, [0, 1_000, 2_000]);
    assert!(row["median_within"].as_f64() >= Some(1.0) && row["median_predicted_within"].is_number(), "{row}");
}

#[test]
fn a_survivor_fails_unless_it_is_excused_by_name() {
    let scratch = Scratch::new("defects-survive");
    let run = |defect: &str| scratch.sim(&["defects", "--run", "--seeds", "0..1", "--defect", defect]);
    let excused = run("keep-alive-after-clock");
    assert!(excused.code == 0 && excused.stdout.contains("survives 1 seed, excused: "), "{}", excused.shown());
    let survivor = run("permit-grant-lost");
    assert!(survivor.code == 14 && survivor.stdout.contains("SURVIVES 1 seed "), "{}", survivor.shown());
    let unknown = run("permit-grand-lost");
    let told = "error: no defect is called `permit-grand-lost`: did you mean `permit-grant-lost`?";
    assert!(unknown.code == 2 && unknown.stderr.starts_with(told), "{}", unknown.shown());
}
