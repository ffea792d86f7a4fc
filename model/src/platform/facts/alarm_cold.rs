//! Alarms of objects that come and go, and deliveries that have become stale (platform facts 63, 79-91).

use super::alarm::{shown, with_alarm};
use super::*;

#[test]
fn fact_63_deleting_everything_inside_alarm_leaves_none() {
    with_alarm("wipe", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        pause(60_000).await;
        assert_eq!(marks().matches("alarm:").count(), 1);
        assert_eq!((shown(&world).await, ask(&world, "p", "keys").await), (None, Ok(Value::from(""))));
    });
}

#[test]
fn fact_79_a_retry_that_waits_when_its_isolate_ends_fires_at_once_as_a_first_try() {
    with_alarm("throw once", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(500).await;
        let ended = rt::run_ms();
        world.cluster.end_isolate(world.cluster.isolates()[0]);
        pause(20_000).await;
        let (again, third) = (ended, ended + 2_000);
        assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:0@{again}:{due} alarm:1@{third}:{due}"));
    });
}

#[test]
fn fact_89_90_a_constructor_can_set_the_alarm_and_runs_before_the_one_that_wakes_its_object() {
    play(
        |ctx, method, _| async move {
            match method {
                "constructor" => {
                    mark("constructor");
                    if ctx.storage().get_alarm(&GET_ALARM).await?.is_none() {
                        ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(5_000)).await?;
                    }
                }
                "alarm" => {
                    mark("alarm");
                    ctx.storage().delete_alarm(&DELETE_ALARM).await?;
                }
                _ => return common(ctx, method).await,
            }
            Ok(Value::Null)
        },
        |world| async move {
            let built = ObjectKey::named("Built", "b");
            assert_eq!(ask_at(&world, built.clone(), "put").await, Ok(Value::Null));
            Control::new(world.cluster.clone()).evict(&built, || mark("evicted"));
            pause(6_000).await;
            let text = marks();
            assert!(text.starts_with("constructor evicted constructor alarm"), "{text}");
        },
    );
}

#[test]
fn fact_91_a_delivery_that_the_stored_time_does_not_match_is_none() {
    with_alarm("", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        assert_eq!(ask(&world, "p", "set 3000").await, Ok(Value::Null));
        let due = shown(&world).await.expect("moved to a later time");
        pause(1_000).await;
        assert_eq!(marks(), "");
        pause(10_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
    });
}
