//! Critical sections: their jams, failures, limits and ends (platform facts 33-37).

use super::*;

/// A timer of 50 ms, then a section that waits for one of 300 ms.
async fn jam(ctx: ObjectContext, method: &'static str) -> Answer {
    if method != "A" {
        return common(ctx, method).await;
    }
    crate::js::EventLoop::current().set_timer(50, Box::new(|| mark("timer")));
    section(&ctx, || async {
        timer(300).wait().await;
        Ok(Value::Null)
    })
    .await?;
    mark("A-end");
    Ok(Value::Null)
}

#[test]
fn fact_33_a_timer_from_before_a_section_blocks_those_inside_it_on_the_older_build_only() {
    for (build, expected) in [(RuntimeBuild::May2026, "A!"), (RuntimeBuild::November2026, "A-end timer")] {
        play_on(
            build,
            |ctx, method, _| jam(ctx, method),
            move |world| async move {
                send(&world, "p", "A");
                pause(400).await;
                let early = if build == RuntimeBuild::May2026 { "" } else { expected };
                assert_eq!(marks(), early);
                pause(30_000).await;
                if build == RuntimeBuild::May2026 {
                    assert_eq!(marks(), format!("{expected}{}", JsError::section_too_long().message));
                }
            },
        );
    }
}

#[test]
fn fact_34_35_a_throw_out_of_a_section_resets_the_object_and_everyone_gets_the_error() {
    play(
        |ctx, method, _| async move {
            if method != "A" {
                return common(ctx, method).await;
            }
            ctx.storage().put(&PUT, "before-bcw", Value::from(1)).await?;
            let inside = ctx.storage();
            let caught = section(&ctx, || async move {
                inside.put(&PUT, "inside-bcw", Value::from(1)).await?;
                timer(150).wait().await;
                Err(JsError::type_error("bcw boom"))
            })
            .await;
            mark("caught");
            caught
        },
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Rc::new(Stub::new(key("p")));
                    let first = Rc::clone(&stub);
                    let first = crate::js::call(async move { first.rpc(&CALL, "A", Value::Null).await });
                    timer(60).wait().await;
                    let waiting = Stub::new(key("p"));
                    let waiting = crate::js::call(async move { waiting.rpc(&CALL, "mark", Value::Null).await });
                    let first = first.wait().await;
                    let later = stub.rpc(&CALL, "mark", Value::Null).await;
                    for (who, answer) in [("A", first), ("waiting", waiting.wait().await), ("later", later)] {
                        let error = answer.expect_err("everyone gets the error");
                        let reset = error.durable_object_reset && !error.remote;
                        mark(format!("{who}:{}:{}:{reset}", error.name, error.message));
                    }
                })
            });
            pause(400).await;
            let all = "A:TypeError:bcw boom:true waiting:TypeError:bcw boom:true later:TypeError:bcw boom:true";
            assert_eq!(marks(), all);
            // Fact 35: what was committed is kept.
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("before-bcw inside-bcw")));
        },
    );
}

#[test]
fn fact_36_161_a_section_over_30_s_resets_the_object_and_tells_the_waiting_callers_too() {
    play(
        |ctx, method, _| async move {
            match method {
                "long" => section(&ctx, || async { call_other("other", "sleep35s").await }).await,
                "deadlock" => section(&ctx, || async { call_other("p", "mark").await }).await,
                "sleep35s" => {
                    timer(35_000).wait().await;
                    Ok(Value::Null)
                }
                _ => common(ctx, method).await,
            }
        },
        |world| async move {
            for method in ["long", "deadlock"] {
                let first = ask(&world, "p", "incarnation").await;
                let started = rt::now_ms();
                let (answer, waiting) = (ask(&world, "p", method), ask(&world, "p", "mark"));
                for answer in both(answer, waiting).await {
                    assert_eq!(answer, Err(JsError::section_too_long()));
                }
                assert!((30_000..30_010).contains(&(rt::now_ms() - started)));
                let error = JsError::section_too_long();
                assert!(error.overloaded && error.durable_object_reset && !error.remote && !error.retryable);
                assert_ne!(ask(&world, "p", "incarnation").await, first, "a new instance answers");
            }
            assert_eq!(marks(), "");
        },
    );
}

#[test]
fn fact_37_a_section_of_the_constructor_delays_every_event_the_one_that_woke_it_included() {
    play(
        |ctx, method, _| async move {
            if method != "constructor" {
                mark(method);
                return Ok(Value::Null);
            }
            section(&ctx, || async {
                mark("bcw-start");
                timer(100).wait().await;
                mark("bcw-end");
                Ok(Value::Null)
            })
            .await
        },
        |world| async move {
            let built = || ObjectKey::named("Built", "b");
            let answers = both(ask_at(&world, built(), "first"), ask_at(&world, built(), "second")).await;
            assert_eq!(answers, [Ok(Value::Null), Ok(Value::Null)]);
            assert_eq!(marks(), "bcw-start bcw-end first second");
        },
    );
}

#[test]
fn a_timer_that_is_cleared_while_its_gate_is_shut_never_fires() {
    play_on(
        RuntimeBuild::November2026,
        |ctx, method, _| async move {
            if method != "A" {
                return common(ctx, method).await;
            }
            let timer_from_before = crate::js::EventLoop::current().set_timer(50, Box::new(|| mark("timer")));
            section(&ctx, || async move {
                timer(300).wait().await;
                timer_from_before.clear();
                Ok(Value::Null)
            })
            .await
        },
        |world| async move {
            assert_eq!(ask(&world, "p", "A").await, Ok(Value::Null));
            pause(500).await;
            assert_eq!(marks(), "");
        },
    );
}

/// A section whose unawaited work outlives it, or that ends before one inside it does.
async fn outlived(ctx: ObjectContext, method: &'static str) -> Answer {
    let inner = ctx.clone();
    match method {
        "work" => {
            section(&ctx, || async {
                drop(crate::js::call(async {
                    timer(50).wait().await;
                    mark("timer");
                    drop(call_other("other", "sleep300").await);
                    mark("answer");
                }));
                Ok(Value::Null)
            })
            .await
        }
        "nested" => {
            let go = crate::js::Promise::new();
            let started = go.clone();
            section(&ctx, || async move {
                let nested = async move {
                    let body = || async move {
                        started.settle(());
                        timer(100).wait().await;
                        mark("inner-end");
                        Ok(Value::Null)
                    };
                    section(&inner, body).await
                };
                drop(crate::js::call(nested));
                go.wait().await;
                mark("outer-end");
                Ok(Value::Null)
            })
            .await
        }
        _ => common(ctx, method).await,
    }
}

#[test]
fn what_outlives_its_section_goes_on_after_it() {
    play(
        |ctx, method, _| outlived(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "p", "work").await, Ok(Value::Null));
            pause(500).await;
            assert_eq!(marks(), "timer answer");
        },
    );
}

#[test]
fn the_gate_opens_when_the_section_inside_one_that_has_ended_has_ended_too() {
    play_on(
        RuntimeBuild::November2026,
        |ctx, method, _| outlived(ctx, method),
        |world| async move {
            send(&world, "p", "nested");
            pause(30).await;
            send(&world, "p", "mark");
            pause(20).await;
            assert_eq!(marks(), "outer-end");
            pause(300).await;
            assert_eq!(marks(), "inner-end mark");
        },
    );
}
