//! Trips through the microtask queue, counted on a real session object.

use std::rc::Rc;

use serde_json::{Value, json};

use super::script::{Rule, shared, start_ticking, start_ticking_at, stop_ticking, ticks};
use super::world::{Played, Setup, World, log, play, props};
use crate::agents::party_server;
use crate::agents::schedule::keep_alive;
use crate::agents::transport::testing::counted;
use crate::js::{call, hops, js};
use crate::platform::{JsError, RuntimeBuild};
use crate::session::alarm::alarm;
use crate::session::init::init;
use crate::session::teardown::{Disposal, close_runtime, dispose_idle_runtime};
use crate::session::{SessionObject, cap, clock, start};

const BUILDS: [RuntimeBuild; 2] = [RuntimeBuild::May2026, RuntimeBuild::November2026];

/// Opens the session, then runs `work` inside it.
fn in_open_session<Fut>(setup: Setup, work: impl Fn(Rc<SessionObject>) -> Fut + Send + 'static) -> Played
where
    Fut: Future<Output = ()> + 'static,
{
    play(setup, |world| async move {
        world.open(50).await;
        world.inside("work", 50, work).await;
    })
}

/// The same a while after: the database handle has no connection left, and its end takes 13 trips.
fn in_idle_session<Fut>(work: impl Fn(Rc<SessionObject>) -> Fut + Send + 'static) -> Played
where
    Fut: Future<Output = ()> + 'static,
{
    play(Setup::default(), |world| async move {
        world.open(6_000).await;
        world.inside("work", 50, work).await;
    })
}

fn on(build: RuntimeBuild) -> Setup {
    Setup { build, ..Setup::default() }
}

/// The first reference, then a second one, as an awaiting caller sees them.
async fn keep_twice(session: Rc<SessionObject>) {
    for _ in 0..2 {
        let keeping = Rc::clone(&session);
        log(counted(async move { std::mem::forget(js(keep_alive(keeping)).await.expect("kept")) }).await);
    }
}

#[test]
fn the_first_reference_takes_15_trips_or_14_and_a_second_one_1() {
    for (build, first) in BUILDS.into_iter().zip(["15", "14"]) {
        assert_eq!(in_open_session(on(build), keep_twice).log, ["open null", first, "1"]);
    }
}

#[test]
fn a_first_reference_whose_heartbeat_comes_after_the_idle_deadline_writes_again_18_trips_or_17() {
    for (build, first) in BUILDS.into_iter().zip(["18", "17"]) {
        let setup = Setup { timeout_ms: 1_000, ..on(build) };
        assert_eq!(in_open_session(setup, keep_twice).log, ["open null", first, "1"]);
    }
}

/// Gives the only reference back and tells at which trip each operation of the tail begins.
async fn release(session: Rc<SessionObject>) {
    let keep = keep_alive(session).await.expect("kept");
    start_ticking();
    keep.give_back();
    hops(20).await;
    log(format_args!("{:?}", stop_ticking()));
}

#[test]
fn the_tail_of_a_release_writes_at_4_reads_at_9_and_writes_again_at_12_or_11() {
    for (build, again) in BUILDS.into_iter().zip([12, 11]) {
        let expected = [
            ("sched · storage.get destroy-pending", 0),
            ("sched · storage.deleteAlarm", 4),
            ("rearm · storage.getAlarm", 9),
            ("rearm · storage.setAlarm idle", again),
        ];
        assert_eq!(in_open_session(on(build), release).log[1], format!("{expected:?}"));
    }
}

#[test]
fn the_wrapper_takes_13_trips_before_the_class_own_start() {
    let played = play(Setup::default(), |world| async move {
        world
            .inside("start", 50, |session| async move {
                start_ticking();
                drop(call(party_server::wrapped_on_start(session, None)));
                hops(14).await;
                let begun = stop_ticking();
                log(format_args!("{:?}", begun.last().expect("the body has begun")));
            })
            .await;
    });
    assert_eq!(played.log, [format!("{:?}", ("body · storage.get props", 13))]);
}

/// The end of the body comes five trips after its last read: four of the read, one of the function around it.
const BODY_ENDS: u64 = 5;

/// Three callers of one start, and the single-flight slot, each with its trips after the end of the body.
async fn three_callers(world: Rc<World>) {
    world.open(50).await;
    start_ticking_at("body · storage.get initializeRequest");
    world
        .inside("three", 50, |session| async move {
            for name in ["owner", "first joiner", "second joiner"] {
                let caller = Rc::clone(&session);
                drop(call(async move {
                    start::on_start(caller, None).await.expect("started");
                    log(format_args!("{name} {}", ticks() - BODY_ENDS));
                }));
            }
            let starting = session.on_start_promise.borrow().clone().expect("in flight");
            drop(starting.wait_hops(0).await);
            log(format_args!("outcome {}", ticks() - BODY_ENDS));
            while session.on_start_promise.borrow().is_some() {
                hops(1).await;
            }
            log(format_args!("slot empty {}", ticks() - BODY_ENDS));
            hops(8).await;
            stop_ticking();
        })
        .await;
}

#[test]
fn a_start_is_seen_1_trip_after_its_body_its_slot_empty_at_3_and_its_callers_go_on_at_8_owner_first() {
    let log = play(Setup::default(), three_callers).log;
    let callers = ["owner 8", "first joiner 8", "second joiner 8"];
    assert_eq!(log[..3], ["open null", "outcome 1", "slot empty 3"]);
    assert_eq!(log[3..], callers);
}

#[test]
fn marking_activity_takes_5_trips_with_the_put_first() {
    let played = in_open_session(Setup::default(), |session| async move {
        start_ticking();
        clock::mark_activity(&session).await.expect("marked");
        log(ticks());
        log(format_args!("{:?}", stop_ticking()));
    });
    let both = [("clock · storage.put last-activity-ms", 0), ("clock · storage.setAlarm idle", 0)];
    assert_eq!(played.log[1..], ["5".to_owned(), format!("{both:?}")]);
}

#[test]
fn a_disposal_goes_on_6_trips_after_its_effect_and_lets_go_of_its_handle_at_2() {
    let played = in_idle_session(|session| async move {
        start_ticking_at("dispose · flush");
        let disposing = Rc::clone(&session);
        let disposal = Disposal { reason: "idle", idle_ms: 0, paused_execution_count: 0, active_stream_count: 0 };
        let done = call(async move {
            dispose_idle_runtime(disposing, disposal).await.expect("disposed");
            // The flush takes one trip, then the effect ends.
            log(format_args!("caller {}", ticks() - 1));
        });
        while session.dispose_abort.borrow().is_some() {
            hops(1).await;
        }
        log(format_args!("handle empty {}", ticks() - 1));
        done.wait().await;
        stop_ticking();
    });
    assert_eq!(played.log[1..], ["handle empty 2", "caller 6"]);
}

#[test]
fn an_init_goes_on_6_trips_after_its_effect() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        start_ticking_at("init · flush");
        world
            .inside("restart", 50, |session| async move {
                start::on_start(session, None).await.expect("started");
                let begun = stop_ticking();
                let after = begun.iter().find(|(name, _)| *name == "body · server.field").expect("the body goes on");
                log(after.1 - 1);
            })
            .await;
    });
    assert_eq!(played.log, ["open null", "6"]);
}

#[test]
fn an_owner_check_answers_3_trips_after_its_effect() {
    // Marker 3, then no meta 4, then the entry point's own three.
    let played = play(Setup::default(), |world| async move {
        world
            .inside("check", 50, |session| async move {
                let owner = json!({"accountId": "user-1", "organizationId": "org-1"});
                let verdict = shared::<Value>();
                let answered = Rc::clone(&verdict);
                let check = async move {
                    *answered.borrow_mut() = crate::session::rpc::validate(session, owner).await.expect("a verdict")
                };
                log(counted(check).await);
                log(verdict.borrow().clone());
            })
            .await;
    });
    assert_eq!(played.log, ["10", "\"not_found\""]);
}

#[test]
fn whoever_owns_a_teardown_goes_on_at_once_and_who_joined_it_one_trip_later() {
    let played = in_idle_session(|session| async move {
        start_ticking_at("teardown · db.end");
        let done: Vec<_> = ["owner", "first joiner", "second joiner"]
            .into_iter()
            .map(|name| {
                let teardown = close_runtime(&session, true);
                call(async move {
                    teardown.run().await;
                    log(format_args!("{name} {}", ticks()));
                })
            })
            .collect();
        done[2].wait().await;
        stop_ticking();
    });
    assert_eq!(played.log[1..], ["owner 13", "first joiner 14", "second joiner 14"]);
}

#[test]
fn a_start_that_replaces_a_runtime_goes_on_at_the_very_end_of_the_teardown() {
    let played = in_idle_session(|session| async move {
        start_ticking_at("teardown · db.end");
        drop(call(start::on_start(session, None)));
        hops(18).await;
        log(format_args!("{:?}", stop_ticking()));
    });
    let expected = [("teardown · db.end", 0), ("body · storage.get props", 13)];
    assert_eq!(played.log[1..], [format!("{expected:?}")]);
}

#[test]
fn a_first_start_persists_its_name_and_enters_its_section_after_7_trips() {
    let played = play(Setup::default(), |world| async move {
        world
            .inside("start", 50, |session| async move {
                start_ticking();
                drop(call(party_server::ensure_initialized(session)));
                hops(8).await;
                log(format_args!("{:?}", stop_ticking()));
            })
            .await;
    });
    let expected = [("name · storage.get __ps_name", 0), ("name · storage.put __ps_name", 3), ("name · section", 7)];
    assert_eq!(played.log, [format!("{expected:?}")]);
}

#[test]
fn a_failed_init_flushes_3_trips_after_its_clean_up() {
    let rules = vec![Rule::fail("init · db.open", JsError::new("no handle"))];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        start_ticking_at("init · teardown failed");
        world
            .inside("init", 50, |session| async move {
                *session.agent.props.borrow_mut() = Some(props("org-1"));
                init(session).await.expect_err("it has no handle");
                log(format_args!("{:?}", stop_ticking()));
            })
            .await;
    });
    let expected = [("init · teardown failed", 0), ("telemetry · export", 3), ("init · flush", 3)];
    assert_eq!(played.log, [format!("{expected:?}")]);
}

#[test]
fn a_nameless_alarm_waits_2_trips_after_each_of_its_effects() {
    let played = play(Setup { named: false, ..Setup::default() }, |world| async move {
        start_ticking_at("alarm.nameless · teardown");
        world
            .inside("alarm", 50, |session| async move {
                alarm(session).await.expect("it ends normally");
                // Behind the second delete: three trips of its own, two of its effect, one of the function around it.
                log(ticks());
                log(format_args!("{:?}", stop_ticking()));
            })
            .await;
    });
    let expected = [
        ("alarm.nameless · teardown", 0),
        ("alarm.nameless · storage.deleteAlarm", 2),
        ("alarm.nameless · storage.delete last-activity-ms", 5),
    ];
    assert_eq!(played.log, ["11".to_owned(), format!("{expected:?}")]);
}

#[test]
fn an_eviction_counts_in_5_trips_and_answers_3_after_its_end() {
    let played = play(Setup::default(), |world| async move {
        world.open(6_000).await;
        world.listen("stream", 50).await;
        world
            .inside("evict", 50, |session| async move {
                // A live stream: it is declined after the counts.
                log(counted(async move { cap::request_cap_eviction(session).await.expect("declined") }).await);
            })
            .await;
    });
    assert_eq!(played.log.last().expect("counted"), "8");
}

#[test]
fn a_free_permit_and_the_handle_take_1_trip_each_and_admission_none() {
    const NAMES: [&str; 4] = ["meta · storage.put session-meta", "init · db.open", "build · permit", "build · import"];
    let played = play(Setup::default(), |world| async move {
        start_ticking_at(NAMES[0]);
        world
            .inside("init", 50, |session| async move {
                *session.agent.props.borrow_mut() = Some(props("org-1"));
                drop(call(init(session)));
                // Long enough for what comes before: the read, and the close of a scratch handle.
                hops(40).await;
                let begun = stop_ticking().into_iter().filter(|(name, _)| NAMES.contains(name));
                log(format_args!("{:?}", begun.map(|(_, at)| at).collect::<Vec<_>>()));
            })
            .await;
    });
    // The put takes four trips.
    assert_eq!(played.log, ["[0, 4, 5, 6, 6]"]);
}
