//! Writes: one transaction a turn, what survives a reset, rollback (platform facts 41-45, 58-61).

use super::*;

/// What is left in storage after `write` did its work and the object was aborted or threw.
fn left_after(write: &'static str, ends: &'static str, expected: &'static str) {
    play(
        move |ctx, method, _| async move {
            let storage = ctx.storage();
            match method {
                "one put" => storage.put(&PUT, "a", Value::from(1)).await?,
                "two puts" => {
                    storage.put(&PUT, "a", Value::from(1)).await?;
                    storage.put(&PUT, "b", Value::from(1)).await?;
                }
                "put and alarm" => {
                    let (put, alarm) =
                        (storage.put(&PUT, "a", Value::from(1)), storage.set_alarm(&SET_ALARM, i64::MAX));
                    put.await?;
                    alarm.await?;
                }
                "put, unawaited" => drop(storage.put(&PUT, "a", Value::from(1))),
                "put, timer 0" | "put, timer 20" | "put, sync" => {
                    storage.put(&PUT, "a", Value::from(1)).await?;
                    match method {
                        "put, sync" => storage.sync(&SYNC).await?,
                        "put, timer 0" => timer(0).wait().await,
                        _ => timer(20).wait().await,
                    }
                }
                "transaction" => {
                    let body = |txn: Transaction| async move { txn.put(&PUT, "a", Value::from(1)).await };
                    storage.transaction(&TRANSACTION, body).await?;
                }
                "old key" => {
                    storage.put(&PUT, "old", Value::from(1)).await?;
                    return Ok(Value::Null);
                }
                "deleteAll" => storage.delete_all(&WIPE).await?,
                _ => return common(ctx, method).await,
            }
            if ends == "throws" { Err(JsError::new("after puts")) } else { abort(&ctx, "gone").await }
        },
        move |world| async move {
            if write == "deleteAll" {
                assert_eq!(ask(&world, "p", "old key").await, Ok(Value::Null));
            }
            let error = ask(&world, "p", write).await.expect_err("it ends in an error");
            let flags = (error.durable_object_reset, error.remote);
            assert_eq!(
                (&*error.message, flags),
                if ends == "throws" { ("after puts", (false, true)) } else { ("gone", (true, false)) }
            );
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from(expected)), "{write}");
            let alarm = if write == "put and alarm" && ends == "throws" { Value::from(i64::MAX) } else { Value::Null };
            assert_eq!(ask(&world, "p", "alarm?").await, Ok(alarm));
        },
    );
}

#[test]
fn fact_41_the_writes_of_a_turn_are_one_transaction_alarm_changes_included() {
    left_after("put and alarm", "aborts", "");
}

#[test]
fn fact_42_an_await_on_put_alone_does_not_commit() {
    left_after("one put", "aborts", "");
    left_after("two puts", "aborts", "");
}

#[test]
fn fact_43_a_write_survives_an_abort_after_sync_a_timer_or_a_committed_transaction() {
    for write in ["put, sync", "put, timer 0", "put, timer 20", "transaction"] {
        left_after(write, "aborts", "a");
    }
}

#[test]
fn fact_44_delete_all_acts_at_once_outside_the_open_transaction() {
    left_after("deleteAll", "aborts", "");
}

#[test]
fn fact_45_a_handler_that_throws_after_put_loses_nothing() {
    left_after("one put", "throws", "a");
    left_after("put, unawaited", "throws", "a");
    left_after("put and alarm", "throws", "a");
}

#[test]
fn fact_50_a_write_that_was_awaited_and_passed_survives_a_reset_by_another_call() {
    play(
        |ctx, method, _| async move {
            if method != "A" {
                return common(ctx, method).await;
            }
            ctx.storage().put(&PUT, "first", Value::from(1)).await?;
            timer(200).wait().await;
            mark("resumed");
            Ok(Value::Null)
        },
        |world| async move {
            send(&world, "p", "A");
            pause(50).await;
            send(&world, "p", "abort");
            pause(400).await;
            assert_eq!(marks(), "A!aborted abort!aborted");
            assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("first")));
        },
    );
}

/// A time that no test comes to.
const LATE_MS: i64 = 4_000_000_000_000;

async fn transactions(ctx: ObjectContext, method: &'static str) -> Answer {
    let storage = ctx.storage();
    let outside = ctx.storage();
    let put = |storage: &Storage, key: &'static str| storage.put(&PUT, key, Value::from(1));
    match method {
        "throw" => {
            let body = move |txn: Transaction| async move {
                txn.put(&PUT, "in-txn", Value::from(1)).await?;
                put(&outside, "in-storage").await?;
                outside.set_alarm(&SET_ALARM, i64::MAX).await?;
                timer(20).wait().await;
                Err::<Value, _>(JsError::new("roll me back"))
            };
            storage.transaction(&TRANSACTION, body).await
        }
        "rollback" => {
            let body = move |txn: Transaction| async move {
                txn.put(&PUT, "a", Value::from(1)).await?;
                txn.rollback()?;
                let error = txn.put(&PUT, "b", Value::from(1)).await.expect_err("rolled back");
                Ok(Value::from(&*error.message))
            };
            storage.transaction(&TRANSACTION, body).await
        }
        "leak" => {
            let body = move |txn: Transaction| async move { Ok(Rc::new(txn)) };
            let leaked = storage.transaction(&TRANSACTION, body).await?;
            leaked.put(&PUT, "b", Value::from(1)).await.map(|()| Value::Null)
        }
        "nested" => {
            let body = move |txn: Transaction| async move {
                txn.put(&PUT, "outer", Value::from(1)).await?;
                let storage = outside.clone();
                let inner = move |txn: Transaction| async move {
                    txn.put(&PUT, "inner", Value::from(1)).await?;
                    put(&storage, "inner, by the storage").await?;
                    storage.set_alarm(&SET_ALARM, LATE_MS).await?;
                    Err::<(), _>(JsError::new("inner"))
                };
                let inner = outside.transaction(&TRANSACTION, inner).await;
                assert_eq!(inner, Err(JsError::new("inner")));
                put(&outside, "after").await?;
                Ok(Value::Null)
            };
            storage.transaction(&TRANSACTION, body).await
        }
        "nested alarm" => {
            let body = move |_: Transaction| async move {
                outside.set_alarm(&SET_ALARM, LATE_MS).await?;
                let storage = outside.clone();
                let inner = move |_: Transaction| async move {
                    storage.set_alarm(&SET_ALARM, LATE_MS + 1).await?;
                    Err::<(), _>(JsError::new("inner"))
                };
                assert!(outside.transaction(&TRANSACTION, inner).await.is_err());
                Ok(Value::Null)
            };
            storage.transaction(&TRANSACTION, body).await
        }
        "deleteAll" => {
            let body = move |_: Transaction| async move {
                outside.delete_all(&WIPE).await?;
                Ok(Value::Null)
            };
            storage.transaction(&TRANSACTION, body).await
        }
        _ => common(ctx, method).await,
    }
}

/// The answer of a method, the keys and the alarm after it, on a fresh incarnation.
fn transaction(method: &'static str, answer: Result<&'static str, &'static str>, keys: &'static str) {
    play(
        |ctx, method, _| transactions(ctx, method),
        move |world| async move {
            let got = ask(&world, "p", method).await;
            let got =
                got.map(|value| value.as_str().unwrap_or("").to_owned()).map_err(|error| error.message.to_string());
            assert_eq!(got, answer.map(str::to_owned).map_err(str::to_owned));
            for _ in 0..2 {
                assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from(keys)));
                assert_eq!(ask(&world, "p", "alarm?").await, Ok(Value::Null));
                assert!(ask(&world, "p", "abort").await.is_err());
            }
        },
    );
}

#[test]
fn fact_58_a_throwing_transaction_rolls_everything_back_and_the_object_is_not_reset() {
    transaction("throw", Err("roll me back"), "");
}

#[test]
fn fact_59_a_transaction_that_is_over_cannot_be_used() {
    transaction("rollback", Ok("Cannot put() on rolled back transaction"), "");
    let text =
        "Cannot call put() on transaction that has already committed: did you move `txn` outside of the closure?";
    transaction("leak", Err(text), "");
}

#[test]
fn fact_60_a_nested_transaction_rolls_back_on_its_own() {
    transaction("nested", Ok(""), "after outer");
}

#[test]
fn fact_60_an_alarm_of_a_nested_transaction_that_rolls_back_leaves_that_of_the_outer_one() {
    play(
        |ctx, method, _| transactions(ctx, method),
        |world| async move {
            assert_eq!(ask(&world, "p", "nested alarm").await, Ok(Value::Null));
            for _ in 0..2 {
                assert_eq!(ask(&world, "p", "alarm?").await, Ok(Value::from(LATE_MS)));
                assert!(ask(&world, "p", "abort").await.is_err());
            }
        },
    );
}

#[test]
fn fact_61_delete_all_inside_a_transaction_throws() {
    transaction("deleteAll", Err("Cannot call deleteAll() within a transaction"), "");
}
