//! Shrinking as a whole: minimal, canonical, the same again, and honest about what else it met.

mod least;

use super::*;
use crate::trial::{Found, Here};
use scenarios::catalog;
use scenarios::plan::{Action, Step};
use scenarios::seed::Seed;
use std::path::Path;

/// The least that one needs to know: which plan, with which defect.
fn drawn(seed: u64, defect: &str) -> Plan {
    let scenario = catalog::find("idle/stream-stays-open").expect("the scenario exists");
    Plan { defects: vec![defect.to_owned()], ..(scenario.plan)(Seed(seed)) }
}

fn stored(defect: &str) -> Plan {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/by-hand").join(defect).with_extension("json");
    let entry = crate::corpus::store::read(&file).expect("an entry of the corpus");
    Plan { defects: vec![defect.to_owned()], ..entry.plan }
}

const JUDGED: TrialOptions =
    TrialOptions { is_judged: true, are_pins_optional: true, tells_decisions: false, counts_reach: false };

fn shrunk(plan: &Plan, judge: &mut dyn Judge) -> Shrinking {
    let answer = judge.judge(plan, TrialOptions { are_pins_optional: false, ..JUDGED }).expect("it runs");
    let target = gravest(&answer).expect("it fails").clone();
    shrink(plan, &target, &Budget::default(), judge, &mut |_| {}).expect("it can be shrunk")
}

/// Checks what is promised of a shrunk plan.
fn assert_minimal(plan: &Plan) {
    let before = Here.judge(plan, TrialOptions { are_pins_optional: false, ..JUDGED }).expect("it runs");
    let target = gravest(&before).expect("it fails").clone();
    let Shrinking { plan: least, ending, summary, .. } = shrunk(plan, &mut Here);
    assert_eq!(ending, Ending::Minimal, "{target}");
    assert!(told::step_count(&least) <= 12, "{summary:?}");
    assert!(least.entropy.is_none() && least.seed == Seed(0));
    assert_eq!(weight::Weight::of(&least).misnamed(), 0, "{}", least.to_json());
    let strict = Here.judge(&least, TrialOptions { are_pins_optional: false, ..JUDGED }).expect("it runs");
    assert!(strict.shows(&target), "{strict:?}");
    let mut count = 0;
    for candidate in candidates(&least) {
        count += 1;
        let answer = Here.judge(&candidate, JUDGED).expect("it runs");
        let is_unmet = answer.findings.iter().any(|found| found.signature.outcome == ExitCode::Unmet);
        // What shows with nothing broken is another failure.
        let is_other = || Here.judge(&search::switched_off(&candidate), JUDGED).expect("it runs").shows(&target);
        assert!(is_unmet || !answer.shows(&target) || is_other(), "still shows {target}:\n{}", candidate.to_json());
    }
    assert!(count > 10, "only {count} candidates");
    assert_eq!(shrunk(&least, &mut Here).plan, least, "a shrunk plan shrinks to itself");
}

#[test]
fn nothing_can_be_taken_out_of_a_shrunk_seed_nor_made_simpler() {
    for (seed, defect) in [(5, "start-without-single-flight"), (7, "idle-alarm-not-rearmed")] {
        assert_minimal(&drawn(seed, defect));
    }
}

#[test]
fn nothing_can_be_taken_out_of_a_shrunk_plan_with_faults_nor_made_simpler() {
    for defect in ["initialized-cleared-late", "lost-holdings-kept", "nameless-restore-fails"] {
        assert_minimal(&stored(defect));
    }
}

/// The plan of a scenario whose sessions are stored before the run.
fn of_scenario(scenario: &str, seed: u64, defect: &str) -> Plan {
    let scenario = catalog::find(scenario).expect("the scenario exists");
    Plan { defects: vec![defect.to_owned()], ..(scenario.plan)(Seed(seed)) }
}

#[test]
fn stored_values_and_arguments_are_minimal_too() {
    assert_minimal(&of_scenario("alarm/unnamed-while-paused", 20, "lease-log-throws"));
    assert_minimal(&of_scenario("restore/capability-carried", 3, "apps-capability-forgotten"));
}

#[test]
fn stored_sessions_of_any_seed_become_the_same_bytes() {
    let all = [4, 20].map(|seed| {
        let least = shrunk(&of_scenario("alarm/unnamed-while-paused", seed, "durable-name-ignored"), &mut Here).plan;
        assert_eq!(least.storage[0].session, "s1");
        least.to_json()
    });
    assert_eq!(all[0], all[1]);
}

#[test]
fn a_plan_goes_on_to_need_what_is_broken_in_it() {
    // A record that is cut too far is not carried by a sound host either.
    let least = shrunk(&of_scenario("restore/capability-carried", 3, "apps-capability-forgotten"), &mut Here).plan;
    assert_eq!(least.defects, ["apps-capability-forgotten"]);
}

#[test]
fn seeds_that_fail_for_one_reason_become_one_plan_which_tells_what_does_not_matter() {
    for (defect, seeds) in [("idle-alarm-not-rearmed", [1, 10]), ("start-without-single-flight", [5, 33])] {
        let all = seeds.map(|seed| shrunk(&drawn(seed, defect), &mut Here));
        let digests: BTreeSet<_> = all.iter().map(|each| each.plan.content_digest()).collect();
        assert_eq!(digests.len(), 1, "{defect}: {all:#?}");
        assert_eq!(all[0].plan.clients[0].name, "s1");
        // The alarm is deleted whatever happens; that two requests meet needs its latencies.
        let told = &all[0].summary.irrelevant;
        assert!(!told.iter().any(|line| line.contains("works here")), "more is said than was tried: {told:?}");
        let is_free = told.iter().any(|line| line.starts_with("16 other draws of latency"));
        assert_eq!(is_free, defect == "idle-alarm-not-rearmed", "{told:?}");
    }
}

/// A judge that only looks at the plan.
struct Rule<F>(F);

impl<F: FnMut(&Plan) -> Result<Answer, Error>> Judge for Rule<F> {
    fn judge(&mut self, plan: &Plan, _: TrialOptions) -> Result<Answer, Error> {
        (self.0)(plan)
    }
}

fn signature(outcome: ExitCode) -> Signature {
    Signature::new(outcome, "rule", "session")
}

fn shows(outcomes: &[ExitCode]) -> Answer {
    let found = |outcome: &ExitCode| Found { signature: signature(*outcome), what: "it is broken".to_owned() };
    Answer { findings: outcomes.iter().map(found).collect(), ..Answer::default() }
}

fn calls(plan: &Plan) -> usize {
    plan.clients
        .iter()
        .flat_map(|client| &client.steps)
        .filter(|step| matches!(step.action, Action::Call { .. }))
        .count()
}

/// A plan of three clients with two calls each.
fn made() -> Plan {
    let mut plan = drawn(7, "idle-alarm-not-rearmed");
    plan.clients.truncate(3);
    for client in &mut plan.clients {
        let call = |at_ms| Step { at_ms, action: Action::Call { code: "return \"mark\"".into(), overlap: false } };
        client.steps = vec![call(1_203), call(4_711)];
    }
    plan
}

fn shrunk_by(rule: impl FnMut(&Plan) -> Result<Answer, Error>, runs: u64) -> Result<Shrinking, Error> {
    shrink(&made(), &signature(ExitCode::Safety), &Budget { runs }, &mut Rule(rule), &mut |_| {})
}

#[test]
fn exactly_what_the_failure_needs_is_left() {
    let rule = |plan: &Plan| Ok(shows(if calls(plan) >= 3 { &[ExitCode::Safety] } else { &[] }));
    let least = shrunk_by(rule, 2_000).expect("it can be shrunk");
    assert_eq!(least.ending, Ending::Minimal);
    assert_eq!((calls(&least.plan), told::step_count(&least.plan), least.plan.defects.len()), (3, 3, 0));
    assert!(least.plan.clients.iter().all(|client| client.steps.iter().all(|step| step.at_ms == 0)));
    assert_eq!(least.plan.clients.iter().map(|client| client.name.as_str()).collect::<Vec<_>>(), ["s1"]);
}

#[test]
fn a_persona_stays_only_where_the_failure_needs_one() {
    let mut plan = made();
    plan.clients.iter_mut().for_each(|client| client.persona = Some("rmcp-3.11.0".into()));
    let least = |rule: fn(&Plan) -> bool| {
        let judge = |plan: &Plan| Ok(shows(if rule(plan) { &[ExitCode::Safety] } else { &[] }));
        let budget = Budget { runs: 2_000 };
        shrink(&plan, &signature(ExitCode::Safety), &budget, &mut Rule(judge), &mut |_| {})
            .expect("it can be shrunk")
            .plan
    };
    let is_persona = |client: &scenarios::plan::ClientPlan| client.persona.is_some();
    assert_eq!(least(|plan| calls(plan) >= 2).clients.iter().filter(|client| is_persona(client)).count(), 0);
    let needed = least(|plan| plan.clients.iter().any(|client| client.persona.is_some() && client.steps.len() > 1));
    assert_eq!(needed.clients.iter().filter(|client| is_persona(client)).count(), 1);
}

#[test]
fn a_spent_budget_leaves_a_plan_that_fails_and_is_not_called_minimal() {
    let rule = |plan: &Plan| Ok(shows(if calls(plan) >= 3 { &[ExitCode::Safety] } else { &[] }));
    let least = shrunk_by(rule, 6).expect("it can be shrunk");
    assert_eq!((least.ending, least.summary.is_minimal), (Ending::Spent, false));
    assert!(calls(&least.plan) >= 3);
    assert!(sizes_text(&least.summary).contains("not minimal yet after 6 runs"), "{:?}", least.summary);
}

#[test]
fn another_failure_on_the_way_is_kept_and_does_not_count() {
    let rule = |plan: &Plan| {
        Ok(match calls(plan) {
            4.. => shows(&[ExitCode::Safety]),
            1 | 2 => shows(&[ExitCode::Liveness]),
            _ => shows(&[]),
        })
    };
    let least = shrunk_by(rule, 2_000).expect("it can be shrunk");
    assert_eq!(calls(&least.plan), 4);
    assert_eq!(least.others.keys().collect::<Vec<_>>(), [&signature(ExitCode::Liveness)]);
    assert!((1..=2).contains(&calls(&least.others[&signature(ExitCode::Liveness)])));
}

#[test]
fn a_candidate_whose_fault_is_not_delivered_does_not_count() {
    let rule = |plan: &Plan| {
        Ok(match calls(plan) {
            3.. => shows(&[ExitCode::Safety]),
            _ => shows(&[ExitCode::Safety, ExitCode::Unmet]),
        })
    };
    let least = shrunk_by(rule, 2_000).expect("it can be shrunk");
    assert_eq!((calls(&least.plan), least.others.len()), (3, 0));
}

#[test]
fn a_harness_error_stops_it_and_the_least_plan_so_far_is_kept() {
    let rule = |plan: &Plan| {
        Ok(if plan.clients.len() == 2 { shows(&[ExitCode::Harness]) } else { shows(&[ExitCode::Safety]) })
    };
    let least = shrunk_by(rule, 2_000).expect("it begins well");
    assert_eq!(least.exit_code(), Some(ExitCode::Harness));
    let Ending::Harness { what, plan } = least.ending else { panic!("{:?}", least.ending) };
    assert_eq!((what.as_str(), plan.clients.len()), ("it is broken", 2));
}

#[test]
fn an_interruption_keeps_the_least_plan_so_far() {
    let mut run_count = 0;
    let rule = |_: &Plan| {
        run_count += 1;
        if run_count > 5 { Err(Error::Interrupted) } else { Ok(shows(&[ExitCode::Safety])) }
    };
    let least = shrunk_by(rule, 2_000).expect("it begins well");
    assert_eq!((least.ending.clone(), least.exit_code()), (Ending::Interrupted, Some(ExitCode::Interrupted)));
    assert!(calls(&least.plan) < calls(&made()));
}

#[test]
fn plans_that_cannot_be_shrunk_are_refused_with_a_reason() {
    let refused = |answer: fn(&Plan) -> Answer| {
        let error = shrunk_by(|plan: &Plan| Ok(answer(plan)), 100).map(drop).expect_err("nothing to shrink");
        (error.exit_code(), error.to_string())
    };
    let (code, told) = refused(|_| shows(&[]));
    assert!(code == ExitCode::Usage && told.starts_with("the plan holds"), "{told}");
    let (code, told) = refused(|_| shows(&[ExitCode::Liveness]));
    assert!(code == ExitCode::Usage && told.ends_with("it shows `liveness/rule/session`"), "{told}");
    let (code, told) = refused(|_| shows(&[ExitCode::Harness]));
    assert!(code == ExitCode::Harness && told.contains("it is broken"), "{told}");
    let (code, told) = refused(|plan| shows(if plan.entropy.is_some() { &[ExitCode::Safety] } else { &[] }));
    assert!(code == ExitCode::Harness && told.contains("does not repeat"), "{told}");
}
