//! Decisions in a browser: who waits for them, who takes them, and what the console is told.

use serde_json::{Value, json};

use super::calls::{asking, execution};
use super::script::Rule;
use super::world::{Played, Setup, World, play};
use crate::agents::transport::testing::tool_call;
use crate::defect::Defect;
use crate::platform::{IsolateId, JsError};
use crate::rt;

fn in_browser(setup: Setup) -> Setup {
    Setup { mode: "browser", ..setup }
}

impl World {
    async fn wait_for_decision(&self, label: &'static str, ms: u64) {
        self.send(label, tool_call(2, "resume", json!({"executionId": execution()})), ms).await;
    }

    async fn decide(&self, label: &'static str, account: &str, action: &str, ms: u64) {
        let mut arguments = self.asked_by(account);
        arguments["response"] = json!({"action": action});
        self.rpc(label, "resumeExecutionForApproval", arguments, ms).await;
    }

    async fn show(&self, label: &'static str, account: &str, ms: u64) {
        self.rpc(label, "getPausedExecutionForApproval", self.asked_by(account), ms).await;
    }

    fn asked_by(&self, account: &str) -> Value {
        json!({"executionId": execution(), "accountId": account, "organizationId": "org-1"})
    }
}

/// A session in mode `browser` that pauses, and what the story does then.
fn paused<F, Fut>(setup: Setup, story: F) -> Played
where
    F: FnOnce(std::rc::Rc<World>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let mut played = play(in_browser(setup), |world| async move {
        world.open(50).await;
        world.execute("execute", &asking("Deploy?"), 100).await;
        story(world).await;
    });
    assert!(played.log[1].starts_with(r#"execute user_approval_required "https://host/resume/exec_"#));
    assert!(played.log[1].ends_with(r#"?mcp_session_id=s1""#), "{}", played.log[1]);
    played.log.drain(..2);
    played
}

const ACCEPTED: &str = r#"resume completed {"action":"accept"}"#;

#[test]
fn a_call_that_waits_goes_on_with_the_decision() {
    let played = paused(Setup::default(), |world| async move {
        world.wait_for_decision("resume", 1_000).await;
        world.decide("decide", "user-1", "accept", 200).await;
    });
    assert_eq!(played.log.iter().filter(|line| *line == ACCEPTED).count(), 1, "{:?}", played.log);
    assert!(played.log.iter().any(|line| line.starts_with("decide ") && line.contains("I've approved it")));
    let order = played.recorded.order(&["approval.recorded", "approval.taken", "execution.resumed", "lease.returned"]);
    assert_eq!(order, ["approval.recorded", "approval.taken", "execution.resumed", "lease.returned"]);
    assert!(played.recorded.values("storage.deleted", "key").iter().any(|key| key.starts_with("approval-response:")));
}

#[test]
fn a_decision_that_came_first_is_taken_at_once() {
    let played = paused(Setup::default(), |world| async move {
        world.decide("decide", "user-1", "accept", 200).await;
        world.wait_for_decision("resume", 200).await;
    });
    assert_eq!(played.log[1], ACCEPTED);
}

#[test]
fn a_decision_survives_the_memory_that_it_was_kept_in() {
    let played = paused(Setup::default(), |world| async move {
        world.decide("decide", "user-1", "accept", 200).await;
        world.handle().end_isolate(IsolateId(1));
        world.validate("check", 100).await;
        world.wait_for_decision("resume", 200).await;
    });
    // The decision is there, the pause is not, and this mode looks nowhere else.
    assert_eq!(played.log[1..], ["check ok", "resume execution_not_found"]);
    assert_eq!(played.recorded.count("approval.taken"), 1);
}

#[test]
fn two_calls_share_a_waiter_and_one_of_them_takes_the_decision() {
    let played = paused(Setup::default(), |world| async move {
        world.wait_for_decision("resume", 100).await;
        world.send("second", tool_call(3, "resume", json!({"executionId": execution()})), 100).await;
        world.decide("decide", "user-1", "accept", 300).await;
    });
    let answers: Vec<_> = played.log.iter().filter(|line| !line.starts_with("decide")).collect();
    assert_eq!(answers.len(), 2);
    assert!(answers.iter().any(|line| *line == ACCEPTED), "{answers:?}");
    assert!(answers.iter().any(|line| line.starts_with("second user_approval_required")), "{answers:?}");
}

#[test]
fn an_expiry_declines_under_a_waiting_call_and_both_see_one_outcome() {
    let played = paused(Setup::default(), |world| async move {
        rt::sleep_ms(1_000).await;
        world.wait_for_decision("resume", 250_000).await;
    });
    assert_eq!(played.log, [r#"resume error "InteractionRefused: decline""#]);
    assert_eq!(played.recorded.values("execution.resumed", "action"), ["decline"]);
    assert_eq!(played.recorded.count("approval.taken"), 1);
}

#[test]
fn a_call_waits_for_a_decision_for_241_seconds_and_asks_again() {
    let rules = vec![Rule::fail("approval · storage.put approval-response", JsError::new("quota"))];
    let played = paused(Setup { rules, ..Setup::default() }, |world| async move {
        world.wait_for_decision("resume", 240_500).await;
        super::world::log("still waits");
        rt::sleep_ms(1_000).await;
    });
    assert_eq!(played.log[0], "still waits");
    assert!(played.log[1].starts_with("resume user_approval_required"), "{:?}", played.log);
}

/// A waiter that is held before it waits is still there when the expiry looks.
#[test]
fn an_expiry_leaves_the_resume_to_a_call_that_is_seen_to_wait() {
    let resumed = |defects| {
        let rules = vec![Rule::hold("approval · wait", 9)];
        let played = paused(Setup { rules, defects, ..Setup::default() }, |world| async move {
            world.wait_for_decision("resume", 239_950).await;
        });
        played.recorded.count("execution.resumed")
    };
    assert_eq!(resumed(Vec::new()), 0);
    assert_eq!(resumed(vec![Defect::ExpiryIgnoresWaiter]), 1);
}

#[test]
fn the_console_sees_a_pause_of_its_owner_with_its_deadline_and_nobody_else_does() {
    let played = paused(Setup::default(), |world| async move {
        world.show("stranger", "user-2", 100).await;
        world.decide("stranger", "user-2", "accept", 100).await;
        world.show("owner", "user-1", 100).await;
        world.decide("decide", "user-1", "cancel", 100).await;
    });
    let forbidden = r#"stranger {"status":"forbidden"}"#;
    assert_eq!(played.log[..2], [forbidden, forbidden]);
    for part in [r#""status":"ok""#, r#""status":"waiting_for_interaction""#, r#""ttlMs":240000"#, "Deploy?"] {
        assert!(played.log[2].contains(part), "{}", played.log[2]);
    }
    assert!(played.log[3].contains(r#""status":"canceled""#), "{}", played.log[3]);
    // Neither marks activity: the clock was written by the start and by the lease.
    assert_eq!(played.recorded.count("activity"), 2);
    assert_eq!(played.recorded.spans("McpSessionDO.resumeExecutionForApproval").len(), 2);
    assert_eq!(played.recorded.spans("mcp.session.validate_approval_identity").len(), 4);
}

#[test]
fn a_console_that_comes_too_late_restores_a_runtime_that_knows_no_pause() {
    let played = paused(Setup::default(), |world| async move {
        world.handle().end_isolate(IsolateId(1));
        world.show("late", "user-1", 200).await;
        world.decide("late", "user-1", "accept", 200).await;
        world.at("s9").show("nobody", "user-1", 200).await;
    });
    let gone = r#"{"status":"not_found"}"#;
    assert_eq!(played.log, [format!("late {gone}"), format!("late {gone}"), format!("nobody {gone}")]);
    assert_eq!(played.recorded.spans("McpSessionDO.restore_runtime_for_approval").len(), 1);
}

#[test]
fn a_directory_that_fails_costs_the_console_the_deadline_only() {
    let rules = vec![Rule::fail("rpc · dir.get", JsError::connection_lost())];
    let played = paused(Setup { rules, ..Setup::default() }, |world| async move {
        world.show("owner", "user-1", 100).await;
    });
    assert!(played.log[0].contains("waiting_for_interaction") && !played.log[0].contains("ttlMs"), "{:?}", played.log);
    let span = played.recorded.spans("McpSessionDO.getPausedExecutionForApproval")[0];
    assert!(span.contains(r#""mcp.execution_owner.directory.operation":"get""#), "{span}");
    assert!(span.contains(r#""exception.message":"Network connection lost.""#), "{span}");
}

#[test]
fn a_decision_that_cannot_be_stored_rejects_and_wakes_nobody() {
    let rules = vec![Rule::fail("approval · storage.put approval-response", JsError::new("quota"))];
    let played = paused(Setup { rules, ..Setup::default() }, |world| async move {
        world.wait_for_decision("resume", 100).await;
        world.decide("decide", "user-1", "accept", 500).await;
    });
    assert_eq!(played.log, ["decide Error: quota"]);
    assert_eq!(played.recorded.captured(), ["quota"]);
}
