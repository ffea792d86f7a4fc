//! What excuses what: planned faults by hand over small traces.

use super::super::testing::{Builder, plan_with_failing_alarm_write};
use super::*;

/// A plan whose only fault has this effect on some operation.
fn plan_with(effect: Effect) -> Plan {
    let mut plan = plan_with_failing_alarm_write();
    plan.faults[0].effect = effect;
    plan
}

fn hold() -> Effect {
    Effect::Hold { release: None, for_ms: Some(1_000), fail: None }
}

#[test]
fn a_failure_disturbs_from_its_delivery_and_a_hold_does_not() {
    let trace = Builder::default().fault(100, "fault.delivered", 0).build();
    let failing = plan_with_failing_alarm_write();
    let log = FaultLog::of(&failing, &trace);
    assert!(log.is_disturbed("s1", 50, 100));
    assert!(!log.is_disturbed("s1", 101, 200));
    assert!(log.lost_alarm_write("s1", 100, 200));
    let holding = plan_with(hold());
    assert!(!FaultLog::of(&holding, &trace).is_disturbed("s1", 0, 200));
}

#[test]
fn a_write_of_the_alarm_is_lost_with_itself_or_with_the_read_before_a_re_arm() {
    let trace = Builder::default().fault(100, "fault.delivered", 0).build();
    let lost = |name: &str| {
        let mut plan = plan_with_failing_alarm_write();
        let When::Operation { operation, .. } = &mut plan.faults[0].when else { panic!("at an operation") };
        *operation = name.into();
        FaultLog::of(&plan, &trace).lost_alarm_write("s1", 100, 200)
    };
    assert!(lost("sched · storage.setAlarm heartbeat") && lost("rearm · storage.getAlarm"));
    assert!(lost("sched · storage.deleteAlarm") && !lost("destroy · storage.deleteAlarm"));
    assert!(!lost("sched · storage.get destroy-pending") && !lost("clock · storage.put last-activity-ms"));
}

#[test]
fn the_loss_of_an_object_disturbs_its_session_only() {
    let plan = plan_with_failing_alarm_write();
    let trace = Builder::default().platform(100, "s1", "object.reset", &[]).build();
    let log = FaultLog::of(&plan, &trace);
    assert!(log.is_disturbed("s1", 0, 200));
    assert!(!log.is_disturbed("s2", 0, 200));
}

#[test]
fn a_failure_disturbs_whom_it_hit_and_a_reset_those_beside_it_too() {
    let placed = |trace: Builder, who| trace.platform(1, who, "object.constructed", &[("isolate", "i1".into())]);
    let trace = placed(placed(Builder::default(), "s1"), "s2").fault_of(100, "s2", "fault.delivered", 0).build();
    let (mut plan, other) = (plan_with_failing_alarm_write(), plan_with_failing_alarm_write().clients.remove(0));
    plan.clients.push(crate::plan::ClientPlan { name: "s2".into(), ..other });
    assert!(FaultLog::of(&plan, &trace).is_disturbed("s2", 0, 200));
    assert!(!FaultLog::of(&plan, &trace).is_disturbed("s1", 0, 200));
    plan.faults[0].effect = Effect::Reset { kind: ResetKind::Cpu };
    assert!(FaultLog::of(&plan, &trace).is_disturbed("s1", 0, 200));
}

/// The plan with that fault 0, and a client s2 that has nothing to do with s1.
fn with_stranger(operation: &str, effect: Effect) -> Plan {
    let mut plan = plan_with(effect);
    let other = crate::plan::ClientPlan { name: "s2".into(), ..plan.clients[0].clone() };
    plan.clients.push(other);
    let When::Operation { operation: name, .. } = &mut plan.faults[0].when else { panic!("at an operation") };
    *name = operation.into();
    plan
}

#[test]
fn what_befalls_another_session_excuses_nothing_here_unless_it_has_a_permit() {
    let trace = |who| Builder::default().fault_of(100, who, "fault.delivered", 0).build();
    let failing = Effect::Fail { error: ErrorKind::CodeUpdate, text: None, flags: None, lasting: true };
    let lost = with_stranger("clock · storage.setAlarm idle", failing);
    let (here, there) = (trace("s1"), trace("s2"));
    assert!(FaultLog::of(&lost, &here).lost_alarm_write("s1", 0, 200));
    assert!(!FaultLog::of(&lost, &there).lost_alarm_write("s1", 0, 200));
    assert!(FaultLog::of(&lost, &here).fails_lastingly("s1", 200));
    assert!(!FaultLog::of(&lost, &here).fails_lastingly("s1", 99));
    assert!(!FaultLog::of(&lost, &there).fails_lastingly("s1", 200));
    let is_held = |operation: &str, trace: &Trace| {
        FaultLog::of(&with_stranger(operation, hold()), trace).is_held_until("s1", 200, 1_000)
    };
    assert!(is_held("bridge · stub.fetch", &here) && !is_held("bridge · stub.fetch", &there));
    assert!(is_held("build · stack", &there));
}

#[test]
fn a_hold_lasts_until_it_is_released_and_excuses_half_a_patience_more() {
    let plan = plan_with(hold());
    let delivered = Builder::default().fault(100, "fault.delivered", 0);
    let planned = delivered.clone().build();
    assert_eq!(FaultLog::of(&plan, &planned).held_ms(600, 5_000), 500);
    let released = delivered.fault(400, "fault.released", 0).build();
    let log = FaultLog::of(&plan, &released);
    assert_eq!(log.held_ms(0, 5_000), 300);
    assert!(log.is_held_until("s1", 899, 1_000));
    assert!(!log.is_held_until("s1", 900, 1_000));
    assert!(!log.is_held_until("s1", 99, 1_000));
}

#[test]
fn a_held_step_of_an_eviction_is_told_from_other_holds() {
    let delivered = Builder::default().fault(100, "fault.delivered", 0).build();
    let plan = plan_with(Effect::Delay { ms: 500 });
    assert!(!FaultLog::of(&plan, &delivered).holds_eviction(600));
    let mut evicting = plan;
    evicting.faults[0].when = When::Operation {
        operation: "evict · dispose".into(),
        root: None,
        edge: crate::plan::Edge::Begin,
        n: 1,
        session: None,
    };
    let log = FaultLog::of(&evicting, &delivered);
    assert!(log.holds_eviction(600) && log.holds_eviction(700));
    assert!(!log.holds_eviction(99) && !log.holds_eviction(701));
}
