//! Throws, resets and the end of an isolate: who is told what, and that nothing is left (platform facts 92-107, 143).

use super::*;
use crate::js::{EventLoop, call};

const RESET: &str = "p's reason";

async fn ending(ctx: ObjectContext, method: &'static str) -> Answer {
    match method {
        "abort p" => abort(&ctx, RESET).await,
        "abort by timer" => {
            let ctx = ctx.clone();
            EventLoop::current().set_timer(30, Box::new(move || drop(ctx.abort(RESET))));
            Ok(Value::Null)
        }
        "abort without reason" => abort(&ctx, "").await,
        "fetch" => {
            timer(1_000).wait().await;
            Ok(Value::Null)
        }
        "abort in a nested call" => {
            let inner = ctx.clone();
            drop(call(async move { inner.abort(RESET) }));
            // In JavaScript nothing follows; here the platform must not let what follows have an effect.
            ctx.storage().delete_all(&WIPE).await?;
            drop(ctx.storage().put(&PUT, "late", Value::from(1)).await);
            call_other("other", "mark").await
        }
        "relay" => call_other("other", "sleep300").await,
        _ => common(ctx, method).await,
    }
}

fn reset_error(remote: bool) -> JsError {
    JsError { durable_object_reset: true, remote, ..JsError::new(RESET) }
}

#[test]
fn fact_100_104_221_the_aborting_the_running_and_the_queued_calls_get_the_reason_and_their_stubs_stay_broken() {
    play(
        |ctx, method, _| ending(ctx, method),
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stubs: Vec<Rc<Stub>> = (0..5).map(|_| Rc::new(Stub::new(key("p")))).collect();
                    let rpc = |stub: &Rc<Stub>, method| {
                        let stub = Rc::clone(stub);
                        call(async move { stub.rpc(&CALL, method, Value::Null).await })
                    };
                    let fetching = Rc::clone(&stubs[1]);
                    let fetching =
                        call(async move { fetching.fetch(&CALL, FetchRequest::new("/", Vec::new())).await.map(drop) });
                    let running = rpc(&stubs[0], "sleep300");
                    timer(50).wait().await;
                    let (aborting, queued) = (rpc(&stubs[2], "abort p"), rpc(&stubs[2], "mark"));
                    let elsewhere = rpc(&stubs[3], "mark");
                    assert_eq!(fetching.wait().await, Err(reset_error(true)), "a fetch's error is remote besides");
                    for answer in [running, aborting, queued, elsewhere] {
                        assert_eq!(answer.wait().await, Err(reset_error(false)));
                    }
                    // All of them are broken for ever, the one that never called too; a new one is not.
                    for stub in &stubs {
                        assert_eq!(rpc(stub, "mark").wait().await, Err(reset_error(false)));
                    }
                    assert_eq!(call_other("p", "mark").await, Ok(Value::Null));
                    mark("done");
                })
            });
            pause(500).await;
            assert_eq!(marks(), "mark done");
        },
    );
}

#[test]
fn fact_104_160_an_abort_without_a_reason_has_the_platforms_text() {
    play(
        |ctx, method, _| ending(ctx, method),
        |world| async move {
            let error = ask(&world, "p", "abort without reason").await.expect_err("it aborts");
            assert_eq!(&*error.message, "Application called abort() to reset Durable Object.");
        },
    );
}

#[test]
fn fact_106_after_an_abort_with_no_caller_around_an_old_stub_fails_with_the_reason() {
    play(
        |ctx, method, _| ending(ctx, method),
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(key("p"));
                    assert_eq!(stub.rpc(&CALL, "abort by timer", Value::Null).await, Ok(Value::Null));
                    timer(100).wait().await;
                    assert_eq!(stub.rpc(&CALL, "mark", Value::Null).await, Err(reset_error(false)));
                    assert_eq!(call_other("p", "mark").await, Ok(Value::Null));
                    mark("done");
                })
            });
            pause(300).await;
            assert_eq!(marks(), "mark done");
        },
    );
}

#[test]
fn fact_103_what_follows_an_abort_has_no_effect_even_where_the_stack_goes_on() {
    play(
        |ctx, method, _| ending(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "p", "put").await, Ok(Value::Null));
            assert_eq!(ask(&world, "p", "abort in a nested call").await, Err(reset_error(false)));
            pause(50).await;
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("x")));
            assert_eq!(marks(), "");
        },
    );
}

#[test]
fn calls_into_an_isolate_that_ends_lose_their_connection_and_new_ones_find_another_isolate() {
    play(
        |ctx, method, _| ending(ctx, method),
        |world| async move {
            let ended = world.cluster.isolates()[0];
            let ends = async {
                pause(50).await;
                world.cluster.end_isolate(ended);
                Ok(Value::Null)
            };
            let lost = Err(JsError::connection_lost());
            assert_eq!(both(ask(&world, "p", "sleep300"), ends).await, [lost, Ok(Value::Null)]);
            assert_eq!(ask(&world, "p", "mark").await, Ok(Value::Null));
            assert_ne!(world.cluster.isolates(), [ended]);
        },
    );
}

/// How the request's end of a socket sees its object end in the given way.
fn socket_ends(how: &'static str, expected: &'static str) {
    play(
        |ctx, method, text| async move {
            match method {
                "message" => Ok(Value::from(format!("echo {text}"))),
                "close" => {
                    mark("close-handler");
                    Ok(Value::Null)
                }
                _ => ending(ctx, method).await,
            }
        },
        move |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(key("p"));
                    let response = stub.fetch(&CALL, FetchRequest::new("/socket", Vec::new())).await;
                    let number = response.expect("it upgrades").socket.expect("it has a socket");
                    let socket = stub.socket(number);
                    socket.listen(|event| mark(format!("{event:?}").replace(' ', "")));
                    socket.send("hi").expect("it is this request's socket");
                    timer(200).wait().await;
                    drop(socket);
                })
            });
            pause(50).await;
            match how {
                "isolate" => world.cluster.end_isolate(world.cluster.isolates()[0]),
                _ => drop(ask(&world, "p", "abort p").await),
            }
            pause(50).await;
            assert_eq!(marks(), expected);
        },
    );
}

#[test]
fn fact_143_a_socket_is_dropped_when_its_object_is_reset_or_its_isolate_ends() {
    let expected = r#"Message("\"echo\\\"hi\\\"\"") Close(1006,"")"#;
    socket_ends("reset", expected);
    socket_ends("isolate", expected);
}

#[test]
fn fact_46_143_a_close_that_waits_for_writes_becomes_a_drop_when_they_are_lost() {
    for how in ["reset", "isolate", "durable"] {
        play(
            |ctx, method, _| async move {
                if method == "message" {
                    ctx.storage().put(&PUT, "lost", Value::from(1)).await?;
                    ctx.sockets().iter().for_each(|socket| socket.close(1000, "bye").expect("its own socket"));
                    return Ok(Value::Null);
                }
                ending(ctx, method).await
            },
            move |world| async move {
                // A commit that takes 100 ms: the close waits for it at the output gate.
                let delay = |_: &str, what: &str| if what == "commit" { 100 } else { 0 };
                direct(Script { delay: Some(Box::new(delay)), ..Script::default() });
                world.post(|| {
                    Box::pin(async {
                        let stub = Stub::new(key("p"));
                        let response = stub.fetch(&CALL, FetchRequest::new("/socket", Vec::new())).await;
                        let socket = stub.socket(response.expect("it upgrades").socket.expect("it has a socket"));
                        socket.listen(|event| mark(format!("{event:?}").replace(' ', "")));
                        socket.send("hi").expect("it is this request's socket");
                        timer(400).wait().await;
                    })
                });
                pause(50).await;
                assert_eq!(marks(), "");
                match how {
                    "isolate" => world.cluster.end_isolate(world.cluster.isolates()[0]),
                    "reset" => drop(ask(&world, "p", "abort p").await),
                    _ => {}
                }
                pause(200).await;
                assert_eq!(marks(), if how == "durable" { r#"Close(1000,"bye")"# } else { r#"Close(1006,"")"# });
            },
        );
    }
}

#[test]
fn a_frame_that_follows_an_abort_is_never_sent() {
    play(
        |ctx, _, _| async move {
            drop(call(async move { ctx.abort(RESET) }));
            Ok(Value::from("late"))
        },
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(key("p"));
                    let response = stub.fetch(&CALL, FetchRequest::new("/socket", Vec::new())).await;
                    let socket = stub.socket(response.expect("it upgrades").socket.expect("it has a socket"));
                    socket.listen(|event| mark(format!("{event:?}").replace(' ', "")));
                    socket.send("hi").expect("it is this request's socket");
                })
            });
            pause(50).await;
            assert_eq!(marks(), r#"Close(1006,"")"#);
        },
    );
}

#[test]
fn an_isolate_that_its_own_code_ends_makes_nothing_of_that_turn_durable() {
    play(
        |ctx, method, _| async move {
            if method != "end" {
                return common(ctx, method).await;
            }
            ctx.storage().put(&PUT, "last", Value::from(1)).await?;
            let cluster = Isolate::current(|isolate| isolate.cluster().clone());
            cluster.end_isolate(cluster.isolates()[0]);
            Ok(Value::Null)
        },
        |world| async move {
            assert_eq!(ask(&world, "p", "end").await, Err(JsError::connection_lost()));
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("")));
        },
    );
}

#[test]
fn an_isolate_that_ends_leaves_nothing_in_memory() {
    let token = Arc::new(());
    let held = Arc::clone(&token);
    play(
        move |ctx, method, _| {
            let held = Arc::clone(&held);
            async move {
                let kept = (ctx.clone(), held);
                EventLoop::current().set_timer(500_000, Box::new(move || drop(kept)));
                ending(ctx, method).await
            }
        },
        |world| async move {
            direct(nth("platform · commit", 1, Disturbance::Hold(1)));
            for method in ["put", "sleep300", "relay", "mark"] {
                send(&world, "p", method);
                send(&world, "q", method);
            }
            pause(50).await;
            drop(marks());
            world.cluster.end_isolate(world.cluster.isolates()[0]);
            pause(50).await;
            send(&world, "p", "mark");
            pause(50).await;
        },
    );
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn fact_92_93_94_99_220_a_throw_reaches_the_caller_without_flags_and_resets_nothing() {
    play(
        |ctx, method, _| async move {
            match method {
                "custom" => Err(JsError { name: "CustomError", ..JsError::new("custom boom") }),
                "type" => Err(JsError::type_error("boom")),
                "two hops" => call_other("q", "abort").await,
                _ => common(ctx, method).await,
            }
        },
        |world| async move {
            let first = ask(&world, "p", "incarnation").await;
            let remote = |error: JsError| Err(JsError { remote: true, ..error });
            assert_eq!(ask(&world, "p", "custom").await, remote(JsError::new("CustomError: custom boom")));
            assert_eq!(ask(&world, "p", "type").await, remote(JsError::type_error("boom")));
            assert_eq!(ask(&world, "p", "two hops").await, remote(JsError::new("aborted")));
            assert_eq!(ask(&world, "p", "incarnation").await, first);
        },
    );
}
