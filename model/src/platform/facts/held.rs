//! Operations that a fault delays or holds.

use super::commit::gated_out;
use super::*;
use crate::operation::Kind;

/// `A`: a put, then the operation under test, then `A-end`; an unawaited chain marks what it reads meanwhile.
async fn held(ctx: ObjectContext, method: &'static str) -> Answer {
    let storage = ctx.storage();
    let Some(operation) = TABLE.iter().find(|operation| operation.name == method) else {
        return common(ctx, method).await;
    };
    storage.put(&PUT, "before", Value::from(1)).await?;
    crate::js::EventLoop::current().set_timer(20, Box::new(|| mark("timer")));
    mark("A-start");
    match operation.name {
        n if n == GET.name => drop(storage.get(operation, "x").await?),
        n if n == PUT.name => storage.put(operation, "x", Value::from(1)).await?,
        n if n == DELETE.name => drop(storage.delete(operation, "before").await?),
        n if n == LIST.name => drop(storage.list(operation, ListRange::default()).await?),
        n if n == WIPE.name => storage.delete_all(operation).await?,
        n if n == SET_ALARM.name => storage.set_alarm(operation, i64::MAX).await?,
        n if n == GET_ALARM.name => drop(storage.get_alarm(operation).await?),
        n if n == DELETE_ALARM.name => storage.delete_alarm(operation).await?,
        n if n == SYNC.name => storage.sync(operation).await?,
        other => panic!("{other} is no storage operation of this test"),
    }
    mark("A-end");
    Ok(Value::Null)
}

/// Disturbs the operation under test at one of its edges; `A` does one put before it.
fn disturb(name: &'static str, edge: Edge, disturbance: Disturbance) -> Script {
    let seen = RefCell::new(0);
    let first = if name == PUT.name { 2 } else { 1 };
    let at = move |point: &OperationPoint<'_>| {
        if point.operation.name != name || point.edge != edge {
            return Disturbance::None;
        }
        *seen.borrow_mut() += 1;
        if *seen.borrow() == first { disturbance.clone() } else { Disturbance::None }
    };
    Script { at: Some(Box::new(at)), ..Script::default() }
}

fn storage_operations() -> impl Iterator<Item = &'static Operation> {
    TABLE.iter().copied().filter(|operation| operation.kind == Kind::Storage || *operation == &SYNC)
}

#[test]
fn a_held_storage_operation_keeps_the_gate_shut_until_it_is_released() {
    for build in [RuntimeBuild::May2026, RuntimeBuild::November2026] {
        for (operation, edge) in storage_operations().flat_map(|o| [(o, Edge::Begin), (o, Edge::End)]) {
            let name = operation.name;
            play_on(
                build,
                |ctx, method, _| held(ctx, method),
                move |world| async move {
                    direct(disturb(name, edge, Disturbance::Hold(7)));
                    send(&world, "p", name);
                    pause(20).await;
                    send(&world, "p", "mark");
                    send(&world, "q", "mark");
                    pause(200).await;
                    assert_eq!(marks(), "A-start mark", "{name} at its {edge:?}: only the other object gets its event");
                    Control::new(world.cluster.clone()).release(7);
                    pause(20).await;
                    assert_eq!(marks(), "A-end timer mark", "{name} at its {edge:?}");
                },
            );
        }
    }
}

#[test]
fn a_delayed_storage_operation_keeps_the_gate_shut_for_its_delay() {
    for operation in storage_operations() {
        let name = operation.name;
        play(
            |ctx, method, _| held(ctx, method),
            move |world| async move {
                direct(disturb(name, Edge::Begin, Disturbance::Delay(100)));
                send(&world, "p", name);
                pause(10).await;
                send(&world, "p", "mark");
                pause(80).await;
                assert_eq!(marks(), "A-start", "{name}");
                pause(30).await;
                assert_eq!(marks(), "A-end mark timer", "{name}");
            },
        );
    }
}

#[test]
fn a_held_storage_operation_takes_effect_at_its_release_and_earlier_writes_of_the_turn_commit() {
    for (edge, reset, expected) in
        [(Edge::Begin, true, "before"), (Edge::Begin, false, "before x"), (Edge::End, true, "before x")]
    {
        play(
            |ctx, method, _| held(ctx, method),
            move |world| async move {
                direct(disturb(PUT.name, edge, Disturbance::Hold(7)));
                let control = Control::new(world.cluster.clone());
                send(&world, "p", PUT.name);
                pause(20).await;
                if reset {
                    assert!(control.reset(&key("p"), JsError::cpu_exceeded(), || ()));
                }
                control.release(7);
                pause(20).await;
                assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from(expected)), "{edge:?} {reset}");
            },
        );
    }
}

#[test]
fn a_held_put_is_not_seen_by_a_get_of_the_same_turn_and_fails_without_effect_when_it_is_to_fail() {
    play(
        |ctx, method, _| async move {
            if method != "A" {
                return common(ctx, method).await;
            }
            let storage = ctx.storage();
            let put = storage.put(&PUT, "x", Value::from(1));
            mark(format!("{:?}", storage.get(&GET, "x").await?));
            mark(format!("{:?}", put.await.map_err(|error| error.message)));
            mark(format!("{:?}", storage.get(&GET, "x").await?));
            Ok(Value::Null)
        },
        |world| async move {
            let times = RefCell::new(0);
            let at = move |point: &OperationPoint<'_>| {
                if point.operation.name != PUT.name || point.edge != Edge::Begin {
                    return Disturbance::None;
                }
                *times.borrow_mut() += 1;
                if *times.borrow() == 1 { Disturbance::Fail(JsError::new("no")) } else { Disturbance::Delay(50) }
            };
            direct(Script { at: Some(Box::new(at)), ..Script::default() });
            assert_eq!(ask(&world, "p", "A").await, Ok(Value::Null));
            assert_eq!(marks(), "None Err(\"no\") None");
            assert_eq!(ask(&world, "p", "A").await, Ok(Value::Null));
            assert_eq!(marks(), "None Ok(()) Some(Number(1))");
        },
    );
}

#[test]
fn a_call_that_was_held_or_delayed_and_a_slow_sync_come_back_only_through_the_gate() {
    for (disturbance, waits) in
        [(Disturbance::Hold(1), "call"), (Disturbance::Delay(50), "call"), (Disturbance::None, "sync")]
    {
        play(
            |ctx, method, _| async move {
                match method {
                    "call" => drop(call_other("other", "mark").await?),
                    "sync" => {
                        ctx.storage().put(&PUT, "x", Value::from(1)).await?;
                        ctx.storage().sync(&SYNC).await?;
                    }
                    "section" => {
                        let body = || async {
                            mark("bcw-start");
                            timer(200).wait().await;
                            mark("bcw-end");
                            Ok(Value::Null)
                        };
                        return section(&ctx, body).await;
                    }
                    _ => return common(ctx, method).await,
                }
                mark(format!("{method}-end"));
                Ok(Value::Null)
            },
            move |world| async move {
                let delay = |_: &str, what: &str| if what == "commit" { 50 } else { 0 };
                let at = disturb(CALL.name, Edge::End, disturbance);
                // The first end of a call is that of `p` to `other`.
                direct(Script { delay: Some(Box::new(delay)), ..at });
                send(&world, "p", waits);
                pause(20).await;
                send(&world, "p", "section");
                pause(80).await;
                Control::new(world.cluster.clone()).release(1);
                pause(200).await;
                let other = if waits == "call" { "mark " } else { "" };
                assert_eq!(marks(), format!("{other}bcw-start bcw-end {waits}-end"));
            },
        );
    }
}

#[test]
fn everything_held_under_one_number_goes_on_at_its_release_also_in_the_worker() {
    play(
        |ctx, method, _| gated_out(ctx, method),
        |world| async move {
            let at = |point: &OperationPoint<'_>| {
                let holds = point.edge == Edge::Begin && (point.operation == &CALL || point.operation == &GET);
                if holds { Disturbance::Hold(3) } else { Disturbance::None }
            };
            direct(Script { at: Some(Box::new(at)), ..Script::default() });
            let control = Control::new(world.cluster.clone());
            for name in ["p", "q"] {
                send(&world, name, "look");
            }
            pause(20).await;
            control.release(3);
            pause(20).await;
            assert_eq!(marks(), "");
            control.release(3);
            pause(20).await;
            assert_eq!(marks(), "look:false look:false");
        },
    );
}
