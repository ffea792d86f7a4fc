//! Who reports a failure: exactly one of the session and the guard of its entry points, and nobody a recognised reset.

use super::script::Rule;
use super::world::{Setup, play};
use crate::platform::JsError;

fn unknown() -> JsError {
    JsError::new("quota exceeded for namespace")
}

#[test]
fn a_failed_init_is_reported_once_whoever_waits_for_its_start() {
    let rules = vec![Rule::fail("build · describe", unknown()).nth(2)];
    let played = play(Setup { timeout_ms: 1_000, rules, ..Setup::default() }, |world| async move {
        world.open(2_000).await;
        world.validate("a", 0).await;
        world.validate("b", 50).await;
    });
    assert_eq!(played.log[1..], ["a Error: quota exceeded for namespace", "b Error: quota exceeded for namespace"]);
    assert_eq!(played.recorded.captured(), ["quota exceeded for namespace"]);
}

#[test]
fn what_nobody_claims_is_reported_as_it_escapes() {
    let rules = vec![Rule::fail("validate · storage.get destroy-pending", unknown())];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move { world.validate("check", 50).await });
    assert_eq!(played.log, ["check Error: quota exceeded for namespace"]);
    assert_eq!(played.recorded.captured(), ["quota exceeded for namespace"]);
}

#[test]
fn a_crash_of_the_alarm_is_reported_and_tried_again() {
    let rules = vec![Rule::fail("alarm · storage.list stream-reqs", unknown())];
    let played = play(Setup { timeout_ms: 1_000, rules, ..Setup::default() }, |world| async move {
        world.open(5_000).await;
    });
    assert_eq!(played.recorded.captured(), ["quota exceeded for namespace"]);
    assert_eq!(played.recorded.values("alarm.ended", "outcome"), ["failed", "ok"]);
}

#[test]
fn a_recognised_reset_is_never_reported() {
    for operation in ["validate · storage.get destroy-pending", "alarm · storage.list stream-reqs"] {
        let rules = vec![Rule::fail(operation, JsError::storage_timeout())];
        let played = play(Setup { timeout_ms: 1_000, rules, ..Setup::default() }, |world| async move {
            world.open(50).await;
            world.validate("check", 5_000).await;
        });
        assert_eq!(played.recorded.captured(), Vec::<&str>::new(), "{operation}");
    }
}
