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
}

#[test]
fn fact_195_the_handshake_leaves_three_rows_of_the_frameworks_and_no_reference() {
    let (_, recorded) = story(Vec::new(), || async {
        drop(open().await);
    });
    let keys = recorded.values("storage.put", "key");
    for key in ["__ps_name", "props", "initializeRequest"] {
        assert_eq!(keys.iter().filter(|written| **written == key).count(), 1, "{key}");
    }
    let (taken, returned) = (recorded.count("keep-alive.taken"), recorded.count("keep-alive.returned"));
    assert_eq!(taken, returned, "what the host took for the connect it gave back");
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
    let (lines, _) = controlled(Vec::new(), |control| async move {
        let id = open().await;
        let key = session_key(&id);
        let (handle, of_session) = (control.clone(), key.clone());
        rt::spawn("reset", async move {
            rt::sleep_ms(1_000).await;
            handle.reset(&of_session, JsError::code_updated(), || ());
        });
        let answer = ask(call(&id, "wait 2000; return 1")).await;
        log(format_args!("{} {}", answer.status, answer.body.contains("(cut)")));
        log(answer.body.matches("event: ").count());
        log(answer.body.starts_with("event: mcp-priming"));
        log(control.stored(&key).0.keys().filter(|key| key.starts_with("__mcp_stream_reqs__:")).count());
        log(ask(Ask { body: ping(), session: Some(id), ..Ask::default() }).await.status);
    });
    assert_eq!(lines, ["200 false", "1", "true", "1", "200"]);
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
