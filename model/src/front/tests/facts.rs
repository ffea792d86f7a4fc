//! Facts about sessions as an HTTP client meets them (platform facts 167, 195, 200-204, 207, 224).

use serde_json::json;

use super::super::edge::session_key;
use super::harness::{Ask, ask, controlled, open, ping, story};
use crate::net::testkit::log;
use crate::platform::JsError;
use crate::rt;
use crate::session::tests::script::Rule;

/// A call of `code` in a session.
fn call(session: &str, code: &str) -> Ask {
    let call = json!({"name": "execute", "arguments": {"code": code}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    Ask { body: call.to_string(), session: Some(session.to_owned()), ..Ask::default() }
}

/// Whether a session opens when its first routing calls fail with these errors.
fn opens(errors: Vec<JsError>) -> bool {
    let number = |(index, error)| (u32::try_from(index).expect("a few") + 1, error);
    let rules = errors.into_iter().enumerate().map(number);
    let rules = rules.map(|(nth, error)| Rule::fail("bridge · stub.set-name", error).nth(nth)).collect();
    let (lines, _) = story(rules, || async {
        let opening = super::harness::initialize(&json!({})).to_string();
        log(ask(Ask { body: opening, ..Ask::default() }).await.status);
    });
    lines == ["200"]
}

#[test]
fn fact_102_167_routing_is_tried_three_times_and_never_again_where_the_object_is_overloaded() {
    assert!(opens(vec![JsError::connection_lost(); 2]));
    assert!(!opens(vec![JsError::connection_lost(); 3]));
    let overloaded = JsError { overloaded: true, ..JsError::connection_lost() };
    assert!(!opens(vec![overloaded]));
    // A second try would find the session open to it.
    assert!(!opens(vec![JsError::new("boom")]), "what is not retryable is not tried again");
    let retryable = JsError { retryable: true, ..JsError::new("boom") };
    assert!(opens(vec![retryable]), "what is retryable is");
}

#[test]
fn fact_195_the_handshake_leaves_three_rows_of_the_frameworks_and_no_alarm_reference_or_socket_of_its_own() {
    let (lines, recorded) = controlled(Vec::new(), |control| async move {
        let id = open().await;
        rt::sleep_ms(1_000).await;
        let (rows, alarm_ms) = control.stored(&session_key(&id));
        log(rows.keys().map(|key| &**key).collect::<Vec<_>>().join(" "));
        let activity_ms = rows["last-activity-ms"].as_u64().expect("a time");
        log(alarm_ms.expect("the host's") - activity_ms);
    });
    // The host's own rows, and the answer that its patch keeps until a GET acknowledges it (fact 205).
    let of_the_host = ["last-activity-ms", "session-meta", "__mcp_event__:", "__mcp_undelivered_stream__:"];
    let is_of_the_host = |key: &&str| of_the_host.iter().any(|begin| key.starts_with(begin));
    let rows: Vec<&str> = lines[0].split(' ').filter(|key| !is_of_the_host(key)).collect();
    assert_eq!(rows, ["__ps_name", "initializeRequest", "props"]);
    let timeout_ms = crate::config::HostConfig::default().session_timeout_ms;
    assert_eq!(lines[1], timeout_ms.to_string(), "the alarm is the host's, which watches idleness");
    assert_eq!(recorded.values("keep-alive.returned", "refs").last(), Some(&"0"), "no reference is left");
    let opened = recorded.count("socket.opened");
    assert_eq!((opened > 0, recorded.count("socket.closed")), (true, opened), "no socket is left");
}

#[test]
fn fact_201_a_long_call_finishes_on_its_instance() {
    let (lines, recorded) = controlled(Vec::new(), |control| async move {
        let id = open().await;
        let key = session_key(&id);
        rt::spawn("eviction", async move {
            rt::sleep_ms(12_000).await;
            control.evict(&key, || log("evicted"));
        });
        let answer = ask(call(&id, "wait 14000; return 1")).await;
        log(answer.body.contains(r#""text":"1""#));
    });
    assert_eq!(lines, ["true"]);
    assert_eq!(recorded.count("start.begin"), 1);
}

#[test]
fn fact_202_207_224_a_reset_in_a_call_ends_its_stream_cleanly_after_the_priming_and_its_row_stays() {
    assert_eq!(reset_in_a_call(0), ["200 false", "1", "true", "1", "200"]);
}

#[test]
fn fact_224_where_that_is_drawn_such_a_stream_breaks_off_instead_or_stays_silent() {
    assert_eq!(reset_in_a_call(1)[0], "200 true");
    assert_eq!(reset_in_a_call(2), ["silent"]);
}

/// What a call's client sees whose object is reset, and what is so afterwards; `end` says how its stream ends.
fn reset_in_a_call(end: u64) -> Vec<String> {
    let (lines, _) = controlled(Vec::new(), move |control| async move {
        crate::script::stray("stream.end", end);
        let id = open().await;
        let key = session_key(&id);
        let (handle, of_session) = (control.clone(), key.clone());
        rt::spawn("reset", async move {
            rt::sleep_ms(1_000).await;
            handle.reset(&of_session, JsError::code_updated(), || ());
        });
        let asked = ask(call(&id, "wait 2000; return 1"));
        let Some(answer) = crate::net::timer::with_deadline(rt::now_ms() + 60_000, asked).await else {
            return log("silent");
        };
        log(format_args!("{} {}", answer.status, answer.body.contains("(cut)")));
        log(answer.body.matches("event: ").count());
        log(answer.body.starts_with("event: mcp-priming"));
        log(control.stored(&key).0.keys().filter(|key| key.starts_with("__mcp_stream_reqs__:")).count());
        log(ask(Ask { body: ping(), session: Some(id), ..Ask::default() }).await.status);
    });
    lines
}

/// Seconds until the socket of a client that left a call after 1 s is closed, with the reason.
fn socket_closed_after(noticed: u64) -> Vec<String> {
    let (_, recorded) = story(Vec::new(), move || async move {
        crate::script::stray("leaving", noticed);
        let id = open().await;
        let left = ask(call(&id, "wait 40000; return 1"));
        drop(crate::net::timer::with_deadline(rt::now_ms() + 1_000, left).await);
        rt::sleep_ms(60_000).await;
    });
    recorded.values("socket.closed", "reason").iter().map(|reason| (*reason).to_owned()).collect()
}

#[test]
fn fact_146_225_a_client_that_left_is_noticed_at_once_at_the_next_write_or_never() {
    let gave_up = |noticed| socket_closed_after(noticed).iter().any(|reason| reason == "SSE client not draining");
    assert!(gave_up(0));
    assert!(gave_up(1), "the keepalive after 25 s is the next write");
    assert!(!gave_up(2));
}

#[test]
fn fact_204_the_host_holds_a_reference_while_a_call_is_handed_over() {
    let (_, recorded) = story(Vec::new(), || async {
        let id = open().await;
        drop(ask(call(&id, "return 1")).await);
    });
    assert!(recorded.count("keep-alive.taken") >= 2, "the handshake's and the call's");
    assert_eq!(recorded.count("keep-alive.taken"), recorded.count("keep-alive.returned"));
}
