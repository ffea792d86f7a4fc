//! Work that nobody waits for (platform facts 105, 125-128), and a socket's close (142).

use super::*;
use crate::js::call;
use crate::platform::SocketEvent;

/// Begins work of 100 ms that marks its end, then does as `method` says.
async fn beginning(ctx: ObjectContext, method: &'static str) -> Answer {
    let work = || {
        call(async {
            timer(100).wait().await;
            mark("work");
        })
    };
    match method {
        "begin" => drop(work()),
        "waitUntil" => ctx.wait_until(work()),
        "waitUntil a failure" => {
            ctx.wait_until(call(async { Err::<(), _>(JsError::new("background boom")) }));
        }
        "begin, throw" => {
            drop(work());
            return Err(JsError::new("after begin"));
        }
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

#[test]
fn fact_125_128_work_goes_on_after_the_answer_and_after_a_throw_with_wait_until_or_without() {
    for method in ["begin", "waitUntil", "begin, throw"] {
        play(
            |ctx, method, _| beginning(ctx, method),
            move |world| async move {
                assert_eq!(ask(&world, "p", method).await.is_ok(), method != "begin, throw");
                assert_eq!(marks(), "");
                pause(200).await;
                assert_eq!(marks(), "work");
            },
        );
    }
}

#[test]
fn fact_126_background_work_that_fails_resets_nothing() {
    play(
        |ctx, method, _| beginning(ctx, method),
        |world| async move {
            let first = ask(&world, "p", "incarnation").await;
            assert_eq!(ask(&world, "p", "waitUntil a failure").await, Ok(Value::Null));
            assert_eq!(ask(&world, "p", "incarnation").await, first);
        },
    );
}

#[test]
fn fact_105_127_timers_handlers_and_background_work_of_an_aborted_instance_never_go_on() {
    play(
        |ctx, method, _| beginning(ctx, method),
        |world| async move {
            for method in ["begin", "waitUntil"] {
                assert_eq!(ask(&world, "p", method).await, Ok(Value::Null));
            }
            send(&world, "p", "sleep300");
            pause(20).await;
            send(&world, "p", "abort");
            pause(1_000).await;
            assert_eq!(marks(), "sleep300!aborted abort!aborted");
        },
    );
}

#[test]
fn fact_142_the_close_of_a_client_reaches_the_object() {
    play(
        |ctx, method, told| async move {
            mark(format!("{method}:{told}:{}", ctx.sockets().len()));
            Ok(Value::Null)
        },
        |world| async move {
            world.post(|| {
                Box::pin(async {
                    let stub = Stub::new(key("p"));
                    let opened = stub.fetch(&CALL, FetchRequest::new("/socket", Vec::new())).await.expect("a socket");
                    let socket = stub.socket(opened.socket.expect("its number"));
                    socket.listen(|event| {
                        if let SocketEvent::Close(code, _) = event {
                            mark(format!("closed {code}"));
                        }
                    });
                    socket.close(4001, "bye").expect("in its own context");
                })
            });
            pause(100).await;
            // The object has not closed in turn: the client is sent no close frame.
            assert_eq!(marks(), "close:4001:0");
        },
    );
}
