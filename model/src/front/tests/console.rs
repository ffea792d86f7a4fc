//! A person in the console decides what a model may do, over HTTP: seen, decided, refused.

use serde_json::{Value, json};

use super::harness::{Ask, Got, ask, initialize, story};
use crate::net::testkit::log;
use crate::rt;

/// Opens a session in which a person is asked in the browser.
async fn open() -> String {
    let target = "/mcp?elicitation_mode=browser".to_owned();
    let opened = ask(Ask { target, body: initialize(&json!({})).to_string(), ..Ask::default() }).await;
    opened.header("mcp-session-id").expect("a session id").to_owned()
}

/// Calls a tool and gives what its answer is structured as.
async fn call(session: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let got = ask(Ask { body, session: Some(session.to_owned()), ..Ask::default() }).await;
    let mut answers = got.body.lines().rev().filter_map(|line| line.strip_prefix("data: "));
    let answer = answers.next().expect("an answer");
    serde_json::from_str::<Value>(answer).expect("JSON")["result"]["structuredContent"].clone()
}

struct Person {
    target: String,
}

impl Person {
    async fn look(&self, bearer: Option<&'static str>) -> Got {
        ask(Ask { method: "GET", target: self.target.clone(), bearer, ..Ask::default() }).await
    }

    async fn decide(&self, bearer: &'static str, body: &str) -> Got {
        let target = format!("{}/resume", self.target);
        ask(Ask { target, bearer: Some(bearer), body: body.to_owned(), ..Ask::default() }).await
    }
}

fn shown(got: &Got) -> String {
    format!("{} {}", got.status, got.body)
}

const OWNER: &str = "Bearer a1.o1";

#[test]
fn a_person_sees_what_is_asked_and_decides_and_the_waiting_call_goes_on() {
    let (lines, _) = story(Vec::new(), || async {
        let session = open().await;
        let code = r#"ask {"kind":"form","message":"Deploy?"}; return answer"#;
        let paused = call(&session, "execute", json!({"code": code})).await;
        let id = paused["executionId"].as_str().expect("a paused execution").to_owned();
        let page = format!("http://10.1.0.1:8787/resume/{id}?mcp_session_id={session}");
        log(format_args!("{} {}", paused["status"], paused["approvalUrl"] == page));
        let person = Person { target: format!("/api/mcp-sessions/{session}/executions/{id}") };
        let seen: Value = serde_json::from_str(&person.look(Some(OWNER)).await.body).expect("JSON");
        log(format_args!("{} {}", seen["structured"]["status"], seen["structured"]["interaction"]["message"]));
        log(shown(&person.decide(OWNER, r#"{"action":"accept","content":{"env":"prod"}}"#).await));
        let resumed = call(&session, "resume", json!({"executionId": id})).await;
        log(format_args!("{} {}", resumed["status"], resumed["result"]));
        log(shown(&person.look(Some(OWNER)).await));
    });
    assert_eq!(lines[0], r#""user_approval_required" true"#);
    assert_eq!(lines[1], r#""waiting_for_interaction" "Deploy?""#);
    assert!(lines[2].starts_with("200 ") && lines[2].contains("I've approved it"), "{}", lines[2]);
    assert_eq!(lines[3], r#""completed" {"action":"accept","content":{"env":"prod"}}"#);
    assert_eq!(lines[4], r#"404 {"_tag":"McpExecutionNotFoundError"}"#);
}

#[test]
fn who_may_not_decide_and_what_is_no_decision_are_refused() {
    let (lines, recorded) = story(Vec::new(), || async {
        let session = open().await;
        let code = r#"ask {"kind":"form","message":"Deploy?"}"#;
        let paused = call(&session, "execute", json!({"code": code})).await;
        let id = paused["executionId"].as_str().expect("a paused execution").to_owned();
        let person = Person { target: format!("/api/mcp-sessions/{session}/executions/{id}") };
        log(shown(&person.look(None).await));
        log(shown(&person.look(Some("Bearer a2.o1")).await));
        log(shown(&person.look(Some("Bearer revoked-a1.o1")).await));
        log(shown(&person.decide("Bearer a1.o2", r#"{"action":"accept"}"#).await));
        log(shown(&person.decide(OWNER, r#"{"action":"maybe"}"#).await));
        log(shown(&person.decide(OWNER, "no JSON").await));
        log(person.decide(OWNER, r#"{"action":"cancel"}"#).await.status);
        let unknown = Person { target: format!("/api/mcp-sessions/{session}/executions/exec_1") };
        log(shown(&unknown.look(Some(OWNER)).await));
        let other = Person { target: "/api/mcp-sessions/nobody/executions/exec_1".to_owned() };
        log(shown(&other.look(Some(OWNER)).await));
        let put = ask(Ask { method: "PUT", target: person.target.clone(), ..Ask::default() }).await;
        log(shown(&put));
        rt::sleep_ms(50).await;
    });
    let forbidden = r#"403 {"_tag":"McpSessionForbiddenError"}"#;
    let not_found = r#"404 {"_tag":"McpExecutionNotFoundError"}"#;
    let expected = [
        r#"401 {"error":"Unauthorized"}"#,
        forbidden,
        r#"403 {"error":"Access revoked"}"#,
        forbidden,
        r#"400 {"error":"Invalid approval response"}"#,
        r#"400 {"error":"Invalid approval response"}"#,
        "200",
        not_found,
        not_found,
        r#"405 {"error":"Method not allowed"}"#,
    ];
    assert_eq!(lines, expected);
    assert_eq!(recorded.count("condemned"), 0);
}
