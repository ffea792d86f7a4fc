//! The input gate: which events come in while an object waits (platform facts 27-32).

use super::*;

/// `A` waits in the given way; `mark` comes in the next millisecond or 60 ms later.
fn order_with_mark(way: &'static str, mark_after_ms: u64, expected: &'static str) {
    play(
        |ctx, method, _| async move {
            let storage = ctx.storage();
            match method {
                "storage" | "sync" | "timer" | "call" => mark("A-start"),
                "alarm" => mark("alarm"),
                _ => return common(ctx, method).await,
            }
            match method {
                "storage" => {
                    for _ in 0..300 {
                        storage.put(&PUT, "x", Value::from(1)).await?;
                        storage.get(&GET, "x").await?;
                    }
                }
                "sync" => {
                    for _ in 0..50 {
                        storage.put(&PUT, "x", Value::from(1)).await?;
                        storage.sync(&SYNC).await?;
                    }
                }
                "timer" => {
                    let at = storage.set_alarm(&SET_ALARM, at_ms(100));
                    timer(300).wait().await;
                    at.await?;
                }
                "call" => drop(call_other("other", "sleep300").await?),
                _ => return Ok(Value::Null),
            }
            mark("A-end");
            Ok(Value::Null)
        },
        move |world| async move {
            send(&world, "p", way);
            if mark_after_ms > 0 {
                pause(mark_after_ms).await;
            }
            send(&world, "p", "mark");
            pause(600).await;
            assert_eq!(marks(), expected);
        },
    );
}

/// The loop's clock plus `ms`, as an argument of `setAlarm`.
pub(super) fn at_ms(ms: i64) -> i64 {
    i64::try_from(crate::js::EventLoop::current().now_ms()).expect("the clock is small") + ms
}

#[test]
fn fact_27_209_handlers_interleave_only_where_one_awaits_something_other_than_storage() {
    order_with_mark("storage", 0, "A-start A-end mark");
    order_with_mark("call", 0, "A-start mark A-end");
}

#[test]
fn fact_28_storage_lets_no_other_event_in_be_it_300_pairs_or_fifty_syncs() {
    order_with_mark("storage", 0, "A-start A-end mark");
    order_with_mark("sync", 0, "A-start A-end mark");
}

#[test]
fn fact_28_storage_that_takes_its_time_lets_no_other_event_in_either() {
    for operation in [PUT.name, GET.name] {
        play(
            |ctx, method, _| async move {
                if method == "A" {
                    mark("A-start");
                    ctx.storage().put(&PUT, "x", Value::from(1)).await?;
                    ctx.storage().get(&GET, "x").await?;
                    mark("A-end");
                }
                common(ctx, method).await
            },
            move |world| async move {
                direct(nth(operation, 1, Disturbance::Delay(200)));
                send(&world, "p", "A");
                pause(100).await;
                assert_eq!(marks(), "A-start", "it waits");
                send(&world, "p", "mark");
                pause(50).await;
                assert_eq!(marks(), "");
                pause(300).await;
                assert_eq!(marks(), "A-end mark");
            },
        );
    }
}

#[test]
fn fact_29_a_timer_or_a_call_lets_requests_and_alarms_in() {
    order_with_mark("timer", 60, "A-start mark alarm A-end");
    order_with_mark("call", 60, "A-start mark A-end");
}

/// What is on its way before a section waits until it has ended.
async fn gated(ctx: ObjectContext, method: &'static str) -> Answer {
    match method {
        "A" => {
            mark("A-start");
            crate::js::EventLoop::current().set_timer(50, Box::new(|| mark("timer")));
            drop(crate::js::call(async {
                drop(call_other("other", "sleep100").await);
                mark("answer");
            }));
            ctx.storage().set_alarm(&SET_ALARM, at_ms(60)).await?;
            section(&ctx, || async {
                mark("bcw-start");
                call_other("other", "sleep300").await?;
                mark("bcw-end");
                Ok(Value::Null)
            })
            .await?;
            mark("A-end");
            Ok(Value::Null)
        }
        "sleep100" => {
            timer(100).wait().await;
            Ok(Value::Null)
        }
        "alarm" => {
            mark("alarm");
            Ok(Value::Null)
        }
        _ => common(ctx, method).await,
    }
}

#[test]
fn fact_30_a_section_lets_in_nothing_but_what_was_started_inside_it() {
    play(
        |ctx, method, _| gated(ctx, method),
        |world| async move {
            send(&world, "p", "A");
            pause(20).await;
            send(&world, "p", "mark");
            pause(280).await;
            assert_eq!(marks(), "A-start bcw-start");
            pause(300).await;
            // The timer fell due at 50, the alarm at 60, the answer at 102, `mark` came at 22.
            assert_eq!(marks(), "bcw-end A-end mark timer alarm answer");
        },
    );
}

#[test]
fn fact_31_a_transaction_makes_other_requests_wait_even_across_timers() {
    play(
        |ctx, method, _| async move {
            if method != "A" {
                return common(ctx, method).await;
            }
            mark("A-start");
            let body = |txn: Transaction| async move {
                mark("txn-start");
                timer(200).wait().await;
                txn.put(&PUT, "x", Value::from(1)).await?;
                mark("txn-end");
                Ok(Value::Null)
            };
            ctx.storage().transaction(&TRANSACTION, body).await?;
            mark("A-end");
            Ok(Value::Null)
        },
        |world| async move {
            send(&world, "p", "A");
            pause(50).await;
            send(&world, "p", "mark");
            pause(400).await;
            assert_eq!(marks(), "A-start txn-start txn-end A-end mark");
        },
    );
}

#[test]
fn fact_32_the_caller_of_a_section_goes_on_before_the_waiting_events() {
    play(
        |ctx, method, _| async move {
            if method != "A" {
                return common(ctx, method).await;
            }
            mark("A-start");
            section(&ctx, || async {
                mark("bcw-start");
                timer(300).wait().await;
                mark("bcw-end");
                Ok(Value::Null)
            })
            .await?;
            mark("A-end");
            crate::js::hops(40).await;
            mark("A-last");
            Ok(Value::Null)
        },
        |world| async move {
            send(&world, "p", "A");
            pause(60).await;
            send(&world, "p", "mark");
            pause(500).await;
            assert_eq!(marks(), "A-start bcw-start bcw-end A-end A-last mark");
        },
    );
}

// Real tokio keeps a panic of a task to itself.
#[cfg(madsim)]
#[test]
#[should_panic = "the test's world ran"]
fn a_turn_that_never_ends_panics_instead_of_hanging() {
    play(
        |_, _, _| async move {
            loop {
                crate::js::hops(1).await;
            }
        },
        |world| async move {
            drop(ask(&world, "p", "go").await);
        },
    );
}
