//! Alarms of objects that do not know their name, and of condemned ones.

use serde_json::Value;

use super::script::Rule;
use super::world::{Setup, log, name, play, props};
use crate::agents::NAME_KEY;
use crate::defect::Defect;
use crate::operation::{Kind, Operation};
use crate::platform::{IsolateId, JsError, RuntimeBuild};
use crate::rt;
use crate::session::init::init;

static PUT: Operation = Operation { name: "test · put", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };
static SET: Operation =
    Operation { name: "test · setAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };
static LOOK: Operation =
    Operation { name: "test · getAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };

/// A resident object without any name, with an alarm that is due; with the durable record of a name if asked for.
fn nameless(with_record: bool) -> super::world::Played {
    let setup = Setup { named: false, timeout_ms: 1_000, ..Setup::default() };
    play(setup, move |world| async move {
        world
            .inside("build", 50, move |session| async move {
                *session.agent.props.borrow_mut() = Some(props("org-1"));
                init(session.clone()).await.expect("built");
                if with_record {
                    session.ctx().storage().put(&PUT, NAME_KEY, Value::from(name())).await.expect("written");
                }
            })
            .await;
        rt::sleep_ms(2_000).await;
        world
            .inside("look", 50, |session| async move {
                let alarm = session.ctx().storage().get_alarm(&LOOK).await.expect("read");
                log(format_args!("alarm {} initialized {}", alarm.is_some(), session.initialized.get()));
                log(format_args!(
                    "engine {} id {}",
                    session.engine.borrow().is_some(),
                    session.session_id_for_telemetry()
                ));
            })
            .await;
    })
}

#[test]
fn the_durable_record_alone_leads_an_alarm_to_its_session() {
    let played = nameless(true);
    assert_eq!(played.log, ["alarm false initialized false", "engine false id s1"]);
    assert_eq!(played.recorded.values("mcp_session_idle_runtime_dispose", "sessionId"), ["s1"]);
    assert!(played.recorded.values("storage.deleted", "key").contains(&"last-activity-ms"));
}

#[test]
fn an_alarm_without_any_name_cleans_up_and_ends_normally() {
    let played = nameless(false);
    assert_eq!(played.log, ["alarm false initialized false", "engine false id unresolved"]);
    assert_eq!(played.recorded.values("mcp_session_unaddressable_alarm_cleanup", "sessionId"), ["unresolved"]);
    assert_eq!(played.recorded.values("alarm.ended", "outcome"), ["ok"]);
    assert_eq!(played.recorded.count("mcp_session_idle_runtime_dispose"), 0);
    assert_eq!(played.recorded.values("gauge", "residents"), ["1", "0"]);
}

#[test]
fn the_clean_up_of_a_nameless_alarm_ignores_failing_deletes() {
    let rules = vec![
        Rule::fail("alarm.nameless · storage.deleteAlarm", JsError::new("no storage")),
        Rule::fail("alarm.nameless · storage.delete last-activity-ms", JsError::new("no storage")),
    ];
    let played = play(Setup { named: false, rules, ..Setup::default() }, |world| async move {
        world
            .inside("arm", 3_000, |session| async move {
                let at_ms = crate::js::EventLoop::current().now_ms() + 1_000;
                session.ctx().storage().set_alarm(&SET, super::super::signed(at_ms)).await.expect("armed");
            })
            .await;
    });
    assert_eq!(played.recorded.values("alarm.ended", "outcome"), ["ok"]);
}

/// An idle alarm of an object whose isolate ended: its incarnation is made by the alarm. Then its owner comes back.
fn after_a_cold_alarm(build: RuntimeBuild, defects: Vec<Defect>) -> Vec<String> {
    let setup = Setup { build, timeout_ms: 1_000, defects, ..Setup::default() };
    let played = play(setup, |world| async move {
        world.open(50).await;
        world.handle().end_isolate(IsolateId(1));
        rt::sleep_ms(3_000).await;
        world.validate("check", 50).await;
        world.open(50).await;
        world.validate("again", 50).await;
    });
    played.log
}

#[test]
fn fact_163_164_165_an_incarnation_made_by_a_nameless_alarm_fails_every_restore_until_a_start_in_a_section_reads_the_name()
 {
    // As described: the framework's start takes the name from its own field, which an owner check does not fill.
    let log = after_a_cold_alarm(RuntimeBuild::May2026, vec![Defect::NamelessRestoreFails]);
    assert!(log[1].starts_with("check Error: Attempting to read .name on McpSessionDO"), "{log:?}");
    assert_eq!(log[2..], ["open null", "again ok"]);
}

#[test]
fn with_its_name_known_or_read_such_an_incarnation_serves_its_owner() {
    let served = ["open null", "check ok", "open null", "again ok"];
    assert_eq!(after_a_cold_alarm(RuntimeBuild::May2026, Vec::new()), served);
    assert_eq!(after_a_cold_alarm(RuntimeBuild::November2026, vec![Defect::NamelessRestoreFails]), served);
}

#[test]
fn fact_184_185_a_condemned_session_is_wiped_and_its_id_is_dead_from_the_answer_on() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        world.rpc("condemn", "_cf_scheduleDestroy", Value::Null, 50).await;
        world.validate("condemned", 2_000).await;
        world.validate("wiped", 50).await;
    });
    assert_eq!(played.log, ["open null", "condemn null", "condemned terminated", "wiped not_found"]);
    assert_eq!(played.recorded.count("storage.wiped"), 1);
    assert_eq!(played.recorded.order(&["destroy.begin", "server.closed", "storage.wiped", "object.gone"]).len(), 4);
}

/// What owner checks say between the wipe and the abort, and after both.
fn around_the_abort(defects: &[Defect]) -> Vec<String> {
    let rules = vec![Rule::hold("destroy · abort", 3)];
    let played = play(Setup { rules, defects: defects.to_vec(), ..Setup::default() }, |world| async move {
        world.open(50).await;
        world.rpc("condemn", "_cf_scheduleDestroy", Value::Null, 2_000).await;
        world.validate("gap", 50).await;
        world.handle().release(3);
        rt::sleep_ms(50).await;
        world.validate("after", 50).await;
    });
    played.log[2..].to_vec()
}

#[test]
fn between_the_wipe_and_the_abort_the_described_owner_check_fails_on_the_missing_tables() {
    let missing = "gap Error: no such table: cf_agents_mcp_servers: SQLITE_ERROR";
    assert_eq!(around_the_abort(&[Defect::WipedSessionRestored]), [missing, "after not_found"]);
    assert_eq!(around_the_abort(&[]), ["gap terminated", "after not_found"]);
}

/// An alarm comes to an object whose session was wiped.
fn woken_after_the_wipe(defects: Vec<Defect>) -> super::world::Played {
    play(Setup { defects, ..Setup::default() }, |world| async move {
        world.open(50).await;
        world.rpc("condemn", "_cf_scheduleDestroy", Value::Null, 2_000).await;
        world
            .inside("arm", 200_000, |session| async move {
                let at_ms = crate::js::EventLoop::current().now_ms() + 1_000;
                session.ctx().storage().set_alarm(&SET, super::super::signed(at_ms)).await.expect("armed");
            })
            .await;
    })
}

#[test]
fn an_alarm_that_comes_after_the_wipe_starts_nothing_and_ends_normally() {
    let played = woken_after_the_wipe(Vec::new());
    assert_eq!(played.recorded.values("alarm.ended", "outcome"), ["ok", "ok"]);
    assert_eq!(played.recorded.count("start.begin"), 1);
    assert_eq!(played.recorded.captured(), Vec::<&str>::new());
}

#[test]
fn as_described_it_fails_at_each_of_seven_tries_and_pages_somebody_each_time() {
    let played = woken_after_the_wipe(vec![Defect::WipedSessionWoken]);
    assert_eq!(
        played.recorded.values("alarm.ended", "outcome").iter().filter(|outcome| **outcome == "failed").count(),
        7
    );
    assert_eq!(played.recorded.captured(), ["MCP session props are required"; 7]);
}
