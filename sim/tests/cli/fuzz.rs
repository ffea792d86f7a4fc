//! `sim fuzz` as a person uses it: which seeds it runs, how it is gone on with, stopped and told where nothing can be written.

use super::process::{Ran, Scratch};

const DEFECT: &str = "--defect=idle-alarm-not-rearmed";

fn fuzz(scratch: &Scratch, more: &[&str]) -> Ran {
    scratch.sim(&[&["fuzz", "--scenario", "idle/stream-stays-open", "--out", "out"], more].concat())
}

/// Where a campaign is told to be refused, in one sentence and before anything runs.
fn assert_refused(ran: &Ran, told: &str) {
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{}", ran.shown());
    assert!(ran.stderr.contains(told), "{}", ran.shown());
}

#[test]
fn the_largest_seed_is_run_by_a_range_with_its_end() {
    let scratch = Scratch::new("fuzz-largest");
    let range = "18446744073709551613..=18446744073709551615";
    let ran = fuzz(&scratch, &["--seeds", range]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let record: serde_json::Value = serde_json::from_slice(&scratch.read("out/campaign.json")).expect("JSON");
    assert_eq!((&record["seed_count"], &record["ended"]), (&3.into(), &"all-seeds".into()));
    assert!(ran.stdout.contains("seeds 18446744073709551613..=18446744073709551615"), "{}", ran.stdout);
    let again = fuzz(&scratch, &["--seeds", range, "--resume"]);
    assert_eq!((again.code, again.stdout), (0, ran.stdout));
    assert_refused(&fuzz(&scratch, &["--seeds", "18446744073709551615.."]), "no seed comes after");
    // An ordinary range with its end is the same as one without.
    let ran = scratch.sim(&["fuzz", "--scenario", "idle/stream-stays-open", "--out", "small", "--seeds", "3..=4"]);
    assert!(ran.stdout.contains("seeds 3..5"), "{}", ran.shown());
}

#[test]
fn more_runs_than_seeds_are_refused() {
    let scratch = Scratch::new("fuzz-runs");
    let told = "--runs 10: only 3 seeds are there from 0 on: take fewer, or a range with more";
    assert_refused(&fuzz(&scratch, &["--seeds", "0..3", "--runs", "10"]), told);
    assert_eq!(scratch.files(), [] as [&str; 0]);
}

#[test]
fn a_folder_knows_the_seeds_that_it_is_gone_on_with() {
    let scratch = Scratch::new("fuzz-resume");
    let first = fuzz(&scratch, &["--runs", "3"]);
    assert_eq!(first.code, 0, "{}", first.shown());
    let record = scratch.read("out/campaign.json");
    for more in [&["--resume"][..], &["--resume", "--runs", "3"]] {
        let again = fuzz(&scratch, more);
        assert_eq!((again.code, &again.stdout), (0, &first.stdout), "{}", again.shown());
        assert_eq!(scratch.read("out/campaign.json"), record);
    }
    assert_refused(&fuzz(&scratch, &["--resume", "--seeds", "0..3"]), "another `--seeds`");
    assert_refused(&fuzz(&scratch, &["--resume", "--twice"]), "another `--twice`");
    let nowhere = scratch.sim(&["fuzz", "--resume", "--out", "nowhere"]);
    assert_refused(&nowhere, "there is no campaign in nowhere to go on with");
    assert_refused(&scratch.sim(&["fuzz", "--resume"]), "nothing says which campaign");
    assert_eq!(scratch.read("out/campaign.json"), record);
}

#[cfg(unix)]
#[test]
fn one_interruption_ends_the_shrinking_of_a_campaign() {
    let scratch = Scratch::new("fuzz-interrupted");
    scratch.make_folder("temporary");
    let arguments = ["fuzz", "--seeds", "0..40", DEFECT, "--out", "out", "--shrink-runs", "1000000", "--jobs", "1"];
    let ran = scratch.sim_interrupted_after("out/findings", "-INT", &arguments, "temporary");
    assert_eq!(ran.code, 130, "{}", ran.shown());
    assert!(ran.stderr.contains("fuzz: stopping, findings are told as they are"), "{}", ran.shown());
    assert!(ran.stdout.contains("FAILED  alarm-follows-intent"), "{}", ran.shown());
    // What was made small by then is told as it is; the least plan so far of the one under way counts.
    let is_small = |file: &String| file.ends_with("shrunk.json");
    let small = scratch.files().into_iter().filter(is_small).count();
    let told = |words: &str| ran.stdout.matches(words).count();
    assert_eq!(small, told("nothing more can be taken away") + told("not minimal yet after"), "{}", ran.shown());
}

#[test]
fn findings_are_told_where_the_summary_of_the_step_cannot_be_written() {
    let scratch = Scratch::new("fuzz-summary");
    let fuzz = |more: &[&str], out: &str| {
        let fixed = ["fuzz", "--scenario", "idle/stream-stays-open", "--seeds", "0..3", "--github", "--out", out];
        let arguments = [&fixed[..], more].concat();
        scratch.sim_with("GITHUB_STEP_SUMMARY", "no/such/folder/summary.md", &arguments)
    };
    let told = "no/such/folder/summary.md: the summary cannot be appended";
    let found = fuzz(&[DEFECT, "--shrink-runs", "0"], "found");
    assert_eq!(found.code, 10, "{}", found.shown());
    assert!(found.stdout.contains("FAILED  ") && found.stdout.contains("::error "), "{}", found.shown());
    assert!(found.stderr.contains(told), "{}", found.shown());
    assert!(scratch.files().contains(&"found/summary.md".to_owned()));
    let held = fuzz(&[], "held");
    assert!(held.code == 2 && held.stderr.contains(told) && held.stdout.contains("seeds 0..3"), "{}", held.shown());
}
