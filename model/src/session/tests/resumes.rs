//! Resuming for the model: again, late, in another session, by somebody else, and when the owner does not answer.

use serde_json::json;

use super::calls::{asking, execution};
use super::script::Rule;
use super::world::{Played, Setup, World, log, play};
use crate::defect::Defect;
use crate::platform::{IsolateId, JsError};
use crate::rt;

/// `s1` pauses; `s2` of an organisation is there as well.
fn two_sessions<F, Fut>(setup: Setup, organization: &'static str, story: F) -> Played
where
    F: FnOnce(std::rc::Rc<World>, World) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let mut played = play(setup, move |world| async move {
        let other = world.at("s2").of(organization);
        world.open(50).await;
        other.open(50).await;
        world.execute("execute", &asking("Deploy?"), 100).await;
        story(world, other).await;
    });
    played.log.drain(..3);
    played
}

#[test]
fn a_resume_that_is_tried_again_gives_the_same_outcome() {
    let twice = |defects| {
        let setup = Setup { defects, ..Setup::default() };
        two_sessions(setup, "org-1", |world, _| async move {
            let id = execution();
            world.resume("first", "accept", 100).await;
            log(id == execution());
            world.resume("again", "decline", 100).await;
        })
        .log
    };
    let done = r#"completed {"action":"accept"}"#;
    assert_eq!(twice(Vec::new()), [format!("first {done}"), "true".to_owned(), format!("again {done}")]);
    let forgotten = twice(vec![Defect::ResumeNotIdempotent]);
    assert_eq!(forgotten[2], "again execution_already_settled");
}

#[test]
fn another_session_of_the_owner_reaches_a_pause_through_the_directory() {
    let resumed = |defects| {
        let setup = Setup { defects, ..Setup::default() };
        two_sessions(setup, "org-1", |_, other| async move { other.resume("other", "accept", 200).await })
    };
    let played = resumed(Vec::new());
    assert_eq!(played.log, [r#"other completed {"action":"accept"}"#]);
    assert_eq!(played.recorded.values("lease.returned", "who"), ["s1"]);
    assert_eq!(played.recorded.spans("McpSessionDO.resumeExecutionForModel").len(), 1);
    assert_eq!(resumed(vec![Defect::ForeignEntryDeleted]).log, ["other execution_not_found"]);
    let without = resumed(vec![Defect::DirectoryWithoutRpc]);
    assert_eq!(without.log, ["other execution_not_found"]);
    let failed = without.recorded.values("mcp_execution_owner_directory_error", "operation");
    assert_eq!(failed, ["put", "get"]);
}

#[test]
fn another_organisation_is_turned_away_and_the_entry_stays() {
    let played = two_sessions(Setup::default(), "org-2", |world, other| async move {
        other.resume("stranger", "accept", 200).await;
        world.at("s3").open(50).await;
        world.at("s3").resume("owner", "accept", 200).await;
    });
    assert_eq!(played.log[0], "stranger execution_forbidden");
    assert_eq!(played.log[2], r#"owner completed {"action":"accept"}"#);
}

#[test]
fn a_pause_whose_session_lost_its_memory_is_expired_and_its_entry_goes() {
    let played = two_sessions(Setup::default(), "org-1", |world, _| async move {
        world.handle().end_isolate(IsolateId(1));
        world.validate("check", 100).await;
        world.resume("late", "accept", 200).await;
        world.resume("again", "accept", 200).await;
    });
    assert_eq!(played.log, ["check ok", "late execution_expired", "again execution_not_found"]);
    assert_eq!(played.recorded.count("lease.returned"), 0);
}

#[test]
fn an_id_of_another_life_is_never_somebody_else_s() {
    let after_a_restart = |defects| {
        let setup = Setup { defects, ..Setup::default() };
        let played = two_sessions(setup, "org-1", |world, _| async move {
            let old = execution();
            world.handle().end_isolate(IsolateId(1));
            world.validate("check", 100).await;
            world.execute("execute", &asking("Something else?"), 100).await;
            let arguments = json!({"executionId": old, "action": "accept"});
            let message = crate::agents::transport::testing::tool_call(7, "resume", arguments);
            world.send("stale", message, 200).await;
        });
        played.log[2].clone()
    };
    assert_eq!(after_a_restart(Vec::new()), "stale execution_expired");
    assert_eq!(after_a_restart(vec![Defect::CountedExecutionIds]), r#"stale completed {"action":"accept"}"#);
}

#[test]
fn an_owner_that_does_not_answer_in_ten_seconds_counts_as_expired_and_may_finish_all_the_same() {
    let rules = vec![Rule::delay("resume · engine", 15_000).nth(2)];
    let played = two_sessions(Setup { rules, ..Setup::default() }, "org-1", |_, other| async move {
        other.resume("other", "accept", 9_000).await;
        log("waits");
        rt::sleep_ms(20_000).await;
    });
    assert_eq!(played.log, ["waits", "other execution_expired"]);
    let recorded = &played.recorded;
    assert_eq!(recorded.values("mcp_model_resume_forward_error", "reason"), ["timeout"]);
    assert_eq!(recorded.values("mcp_model_resume_forward_error", "ownerSessionId"), ["s1"]);
    assert_eq!(recorded.values("execution.settled", "outcome"), ["completed"]);
}

#[test]
fn an_owner_that_cannot_be_reached_counts_as_expired() {
    let rules = vec![Rule::fail("fallback · stub.resume", JsError::connection_lost())];
    let played = two_sessions(Setup { rules, ..Setup::default() }, "org-1", |_, other| async move {
        other.resume("other", "accept", 200).await;
    });
    assert_eq!(played.log, ["other execution_expired"]);
    let texts = played.recorded.values("mcp_model_resume_forward_error", "exceptionMessage");
    assert_eq!(texts, ["Network connection lost."]);
}

#[test]
fn a_pause_after_a_forwarded_resume_has_its_lease_before_the_answer() {
    let played = play(Setup::default(), |world| async move {
        let other = world.at("s2");
        world.open(50).await;
        other.open(50).await;
        let twice = format!("{}; {}", r#"ask {"kind":"form","message":"One"}"#, asking("Two"));
        world.execute("execute", &twice, 100).await;
        other.resume("one", "accept", 200).await;
        other.resume("two", "accept", 200).await;
    });
    let expected = ["one waiting_for_interaction", r#"two completed {"action":"accept"}"#];
    assert_eq!(played.log[3..], expected);
    assert_eq!(played.recorded.values("lease.returned", "by"), ["resume", "resume"]);
    assert_eq!(played.recorded.values("execution.settled", "outcome"), ["paused", "completed"]);
}

#[test]
fn an_engine_that_dropped_an_old_outcome_still_knows_that_it_is_over() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        let mut oldest = None;
        for _ in 0..65 {
            world.execute("execute", &asking("Deploy?"), 60).await;
            oldest.get_or_insert_with(execution);
            world.resume("resume", "accept", 60).await;
        }
        let arguments = json!({"executionId": oldest, "action": "accept"});
        world.send("old", crate::agents::transport::testing::tool_call(7, "resume", arguments), 100).await;
    });
    assert_eq!(played.log.last().map(String::as_str), Some("old execution_already_settled"));
}

#[test]
fn wrong_arguments_are_a_failed_result() {
    let played = two_sessions(Setup::default(), "org-1", |world, _| async move {
        for arguments in [json!({}), json!({"executionId": "x", "action": "maybe"})] {
            world.send("wrong", crate::agents::transport::testing::tool_call(7, "resume", arguments), 50).await;
        }
    });
    assert_eq!(played.log, ["wrong answered", "wrong answered"]);
}
