//! The commit as an operation in flight (platform facts 46, 49, 107, 218).

use super::*;

const COMMIT: &str = "platform · commit";

/// `A` puts, calls another object and answers; `look` marks what it reads.
pub(super) async fn gated_out(ctx: ObjectContext, method: &'static str) -> Answer {
    let storage = ctx.storage();
    match method {
        "A" => {
            storage.put(&PUT, "x", Value::from(1)).await?;
            call_other("other", "mark").await?;
            mark("A-end");
        }
        "put, return" => storage.put(&PUT, "x", Value::from(1)).await?,
        "put, sync" => {
            storage.put(&PUT, "x", Value::from(1)).await?;
            storage.sync(&SYNC).await?;
            mark("synced");
        }
        "look" => mark(format!("look:{}", storage.get(&GET, "x").await?.is_some())),
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

#[test]
fn fact_46_while_a_commit_is_in_flight_reads_see_it_and_nothing_leaves_the_object() {
    play(
        |ctx, method, _| gated_out(ctx, method),
        |world| async move {
            direct(nth(COMMIT, 1, Disturbance::Hold(1)));
            send(&world, "p", "A");
            pause(20).await;
            let (answered, answer) = tokio::sync::oneshot::channel();
            world.post(|| {
                Box::pin(async {
                    let answer = call_other("p", "look").await;
                    drop(answered.send((answer, clock())));
                })
            });
            pause(100).await;
            assert_eq!(marks(), "look:true", "the other object was not called");
            let released = rt::run_ms();
            Control::new(world.cluster.clone()).release(1);
            let (answer, at) = answer.await.expect("it answers");
            assert_eq!((answer, at > released), (Ok(Value::Null), true), "the answer of a read waits too");
            pause(20).await;
            assert_eq!(marks(), "mark A-end");
        },
    );
}

#[test]
fn a_commit_that_takes_time_delays_what_leaves_by_it_and_sync_too() {
    for (method, expected) in [("put, return", ""), ("put, sync", "synced")] {
        play(
            |ctx, method, _| gated_out(ctx, method),
            move |world| async move {
                let delay = |_: &str, what: &str| if what == "commit" { 70 } else { 0 };
                direct(Script { delay: Some(Box::new(delay)), ..Script::default() });
                let from = rt::run_ms();
                assert_eq!(ask(&world, "p", method).await, Ok(Value::Null));
                assert_eq!((rt::run_ms() - from, marks()), (73, expected.to_owned()));
            },
        );
    }
}

#[test]
fn fact_107_218_a_reset_while_a_commit_is_in_flight_loses_the_write_and_the_callers_get_the_error() {
    play(
        |ctx, method, _| gated_out(ctx, method),
        |world| async move {
            direct(nth(COMMIT, 1, Disturbance::Hold(1)));
            send(&world, "p", "A");
            send(&world, "p", "look");
            pause(20).await;
            let control = Control::new(world.cluster.clone());
            assert!(control.reset(&key("p"), JsError::code_updated(), || ()));
            pause(20).await;
            let text = JsError::code_updated().message;
            assert_eq!(marks(), format!("look:true A!{text} look!{text}"));
            control.release(1);
            pause(20).await;
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("")));
            assert_eq!(marks(), "");
        },
    );
}

#[test]
fn a_commit_that_fails_resets_the_object_and_the_callers_get_the_error() {
    play(
        |ctx, method, _| gated_out(ctx, method),
        |world| async move {
            direct(nth(COMMIT, 1, Disturbance::Fail(JsError::storage_timeout())));
            assert_eq!(ask(&world, "p", "put, return").await, Err(JsError::storage_timeout()));
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("")));
        },
    );
}

#[test]
fn fact_49_153_a_commit_over_30_s_resets_the_object() {
    for disturbance in [Disturbance::Hold(1), Disturbance::Delay(40_000), Disturbance::None] {
        play(
            |ctx, method, _| gated_out(ctx, method),
            move |world| async move {
                let drawn = matches!(disturbance, Disturbance::None);
                let delay = move |_: &str, what: &str| if drawn && what == "commit" { 40_000 } else { 0 };
                let at = nth(COMMIT, 1, disturbance);
                direct(Script { delay: Some(Box::new(delay)), ..at });
                let from = rt::run_ms();
                assert_eq!(ask(&world, "p", "put, return").await, Err(JsError::storage_timeout()));
                assert!((30_000..30_010).contains(&(rt::run_ms() - from)));
                assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("")));
            },
        );
    }
}

#[test]
fn what_was_written_later_is_not_durable_before_what_was_written_earlier() {
    play(
        |ctx, method, _| gated_out(ctx, method),
        |world| async move {
            direct(nth(COMMIT, 1, Disturbance::Hold(1)));
            send(&world, "p", "put, sync");
            pause(10).await;
            send(&world, "p", "A");
            pause(50).await;
            assert_eq!(marks(), "");
            Control::new(world.cluster.clone()).release(1);
            pause(20).await;
            assert_eq!(marks(), "synced mark A-end");
        },
    );
}
