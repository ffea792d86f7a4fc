//! Writes that the platform takes away: which of them a session survives, and who hears of it.

use super::events::Recorded;
use super::script::Rule;
use super::world::{Played, Setup, play};
use crate::platform::JsError;

const PUT: &str = "clock · storage.put last-activity-ms";
const ALARM: &str = "clock · storage.setAlarm idle";

fn open_with(rules: Vec<Rule>) -> Played {
    play(Setup { rules, ..Setup::default() }, |world| async move { world.open(50).await })
}

fn init_attributes(recorded: &Recorded) -> &str {
    recorded.spans("McpSessionDO.init")[0]
}

#[test]
fn a_reset_of_either_bookkeeping_write_does_not_end_a_successful_init() {
    for lost in [PUT, ALARM] {
        let played = open_with(vec![Rule::fail(lost, JsError::code_updated())]);
        assert_eq!(played.log, ["open null"]);
        let recorded = &played.recorded;
        assert_eq!(recorded.captured(), Vec::<&str>::new());
        assert_eq!((recorded.count("runtime.installed"), recorded.count("runtime.released")), (1, 0));
        let resets = recorded.all("mcp_session_durable_object_reset");
        let [reset] = resets[..] else { panic!("one reset is recorded: {resets:?}") };
        assert_eq!(reset["operation"], "init.mark_activity");
        assert_eq!(reset["cause"], "Error: Durable Object reset because its code was updated.");
        let touched = recorded.spans("McpSessionDO.markActivity")[0];
        assert!(touched.contains(r#""mcp.do.reset_kind":"code_update""#), "{touched}");
        assert!(!init_attributes(recorded).contains("mcp.do."));
    }
}

#[test]
fn the_other_write_goes_on_when_one_is_lost() {
    let lost_put = open_with(vec![Rule::fail(PUT, JsError::code_updated())]).recorded;
    assert_eq!(lost_put.count("alarm.set"), 1);
    let lost_alarm = open_with(vec![Rule::fail(ALARM, JsError::code_updated())]).recorded;
    assert_eq!(lost_alarm.count("alarm.set"), 0);
    assert!(lost_alarm.values("storage.put", "key").contains(&"last-activity-ms"));
}

#[test]
fn the_next_owner_check_arms_an_alarm_that_was_lost() {
    let rules = vec![Rule::fail(ALARM, JsError::code_updated())];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world.open(50).await;
        world.validate("check", 50).await;
    });
    assert_eq!(played.log, ["open null", "check ok"]);
    assert_eq!(played.recorded.values("alarm.set", "by"), [ALARM]);
}

#[test]
fn an_unrecognised_failure_of_a_bookkeeping_write_fails_init_and_is_captured_once() {
    let played = open_with(vec![Rule::fail(PUT, JsError::new("quota exceeded for namespace"))]);
    assert_eq!(played.log, ["open Error: quota exceeded for namespace"]);
    let recorded = &played.recorded;
    assert_eq!(recorded.captured(), ["quota exceeded for namespace"]);
    assert_eq!(recorded.values("console.error", "text"), ["[mcp-session] init failed:", "Error on server:"]);
    assert_eq!(recorded.values("console.error", "error"), ["Error: quota exceeded for namespace"; 2]);
    assert_eq!(recorded.count("runtime.released"), 1);
    let attributes = init_attributes(recorded);
    for expected in [
        r#""exception.message":"quota exceeded for namespace""#,
        r#""exception.stacktrace":"Error: quota exceeded for namespace""#,
        r#""exception.type":"Error""#,
        r#""mcp.isolate.resident_runtimes":1"#,
    ] {
        assert!(attributes.contains(expected), "{attributes}");
    }
    assert!(!recorded.spans("McpSessionDO.markActivity")[0].contains("exception"));
}

#[test]
fn a_reset_of_the_meta_write_fails_init_without_a_capture() {
    let played = open_with(vec![Rule::fail("meta · storage.put session-meta", JsError::code_updated())]);
    assert_eq!(played.log, ["open Error: Durable Object reset because its code was updated."]);
    let recorded = &played.recorded;
    assert_eq!(recorded.captured(), Vec::<&str>::new());
    assert_eq!(recorded.values("mcp_session_durable_object_reset", "operation"), ["init"]);
    let attributes = init_attributes(recorded);
    assert!(attributes.contains(r#""mcp.do.reset_operation":"init""#) && attributes.contains("exception.type"));
    assert_eq!(recorded.count("runtime.installed"), 0);
}

#[test]
fn an_owner_check_absorbs_a_reset_and_fails_on_anything_else() {
    let rules =
        || vec![Rule::fail(PUT, JsError::storage_timeout()).nth(2), Rule::fail(PUT, JsError::new("quota")).nth(3)];
    let played = play(Setup { rules: rules(), ..Setup::default() }, |world| async move {
        world.open(50).await;
        world.validate("reset", 50).await;
        world.validate("unknown", 50).await;
        world.validate("after", 50).await;
    });
    assert_eq!(played.log[1..], ["reset ok", "unknown Error: quota", "after ok"]);
    let recorded = &played.recorded;
    let operations = recorded.values("mcp_session_durable_object_reset", "operation");
    assert_eq!(operations, ["validate_owner.mark_activity"]);
    assert_eq!(recorded.captured(), ["quota"]);
}
