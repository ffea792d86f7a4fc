//! `sim reach` as a person starts it: the same text by any number of workers, JSON, exit codes, refusals.

use super::SCENARIO;
use super::process::{Ran, Scratch};

/// The lines about one row.
fn lines<'r>(ran: &'r Ran, row: &str) -> Vec<&'r str> {
    let of_row = ran.stdout.lines().skip_while(|line| !line.contains(&format!(" {row} ")));
    of_row.take(2).map(str::trim_end).collect()
}

#[test]
fn one_worker_and_three_tell_the_same_of_every_row() {
    let scratch = Scratch::new("reach");
    let one = scratch.sim(&["reach", "--seeds", "0..8", "--jobs", "1"]);
    let three = scratch.sim(&["reach", "--seeds", "0..8", "--jobs", "3"]);
    assert_eq!(one, three);
    // Eight seeds come to little of what the whole catalog must reach.
    assert_eq!(one.code, 14, "{}", one.shown());
    assert!(!one.stdout.contains('\u{1b}') && !one.stdout.contains('●'));
    let last = one.stdout.lines().last().expect("a verdict");
    assert!(last.starts_with("unmet  ") && last.ends_with("(8 runs, seeds 0..8)"), "{last}");
    assert!(lines(&one, "life-cycle/resident")[0].ends_with("8 runs, first seed 0"), "{}", one.stdout);
    assert_eq!(scratch.files(), [] as [&str; 0], "it leaves nothing");
}

#[test]
fn a_dark_row_tells_the_closest_run_and_what_it_lacked() {
    // Without any second use there is nothing to lease: the seed's only session is quiet when its alarm comes.
    let seed = ["reach", "--seeds", "0..1", "--scenario", SCENARIO, "--format", "json"];
    let told = Scratch::new("reach-json").sim(&seed).json();
    let rows = told["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), scenarios::reach::rows().len());
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).expect("a row").clone();
    let lit = row("alarm/dispose-quiet");
    assert_eq!((&lit["is_lit"], &lit["lit_count"], &lit["first"]["seed"]), (&true.into(), &1.into(), &"0".into()));
    let dark = row("alarm/extend-paused");
    let closest = &dark["closest"];
    assert_eq!(
        (&dark["is_lit"], &closest["scenario"], &closest["session"]),
        (&false.into(), &SCENARIO.into(), &"s1".into())
    );
    assert_eq!((&closest["lacked"], &closest["of"]), (&3.into(), &4.into()));
    assert_eq!(closest["missing"], "an execution of it waits for a person");
    assert!(closest["at_ms"].as_u64().is_some());
}

#[test]
fn a_scenario_by_name_lights_what_it_is_about() {
    let ran = Scratch::new("reach-own").sim(&["reach", "--seeds", "0..60", "--scenario", SCENARIO, "--format", "json"]);
    let told = ran.json();
    let rows = told["rows"].as_array().expect("rows");
    let about = scenarios::catalog::find(SCENARIO).expect("the scenario").sometimes;
    let own: Vec<_> = rows.iter().filter(|row| about.iter().any(|name| row["name"] == *name)).collect();
    assert_eq!(own.len(), about.len());
    for row in own {
        assert!(row["is_required"] == true && row["is_lit"] == true, "{row}");
    }
}

#[test]
fn findings_of_its_runs_are_mentioned_and_do_not_change_what_it_tells() {
    let defect = ["reach", "--seeds", "0..2", "--scenario", SCENARIO, "--defect", "idle-alarm-not-rearmed"];
    let ran = Scratch::new("reach-finding").sim(&defect);
    assert_eq!(ran.code, 14, "{}", ran.shown());
    assert!(ran.stderr.contains("in these runs: `sim fuzz --seeds 0..2 --scenario idle/stream-stays-open --defect=idle-alarm-not-rearmed` tells more"), "{}", ran.stderr);
}

#[test]
fn a_campaign_fails_on_dark_rows_only_when_it_is_asked_to() {
    let scratch = Scratch::new("reach-fuzz");
    let held = scratch.sim(&["fuzz", "--seeds", "0..4", "--out", "held"]);
    assert_eq!(held.code, 0, "{}", held.shown());
    assert!(held.stdout.contains("\nreach: ") || held.stdout.starts_with("reach: "), "{}", held.stdout);
    let unmet = scratch.sim(&["fuzz", "--seeds", "0..4", "--out", "unmet", "--require-reach"]);
    assert_eq!(unmet.code, 14, "{}", unmet.shown());
    assert!(unmet.stdout.starts_with("dark  "), "{}", unmet.stdout);
}

#[test]
fn a_range_without_an_end_is_refused() {
    let ran = Scratch::new("reach-open").sim(&["reach", "--seeds", "5.."]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr, "error: --seeds 5..: write where it ends, such as 5..2005\n");
}
