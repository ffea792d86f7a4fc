//! J1, J3-J5: the tests of the registry alone. They await nothing, so that there is no recording to compare with.

use super::super::world::{Setup, play};
use super::stage::{Stage, described};
use crate::js::EventLoop;
use crate::session::residency::{
    mark_eviction_requested, pick_eviction_candidate, register_resident_session, registered, release_resident_session,
    touch_resident_session,
};

/// Runs work in an isolate in which the session `older` was used before `newer`, and both are registered.
fn with_two(work: fn(now_ms: u64)) {
    let setup = Setup { supports_cap_eviction: true, ..described() };
    let played = play(setup, move |world| async move {
        let stage = Stage(world);
        stage.run("newer", |session| async move { register_resident_session(&session) }).await;
        stage.run("older", |session| async move { register_resident_session(&session) }).await;
        stage
            .run("older", move |_| async move {
                let now_ms = EventLoop::current().now_ms();
                touch_resident_session("older", now_ms - 10_000);
                work(now_ms);
                super::super::world::log("done");
            })
            .await;
    });
    assert_eq!(played.log, ["done"]);
}

fn picked(now_ms: u64) -> Option<String> {
    pick_eviction_candidate(now_ms).map(|candidate| candidate.id.to_string())
}

#[test]
fn j1_release_is_idempotent() {
    with_two(|now_ms| {
        for _ in 0..2 {
            release_resident_session("older");
            assert_eq!(registered().len(), 1);
        }
        release_resident_session("newer");
        assert_eq!((registered().len(), picked(now_ms)), (0, None));
    });
}

#[test]
fn j3_an_entry_with_a_recent_request_is_passed_over() {
    with_two(|now_ms| {
        assert_eq!(picked(now_ms).as_deref(), Some("older"));
        mark_eviction_requested("older", now_ms);
        assert_eq!(picked(now_ms).as_deref(), Some("newer"));
    });
}

#[test]
fn j4_an_entry_is_picked_again_when_the_grace_of_its_request_is_over() {
    with_two(|now_ms| {
        mark_eviction_requested("older", now_ms - 14_999);
        assert_eq!(picked(now_ms).as_deref(), Some("newer"));
        mark_eviction_requested("older", now_ms - 15_001);
        assert_eq!(picked(now_ms).as_deref(), Some("older"));
    });
}

#[test]
fn j5_a_request_to_an_entry_that_is_gone_changes_nothing() {
    with_two(|now_ms| {
        mark_eviction_requested("gone", now_ms);
        assert_eq!((registered().len(), picked(now_ms).as_deref()), (2, Some("older")));
    });
}
