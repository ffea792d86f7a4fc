//! Contexts, and what is used across them (platform facts 115-124, 130-132).

use super::*;
use crate::js::{EventLoop, Promise, TimerHandle, call};
use crate::platform::Connection;

/// What the objects of one isolate share.
#[derive(Default)]
struct Shared {
    storage: RefCell<Option<ObjectContext>>,
    stub: RefCell<Option<Rc<Stub>>>,
    deferred: RefCell<Option<Promise<Answer>>>,
    contexts: RefCell<Vec<u64>>,
    connection: RefCell<Option<Rc<Connection>>>,
    timer: RefCell<Option<TimerHandle>>,
}

fn shared() -> Rc<Shared> {
    module_scope::<Shared>()
}

fn deferred() -> Promise<Answer> {
    shared().deferred.borrow_mut().get_or_insert_with(Promise::new).clone()
}

fn note_context() {
    shared().contexts.borrow_mut().push(EventLoop::current().ctx().context.number);
}

async fn sharing(ctx: ObjectContext, method: &'static str) -> Answer {
    let scope = shared();
    match method {
        "lend" => {
            *scope.storage.borrow_mut() = Some(ctx.clone());
            *scope.stub.borrow_mut() = Some(Rc::new(Stub::new(key("other"))));
        }
        "use storage" => return use_storage(&ctx).await,
        "use stub" => {
            let stub = scope.stub.borrow().clone().expect("one was lent");
            return stub.rpc(&CALL, "mark", Value::Null).await;
        }
        "abort other" => {
            let other = scope.storage.borrow().clone().expect("one was lent");
            assert_eq!(other.abort("by another"), Err(JsError::cross_object_io("ActorCacheInterface")));
            other.wait_until(call(async {}));
            let inside =
                other.block_concurrency_while(&SECTION, || async { EventLoop::current().ctx().context.number });
            assert_eq!(inside.await?, ctx.io().number, "its section is the caller's (fact 120)");
        }
        "timer promise" => {
            *scope.deferred.borrow_mut() = Some(call(async {
                timer(200).wait().await;
                Ok(Value::from("from-A"))
            }));
        }
        "wait" => {
            let answer = deferred().wait().await;
            ctx.storage().put(&PUT, "stored", Value::from(1)).await?;
            mark(format!("{}:{}", method, clock()));
            return answer;
        }
        "wait in section" => {
            let wait = || async {
                let waiting = call(async {
                    let answer = deferred().wait().await;
                    mark(format!("resumed:{}", clock()));
                    answer
                });
                timer(300).wait().await;
                mark(format!("section-end:{}:{}", clock(), waiting.is_settled()));
                Ok(Value::Null)
            };
            section(&ctx, wait).await?;
            mark("caller");
        }
        "wait for it in section" => return section(&ctx, || async { deferred().wait().await }).await,
        "settle" => {
            deferred().settle(Ok(Value::from("settled")));
            mark(format!("settle:{}", clock()));
        }
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

/// Every kind of storage call on the lent storage.
async fn use_storage(ctx: &ObjectContext) -> Answer {
    let other = shared().storage.borrow().clone().expect("one was lent");
    assert_ne!(other.io().number, ctx.io().number);
    let storage = other.storage();
    let answers = [
        storage.get(&GET, "x").await.map(drop),
        storage.put(&PUT, "x", Value::from(1)).await,
        storage.delete(&DELETE, "x").await.map(drop),
        storage.delete_many(&DELETE, vec!["x".into()]).await.map(drop),
        storage.list(&LIST, ListRange::default()).await.map(drop),
        storage.delete_all(&WIPE).await,
        storage.set_alarm(&SET_ALARM, i64::MAX).await,
        storage.get_alarm(&GET_ALARM).await.map(drop),
        storage.delete_alarm(&DELETE_ALARM).await,
        storage.sync(&SYNC).await,
        storage.transaction(&TRANSACTION, |_| async { Ok(()) }).await,
    ];
    for answer in answers {
        assert_eq!(answer, Err(JsError::cross_object_io("ActorCacheInterface")));
    }
    Ok(Value::Null)
}

#[test]
fn fact_115_all_events_of_an_object_share_a_context_and_each_request_has_its_own() {
    play(
        |ctx, method, _| async move {
            note_context();
            match method {
                "A" => {
                    EventLoop::current().set_timer(20, Box::new(note_context));
                    ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(30)).await?;
                    call_other("q", "B").await?;
                    note_context();
                }
                "seen" => {
                    let mut seen = shared().contexts.take();
                    seen.dedup();
                    return Ok(Value::from(seen));
                }
                _ => {}
            }
            Ok(Value::Null)
        },
        |world| async move {
            for method in ["A", "again"] {
                assert_eq!(ask(&world, "p", method).await, Ok(Value::Null));
            }
            pause(100).await;
            let seen = ask(&world, "p", "seen").await.expect("it answers");
            let [first, other, rest] = serde_json::from_value::<[u64; 3]>(seen).expect("p, q, and only p after it");
            assert!(first == rest && first != other);
            for _ in 0..2 {
                world.post(|| Box::pin(async { mark(EventLoop::current().ctx().context.number.to_string()) }));
            }
            pause(5).await;
            let requests = marks();
            let (one, other) = requests.split_once(' ').expect("two requests");
            assert_ne!(one, other);
        },
    );
}

#[test]
fn fact_116_118_119_storage_and_stubs_of_another_object_throw_and_do_nothing() {
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "a", "lend").await, Ok(Value::Null));
            assert_eq!(ask(&world, "b", "use storage").await, Ok(Value::Null));
            assert_eq!(ask(&world, "a", "keys").await, Ok(Value::from("")));
            let error = ask(&world, "b", "use stub").await.expect_err("it is another object's stub");
            assert_eq!(error, JsError::cross_object_io("OutgoingFactory").across_call());
            assert!(
                error.message.starts_with("Cannot perform I/O on behalf of a different Durable Object. I/O objects")
            );
            assert_eq!(marks(), "");
            // Fact 119: a successor may not use its predecessor's storage either.
            assert!(ask(&world, "a", "abort").await.is_err());
            assert_eq!(ask(&world, "a", "use storage").await, Ok(Value::Null));
        },
    );
}

#[test]
fn fact_117_a_stub_of_another_request_throws() {
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            world.post(|| Box::pin(async { *shared().stub.borrow_mut() = Some(Rc::new(Stub::new(key("p")))) }));
            world.post(|| {
                Box::pin(async {
                    let stub = shared().stub.borrow().clone().expect("one was made");
                    mark(stub.rpc(&CALL, "mark", Value::Null).await.expect_err("another request's").to_string());
                })
            });
            pause(20).await;
            let text = marks();
            assert_eq!(text, JsError::cross_request_io("OutgoingFactory").to_string());
            assert!(text.starts_with("Error: Cannot perform I/O on behalf of a different request. I/O objects"));
        },
    );
}

#[test]
fn fact_120_121_another_objects_ctx_aborts_nobody_and_its_section_is_the_callers() {
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            let incarnations = [ask(&world, "a", "incarnation").await, ask(&world, "b", "incarnation").await];
            assert_eq!(ask(&world, "a", "lend").await, Ok(Value::Null));
            assert_eq!(ask(&world, "b", "abort other").await, Ok(Value::Null));
            assert_eq!([ask(&world, "a", "incarnation").await, ask(&world, "b", "incarnation").await], incarnations);
        },
    );
}

/// Dials and sets a timer in one object, and uses both from another.
async fn silently(ctx: ObjectContext, method: &'static str) -> Answer {
    let scope = shared();
    match method {
        "lend" => {
            *scope.connection.borrow_mut() = Some(Rc::new(Connection::dial()));
            let timer = EventLoop::current().set_timer(100, Box::new(|| mark("fired")));
            *scope.timer.borrow_mut() = Some(timer);
        }
        "clear" => scope.timer.borrow().as_ref().expect("one was lent").clear(),
        "close" => scope.connection.borrow().as_ref().expect("one was lent").close(),
        "write" => {
            let connection = scope.connection.borrow().clone().expect("one was lent");
            return connection.write().await.map(|()| Value::Null);
        }
        "is open" => return Ok(Value::from(scope.connection.borrow().as_ref().expect("one was lent").is_open())),
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

#[test]
fn fact_122_229_a_connection_and_a_timer_of_another_object_are_left_alone_without_a_throw() {
    for (build, written) in [(RuntimeBuild::May2026, None), (RuntimeBuild::November2026, Some("Writable"))] {
        play_on(
            build,
            |ctx, method, _| silently(ctx, method),
            move |world| async move {
                assert_eq!(ask(&world, "a", "lend").await, Ok(Value::Null));
                assert_eq!(ask(&world, "b", "clear").await, Ok(Value::Null));
                assert_eq!(ask(&world, "b", "close").await, Ok(Value::Null));
                assert_eq!(ask(&world, "a", "is open").await, Ok(Value::from(true)));
                match written {
                    Some(kind) => {
                        let refused = JsError::cross_object_io(kind).across_call();
                        assert_eq!(ask(&world, "b", "write").await, Err(refused));
                    }
                    None => send(&world, "b", "write"),
                }
                pause(200).await;
                assert_eq!(marks(), "fired");
                assert_eq!(ask(&world, "a", "write").await, Ok(Value::Null));
                assert_eq!(ask(&world, "a", "close").await, Ok(Value::Null));
                assert_eq!(ask(&world, "a", "is open").await, Ok(Value::from(false)));
            },
        );
    }
}

#[test]
fn fact_123_a_promise_of_another_object_resumes_its_waiter_in_the_waiters_own_context() {
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "a", "timer promise").await, Ok(Value::Null));
            assert_eq!(ask(&world, "b", "wait").await, Ok(Value::from("from-A")));
            // The waiter wrote to its own storage after it had resumed.
            assert_eq!(ask(&world, "b", "keys").await, Ok(Value::from("stored")));
        },
    );
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            let (waiter, settler) = (ask(&world, "a", "wait"), async {
                pause(50).await;
                ask(&world, "b", "settle").await
            });
            assert_eq!(both(waiter, settler).await.map(|a| a.is_ok()), [true, true]);
            assert_eq!(ask(&world, "a", "keys").await, Ok(Value::from("stored")));
        },
    );
}

#[test]
fn fact_123a_inside_a_section_a_waiter_is_not_woken_by_another_object_before_it_ends() {
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            send(&world, "a", "wait in section");
            pause(100).await;
            send(&world, "b", "settle");
            pause(400).await;
            let text = marks();
            let words: Vec<&str> = text.split(' ').map(|word| word.split(':').next().unwrap_or("")).collect();
            assert_eq!(words, ["settle", "section-end", "caller", "resumed"]);
            assert!(text.contains(":false"), "the waiter was not settled when the section ended");
        },
    );
    // A section that waits for nothing else ends by its reset.
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            let (waiter, settler) = (ask(&world, "a", "wait for it in section"), async {
                pause(50).await;
                ask(&world, "b", "settle").await
            });
            assert_eq!(both(waiter, settler).await, [Err(JsError::section_too_long()), Ok(Value::Null)]);
        },
    );
}

#[test]
fn fact_124_a_promise_whose_maker_is_gone_never_resumes_its_waiter() {
    play(
        |ctx, method, _| sharing(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "a", "timer promise").await, Ok(Value::Null));
            send(&world, "b", "wait");
            pause(50).await;
            send(&world, "a", "abort");
            pause(60_000).await;
            assert_eq!(marks(), "abort!aborted");
        },
    );
}

#[test]
fn fact_130_132_module_scope_is_shared_survives_a_reset_and_ends_with_its_isolate() {
    play(
        |ctx, method, _| async move {
            if method != "count" {
                return common(ctx, method).await;
            }
            note_context();
            Ok(Value::from(shared().contexts.borrow().len()))
        },
        |world| async move {
            assert_eq!(ask(&world, "a", "count").await, Ok(Value::from(1)));
            assert_eq!(
                ask(&world, "b", "count").await,
                Ok(Value::from(2)),
                "objects of one isolate share it (fact 130)"
            );
            assert!(ask(&world, "a", "abort").await.is_err());
            assert_eq!(ask(&world, "a", "count").await, Ok(Value::from(3)));
            world.cluster.end_isolate(world.cluster.isolates()[0]);
            assert_eq!(ask(&world, "a", "count").await, Ok(Value::from(1)));
        },
    );
}
