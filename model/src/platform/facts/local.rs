//! What the local runtime does, kept errors, calls by id, and limits of storage (platform facts 3, 15, 16, 51, 55, 57, 83, 93, 99).

use super::*;

async fn switched(ctx: ObjectContext, method: &'static str) -> Answer {
    let storage = ctx.storage();
    match method {
        "set 100" => storage.set_alarm(&SET_ALARM, gate::at_ms(100)).await?,
        "alarm" => {
            mark(format!("alarm@{}", clock()));
            if clock() < 1_000 {
                return Err(JsError::new("alarm boom"));
            }
        }
        "throw own" => return Err(JsError { name: "CustomError", ..JsError::new("custom boom") }),
        "relay own" => return call_other("other", "throw own").await,
        "relay abort" => return call_other("other", "abort").await,
        "timer" => drop(crate::js::EventLoop::current().set_timer(14_000, Box::new(|| mark("fired")))),
        "work" => ctx.wait_until(crate::js::call(async {
            timer(14_000).wait().await;
            mark("worked");
        })),
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

/// Plays `script` in a cluster with those switches.
fn play_switched<S, Run>(switches: Switches, script: S)
where
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    play_with(switches, |ctx, method, _| switched(ctx, method), script);
}

#[test]
fn fact_93_99_a_flag_keeps_name_and_reset_of_an_error_over_two_calls() {
    for keeps_errors in [false, true] {
        play_switched(Switches { keeps_errors, ..Switches::default() }, move |world| async move {
            let own = ask(&world, "p", "relay own").await.expect_err("it throws");
            let told = if keeps_errors { "CustomError: custom boom" } else { "Error: CustomError: custom boom" };
            assert_eq!((own.to_string().as_str(), own.remote), (told, true));
            let reset = ask(&world, "p", "relay abort").await.expect_err("it throws");
            assert_eq!((reset.durable_object_reset, reset.remote), (keeps_errors, true));
        });
    }
}

#[test]
fn fact_15_16_locally_an_idle_object_goes_after_ten_seconds_and_one_with_a_timer_or_work_stays() {
    for is_local in [false, true] {
        play_switched(Switches { is_local, ..Switches::default() }, move |world| async move {
            let first = ask(&world, "p", "incarnation").await;
            pause(9_900).await;
            assert_eq!(ask(&world, "p", "incarnation").await, first);
            pause(9_900).await;
            assert_eq!(ask(&world, "p", "incarnation").await, first, "every event begins the time anew");
            pause(10_100).await;
            assert_eq!(ask(&world, "p", "incarnation").await == first, !is_local);
            for (name, method) in [("t", "timer"), ("u", "work")] {
                let first = ask(&world, name, "incarnation").await;
                assert_eq!(ask(&world, name, method).await, Ok(Value::Null));
                pause(16_000).await;
                assert_eq!(ask(&world, name, "incarnation").await, first);
            }
            assert_eq!(marks(), "fired worked");
        });
    }
}

#[test]
fn fact_83_locally_an_alarm_that_is_set_in_a_retrys_wait_is_that_retry() {
    for is_local in [false, true] {
        play_switched(Switches { is_local, ..Switches::default() }, move |world| async move {
            assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
            pause(500).await;
            let first = marks();
            let at = |mark: &str| mark.trim_start_matches("alarm@").parse::<u64>().expect("a time");
            assert_eq!(ask(&world, "p", "set 100").await, Ok(Value::Null));
            let set_ms = rt::run_ms();
            pause(1_000).await;
            let next = marks();
            if is_local {
                assert_eq!(next, "");
                pause(1_500).await;
                assert_eq!(at(&marks()), at(&first) + 2_000);
            } else {
                assert!(at(&next) <= set_ms + 100, "{next}");
            }
        });
    }
}

/// Sleeps in its alarm, and marks each delivery.
async fn slow_alarm(ctx: ObjectContext, method: &'static str, told: Value) -> Answer {
    match method {
        "set" => ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(20)).await?,
        "alarm" => {
            mark(format!("alarm:{}", told["retryCount"]));
            timer(600).wait().await;
            mark("end");
        }
        _ => return common(ctx, method).await,
    }
    Ok(Value::Null)
}

#[test]
fn fact_86_a_reset_from_outside_during_alarm_counts_as_no_failure_on_the_newer_build_and_as_one_on_the_older() {
    let marked = [(RuntimeBuild::November2026, "alarm:0 alarm:0 end"), (RuntimeBuild::May2026, "alarm:0 alarm:1 end")];
    for (build, marked) in marked {
        play_on(build, slow_alarm, move |world| async move {
            assert_eq!(ask(&world, "p", "set").await, Ok(Value::Null));
            pause(200).await;
            assert!(Control::new(world.cluster.clone()).reset(&key("p"), JsError::code_updated(), || ()));
            pause(10_000).await;
            assert_eq!(marks(), marked);
        });
    }
}

#[test]
fn fact_86_locally_a_zombie_ends_the_alarm_which_then_is_never_repeated_and_shows_its_past_time() {
    let switches = Switches { is_local: true, leaves_zombies: true, ..Switches::default() };
    play_with(switches, slow_alarm, |world| async move {
        assert_eq!(ask(&world, "p", "set").await, Ok(Value::Null));
        let due = ask(&world, "p", "alarm?").await;
        pause(200).await;
        assert!(Control::new(world.cluster.clone()).reset(&key("p"), JsError::code_updated(), || ()));
        pause(100_000).await;
        assert_eq!(marks(), "alarm:0 end");
        assert_eq!(ask(&world, "p", "alarm?").await, due);
    });
}

#[test]
fn fact_3_a_call_by_id_constructs_an_instance_that_never_learns_its_name() {
    for build in [RuntimeBuild::May2026, RuntimeBuild::November2026] {
        play_on(
            build,
            |ctx, method, _| async move {
                match method {
                    "set" => ctx.storage().set_alarm(&SET_ALARM, gate::at_ms(50)).await?,
                    "alarm" => mark(format!("{:?}", ctx.id_name())),
                    _ => return Ok(Value::from(ctx.id_name().as_deref())),
                }
                Ok(Value::Null)
            },
            move |world| async move {
                world.post(|| {
                    Box::pin(async {
                        drop(Stub::by_id(key("p")).rpc(&CALL, "set", Value::Null).await);
                        drop(Stub::new(key("q")).rpc(&CALL, "set", Value::Null).await);
                        let late = Stub::by_id(key("q")).rpc(&CALL, "name", Value::Null).await;
                        mark(format!("q:{}", late.expect("it answers")));
                    })
                });
                pause(20).await;
                assert_eq!(marks(), r#"q:"q""#, "a later call by id changes nothing");
                assert_eq!(ask(&world, "p", "name").await, Ok(Value::Null));
                // Also the alarm that constructs the next instance: it was set by one that knew no name.
                world.cluster.end_isolate(world.cluster.isolates()[0]);
                pause(100).await;
                let known = if build == RuntimeBuild::November2026 { r#"Some("q")"# } else { "None" };
                assert_eq!(marks(), format!("None {known}"));
            },
        );
    }
}

#[test]
fn fact_51_55_57_many_keys_come_sorted_and_what_is_too_large_or_makes_no_sense_is_refused() {
    for (build, is_refused) in [(RuntimeBuild::May2026, true), (RuntimeBuild::November2026, false)] {
        play_on(
            build,
            |ctx, method, _| async move {
                let storage = ctx.storage();
                if method == "large" {
                    storage.put(&PUT, "v", Value::from("v".repeat(3 << 20))).await?;
                    return Ok(Value::Null);
                }
                for key in ["c", "a", "b"] {
                    storage.put(&PUT, key, Value::from(key)).await?;
                }
                let many = storage.get_many(&GET, ["c", "x", "a", "c"].map(Arc::from).to_vec()).await?;
                let keys: Vec<&str> = many.iter().map(|(key, _)| &**key).collect();
                mark(keys.join(","));
                let both = ListRange { start: Some("a".into()), start_after: Some("a".into()), ..ListRange::default() };
                for range in
                    [both, ListRange::default().limit(0), ListRange { limit: Some(-1), ..ListRange::default() }]
                {
                    mark(storage.list(&LIST, range).await.expect_err("it makes no sense").to_string());
                }
                let some = ListRange { start: Some("a".into()), end: Some("c".into()), ..ListRange::default() };
                let found = storage.list(&LIST, some).await?;
                mark(found.iter().map(|(key, _)| &**key).collect::<Vec<_>>().join(","));
                Ok(Value::Null)
            },
            move |world| async move {
                assert_eq!(ask(&world, "p", "calls").await, Ok(Value::Null));
                let limit = "TypeError: List limit must be positive.";
                let both = "TypeError: list() cannot be called with both start and startAfter values.";
                assert_eq!(marks(), format!("a,c {both} {limit} {limit} a,b"));
                let refused = JsError::new("string or blob too big: SQLITE_TOOBIG").across_call();
                let expected = if is_refused { Err(refused) } else { Ok(Value::Null) };
                assert_eq!(ask(&world, "p", "large").await, expected);
            },
        );
    }
}
