//! Who knows the name of an object, and for how long (platform facts 2-10).

use super::*;

/// Says the name it knows; its alarm marks it.
async fn naming(ctx: ObjectContext, method: &'static str) -> Answer {
    let name = Value::from(ctx.id_name().as_deref());
    match method {
        "name" => return Ok(name),
        "alarm" => mark(format!("alarm:{name}")),
        "set 30 s" => ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(30_000)).await?,
        "set 100 s" => ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(100_000)).await?,
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

const NAMED: &str = r#"alarm:"p""#;
const NAMELESS: &str = "alarm:null";

/// What the alarm of `key`, set by `set`, says of the name when its instance ended `how` 11 s after it was set.
fn alarm_says(build: RuntimeBuild, named: bool, set: &'static str, how: &'static str, expected: &'static str) {
    play_on(
        build,
        |ctx, method, _| naming(ctx, method),
        move |world| async move {
            let object = if named { key("p") } else { ObjectKey::unique("Probe", "0f") };
            assert_eq!(ask_at(&world, object.clone(), set).await, Ok(Value::Null));
            pause(11_000).await;
            match how {
                "evicted" => {
                    Control::new(world.cluster.clone()).evict(&object, || ());
                }
                "reset" => {
                    Control::new(world.cluster.clone()).reset(&object, JsError::code_updated(), || ());
                }
                "restarted" => world.cluster.end_isolate(world.cluster.isolates()[0]),
                _ => {}
            }
            pause(120_000).await;
            assert_eq!(marks(), expected, "{build:?} {set} {how}");
            let known = if expected == NAMED { Value::from("p") } else { Value::Null };
            // Facts 3 and 10: a call by name changes nothing about an instance that is there.
            assert_eq!(ask_at(&world, object, "name").await, Ok(known));
        },
    );
}

#[test]
fn fact_2_a_call_by_name_makes_an_instance_that_knows_it_and_one_of_a_unique_id_has_none() {
    play(
        |ctx, method, _| naming(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "p", "name").await, Ok(Value::from("p")));
            assert_eq!(ask_at(&world, ObjectKey::unique("Probe", "0f"), "name").await, Ok(Value::Null));
        },
    );
}

#[test]
fn fact_6_the_alarm_of_a_living_or_lately_evicted_instance_has_its_name() {
    for how in ["alive", "evicted"] {
        alarm_says(RuntimeBuild::May2026, true, "set 30 s", how, NAMED);
    }
}

#[test]
fn fact_3_7_10_on_the_older_build_a_cold_alarm_makes_an_instance_that_is_nameless_for_life() {
    for (set, how) in [("set 100 s", "evicted"), ("set 30 s", "restarted"), ("set 30 s", "reset")] {
        alarm_says(RuntimeBuild::May2026, true, set, how, NAMELESS);
    }
}

#[test]
fn fact_8_on_the_newer_build_a_cold_alarm_has_the_name() {
    for (set, how) in [("set 100 s", "evicted"), ("set 30 s", "restarted"), ("set 30 s", "reset")] {
        alarm_says(RuntimeBuild::November2026, true, set, how, NAMED);
    }
}

#[test]
fn fact_9_the_alarm_of_a_unique_id_never_has_a_name() {
    for build in [RuntimeBuild::May2026, RuntimeBuild::November2026] {
        alarm_says(build, false, "set 30 s", "alive", NAMELESS);
        alarm_says(build, false, "set 30 s", "restarted", NAMELESS);
    }
}
