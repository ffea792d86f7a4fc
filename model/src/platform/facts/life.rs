//! How instances come and go (platform facts 12, 20-26, 47, 111, 131).

use super::*;
use std::cell::Cell;

fn built() -> ObjectKey {
    ObjectKey::named("Built", "b")
}

/// Marks everything it is told.
async fn telling(ctx: ObjectContext, method: &'static str) -> Answer {
    mark(format!("told:{method}"));
    common(ctx, method).await
}

#[test]
fn fact_12_a_stub_constructs_nothing_before_its_first_call() {
    play(
        |ctx, method, _| telling(ctx, method),
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(built());
                    timer(100).wait().await;
                    mark("calls");
                    drop(stub.rpc(&CALL, "mark", Value::Null).await);
                })
            });
            pause(200).await;
            assert_eq!(marks(), "calls told:constructor told:mark mark");
        },
    );
}

#[test]
fn fact_20_an_object_is_told_nothing_when_it_goes() {
    play(
        |ctx, method, _| telling(ctx, method),
        |world| async move {
            let control = Control::new(world.cluster.clone());
            for how in ["evicted", "reset", "lost"] {
                assert!(ask_at(&world, built(), "mark").await.is_ok());
                assert_eq!(marks(), "told:constructor told:mark mark");
                match how {
                    "evicted" => assert!(control.evict(&built(), || mark("gone"))),
                    "reset" => assert!(control.reset(&built(), JsError::moved(), || mark("gone"))),
                    _ => {
                        world.cluster.end_isolate(world.cluster.isolates()[0]);
                        mark("gone");
                    }
                }
                pause(50).await;
                assert_eq!(marks(), "gone");
            }
        },
    );
}

#[test]
fn fact_21_111_a_reset_from_outside_keeps_what_was_committed_and_the_globals_and_breaks_old_stubs() {
    play(
        |ctx, method, _| async move {
            if method != "count" {
                return common(ctx, method).await;
            }
            let count = module_scope::<Cell<u32>>();
            count.set(count.get() + 1);
            Ok(Value::from(count.get()))
        },
        |world| async move {
            let control = Control::new(world.cluster.clone());
            world.post(move || {
                Box::pin(async move {
                    let stub = Stub::new(key("p"));
                    let call = |method| stub.rpc(&CALL, method, Value::Null);
                    assert_eq!(call("put").await, Ok(Value::Null));
                    assert_eq!(call("count").await, Ok(Value::from(1)));
                    control.reset(&key("p"), JsError::code_updated(), || ());
                    timer(10).wait().await;
                    assert_eq!(call("mark").await, Err(JsError::code_updated()));
                    assert_eq!(call_other("p", "count").await, Ok(Value::from(2)), "the same isolate");
                    assert_eq!(call_other("p", "keys").await, Ok(Value::from("x")));
                    mark("done");
                })
            });
            pause(100).await;
            assert_eq!(marks(), "done");
        },
    );
}

#[test]
fn fact_26_a_constructor_whose_section_throws_fails_the_call_as_a_reset_and_the_next_stub_tries_again() {
    play(
        |ctx, method, _| async move {
            if method != "constructor" {
                return common(ctx, method).await;
            }
            let tries = module_scope::<Cell<u32>>();
            tries.set(tries.get() + 1);
            let fails = tries.get() == 1;
            section(
                &ctx,
                move || async move { if fails { Err(JsError::new("constructor boom")) } else { Ok(Value::Null) } },
            )
            .await
        },
        |world| async move {
            let error = JsError { durable_object_reset: true, ..JsError::new("constructor boom") };
            assert_eq!(ask_at(&world, built(), "mark").await, Err(error));
            assert_eq!(ask_at(&world, built(), "mark").await, Ok(Value::Null));
            assert_eq!(marks(), "mark");
        },
    );
}

#[test]
fn fact_47_what_was_answered_survives_the_end_of_the_isolate() {
    play(
        |ctx, method, _| async move {
            if method == "set" {
                ctx.storage().set_alarm(&SET_ALARM, 1_900_000_000_000).await?;
            }
            common(ctx, method).await
        },
        |world| async move {
            for method in ["put", "set"] {
                assert_eq!(ask(&world, "p", method).await, Ok(Value::Null));
                world.cluster.end_isolate(world.cluster.isolates()[0]);
            }
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("x")));
            assert_eq!(ask(&world, "p", "alarm?").await, Ok(Value::from(1_900_000_000_000_u64)));
        },
    );
}

#[test]
fn fact_131_222_235_objects_are_put_into_isolates_as_is_drawn() {
    for (drawn, shared) in [(0, true), (1, false)] {
        play_in(
            2,
            RuntimeBuild::May2026,
            |ctx, method, _| async move {
                if method != "count" {
                    return common(ctx, method).await;
                }
                let count = module_scope::<Cell<u32>>();
                count.set(count.get() + 1);
                Ok(Value::from(count.get()))
            },
            move |world| async move {
                let decide = move |who: &str, what: &str, _: u64| u64::from(who == "q" && what == "placement") * drawn;
                direct(Script { decide: Some(Box::new(decide)), ..Script::default() });
                assert_eq!(ask(&world, "p", "count").await, Ok(Value::from(1)));
                assert_eq!(ask(&world, "q", "count").await, Ok(Value::from(1 + u64::from(shared))));
            },
        );
    }
}
