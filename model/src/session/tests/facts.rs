//! Facts about partyserver and the agents framework, on a real session (platform facts 95, 166-188, 194).

use std::any::Any;
use std::rc::Rc;

use serde_json::Value;

use super::super::SessionObject;
use super::world::{Played, Setup, World, log, name, play};
use crate::agents::mcp_server::McpServer;
use crate::agents::schedule::{KeepAlive, keep_alive, signed};
use crate::agents::{mcp_agent, party_server, tables};
use crate::defect::Defect;
use crate::js::{EventLoop, js, timer};
use crate::operation::{Kind, Operation};
use crate::platform::{IsolateId, JsError};
use crate::rt;

static OWN: Operation =
    Operation { name: "own · setAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };
static LOOK: Operation =
    Operation { name: "own · getAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };

/// A world whose host does not repair what the framework's scheduler does.
fn unrepaired() -> Setup {
    Setup { defects: vec![Defect::IdleAlarmNotRearmed], ..Setup::default() }
}

async fn set_own(session: &SessionObject, ms: u64) {
    let at_ms = EventLoop::current().now_ms() + ms;
    session.ctx().storage().set_alarm(&OWN, signed(at_ms)).await.expect("set");
}

/// Logs how many seconds ahead the alarm is, or `none`.
async fn log_alarm(session: &SessionObject, label: &str) {
    let alarm = session.ctx().storage().get_alarm(&LOOK).await.expect("read");
    let ahead = alarm.map(|at| at.saturating_sub(EventLoop::current().now_ms()) / 1_000);
    log(format_args!("{label} {}", ahead.map_or("none".to_owned(), |seconds| seconds.to_string())));
}

async fn keep(session: &Rc<SessionObject>) -> KeepAlive<SessionObject> {
    js(keep_alive(Rc::clone(session))).await.expect("kept")
}

/// Runs `work` inside an object that was never started, and a minute later `look`.
fn inside<Fut>(work: impl Fn(Rc<SessionObject>) -> Fut + Send + 'static) -> Played
where
    Fut: Future<Output = ()> + 'static,
{
    play(unrepaired(), |world| async move {
        world.inside("work", 1_000, work).await;
        world.inside("look", 50, |session| async move { log_alarm(&session, "after").await }).await;
    })
}

#[test]
fn fact_95_a_method_that_is_not_there_is_a_type_error() {
    let played = play(Setup::default(), |world| async move { world.rpc("called", "nope", Value::Null, 50).await });
    assert_eq!(played.log, [r#"called TypeError: The RPC receiver does not implement the method "nope"."#]);
}

#[test]
fn fact_166_a_plain_call_starts_nothing_and_keeps_no_name() {
    let played = play(Setup::default(), |world| async move {
        world.rpc("asked", "getInitializeRequest", Value::Null, 50).await;
        world.open(50).await;
    });
    let order = played.recorded.order(&["object.constructed", "start.begin"]);
    assert_eq!(order, ["object.constructed", "start.begin"]);
    assert_eq!(played.recorded.values("storage.put", "key")[0], "__ps_name");
    assert_eq!(played.log, ["asked null", "open null"]);
}

#[test]
fn fact_171_187_the_alarm_of_a_cold_condemned_session_acts_before_any_start() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        world.rpc("condemn", "_cf_scheduleDestroy", Value::Null, 50).await;
        world.handle().end_isolate(IsolateId(1));
        rt::sleep_ms(3_000).await;
    });
    assert_eq!(played.recorded.count("storage.wiped"), 1);
    assert_eq!(played.recorded.count("start.begin"), 1, "the one of the open");
}

#[test]
fn fact_172_200_an_object_idle_for_12_s_under_an_open_get_starts_again_at_the_next_call_and_notifies_it() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        world.listen("listener", 12_000).await;
        world.handle().evict(&world.key(), || log("evicted"));
        rt::sleep_ms(50).await;
        // As before, without any start: they are read from the platform.
        world.inside("look", 50, |session| async move { log(session.active_stream_count()) }).await;
        world.open(50).await;
        let notify = |session: Rc<SessionObject>| async move {
            let server: Rc<dyn Any> = session.server.borrow().clone().expect("it was started again");
            let server = server.downcast::<McpServer>().expect("the package's");
            js(async move { server.notify("notifications/tools/list_changed", Value::Null).await })
                .await
                .expect("sent");
        };
        world.inside("notify", 50, notify).await;
    });
    let [before @ .., heard] = &played.log[..] else { panic!("{:?}", played.log) };
    assert_eq!(before, ["open null", "evicted", "1", "open null"], "nothing was closed");
    assert!(heard.starts_with("listener Message(") && heard.contains("notifications/tools/list_changed"), "{heard}");
    assert_eq!(played.recorded.count("object.constructed"), 2);
    assert_eq!(played.recorded.count("start.begin"), 2);
}

#[test]
fn fact_188_the_constructor_makes_nine_tables_before_anything_is_started() {
    let played = play(Setup::default(), |world| async move {
        let look = |session: Rc<SessionObject>| async move { log(tables::names(&session.agent).join(" ")) };
        world.inside("look", 50, look).await;
    });
    let expected = "cf_agent_tool_runs cf_agents_facet_runs cf_agents_fibers cf_agents_mcp_servers cf_agents_queues \
                    cf_agents_runs cf_agents_schedules cf_agents_state cf_agents_workflows";
    assert_eq!(played.log, [expected]);
    assert_eq!(played.recorded.count("start.begin"), 0);
}

#[test]
fn fact_174_176_182_the_scheduler_sets_its_heartbeat_over_an_own_alarm_and_then_deletes_it() {
    let played = inside(|session| async move {
        set_own(&session, 10_000).await;
        let kept = keep(&session).await;
        log_alarm(&session, "during").await;
        kept.give_back();
    });
    assert_eq!(played.log, ["during 30", "after none"]);
}

#[test]
fn fact_175_neither_a_start_nor_a_second_reference_recomputes_the_alarm() {
    let played = play(unrepaired(), |world| async move {
        world.open(50).await;
        world
            .inside("work", 1_000, |session| async move {
                let first = keep(&session).await;
                // A turn for each: what is set and deleted in one turn is no alarm.
                timer(10).wait().await;
                let second = keep(&session).await;
                timer(10).wait().await;
                second.give_back();
                timer(10).wait().await;
                first.give_back();
            })
            .await;
    });
    let by: Vec<&str> = played.recorded.values("alarm.set", "by");
    assert_eq!(by.iter().filter(|by| by.starts_with("sched")).count(), 1, "{by:?}");
    assert_eq!(played.recorded.values("alarm.deleted", "root"), ["keep-alive released"]);
}

#[test]
fn fact_177_an_own_alarm_outlives_a_second_reference_and_dies_with_the_last() {
    let played = inside(|session| async move {
        let first = keep(&session).await;
        set_own(&session, 300_000).await;
        let second = keep(&session).await;
        second.give_back();
        timer(100).wait().await;
        log_alarm(&session, "one left").await;
        first.give_back();
    });
    assert_eq!(played.log, ["one left 299", "after none"]);
}

#[test]
fn fact_179_an_own_alarm_is_erased_by_the_frameworks_alarm() {
    let played = play(unrepaired(), |world| async move {
        world.open(50).await;
        world
            .inside("work", 1_000, |session| async move {
                set_own(&session, 300_000).await;
                js(mcp_agent::alarm(Rc::clone(&session))).await.expect("it ends");
                log_alarm(&session, "after").await;
            })
            .await;
    });
    assert_eq!(played.log, ["open null", "after none"]);
}

#[test]
fn fact_180_a_reference_is_given_back_once_and_a_lost_one_leaves_its_heartbeat() {
    let played = inside(|session| async move {
        let (first, second) = (keep(&session).await, keep(&session).await);
        first.give_back();
        first.give_back();
        log(session.agent.keep_alive_refs.get());
        drop(second);
    });
    assert_eq!(played.log, ["1", "after 29"]);
    let lost = play(unrepaired(), |world| async move {
        world.inside("work", 1_000, |session| async move { drop(keep(&session).await) }).await;
        world.handle().end_isolate(IsolateId(1));
        rt::sleep_ms(60_000).await;
    });
    assert_eq!(lost.recorded.count("alarm.fired"), 1);
}

#[test]
fn fact_186_an_own_alarm_postpones_the_destruction_until_the_scheduler_sees_the_marker() {
    for keeps in [false, true] {
        let played = play(unrepaired(), move |world| async move {
            world.open(50).await;
            world.rpc("condemn", "_cf_scheduleDestroy", Value::Null, 50).await;
            world
                .inside("work", 3_000, move |session| async move {
                    set_own(&session, 300_000).await;
                    if keeps {
                        drop(keep(&session).await);
                    }
                })
                .await;
        });
        assert_eq!(played.recorded.count("storage.wiped"), usize::from(keeps));
    }
}

/// A reset after the start, then an owner check.
async fn reset_and_check(world: Rc<World>) {
    world.open(50).await;
    world.handle().reset(&world.key(), JsError::code_updated(), || ());
    rt::sleep_ms(50).await;
    world.validate("check", 50).await;
    world
        .inside("props", 50, |session| async move {
            log(session.agent.props.borrow().as_ref().map_or(Value::Null, |props| props["session"]["userId"].clone()));
            log(party_server::name(&session.agent).is_ok_and(|known| *known == *name()));
        })
        .await;
}

#[test]
fn fact_194_after_a_reset_the_next_use_starts_again_with_the_stored_props() {
    let played = play(Setup::default(), reset_and_check);
    assert_eq!(played.log, ["open null", "check ok", "\"user-1\"", "true"]);
    assert_eq!(played.recorded.count("start.begin"), 2);
}

#[test]
fn fact_170_a_connect_that_fails_is_accepted_told_and_closed() {
    let played = play(Setup::default(), |world| async move { world.listen("listener", 100).await });
    let [told, closed] = &played.log[..] else { panic!("{:?}", played.log) };
    assert!(told.starts_with("listener Message(\"{\\\"error\\\":"), "{told}");
    assert!(closed.starts_with("listener Close(1011"), "{closed}");
}
