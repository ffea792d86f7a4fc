//! `sim defects`: what can be broken, what is predicted of it, and how soon a campaign catches it.

use super::process::Scratch;

#[test]
fn defects_are_listed_with_what_is_predicted_of_them() {
    let scratch = Scratch::new("defects");
    let ran = scratch.sim(&["defects"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, model::defect::DEFECTS.len()));
    let first = ran.stdout.lines().next().expect("a line a defect");
    assert!(first.starts_with("idle-alarm-not-rearmed ") && first.contains("idle-runtime-is-released"), "{first}");
    let json = scratch.sim(&["defects", "--defect", "expiry-ignores-waiter", "--format", "json"]).json();
    assert_eq!(json["defects"][0]["predicted"], "a-resume-can-be-repeated");
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

#[cfg(unix)]
#[test]
fn an_interrupted_hunt_tells_what_is_known_so_far() {
    let scratch = Scratch::new("defects-interrupted");
    scratch.make_folder("temporary");
    let chosen = ["--defect", "idle-alarm-not-rearmed", "--defect", "keep-alive-after-clock"];
    for signal in ["-INT", "-TERM"] {
        let arguments = [&["defects", "--run", "--seeds", "0..100_000"][..], &chosen].concat();
        let ran = scratch.sim_interrupted(signal, &arguments, "temporary");
        assert_eq!(ran.code, 130, "{}", ran.shown());
        assert!(ran.stdout.starts_with("idle-alarm-not-rearmed  idle-runtime-is-released  caught within "));
        assert!(ran.stdout.ends_with("1 defects, 1 caught, 1 predicted right\n"), "{}", ran.shown());
        assert!(ran.stderr.ends_with("interrupted: that was 1 of 2 defects\n"), "{}", ran.shown());
    }
}

#[test]
fn a_table_is_written_of_all_defects_and_several_starts_only_and_where_it_has_a_place() {
    let scratch = Scratch::new("defects-write");
    scratch.write("S.md", b"# Strength\n");
    for (more, told) in [
        (&["--write", "S.md"][..], "error: --write writes medians: give `--starts` with at least 2\n"),
        (&["--starts", "2", "--write", "S.md"], "error: S.md: the line `<!-- sim defects: begin; "),
        (&["--starts", "2", "--write", "S.md", "--defect", "pause-runs-on"], "error: the argument '--write <FILE>'"),
    ] {
        let ran = scratch.sim(&[&["defects", "--run"], more].concat());
        assert!(ran.code == 2 && ran.stderr.starts_with(told), "{}", ran.shown());
    }
    assert_eq!(scratch.read("S.md"), b"# Strength\n");
}

#[test]
fn the_table_of_this_checkout_has_a_place_and_once_it_is_written_a_line_for_every_defect() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/STRENGTH.md"));
    let document = document.expect("it is there");
    let sim::markers::Markers { begin, end } = sim::markers::DEFECTS;
    let (_, rest) = document.split_once(begin).expect("the first marker");
    let (table, _) = rest.split_once(end).expect("the second marker");
    for info in model::defect::DEFECTS.iter().filter(|_| !table.trim().is_empty()) {
        assert!(table.contains(&format!("\n| `{}` |", info.name)), "{} is missing: write the table anew", info.name);
    }
}

#[test]
fn a_survivor_fails_unless_it_is_excused_by_name() {
    let scratch = Scratch::new("defects-survive");
    let run = |defect: &str| scratch.sim(&["defects", "--run", "--seeds", "0..1", "--defect", defect]);
    let excused = run("expiry-ignores-waiter");
    assert!(excused.code == 0 && excused.stdout.contains("survives 1 seed, excused: "), "{}", excused.shown());
    let survivor = run("permit-grant-lost");
    assert!(survivor.code == 14 && survivor.stdout.contains("SURVIVES 1 seed "), "{}", survivor.shown());
    let unknown = run("permit-grand-lost");
    let told = "error: no defect is called `permit-grand-lost`: did you mean `permit-grant-lost`?";
    assert!(unknown.code == 2 && unknown.stderr.starts_with(told), "{}", unknown.shown());
}
