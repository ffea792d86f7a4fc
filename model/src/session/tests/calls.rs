//! Calls of tools over a POST's socket, as a bridge makes them, for the tests of paused executions.

use std::cell::RefCell;

use base64::Engine as _;
use serde_json::{Value, json};

use super::world::{World, log};
use crate::agents::transport::testing::tool_call;
use crate::mcp::{self, Frame};
use crate::operation::{Kind, Operation};
use crate::platform::{ClientSocket, FetchRequest, LocalFuture, SocketEvent, Stub};
use crate::rt;

static FETCH: Operation = Operation { name: "test · fetch", kind: Kind::Io, hops: 0, assumed: false, waits_on: "" };

/// A request is over when its answer is: no test waits longer.
const LONGEST_MS: u64 = 600_000;

thread_local! {
    static EXECUTION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The execution id of the last answer that had one.
pub(super) fn execution() -> String {
    EXECUTION.with_borrow(Clone::clone)
}

/// Code that asks once and gives back what was answered.
pub(super) fn asking(message: &str) -> String {
    format!(r#"ask {{"kind":"form","message":"{message}"}}; return answer"#)
}

impl World {
    /// Runs code; logs the answer, as every call here does, as `label status result`.
    pub(super) async fn execute(&self, label: &'static str, code: &str, ms: u64) {
        self.send(label, tool_call(1, "execute", json!({"code": code})), ms).await;
    }

    /// Resumes the last paused execution with an action.
    pub(super) async fn resume(&self, label: &'static str, action: &str, ms: u64) {
        self.resume_of(label, &execution(), action, ms).await;
    }

    /// Resumes that execution.
    pub(super) async fn resume_of(&self, label: &'static str, execution: &str, action: &str, ms: u64) {
        let arguments = json!({"executionId": execution, "action": action});
        self.send(label, tool_call(2, "resume", arguments), ms).await;
    }

    /// Sends one message.
    pub(super) async fn send(&self, label: &'static str, message: Value, ms: u64) {
        let key = self.key();
        let encoded = base64::engine::general_purpose::STANDARD.encode(json!([message]).to_string());
        let call = move || -> LocalFuture<()> {
            Box::pin(async move {
                let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
                let headers = vec![header(mcp::METHOD_HEADER, "POST"), header(mcp::MESSAGE_HEADER, &encoded)];
                let stub = Stub::new(key);
                let Ok(answer) = stub.fetch(&FETCH, FetchRequest::new("/mcp", headers)).await else { return };
                let socket = stub.socket(answer.socket.expect("an upgrade"));
                let bridge = socket.clone();
                socket.listen(move |event| heard(label, &bridge, event));
                crate::js::timer(LONGEST_MS).wait().await;
            })
        };
        self.post(label, Box::new(call));
        rt::sleep_ms(ms).await;
    }
}

fn heard(label: &str, bridge: &ClientSocket, event: SocketEvent) {
    let SocketEvent::Message(text) = event else { return };
    let Some(Frame::AgentEvent { event, close, .. }) = Frame::parse(&text) else { return };
    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
    let message: Value = data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
    if mcp::is_request(&message) {
        log(format_args!("{label} asks {} {}", message["id"], message["params"]["message"]));
    } else if mcp::is_response(&message) {
        log(format_args!("{label} {}", shown(&message)));
    }
    if close {
        bridge.close(1000, "SSE response delivered").expect("in its own context");
    }
}

/// The status of an answer and what comes with it.
fn shown(response: &Value) -> String {
    let structured = &response["result"]["structuredContent"];
    if let Some(id) = structured["executionId"].as_str() {
        EXECUTION.set(id.to_owned());
    }
    let more = ["result", "error", "approvalUrl"].into_iter().map(|key| &structured[key]).find(|more| !more.is_null());
    let status = structured["status"].as_str().unwrap_or("answered");
    more.map_or_else(|| status.to_owned(), |more| format!("{status} {more}"))
}
