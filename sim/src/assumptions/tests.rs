//! Tests of the search with judges that are rules, and of the lists.

use super::*;
use crate::exit_code::ExitCode;
use crate::trial::{Answer, Found, TrialOptions};
use scenarios::plan::{Edge, Effect, FaultPlan, Severity, When};
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
    assert_eq!(needed.values, [Value { name: "s1/alarm.late@0#0".to_owned(), value: 40, least: 25 }]);
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
fn a_switch_without_which_it_does_not_fail_is_needed() {
    let found = found(Rule {
        asks: ASKS,
        fails: |_, plan| plan.world.runtime_build == scenarios::plan::RuntimeBuild::default(),
    });
    assert!(found.switches[0].is_needed());
    assert!(text(&found).contains("with 2026-11-17 it does not fail"));
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
    assert!(second.contains("proved by a probe: facts 29, 209"), "{second}");
    assert!(second.contains("fault 0: it fails without it as well"), "{second}");
}
