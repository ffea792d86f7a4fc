//! Starts: single flight, what happens to streams, and what a failing start leaves behind.

use serde_json::json;

use super::script::Rule;
use super::world::{Setup, log, name, play, props};
use crate::defect::Defect;
use crate::platform::JsError;
use crate::rt;
use crate::session::start::on_start;

/// For sessions that are opened, and idle two seconds later: the runtime is given back, the incarnation lives on.
fn idle() -> Setup {
    Setup { timeout_ms: 1_000, ..Setup::default() }
}

#[test]
fn two_owner_checks_at_once_share_one_start() {
    let played = play(idle(), |world| async move {
        world.open(2_000).await;
        world.validate("a", 0).await;
        world.validate("b", 50).await;
    });
    assert_eq!(played.log, ["open null", "a ok", "b ok"]);
    assert_eq!((played.recorded.count("start.begin"), played.recorded.count("start.joined")), (2, 1));
    assert_eq!(played.recorded.count("runtime.installed"), 2);
}

#[test]
fn without_single_flight_each_builds_a_runtime_of_its_own() {
    let setup = Setup { defects: vec![Defect::StartWithoutSingleFlight], ..idle() };
    let played = play(setup, |world| async move {
        world.open(2_000).await;
        world.validate("a", 0).await;
        world.validate("b", 50).await;
    });
    assert_eq!(played.recorded.count("start.begin"), 3);
}

#[test]
fn a_start_in_a_section_that_finds_the_runtime_of_an_outside_start_builds_it_again() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        assert!(world.handle().reset(&world.key(), JsError::code_updated(), || ()));
        rt::sleep_ms(50).await;
        world.validate("check", 50).await;
        world.open(50).await;
    });
    assert_eq!(played.log, ["open null", "check ok", "open null"]);
    assert_eq!(played.recorded.count("runtime.installed"), 3);
    assert_eq!(played.recorded.count("runtime.released"), 1);
}

#[test]
fn an_outside_start_that_waits_for_its_database_when_a_section_joins_it_ends_with_the_section() {
    // The section lets in nothing that was begun outside of it, and waits for just that: 30 s, then a reset.
    let rules = vec![Rule::delay("build · describe", 500).nth(2)];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world.open(50).await;
        assert!(world.handle().reset(&world.key(), JsError::code_updated(), || ()));
        rt::sleep_ms(50).await;
        world.validate("check", 20).await;
        world.open(31_000).await;
    });
    let reset = "Error: A call to blockConcurrencyWhile() in a Durable Object waited for too long. The call was canceled \
                 and the Durable Object was reset.";
    assert_eq!(played.log[1..], [format!("check {reset}"), format!("open {reset}")]);
    assert_eq!(played.recorded.count("start.joined"), 1);
}

#[test]
fn a_cold_start_keeps_the_stream_that_woke_it_and_a_warm_one_closes_all() {
    let played = play(Setup::default(), |world| async move {
        world.open(50).await;
        world.listen("stream", 50).await;
        let restart = |session| async move { on_start(session, None).await.expect("started") };
        world.inside("restart", 50, restart).await;
        world.listen("again", 50).await;
    });
    assert_eq!(played.log[1..], [r#"stream Close(1000, "Session closed")"#]);
}

#[test]
fn a_failed_start_reaches_every_caller_with_one_report_and_frees_the_slot() {
    let rules = vec![Rule::fail("body · server.connect", JsError::new("no connection")).nth(2)];
    let played = play(Setup { rules, ..idle() }, |world| async move {
        world.open(2_000).await;
        world.validate("a", 0).await;
        world.validate("b", 50).await;
        world.validate("later", 50).await;
    });
    assert_eq!(played.log[1..], ["a Error: no connection", "b Error: no connection", "later ok"]);
    assert_eq!(played.recorded.count("start.joined"), 1);
    // Nobody claims what fails outside of init; the guard of the entry points reports it, once.
    assert_eq!(played.recorded.captured(), ["no connection"]);
    assert_eq!(played.recorded.values("start.end", "outcome"), ["ok", "failed", "ok"]);
    assert_eq!(played.recorded.count("runtime.installed"), 3);
    assert_eq!(played.recorded.count("runtime.released"), 2);
}

#[test]
fn fact_168_a_start_that_fails_in_a_section_resets_nothing_and_the_next_call_tries_again_on_the_same_instance() {
    let rules = vec![Rule::fail("body · storage.put props", JsError::new("no storage"))];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world.open(50).await;
        world.open(50).await;
    });
    assert_eq!(played.log, ["open Error: no storage", "open null"]);
    assert_eq!(played.recorded.count("object.constructed"), 1);
    assert_eq!((played.recorded.count("object.reset"), played.recorded.count("object.gone")), (0, 0));
    assert_eq!(played.recorded.values("start.end", "outcome"), ["failed", "ok"]);
}

#[test]
fn fact_168_five_callers_at_once_start_it_once_and_nothing_is_let_in_before_it_ended() {
    let rules = vec![Rule::hold("body · server.connect", 3)];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        for _ in 0..5 {
            world.open(0).await;
        }
        world.inside("other", 500, |_| async { log("let in") }).await;
        log("held");
        world.handle().release(3);
        rt::sleep_ms(50).await;
    });
    let mut expected = vec!["held"];
    expected.extend(["open null"; 5]);
    expected.push("let in");
    let mut log = played.log.clone();
    log[1..].sort();
    expected[1..].sort_unstable();
    assert_eq!(log, expected);
    assert_eq!(played.recorded.count("start.begin"), 1);
}

#[test]
fn props_given_to_a_started_object_are_used_by_its_next_start_in_a_section_only() {
    let played = play(idle(), |world| async move {
        world.open(2_000).await;
        // Started: kept in memory, not persisted; the restore reads what is stored.
        world.rpc("other", "setName", json!({"name": name(), "props": props("org-2")}), 50).await;
        world.validate("check", 50).await;
    });
    assert_eq!(played.log, ["open null", "other null", "check ok"]);
    assert_eq!(played.recorded.values("storage.put", "key").iter().filter(|key| **key == "props").count(), 1);
}

#[test]
fn fact_169_another_name_is_refused() {
    let played = play(Setup::default(), |world| async move {
        world.rpc("open", "setName", json!({"name": "streamable-http:other"}), 50).await;
    });
    let own = name();
    let refusal = format!(
        "open Error: This server's Durable Object id was created for name \"{own}\", cannot setName to \
         \"streamable-http:other\"."
    );
    assert_eq!(played.log, [refusal]);
}

#[test]
fn an_interrupted_init_reports_nothing_and_the_start_cleans_up() {
    let rules = vec![Rule::interrupt("build · describe", "init")];
    let played = play(Setup { rules, ..Setup::default() }, |world| async move {
        world.open(50).await;
        world.open(50).await;
    });
    assert_eq!(played.log, ["open Error: All fibers interrupted without error", "open null"]);
    assert_eq!(played.recorded.values("init.end", "outcome"), ["interrupted", "ok"]);
    assert_eq!(played.recorded.values("console.error", "text"), ["Error on server:"]);
}
