//! What a platform does by itself when that is drawn (platform facts 11, 87, 211-214, 216).

use super::alarm::{shown, with_alarm_under};
use super::*;

#[test]
fn fact_11_214_an_alarm_may_bring_no_name_and_never_brings_one_over_1024_bytes() {
    let long: &'static str = Box::leak("p".repeat(1_025).into_boxed_str());
    for (name, nameless, expected) in [("p", 0, "alarm:true"), ("p", 1, "alarm:false"), (long, 0, "alarm:false")] {
        play_on(
            RuntimeBuild::November2026,
            |ctx, method, _| async move {
                match method {
                    "alarm" => mark(format!("alarm:{}", ctx.id_name().is_some())),
                    "set" => ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(1_000)).await?,
                    _ => {}
                }
                Ok(Value::Null)
            },
            move |world| async move {
                direct(straying("alarm.nameless", nameless));
                assert_eq!(ask(&world, name, "set").await, Ok(Value::Null));
                world.cluster.end_isolate(world.cluster.isolates()[0]);
                pause(5_000).await;
                assert_eq!(marks(), expected);
            },
        );
    }
}

#[test]
fn fact_87_213_an_alarm_set_to_the_running_time_is_lost_or_very_late() {
    for (late_ms, again) in [(0, ""), (20_000, " again")] {
        with_alarm_under(
            move || straying("alarm.stuck", late_ms),
            "now",
            move |world| async move {
                assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
                let due = shown(&world).await.expect("one is set");
                pause(15_000).await;
                assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
                assert_eq!(shown(&world).await, Some(due), "the past time is shown");
                pause(10_000).await;
                let expected =
                    if again.is_empty() { String::new() } else { format!("alarm:0@{}:{due}", due + late_ms) };
                assert_eq!(marks(), expected);
            },
        );
    }
}

/// A platform that strays so much in one thing, the first time it is asked.
fn straying_once(what: &'static str, value: u64) -> Script {
    let left = std::cell::Cell::new(value);
    Script { stray: Some(Box::new(move |asked| if asked == what { left.take() } else { 0 })), ..Script::default() }
}

#[test]
fn fact_211_an_alarm_that_succeeded_may_be_delivered_again() {
    with_alarm_under(
        || straying_once("alarm.again", 500),
        "",
        |world| async move {
            assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
            let due = shown(&world).await.expect("one is set");
            pause(5_000).await;
            assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:0@{}:{due}", due + 500));
            assert_eq!(shown(&world).await, None);
        },
    );
}

#[test]
fn fact_212_a_retry_may_have_lost_its_count_and_come_at_once() {
    with_alarm_under(
        || straying_once("alarm.count-lost", 1),
        "throw once",
        |world| async move {
            assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
            let due = shown(&world).await.expect("one is set");
            pause(10_000).await;
            let third = due + 2_000;
            assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:0@{due}:{due} alarm:1@{third}:{due}"));
        },
    );
}

#[test]
fn fact_216_an_incarnation_is_reset_at_an_operation_of_its_own_when_that_is_drawn() {
    play(
        |ctx, method, _| async move {
            if method == "three" {
                for name in ["one", "two", "three"] {
                    mark(name);
                    ctx.storage().get(&GET, name).await?;
                }
            }
            common(ctx, method).await
        },
        |world| async move {
            direct(straying("reset", 2));
            assert_eq!(ask(&world, "p", "three").await, Err(JsError::code_updated()));
            assert_eq!(marks(), "one two");
        },
    );
}
