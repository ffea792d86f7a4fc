//! Interruption, row by row: where an init or a disposal can be stopped, which exits see it, what is given back.

use super::script::Rule;
use super::world::{Played, Setup, log, play, props};
use crate::platform::JsError;
use crate::rt;
use crate::session::init::init;
use crate::session::residency;
use crate::session::teardown::{Disposal, dispose_idle_runtime};

const HELD: u64 = 7;
const TEXT: &str = "init Error: All fibers interrupted without error";

/// A direct init with these rules, told with what it left behind.
fn init_with(rules: Vec<Rule>, interrupt_after_ms: Option<u64>) -> Played {
    play(Setup { rules, ..Setup::default() }, move |world| async move {
        let wait_ms = interrupt_after_ms.unwrap_or(100);
        world
            .inside("init", wait_ms, |session| async move {
                *session.agent.props.borrow_mut() = Some(props("org-1"));
                let ended = init(session.clone()).await;
                log(format_args!("init {}", ended.map_or_else(|error| error.to_string(), |()| "ok".to_owned())));
            })
            .await;
        if interrupt_after_ms.is_some() {
            assert!(world.handle().interrupt(&world.key(), "init", || ()));
            rt::sleep_ms(50).await;
            world.handle().release(HELD);
            rt::sleep_ms(50).await;
        }
        world
            .inside("look", 50, |session| async move {
                let (residents, in_flight) = residency::load();
                log(format_args!("{residents} resident, {in_flight} in flight, {:?}", residency::registered()));
                let is_held = session.init_abort.borrow().is_some();
                log(format_args!("initialized {} handle {is_held}", session.initialized.get()));
            })
            .await;
    })
}

/// What an interrupt skips: reset log, error line, capture, claim, teardown. What it does not: the flush.
fn assert_only_finalisers_ran(played: &Played, at: &str) {
    let recorded = &played.recorded;
    for skipped in ["mcp_session_durable_object_reset", "console.error", "captured", "teardown.begin"] {
        assert_eq!(recorded.count(skipped), 0, "{skipped} after an interrupt at {at}");
    }
    assert_eq!(recorded.values("init.end", "outcome"), ["interrupted"], "{at}");
    let spans = recorded.spans("McpSessionDO.init");
    assert!(spans.len() == 1 && !spans[0].contains("exception"), "{at}: {spans:?}");
    assert_eq!(recorded.count("reservation.taken"), recorded.count("reservation.returned"), "{at}");
    assert_eq!(recorded.count("permit.granted"), recorded.count("permit.returned"), "{at}");
}

#[test]
fn an_init_can_be_interrupted_at_every_wait_before_its_install() {
    for (at, reserved, permits) in [
        ("meta · storage.get session-meta", 0, 0),
        ("meta · storage.put session-meta", 0, 0),
        ("init · db.open", 1, 0),
        ("build · permit", 1, 1),
        ("build · import", 1, 1),
        ("build · stack", 1, 1),
        ("build · describe", 1, 1),
        ("build · server", 1, 1),
    ] {
        let played = init_with(vec![Rule::interrupt(at, "init")], None);
        assert_eq!(played.log, [TEXT, "0 resident, 0 in flight, []", "initialized false handle false"], "{at}");
        assert_only_finalisers_ran(&played, at);
        assert_eq!(played.recorded.count("reservation.taken"), reserved, "{at}");
        assert_eq!(played.recorded.count("permit.granted"), permits, "{at}");
    }
}

#[test]
fn an_interrupt_after_the_install_leaves_a_whole_runtime_and_both_writes_land() {
    for at in ["clock · storage.put last-activity-ms", "clock · storage.setAlarm idle"] {
        let played = init_with(vec![Rule::interrupt(at, "init")], None);
        let left = [TEXT, r#"1 resident, 0 in flight, ["s1"]"#, "initialized true handle false"];
        assert_eq!(played.log, left, "{at}");
        assert_only_finalisers_ran(&played, at);
        assert!(played.recorded.values("storage.put", "key").contains(&"last-activity-ms"), "{at}");
        assert_eq!(played.recorded.count("alarm.set"), 1, "{at}");
    }
}

#[test]
fn what_an_interrupted_init_waited_for_runs_on() {
    let played = init_with(vec![Rule::hold("build · describe", HELD)], Some(20));
    assert_eq!(played.log, [TEXT, "0 resident, 0 in flight, []", "initialized false handle false"]);
    assert_only_finalisers_ran(&played, "build · describe");
}

#[test]
fn a_failed_and_a_dead_init_report_and_clean_up_and_give_back_the_same() {
    for at in ["init · db.open", "build · permit", "build · stack", "build · describe", "build · server"] {
        let played = init_with(vec![Rule::fail(at, JsError::new("no luck"))], None);
        assert_eq!(played.log[..2], ["init Error: no luck", "0 resident, 0 in flight, []"], "{at}");
        let recorded = &played.recorded;
        assert_eq!(recorded.captured(), ["no luck"], "{at}");
        assert_eq!(recorded.count("teardown.begin"), 1, "{at}");
        let order = recorded.order(&["reservation.returned", "captured", "teardown.begin", "init.end"]);
        assert_eq!(order, ["reservation.returned", "captured", "teardown.begin", "init.end"], "{at}");
        assert_eq!(recorded.count("permit.granted"), recorded.count("permit.returned"), "{at}");
    }
}

#[test]
fn a_successful_init_is_counted_twice_only_until_its_finaliser() {
    let played = init_with(vec![], None);
    assert_eq!(played.log[..2], ["init ok", r#"1 resident, 0 in flight, ["s1"]"#]);
    let order = played.recorded.order(&["reservation.taken", "gauge", "activity", "reservation.returned", "init.end"]);
    assert_eq!(order, ["reservation.taken", "gauge", "activity", "reservation.returned", "init.end"]);
}

/// Two disposals of an open session whose server takes its time to close; the second is interrupted.
#[test]
fn a_disposal_that_waits_for_another_one_can_be_interrupted_and_the_other_is_unaffected() {
    let rules = vec![Rule::hold("teardown · server.close", HELD)];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world.open(50).await;
        for label in ["first", "second"] {
            world
                .inside(label, 10, move |session| async move {
                    let disposal =
                        Disposal { reason: "cap", idle_ms: 1, paused_execution_count: 0, active_stream_count: 0 };
                    let ended = dispose_idle_runtime(session, disposal).await;
                    log(format_args!("{label} {}", ended.map_or_else(|error| error.to_string(), |()| "ok".to_owned())));
                })
                .await;
        }
        // The handle is the one of the second: it came later.
        assert!(world.handle().interrupt(&world.key(), "disposal", || ()));
        rt::sleep_ms(20).await;
        log("held");
        world.handle().release(HELD);
        rt::sleep_ms(50).await;
    });
    let expected = ["open null", "second Error: All fibers interrupted without error", "held", "first ok"];
    assert_eq!(played.log, expected);
    assert_eq!(played.recorded.values("disposal.end", "outcome"), ["interrupted", "ok"]);
    assert_eq!(played.recorded.count("runtime.released"), 1);
}

#[test]
fn nobody_is_registered_before_the_install_or_after_the_release() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        world.rpc("evict", "requestCapEviction", serde_json::Value::Null, 50).await;
    });
    let names = ["gauge", "registry.added", "runtime.installed", "registry.removed", "runtime.released"];
    let expected = ["gauge", "registry.added", "runtime.installed", "gauge", "registry.removed", "runtime.released"];
    assert_eq!(played.recorded.order(&names), expected);
}
