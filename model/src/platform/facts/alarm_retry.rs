//! An alarm that fails, or whose change is not durable yet (platform facts 76-85).

use super::alarm::{shown, with_alarm, with_alarm_under};
use super::*;

#[test]
fn fact_72_76_77_a_throw_is_retried_after_2_to_64_s_and_then_dropped() {
    with_alarm("throw", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        let mut at = due;
        let mut expected = vec![format!("alarm:0@{due}:{due}")];
        for retry in 1..=6 {
            at += 1_000 << retry;
            expected.push(format!("alarm:{retry}@{at}:{due}"));
        }
        pause(3_000).await;
        assert_eq!(shown(&world).await, Some(due), "while a retry waits, the original time is shown");
        pause(300_000).await;
        assert_eq!(marks(), expected.join(" "));
        assert_eq!(shown(&world).await, None);
    });
}

#[test]
fn fact_80_an_alarm_set_inside_one_that_throws_replaces_the_retry() {
    with_alarm("set, throw", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(2_000).await;
        let (second, third) = (due + 400, due + 800);
        assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:0@{second}:{second} alarm:0@{third}:{third}"));
        pause(1_000).await;
        assert_eq!(marks(), format!("alarm:1@{}:{third}", third + 2_000), "without a new alarm it is retried");
    });
}

#[test]
fn fact_81_a_deletion_inside_an_alarm_that_throws_leaves_no_retry() {
    with_alarm("delete, throw", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(20_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
        assert_eq!(shown(&world).await, None);
    });
}

#[test]
fn fact_82_a_deletion_during_the_retry_wait_cancels_the_retry() {
    with_alarm("throw", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(500).await;
        assert_eq!(ask(&world, "p", "delete").await, Ok(Value::Null));
        pause(20_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
        assert_eq!(shown(&world).await, None);
    });
}

#[test]
fn fact_78_84_an_abort_or_a_failing_section_inside_alarm_counts_as_a_failure() {
    for todo in ["abort once", "section once"] {
        with_alarm(todo, |world| async move {
            assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
            let first = ask(&world, "p", "incarnation").await;
            let due = shown(&world).await.expect("one is set");
            pause(10_000).await;
            assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:1@{}:{due}", due + 2_000));
            assert_ne!(ask(&world, "p", "incarnation").await, first);
            assert_eq!(shown(&world).await, None);
        });
    }
}

#[test]
fn an_alarm_set_in_the_turn_that_aborts_inside_alarm_is_lost_and_the_retry_is_not() {
    with_alarm("set, abort", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(10_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:1@{}:{due}", due + 2_000));
    });
}

#[test]
fn an_alarm_whose_deletion_is_in_flight_fires_only_when_a_reset_undoes_the_deletion() {
    for reset in [false, true] {
        // The third commit: `prepare`, the alarm, its deletion.
        with_alarm_under(
            || nth("platform · commit", 3, Disturbance::Hold(1)),
            "",
            move |world| async move {
                assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
                let due = shown(&world).await.expect("one is set");
                send(&world, "p", "delete");
                pause(500).await;
                assert_eq!(marks(), "", "code that has deleted its alarm is not woken by it");
                let control = Control::new(world.cluster.clone());
                if !reset {
                    control.release(1);
                    pause(500).await;
                    return assert_eq!((marks().as_str(), shown(&world).await), ("", None));
                }
                assert!(control.reset(&key("p"), JsError::cpu_exceeded(), || ()));
                pause(500).await;
                let text = marks();
                assert!(text.starts_with("alarm:0@") && text.contains(&format!(":{due} delete!")), "{text}");
            },
        );
    }
}

#[test]
fn an_alarm_whose_last_writes_are_lost_runs_again() {
    with_alarm_under(
        || nth("platform · commit", 3, Disturbance::Hold(1)),
        "put",
        |world| async move {
            assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
            let due = shown(&world).await.expect("one is set");
            pause(300).await;
            assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
            let reset_at = rt::run_ms();
            assert!(Control::new(world.cluster.clone()).reset(&key("p"), JsError::cpu_exceeded(), || ()));
            pause(5_000).await;
            assert_eq!(marks(), format!("alarm:1@{}:{due}", reset_at + 2_000));
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("in alarm ran")));
        },
    );
}
