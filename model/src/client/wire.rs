//! What a client puts on the wire: JSON-RPC messages, headers, trace context.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{ClientConfig, Op};
use crate::mcp;
use crate::net::http_client::Request;

/// JSON-RPC messages to be posted together.
pub(super) struct Message {
    /// The ids of the requests among them; a notification has none.
    pub(super) ids: Vec<String>,
    /// What is sent.
    pub(super) json: Value,
}

impl Message {
    /// `initialize`, always with the id `initialize`.
    pub(super) fn initialize(config: &ClientConfig) -> Message {
        let params = json!({
            "protocolVersion": config.protocol_version,
            "capabilities": {},
            "clientInfo": { "name": "bare", "version": "0.0.1" },
        });
        Message::request("initialize".to_owned(), "initialize", params)
    }

    /// `notifications/initialized`.
    pub(super) fn initialized() -> Message {
        Message { ids: Vec::new(), json: json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }) }
    }

    /// `tools/call` of the tool `execute`; of several ids a batch.
    pub(super) fn execute(mut ids: Vec<String>, code: &str) -> Message {
        let params = json!({ "name": "execute", "arguments": { "code": code } });
        let call = |id: &String| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        if ids.len() == 1 {
            return Message::request(ids.remove(0), "tools/call", params);
        }
        Message { json: Value::Array(ids.iter().map(call).collect()), ids }
    }

    /// `tools/call` of the tool `resume`.
    pub(super) fn resume(id: String, execution: &str, action: &str) -> Message {
        let arguments = json!({ "executionId": execution, "action": action });
        Message::request(id, "tools/call", json!({ "name": "resume", "arguments": arguments }))
    }

    /// `ping`.
    pub(super) fn ping(id: String) -> Message {
        Message { json: json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }), ids: vec![id] }
    }

    fn request(id: String, method: &str, params: Value) -> Message {
        let json = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Message { ids: vec![id], json }
    }
}

/// The HTTP request for `op`. `number` counts the client's requests, from 1; it makes the trace context.
pub(super) fn http_request(
    config: &ClientConfig,
    op: Op,
    number: u64,
    session: Option<&str>,
    message: Option<&Value>,
) -> Request {
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    match op {
        Op::Stream | Op::Recover => add("accept", "text/event-stream"),
        _ => add("accept", "application/json, text/event-stream"),
    }
    add("authorization", &format!("Bearer {}", config.bearer));
    if message.is_some() {
        add("content-type", "application/json");
    }
    add("mcp-protocol-version", &config.protocol_version);
    if let Some(session) = session {
        add("mcp-session-id", session);
    }
    add("traceparent", &traceparent(&config.label, number));
    Request {
        method: op.method(),
        target: config.target.clone(),
        headers,
        body: message.map_or_else(Bytes::new, |message| Bytes::from(mcp::text_of(message))),
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
        let open = http_request(&config, Op::Open, 1, None, Some(&Message::initialize(&config).json));
        assert_eq!(names(&open), "accept authorization content-type mcp-protocol-version traceparent");
        let stream = http_request(&config, Op::Stream, 2, Some("abc"), None);
        assert_eq!(names(&stream), "accept authorization mcp-protocol-version mcp-session-id traceparent");
    }
}
