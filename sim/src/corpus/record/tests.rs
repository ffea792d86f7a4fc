//! Entries are made of plans that show what they are to be kept for, and of no others.

use super::*;
use crate::corpus::verdict::{State, judge};
use crate::trial::Here;
use scenarios::seed::Seed;

fn drawn(seed: u64) -> Plan {
    (crate::draw::scenarios().next().expect("a scenario").plan)(Seed(seed))
}

fn for_defects(names: &[&str]) -> Keeps {
    Keeps { defects: names.iter().map(ToString::to_string).collect(), ..Keeps::default() }
}

#[test]
fn a_plan_that_draws_is_kept_with_pins_and_takes_the_same_course() {
    let plan = drawn(22);
    let entry = record(&plan, for_defects(&["idle-alarm-destroys"]), false, &mut Here).expect("it shows");
    assert_eq!((entry.plan.entropy, entry.plan.pins.is_empty()), (None, false));
    assert_eq!(entry.provenance.plan, plan.digest().to_string());
    let by_entropy = Here.judge(&plan, TRIAL).expect("the harness runs");
    assert_eq!(entry.point.telemetry_digest, by_entropy.telemetry_digest);
    let runs = Runs::of(&entry, &mut Here).expect("the harness runs");
    assert_eq!(runs.as_it_is.run_digest, by_entropy.run_digest);
    assert_eq!(judge(&entry, &runs).state, State::Reached);
}

#[test]
fn a_plan_that_does_not_show_what_it_is_kept_for_is_refused() {
    let plan = drawn(22);
    let refused = |plan: &Plan, keeps: Keeps, fails: bool| {
        let refusal = record(plan, keeps, fails, &mut Here).expect_err("it does not show that");
        assert_eq!(refusal.exit_code(), crate::exit_code::ExitCode::Usage, "{refusal}");
        refusal.to_string()
    };
    let told = refused(&plan, for_defects(&["pause-runs-on"]), false);
    assert!(
        told.contains("with pause-runs-on the plan holds, but an entry for that must violate idle-runtime"),
        "{told}"
    );
    let told = refused(&plan, for_defects(&["idle-alarm-destroys"]), true);
    assert_eq!(told, "the plan holds as it is: leave `--expect-failure` out");
    let failing = Plan { defects: vec!["idle-alarm-destroys".to_owned()], ..plan.clone() };
    let why = || Keeps { why: Some("it fails".to_owned()), ..Keeps::default() };
    let told = refused(&failing, why(), false);
    let form = "the plan does not hold as it is, it shows safety/durable-identity-survives/session: mend that first";
    assert!(told.starts_with(form), "{told}");
    assert!(refused(&plan, for_defects(&["idle-alarm-destroys"; 2]), false).contains("stands twice"));
    assert!(refused(&plan, Keeps::default(), false).contains("nothing says what the entry is kept for"));
    let odd = Plan { entropy: None, pins: [("s1/nothing@0#0".to_owned(), 3)].into(), ..plan };
    assert!(refused(&odd, why(), false).contains("pins s1/nothing@0#0, which has no effect"));
    let entry = record(&failing, why(), true, &mut Here).expect("its failure is expected");
    assert_eq!((entry.expected.as_it_is.outcome.as_str(), entry.expected.broken), ("safety", None));
}

#[test]
fn a_plan_of_a_report_has_its_defect_on_and_is_kept_with_it_off() {
    let plan = drawn(22);
    let reported = Plan { defects: vec!["idle-alarm-destroys".to_owned()], core: Core::Described, ..plan.clone() };
    let keeps = || Keeps { core: Some(Core::Described), ..for_defects(&["idle-alarm-destroys"]) };
    let entry = record(&reported, keeps(), false, &mut Here).expect("it shows");
    assert_eq!(entry.provenance.plan, reported.digest().to_string());
    let of_plan = record(&plan, keeps(), false, &mut Here).expect("it shows");
    assert_eq!(entry.plan, of_plan.plan);
    assert_eq!((entry.plan.core, entry.plan.defects.len()), (Core::Fixed, 0));
}

#[test]
fn only_decisions_that_are_not_calm_are_pinned() {
    let taken = [("s1/a@0#0".to_owned(), 0), ("s1/a@0#1".to_owned(), 7)];
    let plan = pinned(&drawn(1), &taken);
    assert_eq!((plan.entropy, plan.pins), (None, [("s1/a@0#1".to_owned(), 7)].into()));
}
