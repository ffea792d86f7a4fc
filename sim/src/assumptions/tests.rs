//! Tests of the search with judges that are rules, and of the lists.

use super::*;
use crate::exit_code::ExitCode;
use crate::trial::{Answer, Found, TrialOptions};
use scenarios::plan::{ColdAlarmName, Edge, Effect, FaultPlan, RuntimeBuild, Severity, When};
use scenarios::seed::{Entropy, Seed};

/// Whether a run fails, by the value of each decision and by its plan.
type Fails = fn(&dyn Fn(&str) -> u64, &Plan) -> bool;

/// A judge that asks fixed decisions and fails by a rule over their values.
struct Rule {
    asks: &'static [(&'static str, u64)],
    fails: Fails,
}

fn signature() -> Signature {
    Signature::new(ExitCode::Liveness, "idle-runtime-is-released", "session")
}

impl Judge for Rule {
    fn judge(&mut self, plan: &Plan, _: TrialOptions) -> Result<Answer, Error> {
        let drawn = |name: &str| {
            let asked = self.asks.iter().find(|(asked, _)| *asked == name).map_or(0, |(_, value)| *value);
            let pinned = plan.pins.get(name).copied();
            pinned.unwrap_or(if plan.entropy.is_some() { asked } else { 0 })
        };
        let decisions = self.asks.iter().map(|(name, _)| ((*name).to_owned(), drawn(name))).collect();
        let found = Found { signature: signature(), what: "kept".to_owned() };
        let findings = (self.fails)(&drawn, plan).then_some(found).into_iter().collect();
        Ok(Answer { findings, decisions, ..Answer::default() })
    }
}

fn plan() -> Plan {
    let mut plan = (crate::draw::scenario("idle/stream-stays-open").expect("it is in the catalog").plan)(Seed(3));
    plan.entropy = Some(Entropy::of("test", Seed(3)));
    plan.world.severity = Severity::Usual;
    plan.faults.clear();
    plan
}

fn found(mut rule: Rule) -> Assumptions {
    find(&plan(), &signature(), &mut rule, &mut |_| {}).expect("it is found")
}

const ASKS: &[(&str, u64)] = &[
    ("s1/alarm.late@0#0", 40),
    ("s1/alarm.late@0#1", 9),
    ("s1/commit@0#0", 3),
    ("edge/latency.rpc@0#0", 12),
    ("s1/session-id@0#0", 77),
];

#[test]
fn what_fails_in_a_calm_world_rests_on_nothing() {
    let found = found(Rule { asks: ASKS, fails: |_, _| true });
    assert!(found.decisions.is_empty() && found.is_minimal);
    let text = text(&found);
    assert!(text.contains("nothing of the platform"), "{text}");
    assert!(text.contains("rests on no assumption"), "{text}");
}

#[test]
fn the_decisions_that_it_needs_are_told_with_the_least_values_that_do() {
    let found = found(Rule { asks: ASKS, fails: |drawn, _| drawn("s1/alarm.late@0#0") >= 25 });
    let [needed] = &found.decisions[..] else { panic!("one question is needed: {found:?}") };
    assert_eq!(needed.about, "lateness of alarms");
    assert_eq!(needed.values, [Value { name: "s1/alarm.late@0#0".to_owned(), value: 40, least: 25, too_small: 24 }]);
    assert_eq!(needed.evidence.grade, Grade::Proved);
    assert_eq!(found.free.len(), 2);
    assert!(found.free.iter().all(|free| free.draws.failed == free.draws.tried));
}

#[test]
fn of_decisions_that_do_instead_of_each_other_one_is_told() {
    let rule = |drawn: &dyn Fn(&str) -> u64, _: &Plan| drawn("s1/commit@0#0") > 0 || drawn("edge/latency.rpc@0#0") > 0;
    let found = found(Rule { asks: ASKS, fails: rule });
    assert_eq!(found.decisions.iter().map(|each| each.values.len()).sum::<usize>(), 1);
}

#[test]
fn of_what_a_build_does_only_what_the_failure_needs_is_told() {
    let rule: Fails = |_, plan| {
        let world = &plan.world;
        world.switches.resolved(world.runtime_build).cold_alarm_name == ColdAlarmName::Absent
    };
    let mut plan = plan();
    plan.world.runtime_build = RuntimeBuild::May2026;
    let found = find(&plan, &signature(), &mut Rule { asks: ASKS, fails: rule }, &mut |_| {}).expect("it is found");
    let needed: Vec<_> = found.switches.iter().filter(|each| each.need.is_needed()).collect();
    let [needed] = &needed[..] else { panic!("one switch is needed: {found:?}") };
    assert!(needed.what.starts_with("cold_alarm_name ") && needed.what.contains("as the build of"), "{needed:?}");
    assert_eq!((&needed.need, needed.evidence.facts.len()), (&Need::Alone, 1));
}

/// The plan with two faults, of which the rules tell by the time.
fn with_two_faults() -> Plan {
    let mut plan = plan();
    for at_ms in [1_001, 1_002] {
        let when = When::At { at_ms, session: Some("s1".to_owned()) };
        plan.faults.push(FaultPlan::new(when, Effect::Reset { kind: scenarios::plan::ResetKind::CodeUpdate }));
    }
    plan
}

fn found_of_two(fails: Fails) -> Assumptions {
    find(&with_two_faults(), &signature(), &mut Rule { asks: ASKS, fails }, &mut |_| {}).expect("it is found")
}

#[test]
fn of_two_faults_of_which_either_does_one_is_needed() {
    let found = found_of_two(|_, plan| !plan.faults.is_empty());
    let text = text(&found);
    assert!(!text.contains("nothing of the platform"), "{text}");
    let [first, second] = &found.faults[..] else { panic!("there are two: {found:?}") };
    assert_eq!(first.need, Need::Not);
    let Need::OneOf(instead) = &second.need else { panic!("the first does in its place: {found:?}") };
    assert!(instead.len() == 1 && instead[0].what.starts_with("fault 0: "), "{instead:?}");
    assert!(text.contains("one of:") && text.contains("as sure as its weakest assumption: documented"), "{text}");
    assert!(!text.contains("fault 0: it fails without it"), "{text}");
}

#[test]
fn what_only_several_others_do_together_is_told_so() {
    let rule: Fails = |drawn, plan| {
        let has =
            |at_ms| plan.faults.iter().any(|fault| matches!(fault.when, When::At { at_ms: at, .. } if at == at_ms));
        has(1_002) || has(1_001) && drawn("s1/alarm.late@0#0") > 0
    };
    let found = found_of_two(rule);
    assert_eq!(found.faults[1].need, Need::OneOf(Vec::new()), "{found:?}");
    assert!(text(&found).contains("; or several others together"), "{}", text(&found));
}

#[test]
fn switches_that_may_not_all_stand_otherwise_are_not_told_as_free() {
    let found = found(Rule {
        asks: ASKS,
        fails: |_, plan| {
            let default = scenarios::plan::Switches::default();
            let now = plan.world.switches;
            now.delete_all == default.delete_all || now.eviction == default.eviction
        },
    });
    let needed: Vec<&str> =
        found.switches.iter().filter(|each| each.need.is_needed()).map(|each| each.what.as_str()).collect();
    assert_eq!(needed, ["eviction idle-only"]);
    assert!(text(&found).contains("one of:"), "{}", text(&found));
}

#[test]
fn the_ids_of_a_run_stay_what_they_are() {
    let found = found(Rule { asks: ASKS, fails: |drawn, _| drawn("s1/session-id@0#0") == 77 });
    assert!(found.decisions.is_empty(), "{found:?}");
}

#[test]
fn a_plan_that_holds_is_refused() {
    let told = find(&plan(), &signature(), &mut Rule { asks: ASKS, fails: |_, _| false }, &mut |_| {});
    assert!(matches!(told, Err(Error::Usage(_))), "{told:?}");
}

#[test]
fn what_waits_where_nothing_can_wait_is_told_to_be_impossible() {
    let mut plan = plan();
    let when = |operation: &str| When::Operation {
        operation: operation.into(),
        root: None,
        edge: Edge::Begin,
        n: 1,
        session: None,
    };
    plan.faults.push(FaultPlan::new(when("init · db.open"), Effect::Delay { ms: 5 }));
    plan.faults.push(FaultPlan::new(when("bridge · stub.fetch"), Effect::Delay { ms: 5 }));
    let found =
        |fails: Fails| find(&plan, &signature(), &mut Rule { asks: ASKS, fails }, &mut |_| {}).expect("it is found");
    let both = text(&found(|_, plan| plan.faults.len() == 2));
    assert!(both.contains("no failure that the real platform can show"), "{both}");
    let second =
        text(&found(|_, plan| plan.faults.last().is_some_and(|fault| fault.to_string().contains("stub.fetch"))));
    assert!(second.contains("proved by a probe: fact 29"), "{second}");
    assert!(second.contains("fault 0: it fails without it as well"), "{second}");
}
