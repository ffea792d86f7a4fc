//! `sim bench` with tiny counts: every row has its figures, and nothing is asked of how large they are.

use super::process::{Ran, Scratch};
use serde_json::Value as Json;

const BEGIN: &str = "<!-- sim bench: begin; written by `sim bench --write`, not by hand -->";
const END: &str = "<!-- sim bench: end -->";

/// One scenario, and the smallest amounts that still measure everything. Of the row of sessions a small and a larger world are left.
const TINY: &[&str] = &[
    "--scenario=idle/stream-stays-open",
    "--seeds=3",
    "--floor-seeds=1",
    "--memory-runs=20",
    "--sessions-max=100",
    "--counted-sessions-max=10",
    "--resident-sessions=20",
    "--tries=1",
];

fn bench(scratch: &Scratch, arguments: &[&str]) -> Ran {
    scratch.sim(&[&["bench"], TINY, arguments].concat())
}

fn figures(row: &Json) -> &Vec<Json> {
    row["figures"].as_array().expect("a row has figures")
}

#[test]
fn a_bench_measures_what_it_says() {
    let scratch = Scratch::new("bench");
    // Workers and shrinking have tests of their own elsewhere; here they would only take their time.
    let rows = ["catalog", "scenarios", "kept", "virtual", "swarm", "resident", "start", "growth", "build"];
    let named: Vec<String> = rows.iter().map(|row| format!("--row={row}")).collect();
    let arguments: Vec<&str> = named.iter().map(String::as_str).chain(["--format=json"]).collect();
    let ran = bench(&scratch, &arguments);
    let document = ran.json();
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let measured = document["rows"].as_array().expect("rows");
    assert_eq!(measured.len(), rows.len());
    for figure in measured.iter().flat_map(figures) {
        let is_told = figure["measured"].is_number() || figure["why"].is_string();
        assert!(is_told, "{figure}");
    }
    let row = |name: &str| measured.iter().find(|row| row["name"] == name).expect("it was asked for");
    for name in ["catalog", "kept", "virtual", "start"] {
        assert!(figures(row(name)).iter().all(|figure| figure["measured"].as_f64() > Some(0.0)), "{name}");
    }
    assert_eq!(figures(row("scenarios"))[1]["name"], "idle/stream-stays-open", "one figure a scenario");
    let verdict = |name: &str| figures(row(name))[0]["verdict"].clone();
    assert_eq!(verdict("build"), "not available", "nobody asked for it");
    assert!(["reached", "short"].iter().any(|word| verdict("catalog") == *word));
    assert!(ran.stderr.starts_with("bench: catalog: "), "progress is told beside the result");
    assert!(scratch.files().is_empty(), "nothing is left behind");
}

#[test]
fn what_needs_no_valgrind_is_measured_without_it() {
    let scratch = Scratch::new("bench-processes");
    let rows = ["--row=floor", "--row=workers", "--row=sessions", "--format=json"];
    let ran = scratch.sim_without_path(&[&["bench"], TINY, &rows].concat());
    let document = ran.json();
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let figure = |row: usize, at: usize| figures(&document["rows"][row])[at].clone();
    let (floor, workers, sessions) = (0, 1, 2);
    assert!(figure(workers, 0)["measured"].as_f64() > Some(0.0), "{}", ran.shown());
    assert!(figure(floor, 1)["measured"].as_f64() > Some(0.0), "{}", ran.shown());
    for row in [floor, sessions] {
        let why = "valgrind, which counts instructions, is not installed: install its package";
        assert_eq!((&figure(row, 0)["why"], &figure(row, 0)["verdict"]), (&why.into(), &"not available".into()));
    }
    let how = document["rows"][sessions]["how"].as_str().expect("a sentence");
    assert!(how.contains("µs with 10, ") && how.contains("µs with 100 resident sessions"), "{how}");
}

#[test]
fn a_part_runs_under_valgrind_where_that_is() {
    let part = r#"{"part":"crowd","crowd":{"sessions":0,"calls":1,"is_direct":false},"repeat":1}"#;
    let mut valgrind = std::process::Command::new("valgrind");
    valgrind.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        env!("CARGO_BIN_EXE_sim"),
        "bench-part",
        part,
    ]);
    // Where it is not installed the figure is not available, which is tested above.
    let Ok(ran) = valgrind.output().map(Ran::from) else { return };
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(ran.json()["peak_kib"].as_u64() > Some(0), "{}", ran.shown());
    let totals = ran.stderr.lines().filter(|line| line.starts_with("==") && line.contains("== Collected : "));
    assert_eq!(totals.count(), 1, "{}", ran.shown());
}

#[test]
fn a_build_is_compared_with_itself_pair_by_pair() {
    let scratch = Scratch::new("bench-compare");
    let program = env!("CARGO_BIN_EXE_sim");
    let arguments = ["--row=catalog", "--compare", program, "--alternations=2", "--format=json"];
    let ran = bench(&scratch, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let document = ran.json();
    let compared = document["compared"].as_array().expect("figures");
    let names: Vec<&Json> = compared.iter().map(|each| &each["figure"]).collect();
    assert_eq!(names, ["judged", "kept", "digested", "events"]);
    for each in compared {
        let number = |field: &str| each[field].as_f64().expect("a number");
        assert!(number("least") <= number("ratio") && number("ratio") <= number("most"), "{each}");
    }
    let events = &compared[3];
    assert_eq!((&events["ratio"], &events["change"]), (&1.0.into(), &"none".into()), "the same plans, the same events");
}

#[test]
fn what_is_no_other_build_is_refused_in_one_sentence() {
    let scratch = Scratch::new("bench-foreign");
    scratch.write("text", b"no program");
    for (other, told) in [
        ("none/sim", "--compare none/sim: cannot be started: no such file or directory"),
        ("text", "--compare text: cannot be started: permission denied"),
        #[cfg(unix)]
        ("/bin/sh", "--compare /bin/sh: does not say that it is a sim"),
    ] {
        let ran = bench(&scratch, &["--row=kept", "--compare", other]);
        let told = format!("error: {told}: name the program `sim` of another build\n");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "", told));
    }
}

#[test]
fn a_document_without_markers_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new("bench-markers");
    scratch.write("P.md", b"# Performance\n");
    let ran = scratch.sim(&["bench", "--write", "P.md"]);
    let told = format!("error: P.md: the line `{BEGIN}` is missing: add it where the table is to stand\n");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "", told));
    assert_eq!(scratch.read("P.md"), b"# Performance\n");
    let ran = scratch.sim(&["bench", "--write", "none.md"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: none.md: cannot read the document: "), "{}", ran.shown());
}

#[test]
fn the_documents_of_this_checkout_have_a_place_for_the_table() {
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../PERFORMANCE.md")).expect("it is there");
    let (before, rest) = document.split_once(BEGIN).expect("the first marker");
    let (table, after) = rest.split_once(END).expect("the second marker");
    assert!(before.ends_with('\n') && after.starts_with('\n'));
    // Every row that must reach something stands in it, so it was written by this command and not by hand.
    for row in sim::bench::rows::ROWS {
        assert!(table.contains(&format!("| {}", row.what)), "{} is missing: write the table anew", row.name);
    }
}
