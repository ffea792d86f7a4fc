//! What a client puts on the wire: JSON-RPC messages, headers, trace context.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{ClientConfig, Op};
use crate::mcp;
use crate::net::http_client::Request;

/// What a request says beside its headers; JSON-RPC messages are posted together.
pub(super) struct Message {
    /// The ids of the requests among them; a notification and what is no JSON-RPC have none.
    pub(super) ids: Vec<String>,
    /// The body as sent; null for none.
    pub(super) json: Value,
    /// Where it goes; the MCP endpoint when absent.
    target: Option<String>,
}

/// What a client knows when it makes a request.
pub(super) struct Known<'a> {
    /// The session that it was given.
    pub(super) session: Option<&'a str>,
    /// Its bearer token.
    pub(super) bearer: &'a str,
    /// The protocol version that it says.
    pub(super) version: Option<&'a str>,
}

/// The version whose servers know `server/discover`, and no sessions.
const DISCOVERABLE: &str = "2026-07-28";

impl Message {
    /// `initialize`, always with the id `initialize`.
    pub(super) fn initialize(config: &ClientConfig) -> Message {
        let version = config.persona.map_or(config.protocol_version.as_str(), |persona| persona.asks_version);
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "bare", "version": "0.0.1" },
        });
        Message::request("initialize".to_owned(), "initialize", params)
    }

    /// `server/discover`.
    pub(super) fn discover() -> Message {
        Message::request("discover".to_owned(), "server/discover", json!({}))
    }

    /// What is asked for without a session before there is one: the page of that name, or the MCP endpoint.
    pub(super) fn probe(page: Option<&str>) -> Message {
        Message { ids: Vec::new(), json: Value::Null, target: page.map(str::to_owned) }
    }

    /// `tools/list`.
    pub(super) fn list() -> Message {
        Message::request("list".to_owned(), "tools/list", json!({}))
    }

    /// `notifications/cancelled` of a request.
    pub(super) fn cancelled(id: &str) -> Message {
        let params = json!({ "requestId": id, "reason": "the request was given up" });
        let json = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        Message { ids: Vec::new(), json, target: None }
    }

    /// `notifications/initialized`.
    pub(super) fn initialized() -> Message {
        let json = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        Message { ids: Vec::new(), json, target: None }
    }

    /// `tools/call` of the tool `execute`; of several ids a batch.
    pub(super) fn execute(mut ids: Vec<String>, code: &str) -> Message {
        let params = json!({ "name": "execute", "arguments": { "code": code } });
        let call = |id: &String| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        if ids.len() == 1 {
            return Message::request(ids.remove(0), "tools/call", params);
        }
        Message { json: Value::Array(ids.iter().map(call).collect()), ids, target: None }
    }

    /// `tools/call` of the tool `resume`.
    pub(super) fn resume(id: String, execution: &str, action: &str) -> Message {
        let arguments = json!({ "executionId": execution, "action": action });
        Message::request(id, "tools/call", json!({ "name": "resume", "arguments": arguments }))
    }

    /// `ping`.
    pub(super) fn ping(id: String) -> Message {
        Message { json: json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }), ids: vec![id], target: None }
    }

    /// A request to the console about a paused execution: what is decided, or what it is.
    pub(super) fn about(session: &str, execution: &str, action: Option<&str>) -> Message {
        let page = format!("/api/mcp-sessions/{session}/executions/{execution}");
        let (target, json) = match action {
            Some(action) => (format!("{page}/resume"), json!({ "action": action })),
            None => (page, Value::Null),
        };
        Message { ids: Vec::new(), json, target: Some(target) }
    }

    fn request(id: String, method: &str, params: Value) -> Message {
        let json = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Message { ids: vec![id], json, target: None }
    }
}

/// The HTTP request for `op`. `number` counts the client's requests, from 1; it makes the trace context.
pub(super) fn http_request(
    config: &ClientConfig,
    op: Op,
    number: u64,
    known: &Known<'_>,
    message: Option<&Message>,
) -> Request {
    let body = message.filter(|message| !message.json.is_null());
    let target = message.and_then(|message| message.target.as_ref());
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    match op {
        Op::Stream | Op::Recover => add("accept", "text/event-stream"),
        Op::Probe if target.is_some() => add("accept", "application/json"),
        Op::Probe => add("accept", "text/event-stream"),
        _ => add("accept", "application/json, text/event-stream"),
    }
    add("authorization", &format!("Bearer {}", known.bearer));
    if body.is_some() {
        add("content-type", "application/json");
    }
    let version = if op == Op::Discover { Some(DISCOVERABLE) } else { known.version };
    if let Some(version) = version.filter(|_| target.is_none()) {
        add("mcp-protocol-version", version);
    }
    if op == Op::Discover {
        add("mcp-method", "server/discover");
    }
    if let Some(session) = known.session.filter(|_| target.is_none() && op != Op::Probe) {
        add("mcp-session-id", session);
    }
    add("traceparent", &traceparent(&config.label, number));
    Request {
        method: op.method(),
        target: target.unwrap_or(&config.target).clone(),
        headers,
        body: body.map_or_else(Bytes::new, |message| Bytes::from(mcp::text_of(&message.json))),
    }
}

/// W3C trace context made of the client's label and the number of its request, sampled.
pub(super) fn traceparent(label: &str, number: u64) -> String {
    // FNV-1a over the label, then the finalizer of splitmix64 for each word: cheap, fixed, never all zero here.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in label.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let word = |index: u64| {
        let mut mixed = hash.wrapping_add((number * 4 + index).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    format!("00-{:016x}{:016x}-{:016x}-01", word(1), word(2), word(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_depends_on_label_and_number_only() {
        let first = traceparent("s1", 1);
        assert_eq!(first, traceparent("s1", 1));
        assert_eq!(first.len(), 55);
        assert_ne!(first, traceparent("s1", 2));
        assert_ne!(first, traceparent("s2", 1));
    }

    #[test]
    fn only_a_message_has_a_content_type_and_only_a_known_session_is_named() {
        let config = ClientConfig::new("s1", ([127, 0, 0, 1], 80).into());
        let names =
            |request: &Request| request.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" ");
        let known = |session| Known { session, bearer: "token", version: Some("2025-03-26") };
        let open = http_request(&config, Op::Open, 1, &known(None), Some(&Message::initialize(&config)));
        assert_eq!(names(&open), "accept authorization content-type mcp-protocol-version traceparent");
        let stream = http_request(&config, Op::Stream, 2, &known(Some("abc")), None);
        assert_eq!(names(&stream), "accept authorization mcp-protocol-version mcp-session-id traceparent");
    }

    #[test]
    fn a_person_in_the_console_speaks_of_an_execution_and_no_mcp() {
        let config = ClientConfig::new("s1", ([127, 0, 0, 1], 80).into());
        let ask = |op, action| {
            let known = Known { session: Some("own"), bearer: "token", version: Some("2025-03-26") };
            http_request(&config, op, 1, &known, Some(&Message::about("abc", "exec_1", action)))
        };
        let (look, decide) = (ask(Op::Look, None), ask(Op::Decide, Some("accept")));
        assert_eq!((look.method, &*look.target), ("GET", "/api/mcp-sessions/abc/executions/exec_1"));
        assert!(look.body.is_empty() && look.headers.iter().all(|(name, _)| !name.starts_with("mcp-")));
        assert_eq!((decide.method, &*decide.target), ("POST", "/api/mcp-sessions/abc/executions/exec_1/resume"));
        assert_eq!(decide.body, r#"{"action":"accept"}"#);
    }
}
