//! When an object that is idle leaves memory by itself (platform facts 13-16, 18, 181, 215).

use super::*;
use crate::js::call;

/// Of these objects `set` arms an alarm, `work N` works in the background for N s, `timer N` sets a timer of N s.
async fn resting(ctx: ObjectContext, method: &'static str) -> Answer {
    let worked = |seconds: u64| async move {
        timer(seconds * 1_000).wait().await;
        mark("worked");
    };
    let ticks = |ms: u64| drop(crate::js::EventLoop::current().set_timer(ms, Box::new(|| mark("worked"))));
    match method {
        "set" => ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(30_000)).await?,
        "work 20" => drop(call(worked(20))),
        "work 100" => drop(call(worked(100))),
        "work 1000" => drop(call(worked(1_000))),
        "timer 100" => ticks(100_000),
        "timer 1000" => ticks(1_000_000),
        "cleared" => {
            let timer = crate::js::EventLoop::current().set_timer(100_000, Box::new(|| mark("worked")));
            timer.clear();
        }
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

/// Whether an object on which `method` was called is the same when it was left alone for so long, and what was marked.
fn left_alone(rule: Rule, drawn_ms: u64, method: &'static str, ms: u64, same: bool, marked: &'static str) {
    play_with(
        Switches { evicts_pending_work: rule == OLD, ..Switches::default() },
        |ctx, method, _| resting(ctx, method),
        move |world| async move {
            let stray = move |asked: &str| match asked {
                "eviction" => drawn_ms,
                "eviction.pending-work" => u64::from(rule == Rule::OldIfDrawn),
                _ => 0,
            };
            direct(Script { stray: Some(Box::new(stray)), ..Script::default() });
            let first = ask(&world, "p", "incarnation").await;
            assert_eq!(ask(&world, "p", method).await, Ok(Value::Null));
            pause(ms).await;
            let found = ask(&world, "p", "incarnation").await == first;
            assert_eq!((found, marks().as_str()), (same, marked), "{method}, {drawn_ms} drawn, after {ms}");
        },
    );
}

/// What holds an object that cannot hibernate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Nothing for more than 140 s: the switch says so.
    Old,
    /// The same, drawn.
    OldIfDrawn,
    /// What it still does, for 15 minutes.
    New,
}

const OLD: Rule = Rule::Old;
const NEW: Rule = Rule::New;

#[test]
fn fact_13_15_181_215_an_object_that_can_hibernate_goes_when_that_is_drawn_although_its_alarm_is_armed() {
    for rule in [OLD, NEW] {
        left_alone(rule, 10_000, "set", 9_000, true, "");
        left_alone(rule, 10_000, "set", 11_500, false, "");
        left_alone(rule, 120_000, "cleared", 119_000, true, "");
        left_alone(rule, 120_000, "cleared", 121_500, false, "");
        left_alone(rule, 0, "cleared", 1_000_000, true, "");
    }
}

#[test]
fn fact_13_14_16_215_by_the_old_rule_one_that_cannot_goes_after_70_to_140_s_and_its_work_with_it() {
    for method in ["work 1000", "timer 1000"] {
        for (drawn_ms, gone_ms) in [(10_000, 70_000), (75_000, 105_000), (140_000, 140_000)] {
            for rule in [OLD, Rule::OldIfDrawn] {
                left_alone(rule, drawn_ms, method, gone_ms - 1_000, true, "");
                left_alone(rule, drawn_ms, method, gone_ms + 1_500, false, "");
            }
        }
    }
    left_alone(OLD, 10_000, "work 100", 200_000, false, "");
    // Work that is over before that makes it one that can, 10 s later.
    left_alone(OLD, 10_000, "work 20", 29_000, true, "worked");
    left_alone(OLD, 10_000, "work 20", 31_500, false, "worked");
}

#[test]
fn fact_16_by_the_new_rule_pending_work_holds_an_object_for_15_minutes_and_it_goes_10_s_after_it() {
    for method in ["work 100", "timer 100"] {
        left_alone(NEW, 10_000, method, 99_000, true, "");
        left_alone(NEW, 10_000, method, 109_000, true, "worked");
        left_alone(NEW, 10_000, method, 111_500, false, "worked");
    }
    for method in ["work 1000", "timer 1000"] {
        left_alone(NEW, 10_000, method, 899_000, true, "");
        left_alone(NEW, 10_000, method, 901_500, false, "");
    }
}

#[test]
fn fact_14_16_an_eviction_from_outside_finds_no_object_with_a_timer_unless_the_old_rule_holds() {
    for (evicts_pending_work, found) in [(false, ""), (true, "evicted")] {
        play_with(
            Switches { evicts_pending_work, ..Switches::default() },
            |ctx, method, _| resting(ctx, method),
            move |world| async move {
                assert_eq!(ask(&world, "p", "timer 100").await, Ok(Value::Null));
                Control::new(world.cluster.clone()).evict(&key("p"), || mark("evicted"));
                pause(10).await;
                assert_eq!(marks(), found);
            },
        );
    }
}

#[test]
fn fact_18_a_request_in_progress_keeps_its_object_past_every_drawn_time() {
    for evicts_pending_work in [true, false] {
        play_with(
            Switches { evicts_pending_work, ..Switches::default() },
            |ctx, method, _| async move {
                if method == "long" {
                    timer(1_200_000).wait().await;
                    mark("answered");
                }
                common(ctx, method).await
            },
            |world| async move {
                direct(straying("eviction", 10_000));
                send(&world, "p", "mark");
                send(&world, "p", "long");
                pause(1_201_000).await;
                assert_eq!(marks(), "mark answered");
            },
        );
    }
}
