//! Teardown and disposal: one at a time, uninterruptible, and an init that meets one waits for its end.

use std::rc::Rc;

use super::script::Rule;
use super::world::{Setup, World, log, play};
use crate::rt;
use crate::session::init::init;
use crate::session::teardown::{Disposal, dispose_idle_runtime};
use crate::session::upstream::DbHandle;

const HELD: u64 = 7;

fn held_close() -> Setup {
    Setup { rules: vec![Rule::hold("teardown · server.close", HELD)], ..Setup::default() }
}

/// Begins a disposal, as the alarm would, and logs its end.
async fn dispose(world: &World, label: &'static str) {
    world
        .inside(label, 10, move |session| async move {
            let disposal = Disposal { reason: "idle", idle_ms: 1, paused_execution_count: 0, active_stream_count: 0 };
            let ended = dispose_idle_runtime(session, disposal).await;
            log(format_args!("{label} {}", ended.map_or_else(|error| error.to_string(), |()| "ok".to_owned())));
        })
        .await;
}

/// Runs init directly and logs its end with what is installed then.
async fn begin_init(world: &World, ms: u64) {
    world
        .inside("init", ms, |session| async move {
            let before = session.runtime.get();
            let ended = init(session.clone()).await;
            log(format_args!("init {} initialized {}", ended.is_ok(), session.initialized.get()));
            log(format_args!("another engine {}", session.runtime.get() != before));
        })
        .await;
}

#[test]
fn an_init_that_meets_a_disposal_waits_for_its_end_and_builds_anew() {
    let played = play(held_close(), |world| async move {
        world.open(50).await;
        dispose(&world, "disposal").await;
        begin_init(&world, 10).await;
        log("held");
        world.handle().release(HELD);
        rt::sleep_ms(50).await;
    });
    let expected = ["open null", "held", "disposal ok", "init true initialized true", "another engine true"];
    assert_eq!(played.log, expected);
    assert_eq!(played.recorded.count("server.closed"), 1);
}

#[test]
fn an_interrupted_disposal_finishes_its_teardown_and_skips_its_bookkeeping() {
    let played = play(held_close(), |world| async move {
        world.open(50).await;
        dispose(&world, "disposal").await;
        begin_init(&world, 10).await;
        assert!(world.handle().interrupt(&world.key(), "disposal", || ()));
        world
            .inside("look", 20, |session| async move {
                log(format_args!("engine {}", session.engine.borrow().is_some()));
            })
            .await;
        world.handle().release(HELD);
        rt::sleep_ms(50).await;
    });
    let expected = [
        "open null",
        "engine true",
        "disposal Error: All fibers interrupted without error",
        "init true initialized true",
        "another engine true",
    ];
    assert_eq!(played.log, expected);
    assert_eq!(played.recorded.count("server.closed"), 1);
    assert_eq!(played.recorded.values("storage.deleted", "key"), Vec::<&str>::new());
    // The alarm stays, and the span says nothing of the gauge.
    assert_eq!(played.recorded.count("alarm.deleted"), 0);
    assert!(!played.recorded.spans("mcp.session.idle_runtime_dispose")[0].contains("resident_runtimes"));
}

#[test]
fn an_interrupt_at_the_first_write_of_the_bookkeeping_means_that_the_second_is_never_issued() {
    let rules = vec![Rule::interrupt("dispose · storage.deleteAlarm", "disposal")];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world.open(50).await;
        dispose(&world, "disposal").await;
    });
    assert_eq!(played.log[1..], ["disposal Error: All fibers interrupted without error"]);
    assert_eq!(played.recorded.count("alarm.deleted"), 1);
    assert_eq!(played.recorded.values("storage.deleted", "key"), Vec::<&str>::new());
}

#[test]
fn two_disposals_at_once_close_once_and_release_once() {
    let played = play(held_close(), |world| async move {
        world.open(50).await;
        dispose(&world, "first").await;
        dispose(&world, "second").await;
        world.handle().release(HELD);
        rt::sleep_ms(50).await;
    });
    assert_eq!(played.log[1..], ["first ok", "second ok"]);
    let recorded = &played.recorded;
    assert_eq!((recorded.count("server.closed"), recorded.count("runtime.released")), (1, 1));
    assert_eq!(recorded.values("gauge", "residents"), ["1", "0"]);
    // Each decided disposal has its line and its span.
    assert_eq!(recorded.count("mcp_session_idle_runtime_dispose"), 2);
    assert_eq!(recorded.spans("mcp.session.idle_runtime_dispose").len(), 2);
}

#[test]
fn a_failed_init_that_is_interrupted_during_its_clean_up_rejects_at_once_and_the_teardown_runs_on() {
    let quota = crate::platform::JsError::new("quota exceeded for namespace");
    let rules =
        vec![Rule::fail("clock · storage.put last-activity-ms", quota), Rule::hold("teardown · server.close", HELD)];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world
            .inside("init", 50, |session| async move {
                *session.agent.props.borrow_mut() = Some(super::world::props("org-1"));
                let ended = init(session).await;
                log(format_args!("init {}", ended.expect_err("it was interrupted")));
            })
            .await;
        log("held");
        assert!(world.handle().interrupt(&world.key(), "init", || ()));
        rt::sleep_ms(20).await;
        log("released");
        world.handle().release(HELD);
        rt::sleep_ms(20).await;
    });
    assert_eq!(played.log, ["held", "init Error: All fibers interrupted without error", "released"]);
    assert_eq!(played.recorded.captured(), ["quota exceeded for namespace"]);
    assert_eq!(played.recorded.count("runtime.released"), 1);
}

#[test]
fn a_teardown_ends_the_connection_of_its_database_handle() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        world
            .inside("look", 50, |session| async move {
                let db: Rc<dyn std::any::Any> = session.db.borrow().clone().expect("it is resident");
                let db = db.downcast::<DbHandle>().expect("it is the host's own");
                log(format_args!("connected {}", db.is_connected()));
                crate::session::teardown::close_runtime(&session, true).run().await;
                log(format_args!("connected {}", db.is_connected()));
            })
            .await;
    });
    assert_eq!(played.log[1..], ["connected true", "connected false"]);
}
