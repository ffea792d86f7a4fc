//! Leases of paused executions: what they take and give back, what expires, and which failures anybody hears of.

use serde_json::json;

use super::calls::asking;
use super::script::Rule;
use super::world::{Played, Setup, World, log, play};
use crate::defect::Defect;
use crate::platform::JsError;
use crate::rt;
use crate::session::teardown::{Disposal, dispose_idle_runtime};

const HEARTBEAT: &str = "sched · storage.setAlarm heartbeat";
const PUT: &str = "clock · storage.put last-activity-ms";

fn quota() -> JsError {
    JsError::new("quota exceeded for namespace")
}

/// A session that pauses, and what the story does then.
fn paused<F, Fut>(setup: Setup, story: F) -> Played
where
    F: FnOnce(std::rc::Rc<World>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    play(setup, |world| async move {
        world.open(50).await;
        world.execute("execute", &asking("Deploy?"), 100).await;
        story(world).await;
    })
}

/// References that are taken at the end.
fn refs(played: &Played) -> usize {
    played.recorded.count("keep-alive.taken") - played.recorded.count("keep-alive.returned")
}

fn leases(played: &Played) -> (usize, Vec<&str>) {
    (played.recorded.count("lease.taken"), played.recorded.values("lease.returned", "by"))
}

#[test]
fn a_pause_answers_its_call_and_holds_a_lease_until_it_is_resumed() {
    let played = paused(Setup::default(), |world| async move {
        log(super::calls::execution().starts_with("exec_"));
        world.resume("resume", "accept", 100).await;
    });
    let done = r#"resume completed {"action":"accept"}"#;
    assert_eq!(played.log, ["open null", "execute waiting_for_interaction", "true", done]);
    assert_eq!(leases(&played), (1, vec!["resume"]));
    assert_eq!(refs(&played), 0);
    let recorded = &played.recorded;
    let owner: Vec<_> = recorded.values("storage.put", "key").into_iter().filter(|key| *key == "owner").collect();
    assert_eq!(owner.len(), 1);
    assert!(recorded.values("storage.deleted", "key").contains(&"owner"));
}

#[test]
fn the_clock_is_set_after_the_heartbeat_and_not_under_it() {
    let last = |defects| {
        let played = paused(Setup { defects, ..Setup::default() }, |_| async {});
        let of_session = played.recorded.all("alarm.set");
        let last = of_session.into_iter().rfind(|line| line["who"] == "s1").map(|line| line["by"].clone());
        last.expect("an alarm is set")
    };
    assert_eq!(last(Vec::new()), "clock · storage.setAlarm idle");
    assert_eq!(last(vec![Defect::KeepAliveAfterClock]), HEARTBEAT);
}

#[test]
fn a_pause_keeps_its_session_past_the_idle_timeout_and_is_declined_after_four_minutes() {
    let played = paused(Setup::default(), |world| async move {
        rt::sleep_ms(200_000).await;
        log("still paused");
        rt::sleep_ms(200_000).await;
        world.resume("late", "accept", 100).await;
    });
    // The disposal took the engine with it, and nobody is recorded any more; the request starts a new runtime.
    assert_eq!(played.log[2..], ["still paused", "late execution_not_found"]);
    let recorded = &played.recorded;
    assert!(recorded.count("mcp_session_paused_lease_extension") > 0);
    assert_eq!(recorded.count("mcp_pending_approval_lease_expire"), 1);
    assert_eq!(recorded.values("execution.resumed", "action"), ["decline"]);
    assert_eq!(leases(&played), (1, vec!["expiry"]));
    assert_eq!(refs(&played), 0);
    assert_eq!(recorded.values("disposal.begin", "paused"), ["0"]);
    // Nobody takes the decision: it stays under its key.
    let deleted = recorded.values("storage.deleted", "key");
    assert!(!deleted.iter().any(|key| key.starts_with("approval-response:")), "{deleted:?}");
}

#[test]
fn a_pause_that_is_past_its_ceiling_is_disposed_of_with_its_lease() {
    let setup = |defects| Setup { max_paused_ms: 100_000, defects, ..Setup::default() };
    let played = paused(setup(Vec::new()), |_| async { rt::sleep_ms(150_000).await });
    assert_eq!(played.recorded.values("disposal.begin", "paused"), ["1"]);
    assert_eq!(leases(&played), (1, vec!["teardown"]));
    assert_eq!(refs(&played), 0);
    assert!(played.recorded.values("storage.deleted", "key").contains(&"owner"));
    let outlives = paused(setup(vec![Defect::PauseRunsOn]), |_| async { rt::sleep_ms(150_000).await });
    assert_eq!(outlives.recorded.count("disposal.begin"), 0);
}

#[test]
fn a_disposal_gives_all_leases_back_before_it_asks_the_directory_about_any() {
    let rules = vec![Rule::hold("teardown · dir.delete", 7)];
    let played = paused(Setup { rules, ..Setup::default() }, |world| async move {
        world.execute("again", &asking("Again?"), 100).await;
        world
            .inside("dispose", 200, |session| async move {
                let disposal =
                    Disposal { reason: "idle", idle_ms: 1, paused_execution_count: 2, active_stream_count: 0 };
                dispose_idle_runtime(session, disposal).await.expect("disposed");
            })
            .await;
        world
            .inside("look", 50, |session| async move {
                let server = session.server.borrow().is_some();
                log(format_args!("refs {} server {server}", session.agent.keep_alive_refs.get()));
            })
            .await;
        world.handle().release(7);
        rt::sleep_ms(200).await;
    });
    assert_eq!(played.log[3..], ["refs 0 server true"]);
    assert_eq!(leases(&played), (2, vec!["teardown", "teardown"]));
    let owner = |key: &&str| *key == "owner";
    assert_eq!(played.recorded.values("storage.deleted", "key").into_iter().filter(owner).count(), 2);
    assert_eq!(played.recorded.count("server.closed"), 1);
}

#[test]
fn a_reference_that_cannot_be_kept_is_told_and_captured_even_when_it_is_a_reset() {
    // The first heartbeat is that of the call, the second that of the lease.
    let rules = vec![Rule::fail(HEARTBEAT, JsError::code_updated()).nth(2)];
    let played = paused(Setup { rules, ..Setup::default() }, |_| async {});
    assert_eq!(leases(&played), (0, Vec::new()));
    assert_eq!(refs(&played), 1, "it stays taken");
    let texts = played.recorded.values("console.error", "text");
    assert_eq!(texts, ["[mcp-session] pending approval lease start failed:"]);
    assert_eq!(played.recorded.captured(), ["Durable Object reset because its code was updated."]);
}

#[test]
fn a_lease_that_another_session_waits_for_is_captured_once_when_it_fails() {
    let captured = |defects| {
        // The first heartbeat is that of the call, the second that of the first lease.
        let rules = vec![Rule::fail(HEARTBEAT, quota()).nth(3)];
        let played = play(Setup { rules, defects, ..Setup::default() }, |world| async move {
            world.open(50).await;
            let twice = asking("Deploy?").replace("return answer", &asking("Really?"));
            world.execute("execute", &twice, 100).await;
            let owner = json!({
                "executionId": super::calls::execution(),
                "accountId": "user-1",
                "organizationId": "org-1",
                "response": {"action": "accept"},
            });
            world.rpc("elsewhere", "resumeExecutionForModel", owner, 100).await;
        });
        assert_eq!(played.log[2], "elsewhere Error: quota exceeded for namespace");
        played.recorded.captured().len()
    };
    assert_eq!(captured(Vec::new()), 1);
    assert_eq!(captured(vec![Defect::LeaseFailureCapturedTwice]), 2);
}

#[test]
fn what_a_late_resume_is_told_again_takes_no_lease() {
    let taken = |defects| {
        let played = play(Setup { defects, ..Setup::default() }, |world| async move {
            world.open(50).await;
            let asked =
                ["Deploy?", "Really?", "Sure?"].map(|text| format!(r#"ask {{"kind":"form","message":"{text}"}}"#));
            world.execute("execute", &asked.join("; "), 100).await;
            let first = super::calls::execution();
            world.resume_of("on", &first, "accept", 100).await;
            let second = super::calls::execution();
            world.resume_of("further on", &second, "accept", 100).await;
            world.resume_of("again", &first, "accept", 100).await;
        });
        leases(&played).0
    };
    assert_eq!(taken(Vec::new()), 3);
    assert_eq!(taken(vec![Defect::LeaseOfWhatIsOver]), 4);
}

#[test]
fn a_lost_clock_write_is_absorbed_by_a_lease_and_any_other_failure_is_not() {
    let with = |error| paused(Setup { rules: vec![Rule::fail(PUT, error).nth(2)], ..Setup::default() }, |_| async {});
    let reset = with(JsError::storage_timeout());
    assert_eq!((leases(&reset).0, reset.recorded.captured().len()), (1, 0));
    let operations = reset.recorded.values("mcp_session_durable_object_reset", "operation");
    assert_eq!(operations, ["approval_lease.mark_activity"]);
    let unknown = with(quota());
    assert_eq!((leases(&unknown).0, refs(&unknown)), (0, 1));
    assert_eq!(unknown.recorded.captured(), ["quota exceeded for namespace"]);
}

#[test]
fn a_directory_that_fails_is_told_and_costs_nobody_a_lease() {
    let lost = || JsError::connection_lost();
    let rules = vec![Rule::fail("lease.start · dir.put", lost()), Rule::fail("lease.finish · dir.delete", lost())];
    let played = paused(Setup { rules, ..Setup::default() }, |world| async move {
        world.resume("resume", "cancel", 100).await;
    });
    assert_eq!(played.log[2], r#"resume error "InteractionRefused: cancel""#);
    assert_eq!(leases(&played), (1, vec!["resume"]));
    let recorded = &played.recorded;
    assert_eq!(recorded.values("mcp_execution_owner_directory_error", "operation"), ["put", "delete"]);
    assert_eq!(recorded.values("mcp_execution_owner_directory_error", "sessionId"), ["s1", "s1"]);
    assert_eq!(recorded.captured(), Vec::<&str>::new());
}

#[test]
fn an_expiry_that_cannot_record_its_decline_is_told_and_still_gives_the_lease_back() {
    let rules = vec![Rule::fail("approval · storage.put approval-response", quota())];
    let played = paused(Setup { rules, ..Setup::default() }, |_| async { rt::sleep_ms(240_000).await });
    let texts = played.recorded.values("console.error", "text");
    assert_eq!(texts, ["[mcp-session] pending approval lease expiration failed:"]);
    assert_eq!(played.recorded.captured(), ["quota exceeded for namespace"]);
    assert_eq!(leases(&played), (1, vec!["expiry"]));
    assert_eq!(played.recorded.count("execution.resumed"), 0);
}

#[test]
fn a_resume_under_way_is_not_declined_under_its_hands() {
    let rules = vec![Rule::delay("resume · engine", 60_000)];
    let played = paused(Setup { rules, ..Setup::default() }, |world| async move {
        rt::sleep_ms(200_000).await;
        world.resume("resume", "accept", 100_000).await;
    });
    assert_eq!(played.log[2], r#"resume completed {"action":"accept"}"#);
    assert_eq!(played.recorded.count("mcp_pending_approval_lease_expire"), 0);
}

/// A session that pauses and then knows its name from its record only: its lease is extended all the same.
#[test]
fn the_line_of_a_lease_needs_no_name_in_memory() {
    let fires = |defects| {
        let played = paused(Setup { named: false, defects, ..Setup::default() }, |world| async move {
            world
                .inside("forget", 100_000, |session| async move {
                    *session.agent.name.borrow_mut() = None;
                })
                .await;
        });
        let ended: Vec<String> =
            played.recorded.values("alarm.ended", "outcome").into_iter().map(str::to_owned).collect();
        (ended, played.recorded.count("mcp_session_paused_lease_extension"))
    };
    let (ended, extended) = fires(Vec::new());
    assert!(ended.iter().all(|outcome| outcome == "ok") && extended > 0, "{ended:?} {extended}");
    let (ended, _) = fires(vec![Defect::LeaseLogThrows]);
    assert!(ended.iter().any(|outcome| outcome == "failed"), "{ended:?}");
}
