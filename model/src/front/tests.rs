//! The edge as an HTTP client sees it, in front of a whole deployment: refusals in their order, a session's life, failures.

mod console;
mod facts;
mod harness;

use serde_json::json;

use crate::net::testkit::log;
use crate::platform::JsError;
use crate::rt;
use crate::session::tests::script::Rule;

use harness::{Ask, ask, initialize, open, ping, story};

#[test]
fn preflight_and_bad_methods_are_answered_before_authentication() {
    let (lines, _) = story(Vec::new(), || async {
        let preflight = ask(Ask { method: "OPTIONS", bearer: None, ..Ask::default() }).await;
        for name in ["allow-origin", "allow-methods", "allow-headers", "expose-headers"] {
            log(preflight.header(&format!("access-control-{name}")).unwrap_or("none"));
        }
        log(preflight.shown());
        log(ask(Ask { method: "PUT", bearer: None, ..Ask::default() }).await.shown());
    });
    let expected = [
        "*",
        "GET, POST, DELETE, OPTIONS",
        "content-type, authorization, mcp-session-id, accept, mcp-protocol-version",
        "mcp-session-id, WWW-Authenticate",
        "204 ",
        "405 -32001 Method not allowed",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn who_is_not_let_in_learns_why_and_a_delete_of_nothing_is_done() {
    let rules = vec![Rule::fail("edge · auth.authenticate", JsError::connection_lost()).nth(4)];
    let (lines, _) = story(rules, || async {
        let stranger = ask(Ask { bearer: None, ..Ask::default() }).await;
        log(format_args!("{} {}", stranger.shown(), stranger.header("www-authenticate").unwrap_or("none")));
        log(ask(Ask { bearer: Some("Bearer revoked-a1.o1"), ..Ask::default() }).await.shown());
        log(ask(Ask { bearer: Some("Bearer suspended-a1.o1"), ..Ask::default() }).await.shown());
        let down = ask(Ask::default()).await;
        log(format_args!("{} {}", down.shown(), down.header("retry-after").unwrap_or("none")));
        log(ask(Ask { method: "DELETE", ..Ask::default() }).await.shown());
    });
    let expected = [
        "401 -32001 Unauthorized Bearer",
        "403 -32001 Access revoked",
        "403 -32004 Account suspended",
        "503 -32001 Authentication is temporarily unavailable 2",
        "200 ",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn fact_192_the_bridge_checks_a_post_in_order() {
    let (lines, _) = story(Vec::new(), || async {
        let batch = json!([initialize(&json!({})), initialize(&json!({}))]).to_string();
        let half = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}).to_string();
        let asked = [
            Ask { accept: "application/json", content_type: "text/plain", ..Ask::default() },
            Ask { content_type: "text/plain", body: "x".repeat(4_194_305), ..Ask::default() },
            Ask { body: " ".repeat(4_194_305), ..Ask::default() },
            Ask { body: "{".to_owned(), ..Ask::default() },
            Ask { body: "[1]".to_owned(), ..Ask::default() },
            Ask { body: batch, ..Ask::default() },
            Ask { body: half, ..Ask::default() },
            Ask { body: ping(), session: Some("nobody".to_owned()), ..Ask::default() },
        ];
        for each in asked {
            log(ask(each).await.shown());
        }
    });
    let expected = [
        "406 -32000 Not Acceptable: Client must accept both application/json and text/event-stream",
        "415 -32000 Unsupported Media Type: Content-Type must be application/json",
        "413 -32000 Request body too large. Maximum size is 4194304 bytes",
        "400 -32700 Parse error: Invalid JSON",
        "400 -32700 Parse error: Invalid JSON-RPC message",
        "400 -32600 Invalid Request: Only one initialization request is allowed",
        "400 -32000 Bad Request: Mcp-Session-Id header is required",
        "404 -32001 Session not found",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn fact_190_191_203_a_session_lives_from_its_initialize_to_its_delete() {
    let (lines, _) = story(Vec::new(), || async {
        let id = open().await;
        let of = |ask: Ask| Ask { session: Some(id.clone()), ..ask };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        log(ask(of(Ask { body: initialized, ..Ask::default() })).await.shown());
        log(ask(of(Ask { body: initialize(&json!({})).to_string(), ..Ask::default() })).await.shown());
        log(ask(of(Ask { bearer: Some("Bearer a2.o1"), body: ping(), ..Ask::default() })).await.shown());
        log(ask(Ask { method: "GET", ..Ask::default() }).await.shown());
        log(ask(of(Ask { method: "GET", accept: "application/json", ..Ask::default() })).await.shown());
        let ponged = ask(of(Ask { body: ping(), ..Ask::default() })).await;
        log(format_args!("{} {}", ponged.status, ponged.body.contains(r#""id":"p""#)));
        log(ask(of(Ask { method: "DELETE", ..Ask::default() })).await.shown());
        log(ask(of(Ask { body: ping(), ..Ask::default() })).await.shown());
        rt::sleep_ms(2_000).await;
        log(ask(of(Ask { body: ping(), ..Ask::default() })).await.shown());
    });
    let expected = [
        "202 ",
        "400 -32600 Invalid Request: Initialization requests must not include a sessionId",
        "403 -32003 MCP session does not belong to the current bearer",
        "400 -32000 Bad Request: Mcp-Session-Id header is required",
        "406 -32000 Not Acceptable: Client must accept text/event-stream",
        "200 true",
        "200 ",
        "404 -32001 Session timed out, please reconnect",
        "404 -32001 Session not found",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn fact_205_a_listener_is_kept_alive_and_rotated_at_the_first_beat_after_half_an_hour() {
    let (lines, recorded) = story(Vec::new(), || async {
        let id = open().await;
        let listen = || Ask { method: "GET", session: Some(id.clone()), ..Ask::default() };
        // The first one replays the answer of the handshake and ends.
        log(ask(listen()).await.body.ends_with(": replay-complete\n\n"));
        let began_ms = rt::now_ms();
        let kept = ask(listen()).await;
        log(format_args!("{} s", (rt::now_ms() - began_ms) / 1000));
        log(kept.body.matches(": keepalive\n\n").count());
        log(kept.body.ends_with(": max-age rotation, reconnect\n\n"));
    });
    assert_eq!(lines, ["true", "1825 s", "73", "true"]);
    assert_eq!(recorded.values("sse_max_age_close", "ageMs"), ["1825000"]);
    assert!(recorded.values("socket.closed", "reason").contains(&"sse_max_age_rotation"));
}

#[test]
fn a_recognised_platform_failure_is_answered_by_its_disposition_and_reported_by_nobody() {
    let at = |operation, error, nth| Rule::fail(operation, error).nth(nth);
    let rules = vec![
        at("edge · stub.validate", JsError::code_updated(), 1),
        at("edge · stub.validate", JsError::aborted("destroyed"), 2),
        at("bridge · stub.fetch", JsError::storage_timeout(), 2),
    ];
    let (lines, recorded) = story(rules, || async {
        let id = open().await;
        for _ in 0..3 {
            let failed = ask(Ask { body: ping(), session: Some(id.clone()), ..Ask::default() }).await;
            log(format_args!("{} {}", failed.shown(), failed.header("retry-after").unwrap_or("none")));
        }
    });
    let expected = [
        "503 -32001 MCP session is restarting, please retry 2",
        "404 -32001 Session timed out, please reconnect none",
        "503 -32001 MCP session is restarting, please retry 2",
    ];
    assert_eq!(lines, expected);
    let operations = recorded.values("mcp_durable_object_platform_failure", "operation");
    assert_eq!(operations, ["validate_session_owner", "validate_session_owner", "session_fetch"]);
    assert_eq!(recorded.spans("mcp.do.platform_failure").len(), 3);
    assert_eq!(recorded.captured(), Vec::<&str>::new());
}

#[test]
fn an_unrecognised_failure_is_a_bare_500_and_is_reported_once_wherever_it_was_thrown() {
    let unknown = |text| JsError::new(text);
    let rules = vec![
        Rule::fail("edge · stub.validate", unknown("at the edge")),
        Rule::fail("validate · storage.get destroy-pending", unknown("in the object")),
        Rule::fail("body · storage.get initializeRequest", unknown("in a start")).nth(2),
    ];
    let (lines, recorded) = story(rules, || async {
        let id = open().await;
        for _ in 0..2 {
            log(ask(Ask { body: ping(), session: Some(id.clone()), ..Ask::default() }).await.shown());
        }
        log(ask(Ask { body: initialize(&json!({})).to_string(), ..Ask::default() }).await.shown());
    });
    assert_eq!(lines, ["500 Internal Server Error", "500 Internal Server Error", "500 Internal Server Error"]);
    assert_eq!(recorded.captured(), ["at the edge", "in the object", "in a start"]);
}

#[test]
fn a_lost_directory_is_asked_to_be_tried_again() {
    let lost = JsError::new("mcp_session_meta_unavailable: organization directory unavailable (down) after 3 attempts");
    let rules = vec![Rule::fail("meta · storage.put session-meta", lost)];
    let (lines, _) = story(rules, || async {
        let refused = ask(Ask { body: initialize(&json!({})).to_string(), ..Ask::default() }).await;
        log(format_args!("{} {}", refused.shown(), refused.header("retry-after").unwrap_or("none")));
    });
    assert_eq!(lines, ["503 -32001 Session storage temporarily unavailable - please retry 2"]);
}

#[test]
fn fact_19_a_client_that_leaves_a_call_has_its_socket_closed_and_the_answer_is_kept() {
    let (_, recorded) = story(Vec::new(), || async {
        let id = open().await;
        let call = json!({"name": "execute", "arguments": {"code": "wait 2000; return 1"}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        let left = ask(Ask { body: call.to_string(), session: Some(id), ..Ask::default() });
        drop(crate::net::timer::with_deadline(rt::now_ms() + 1_000, left).await);
        rt::sleep_ms(5_000).await;
    });
    assert!(recorded.values("socket.closed", "reason").contains(&"SSE client not draining"));
    assert!(recorded.values("storage.put", "key").iter().any(|key| key.starts_with("__mcp_undelivered_stream__:")));
}

#[test]
fn what_a_client_can_render_is_negotiated_by_its_handshake_and_kept() {
    let capable = json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}});
    for (capabilities, writes) in [(capable, 2), (json!({}), 1)] {
        let (_, recorded) = story(Vec::new(), move || async move {
            let opened = ask(Ask { body: initialize(&capabilities).to_string(), ..Ask::default() }).await;
            let session = opened.header("mcp-session-id").map(str::to_owned);
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
            assert_eq!(ask(Ask { session, body: initialized, ..Ask::default() }).await.status, 202);
            rt::sleep_ms(50).await;
        });
        let keys = recorded.values("storage.put", "key");
        assert_eq!(keys.iter().filter(|key| **key == "session-meta").count(), writes);
    }
}

#[test]
fn a_stream_whose_close_fails_is_broken_off_and_does_not_blame_the_client() {
    let (lines, recorded) = story(vec![Rule::fail("bridge · writer.close", JsError::new("broken"))], || async {
        let broken = ask(Ask { body: initialize(&json!({})).to_string(), ..Ask::default() }).await;
        log(broken.body.ends_with("(cut)"));
        rt::sleep_ms(50).await;
    });
    assert_eq!(lines, ["true"]);
    assert!(!recorded.values("socket.closed", "reason").contains(&"SSE client not draining"));
}
