//! Streams of POSTs and GETs: priming, markers and rows, replay, cursors, acknowledgement.

use serde_json::{Value, json};

use super::testing::{in_session, request, tool_call};

#[test]
fn fact_196_205_a_call_is_primed_first_and_its_row_becomes_a_marker_with_its_answer() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(7, "slow", json!({"ms": 50})), 20).await;
        world.rows().await;
        world.rpc("rows", Value::Null, 60).await;
        world.rows().await;
    });
    let row = "rows [event__:c1:01={prime},stream_reqs__:c1=[7]]";
    let answered = "rows [event__:c1:01={prime},event__:c1:02={id:7,result:{ms:50}},undelivered_stream__:c1=true]";
    assert_eq!(
        log,
        [
            "a mcp-priming c1:01 {prime}",
            row,
            row,
            "slow tool ends",
            "a message c1:02 {id:7,result:{ms:50}} close",
            answered,
        ]
    );
}

#[test]
fn requests_that_are_no_calls_are_not_primed_and_notifications_leave_nothing() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", request("p", "ping", json!({})), 10).await;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        world.post("b", initialized, 10).await;
        world.rows().await;
    });
    assert_eq!(
        log,
        [
            "a message c1:01 {id:p,result:{}} close",
            "initialized",
            "rows [event__:c1:01={id:p,result:{}},undelivered_stream__:c1=true]",
        ]
    );
}

#[test]
fn a_batch_is_closed_with_its_last_answer() {
    let log = in_session(&[], None, |world| async move {
        let batch = json!([tool_call(1, "slow", json!({"ms": 20})), request(2, "ping", json!({}))]);
        world.post("a", batch, 50).await;
        world.rows().await;
    });
    assert_eq!(log[1], "a message c1:02 {id:2,result:{}}");
    assert_eq!(log[3], "a message c1:03 {id:1,result:{ms:20}} close");
    assert!(log[4].ends_with("undelivered_stream__:c1=true]"), "{log:?}");
}

#[test]
fn fact_205_206_a_fresh_get_replays_what_is_undelivered_and_ends_and_an_acknowledgement_clears_it() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "echo", json!("x")), 10).await;
        world.post("b", request(2, "ping", json!({})), 10).await;
        world.get("g", None, 20).await;
        world.rows().await;
        world.get("h", None, 10).await;
    });
    assert_eq!(
        log[3..],
        [
            "g message c1:01 {prime}",
            "g message c1:02 {id:1,result:x}",
            "g message c2:01 {id:2,result:{}}",
            "g replay-complete ack c1,c2 close",
            "rows []",
        ]
    );
}

#[test]
fn a_fresh_get_is_sent_what_a_bridge_can_take_and_the_next_one_the_rest() {
    let log = in_session(&[], None, |world| async move {
        // Never stored, so that nothing of it but its cursor is replayed.
        world.post("a", tool_call(1, "echo", json!("x".repeat(122_880))), 10).await;
        let large = || json!((1..=18).map(|id| tool_call(id, "echo", json!("y".repeat(110_000)))).collect::<Vec<_>>());
        for name in ["b", "c", "d", "e", "f"] {
            world.post(name, large(), 10).await;
        }
        world.get("g", None, 50).await;
        world.get("h", None, 50).await;
        world.rows().await;
    });
    let ends: Vec<&String> =
        log.iter().filter(|line| line.contains("replay-complete") || line.contains("rows")).collect();
    // What could not be stored goes with what was sent beside it, or it would come first for ever.
    assert_eq!(ends, ["g replay-complete ack c2,c3,c4,c1 close", "h replay-complete ack c5,c6 close", "rows []"]);
}

#[test]
fn what_nobody_acknowledged_is_replayed_again_after_a_restore() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "echo", json!("x")), 10).await;
        world.get("g!", None, 10).await;
        world.leave("g!", 10).await;
        world.rpc("renew", Value::Null, 10).await;
        world.get("h", None, 20).await;
    });
    let replay = |name: &str| {
        let lines = ["message c1:01 {prime}", "message c1:02 {id:1,result:x}", "replay-complete ack c1 close"];
        lines.map(|line| format!("{name} {line}"))
    };
    assert_eq!(log[2..5], replay("g!"));
    assert_eq!(log[6..], replay("h"));
}

#[test]
fn two_fresh_gets_at_once_replay_a_stream_once() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "echo", json!("x")), 10).await;
        world.get("g!", None, 0).await;
        world.get("h!", None, 20).await;
        world.rpc("send", json!({"jsonrpc": "2.0", "method": "notifications/hello"}), 10).await;
    });
    let ends: Vec<&String> = log.iter().filter(|line| line.contains("replay-complete")).collect();
    assert_eq!(ends, ["g! replay-complete ack c1 close"]);
}

#[test]
fn a_get_with_a_cursor_gets_what_follows_on_that_stream_and_nothing_else() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "echo", json!("x")), 10).await;
        world.post("b", tool_call(2, "echo", json!("y")), 10).await;
        world.get("g", Some("c2:0000000000000001"), 20).await;
        world.rows().await;
    });
    assert_eq!(
        log[4..],
        [
            "g message c2:02 {id:2,result:y}",
            "g replay-complete ack c2 close",
            "rows [event__:c1:01={prime},event__:c1:02={id:1,result:x},undelivered_stream__:c1=true]",
        ]
    );
}

#[test]
fn a_resumed_stream_is_taken_over_and_gets_the_answer_of_its_call() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "slow", json!({"ms": 50})), 20).await;
        world.get("g", Some("c1:0000000000000001"), 60).await;
    });
    assert_eq!(
        log[1..],
        ["a closed 1000 Superseded by resumed stream", "slow tool ends", "g message c1:02 {id:1,result:{ms:50}} close",]
    );
}

#[test]
fn an_answer_whose_client_left_is_found_by_its_row_and_kept() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "slow", json!({"ms": 50})), 20).await;
        world.leave("a", 60).await;
        world.rows().await;
    });
    let kept = "rows [event__:c1:01={prime},event__:c1:02={id:1,result:{ms:50}},undelivered_stream__:c1=true]";
    assert_eq!(log[1..], ["slow tool ends", kept]);
}

#[test]
fn fact_199_listeners_stand_side_by_side_and_the_newest_gets_what_belongs_to_no_request() {
    let hello = json!({"jsonrpc": "2.0", "method": "notifications/hello"});
    let log = in_session(&[], None, |world| async move {
        world.get("g", None, 10).await;
        world.get("h", None, 10).await;
        world.rpc("send", hello.clone(), 10).await;
        world.leave("h", 10).await;
        world.rpc("send", hello, 10).await;
        world.get("i", Some("_GET_stream:0000000000000001"), 10).await;
    });
    assert_eq!(
        log,
        [
            "h message _GET_stream:01 {method:notifications/hello}",
            "send null",
            "g message _GET_stream:02 {method:notifications/hello}",
            "send null",
            "i message _GET_stream:02 {method:notifications/hello}",
        ]
    );
}

#[test]
fn an_answer_is_delivered_live_without_an_id_when_the_store_fails() {
    let log = in_session(&["event · storage.put"], None, |world| async move {
        world.post("a", tool_call(1, "echo", json!("x")), 10).await;
        world.rows().await;
    });
    assert_eq!(log, ["a message {id:1,result:x} close", "rows [undelivered_stream__:c1=true]"]);
}

#[test]
fn an_answer_too_large_to_store_is_delivered_live_and_takes_no_number() {
    let log = in_session(&[], None, |world| async move {
        let calls = json!([tool_call(1, "echo", json!("x".repeat(122_880))), tool_call(2, "echo", json!("y"))]);
        world.post("a", calls, 10).await;
    });
    assert_eq!(
        log,
        [
            "a mcp-priming c1:01 {prime}",
            "a message {id:1,result:xxxxxxxxxxxxxxxxxxx… 122902 bytes",
            "a message c1:02 {id:2,result:y} close",
        ]
    );
}

#[test]
fn a_row_whose_marker_could_not_be_written_stays() {
    let log = in_session(&["send · storage.put undelivered"], None, |world| async move {
        world.post("a", request(1, "ping", json!({})), 100).await;
        world.rows().await;
    });
    assert_eq!(log[1], "rows [event__:c1:01={id:1,result:{}},stream_reqs__:c1=[1]]");
}

#[test]
fn a_post_whose_row_cannot_be_written_waits_in_silence() {
    let log = in_session(&["post · storage.put stream-reqs"], None, |world| async move {
        world.post("a", tool_call(1, "echo", json!("x")), 10).await;
    });
    assert_eq!(log, ["rejected Error: no storage"]);
}

#[test]
fn the_origin_gets_its_own_answer_when_two_posts_use_one_id() {
    let log = in_session(&[], None, |world| async move {
        world.post("a", tool_call(1, "slow", json!({"ms": 30})), 10).await;
        world.post("b", tool_call(1, "slow", json!({"ms": 60})), 100).await;
    });
    let answers: Vec<&String> = log.iter().filter(|line| line.contains("result")).collect();
    assert_eq!(answers, ["a message c1:02 {id:1,result:{ms:30}} close", "b message c2:02 {id:1,result:{ms:60}} close"]);
}

#[test]
fn every_post_with_an_ambiguous_id_gets_an_error_when_the_origin_is_gone() {
    let log = in_session(&[], None, |world| async move {
        for (name, ms) in [("a", 30), ("b", 60), ("c", 90)] {
            world.post(name, tool_call(1, "slow", json!({"ms": ms})), 5).await;
        }
        world.leave("a", 100).await;
    });
    let error = "{error:{code:-32603,message:Internal error},id:1} close";
    let answers: Vec<&String> = log.iter().filter(|line| line.contains(":02")).collect();
    assert_eq!(answers[..2], [&format!("b message c2:02 {error}"), &format!("c message c3:02 {error}")]);
}

#[test]
fn an_answer_nobody_waits_for_is_stored_nowhere() {
    let log = in_session(&[], None, |world| async move {
        world.rpc("feed", request(9, "ping", json!({})), 10).await;
        world.rows().await;
        world.rpc("send", json!({"jsonrpc": "2.0", "id": 9, "result": {}}), 10).await;
    });
    assert_eq!(log, ["feed null", "rows []", "send Error: No active stream found for request ID: 9"]);
}
