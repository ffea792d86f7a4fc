//! A deployment with one HTTP client for the edge's tests: requests with everything right unless a test says otherwise.

use std::future::Future;
use std::rc::Rc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::config::HostConfig;
use crate::deployment::{Deployment, EDGE};
use crate::net::http_client::{HttpConnection, Request};
use crate::net::testkit::{Latency, in_world, machine, on, untimed};
use crate::platform::{Control, RuntimeBuild};
use crate::rt;
use crate::session::tests::events::{Recorded, record};
use crate::session::tests::script::{Rule, Script};

/// One request of a test; by default a POST of the owner with everything right.
pub(super) struct Ask {
    pub method: &'static str,
    pub target: String,
    pub bearer: Option<&'static str>,
    pub accept: &'static str,
    pub content_type: &'static str,
    pub session: Option<String>,
    pub body: String,
}

impl Default for Ask {
    fn default() -> Self {
        Ask {
            method: "POST",
            target: "/mcp".to_owned(),
            bearer: Some("Bearer a1.o1"),
            accept: "application/json, text/event-stream",
            content_type: "application/json",
            session: None,
            body: String::new(),
        }
    }
}

/// An answer, read to its end.
pub(super) struct Got {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Got {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// `status code message` of a refusal, else `status body`.
    pub fn shown(&self) -> String {
        let refusal: Option<Value> = serde_json::from_str(&self.body).ok();
        match refusal.as_ref().map(|body| &body["error"]) {
            Some(error) if error.is_object() => {
                assert_eq!(refusal.as_ref().map(|body| &body["id"]), Some(&Value::Null));
                assert_eq!(self.header("content-type"), Some("application/json"));
                assert_eq!(self.header("access-control-allow-origin"), Some("*"));
                format!("{} {} {}", self.status, error["code"], error["message"].as_str().unwrap_or_default())
            }
            _ => format!("{} {}", self.status, self.body.replace('\n', "|")),
        }
    }
}

/// Sends one request on a connection of its own and reads its answer.
pub(super) async fn ask(ask: Ask) -> Got {
    let mut headers =
        vec![("accept".to_owned(), ask.accept.to_owned()), ("content-type".to_owned(), ask.content_type.to_owned())];
    headers.extend(ask.bearer.map(|bearer| ("authorization".to_owned(), bearer.to_owned())));
    headers.extend(ask.session.map(|session| ("mcp-session-id".to_owned(), session)));
    let mut connection = HttpConnection::connect(&"c1".into(), "test", EDGE).await.expect("the edge listens");
    let request = Request { method: ask.method, target: ask.target, headers, body: Bytes::from(ask.body) };
    let mut response = connection.send(request).await.expect("an answer");
    let mut body = Vec::new();
    while let Some(piece) = response.body.next().await {
        match piece {
            Ok(bytes) => body.extend_from_slice(&bytes),
            Err(_) => body.extend_from_slice(b"(cut)"),
        }
    }
    let body = String::from_utf8(body).expect("text");
    Got { status: response.status, headers: response.headers, body }
}

/// An initialize request of a client that can do so much.
pub(super) fn initialize(capabilities: &Value) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": capabilities, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params})
}

/// A JSON-RPC ping.
pub(super) fn ping() -> String {
    json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}).to_string()
}

/// Opens a session of the owner and gives its id.
pub(super) async fn open() -> String {
    let opened = ask(Ask { body: initialize(&json!({})).to_string(), ..Ask::default() }).await;
    assert_eq!(opened.status, 200, "{}", opened.body);
    opened.header("mcp-session-id").expect("a session id").to_owned()
}

/// Runs a client's story against a deployment; gives its log and what was recorded.
pub(super) fn story<F, Fut>(rules: Vec<Rule>, client: F) -> (Vec<String>, Recorded)
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    controlled(rules, |_| client())
}

/// The same with the harness's handle.
pub(super) fn controlled<F, Fut>(rules: Vec<Rule>, client: F) -> (Vec<String>, Recorded)
where
    F: FnOnce(Control) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let (send, recorded) = std::sync::mpsc::channel();
    let lines = in_world(1, Latency::Calm, move || async move {
        rt::begin_run(Some(Rc::new(Script::new(rules))), u64::MAX);
        let recording = record();
        let deployment = Deployment::start(HostConfig::default(), 1, RuntimeBuild::May2026);
        rt::sleep_ms(10).await;
        let control = deployment.control();
        on(&machine("client", [10, 0, 0, 9]), move || client(control)).await;
        deployment.stop().await;
        send.send(recording.take()).expect("the test waits");
    });
    (untimed(&lines), recorded.recv().expect("the story ended"))
}
