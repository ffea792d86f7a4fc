//! The alarm: one an object, never early, at least once (platform facts 40, 65-75).

use super::gate::at_ms;
use super::*;

/// What the probes of this file can do; `alarm` marks `alarm@<ms>` and does what the key `in alarm` says.
async fn alarming(ctx: ObjectContext, method: &'static str, told: Value) -> Answer {
    let storage = ctx.storage();
    match method {
        "set 2000, set 200" => {
            storage.set_alarm(&SET_ALARM, at_ms(2_000)).await?;
            storage.set_alarm(&SET_ALARM, at_ms(200)).await?;
        }
        "set 100" => storage.set_alarm(&SET_ALARM, at_ms(100)).await?,
        "set 3000" => storage.set_alarm(&SET_ALARM, at_ms(3_000)).await?,
        "set past" => {
            mark("A-start");
            storage.set_alarm(&SET_ALARM, 1).await?;
            timer(50).wait().await;
            mark("A-end");
        }
        "delete" => storage.delete_alarm(&DELETE_ALARM).await?,
        "alarm" => {
            let scheduled = told["scheduledTime"].as_u64().unwrap_or(0) - rt::EPOCH_MS;
            let shown = storage.get_alarm(&GET_ALARM).await?.map_or("", |_| ":shown");
            mark(format!("alarm:{}@{}:{scheduled}{shown}", told["retryCount"], clock()));
            let todo = storage.get(&GET, "in alarm").await?;
            let first = told["retryCount"] == 0;
            return in_alarm(&ctx, todo.as_ref().and_then(|v| v.as_str()).unwrap_or(""), first).await;
        }
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

async fn in_alarm(ctx: &ObjectContext, todo: &str, first: bool) -> Answer {
    let storage = ctx.storage();
    match todo {
        "throw" => return Err(JsError::new("alarm boom")),
        "throw once" if first => return Err(JsError::new("alarm boom")),
        "set" if clock() < 500 => storage.set_alarm(&SET_ALARM, at_ms(400)).await?,
        "set, throw" => {
            if clock() < 700 {
                storage.set_alarm(&SET_ALARM, at_ms(400)).await?;
            }
            return Err(JsError::new("alarm boom"));
        }
        "set, abort" if clock() < 1_000 => {
            drop(storage.set_alarm(&SET_ALARM, at_ms(400)));
            return abort(ctx, "aborted in alarm").await;
        }
        "delete, throw" => {
            storage.delete_alarm(&DELETE_ALARM).await?;
            return Err(JsError::new("alarm boom"));
        }
        "abort once" if first => return abort(ctx, "aborted in alarm").await,
        "section once" if first => {
            return section(ctx, || async { Err(JsError::new("section in alarm")) }).await;
        }
        "wait 600" => {
            timer(600).wait().await;
            mark(format!("end@{}", clock()));
        }
        "now" if clock() < 500 => storage.set_alarm(&SET_ALARM, at_ms(0)).await?,
        "next, wait 400" => {
            if clock() < 400 {
                storage.set_alarm(&SET_ALARM, at_ms(1)).await?;
            }
            timer(400).wait().await;
            mark(format!("end@{}", clock()));
        }
        "put" => storage.put(&PUT, "ran", Value::from(1)).await?,
        "wipe" => storage.delete_all(&WIPE).await?,
        "put, wait 600" => {
            storage.put(&PUT, "ran", Value::from(1)).await?;
            timer(600).wait().await;
            mark(format!("end@{}", clock()));
        }
        _ => {}
    }
    Ok(Value::Null)
}

/// Plays `script` on an object whose alarm does `todo`.
pub(super) fn with_alarm<S, Run>(todo: &'static str, script: S)
where
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    with_alarm_under(Script::default, todo, script);
}

/// The same under a director.
pub(super) fn with_alarm_under<S, Run>(
    director: impl FnOnce() -> Script + Send + 'static,
    todo: &'static str,
    script: S,
) where
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    play(
        move |ctx, method, told| async move {
            if method != "prepare" {
                return alarming(ctx, method, told).await;
            }
            ctx.storage().put(&PUT, "in alarm", Value::from(todo)).await?;
            Ok(Value::Null)
        },
        move |world| async move {
            direct(director());
            assert_eq!(ask(&world, "p", "prepare").await, Ok(Value::Null));
            script(world).await;
        },
    );
}

/// `alarm?` as milliseconds since the run began.
pub(super) async fn shown(world: &TestWorld) -> Option<u64> {
    ask(world, "p", "alarm?").await.expect("it answers").as_u64().map(|at| at - rt::EPOCH_MS)
}

#[test]
fn fact_65_set_alarm_replaces_the_one_alarm_and_delete_alarm_is_idempotent() {
    with_alarm("", |world| async move {
        assert_eq!(ask(&world, "p", "set 2000, set 200").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(3_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
        assert_eq!(shown(&world).await, None);
        for _ in 0..2 {
            assert_eq!(ask(&world, "p", "delete").await, Ok(Value::Null));
        }
    });
}

#[test]
fn fact_66_set_alarm_refuses_zero_what_is_no_date_and_a_class_without_alarm() {
    play(
        |ctx, method, _| async move {
            if method != "try" {
                return common(ctx, method).await;
            }
            let storage = ctx.storage();
            for at in [0.0, -1.0, f64::NAN, f64::INFINITY, 8.7e15, 1.9e12 + 0.7] {
                match storage.set_alarm_at(&SET_ALARM, at).await {
                    Err(error) => mark(format!("{}:{}|", error.name, error.message)),
                    Ok(()) => mark(format!("{:?}", storage.get_alarm(&GET_ALARM).await)),
                }
            }
            Ok(Value::Null)
        },
        |world| async move {
            assert_eq!(ask(&world, "p", "try").await, Ok(Value::Null));
            let low = "TypeError:setAlarm() cannot be called with an alarm time <= 0|";
            let date = "TypeError:The value cannot be converted because it is not a valid Date.|";
            assert_eq!(marks(), format!("{low} {low} {date} {date} {date} Ok(Some(1900000000000))"));
            assert_eq!(ask_at(&world, ObjectKey::named("NoAlarm", "n"), "try").await, Ok(Value::Null));
            let class = "TypeError:Your Durable Object class must have an alarm() handler in order to call setAlarm()|";
            assert!(marks().ends_with(&format!("{date} {class}")));
        },
    );
}

#[test]
fn fact_67_a_past_time_fires_soon_also_while_its_setter_still_waits() {
    with_alarm("", |world| async move {
        let from = rt::run_ms();
        send(&world, "p", "set past");
        pause(200).await;
        let at = from + 2;
        assert_eq!(marks(), format!("A-start alarm:0@{at}:{at} A-end"));
    });
}

#[test]
fn fact_68_210_an_alarm_is_late_by_what_is_drawn_and_never_early() {
    for late in [0, 1, 700, 60_000] {
        let director = move || {
            let delay = move |_: &str, what: &str| if what == "alarm.late" { late } else { 0 };
            Script { delay: Some(Box::new(delay)), ..Script::default() }
        };
        with_alarm_under(director, "", move |world| async move {
            let from = rt::run_ms();
            send(&world, "p", "set 100");
            pause(70_000).await;
            let due = from + 102;
            assert_eq!(marks(), format!("alarm:0@{}:{due}", due + late));
        });
    }
}

#[test]
fn fact_65_68_a_late_alarm_that_is_replaced_comes_only_as_late_as_its_replacement() {
    let director = || {
        let draws = std::cell::RefCell::new(vec![1_000, 500]);
        let delay = move |_: &str, what: &str| match what {
            "alarm.late" => draws.borrow_mut().pop().unwrap_or(0),
            _ => 0,
        };
        Script { delay: Some(Box::new(delay)), ..Script::default() }
    };
    with_alarm_under(director, "", |world| async move {
        // It falls due, is late by 500 ms, and is replaced before it comes: its wake-up is nobody's any more.
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        pause(300).await;
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("set again");
        pause(3_000).await;
        assert_eq!(marks(), format!("alarm:0@{}:{due}", due + 1_000));
    });
}

#[test]
fn fact_69_alarms_due_together_fire_in_order_of_arrival_or_in_any_when_that_is_drawn() {
    let mut orders = std::collections::BTreeSet::new();
    for draw in std::iter::once(None).chain((1..=8).map(Some)) {
        let (told, order) = std::sync::mpsc::channel();
        play(
            |ctx, method, _| async move {
                match method {
                    "set" => ctx.storage().set_alarm(&SET_ALARM, 1_900_000_000_000).await?,
                    "alarm" => mark(&**ctx.label()),
                    _ => {}
                }
                Ok(Value::Null)
            },
            move |world| async move {
                if let Some(seed) = draw {
                    let state = std::cell::Cell::new(seed);
                    let decide = move |_: &str, _: &str, below: u64| {
                        state.set(random::next(state.get()));
                        state.get() % below
                    };
                    direct(Script { decide: Some(Box::new(decide)), ..Script::default() });
                }
                for name in ["a", "b"] {
                    assert_eq!(ask(&world, name, "set").await, Ok(Value::Null));
                }
                rt::sleep_until_ms(1_900_000_000_100).await;
                told.send(marks()).expect("the test waits");
            },
        );
        let order = order.recv().expect("the world ran");
        assert!(draw.is_some() || order == "a b", "without a draw the first that was set is the first that fires");
        orders.insert(order);
    }
    assert_eq!(orders.into_iter().collect::<Vec<_>>(), ["a b", "b a"]);
}

#[test]
fn fact_70_an_isolate_that_ends_inside_alarm_runs_it_again_with_retry_count_0() {
    with_alarm("put, wait 600", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        rt::sleep_until_ms(rt::EPOCH_MS + due + 50).await;
        world.cluster.end_isolate(world.cluster.isolates()[0]);
        pause(1_000).await;
        let again = due + 50;
        assert_eq!(marks(), format!("alarm:0@{due}:{due} alarm:0@{again}:{due} end@{}", again + 600));
        assert_eq!(ask(&world, "p", "keys").await, Ok(Value::from("in alarm ran")));
        assert_eq!(shown(&world).await, None);
    });
}

#[test]
fn fact_71_an_alarm_that_fell_due_or_will_do_so_fires_after_its_isolate_ended() {
    with_alarm("", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        world.cluster.end_isolate(world.cluster.isolates()[0]);
        pause(1_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due}"));
    });
}

#[test]
fn fact_40_73_75_requests_come_in_during_alarm_whose_slot_is_empty() {
    with_alarm("wait 600", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(300).await;
        assert_eq!(shown(&world).await, None);
        // Fact 75: what a request sets meanwhile survives the success; a deletion does not stop the run.
        assert_eq!(ask(&world, "p", "set 3000").await, Ok(Value::Null));
        let next = shown(&world).await.expect("set again");
        pause(1_000).await;
        assert_eq!(marks(), format!("alarm:0@{due}:{due} end@{}", due + 600));
        assert_eq!(shown(&world).await, Some(next));
        assert_eq!(ask(&world, "p", "delete").await, Ok(Value::Null));
        pause(5_000).await;
        assert_eq!(marks(), "");
    });
}

#[test]
fn fact_74_an_alarm_set_inside_alarm_starts_only_after_it_has_ended() {
    with_alarm("next, wait 400", |world| async move {
        assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
        let due = shown(&world).await.expect("one is set");
        pause(2_000).await;
        let (end, again) = (due + 400, due + 800);
        assert_eq!(marks(), format!("alarm:0@{due}:{due} end@{end} alarm:0@{end}:{} end@{again}", due + 1));
    });
}
