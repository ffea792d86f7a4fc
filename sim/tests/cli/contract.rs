//! `sim contract` and `--ledgers`: what they print, how they exit, and that a row which fails can be run again.

use super::process::{Scratch, assert_ran};

#[test]
fn the_contract_is_a_line_a_row_and_the_same_as_described() {
    let scratch = Scratch::new("contract");
    let ran = scratch.sim(&["contract"]);
    assert_ran("contract", &ran);
    assert_eq!(scratch.sim(&["contract", "--core", "described"]), ran);
    assert_eq!(scratch.files(), [] as [&str; 0], "rows that hold leave nothing");
}

#[test]
fn rows_can_be_named_and_are_also_json() {
    let scratch = Scratch::new("contract-json");
    let json = scratch.sim(&["contract", "--row", "c1", "--row", "J3", "--format", "json"]).json();
    assert_eq!((&json["rows"][0]["id"], &json["rows"][1]["id"]), (&"C1".into(), &"J3".into()));
    assert_eq!((&json["rows"][0]["verdict"], &json["exit_code"]), (&"held".into(), &0.into()));
    assert!(json.get("ledgers").is_none());
    let ran = scratch.sim(&["contract", "--row", "H11"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: the contract has no row `H11`: did you mean `H1`"), "{}", ran.shown());
}

#[test]
fn a_row_that_does_not_hold_leaves_a_plan_that_replays() {
    let scratch = Scratch::new("contract-fails");
    let ran = scratch.sim(&["contract", "--row", "H1", "--row", "J3", "--defect", "most-recent-evicted"]);
    assert_ran("contract_fails", &ran);
    assert_eq!(ran.code, 10);
    let replay = ran.stdout.lines().find_map(|line| line.split_once("replay ")).expect("a command to copy").1;
    let replayed = scratch.sim(&["replay", replay]);
    assert!(replayed.stdout.contains("of-a calls init"), "{}", replayed.shown());
}

#[test]
fn the_plan_of_a_row_is_printed_and_replays() {
    let scratch = Scratch::new("contract-plan");
    let plan = scratch.sim(&["contract", "--row", "E4", "--plan"]);
    assert_eq!(plan.json()["scenario"], "contract/e4");
    scratch.write("plan.json", plan.stdout.as_bytes());
    let replayed = scratch.sim(&["replay", "plan.json"]);
    assert!(replayed.code == 0 && replayed.stdout.contains("start joined"), "{}", replayed.shown());
    for (arguments, told) in [
        (&["--row", "E4", "--row", "E5"][..], "error: a plan is of one row: name one with `--row`\n"),
        (&["--row", "J1"], "error: J1 calls a function and has no plan: name another row\n"),
    ] {
        let ran = scratch.sim(&[&["contract", "--plan"], arguments].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (2, told));
    }
}

#[test]
fn what_was_taken_and_given_back_is_printed_when_it_is_asked_for() {
    let scratch = Scratch::new("ledgers");
    assert_ran("ledgers", &scratch.sim(&["--seed", "42", "--ledgers"]));
    let json = scratch.sim(&["contract", "--row", "H4", "--ledgers", "--format", "json"]).json();
    assert_eq!(json["ledgers"][0]["thing"], "resident runtimes");
    assert_eq!((&json["ledgers"][0]["taken"], &json["ledgers"][0]["open"]), (&1.into(), &0.into()));
    let story = scratch.sim(&["--scenario", super::SCENARIO, "--seed", "8", "--ledgers"]).stdout;
    assert!(story.contains("\nkeep-alive references"), "{story}");
}

#[test]
fn a_plan_that_calls_what_no_session_has_is_refused() {
    let scratch = Scratch::new("contract-bad");
    let mut plan = scratch.sim(&["plan", "--scenario", super::SCENARIO, "--seed", "8"]).json();
    let call = |session: &str, method: &str| serde_json::json!([{"name": "c", "calls": [{"at_ms": 1, "session": session, "method": method}]}]);
    for (callers, told) in [
        (call("s1", "innit"), "callers: a session has no method `innit`: did you mean `init`?"),
        (call("s9", "init"), "callers[0].calls[0].session: no session is called \"s9\""),
    ] {
        plan["callers"] = callers;
        scratch.write("plan.json", plan.to_string().as_bytes());
        let ran = scratch.sim(&["replay", "plan.json"]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(told), "{}", ran.shown());
    }
}
