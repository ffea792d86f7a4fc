//! Words of the protocol: JSON-RPC messages and codes, header names, and the frames between an object and its bridge.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Protocol versions that the server speaks, latest first.
pub const PROTOCOL_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The body is not JSON, or not JSON-RPC.
pub const PARSE_ERROR: i64 = -32700;
/// A request that must not be made so.
pub const INVALID_REQUEST: i64 = -32600;
/// No handler for the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Parameters that a method cannot take.
pub const INVALID_PARAMS: i64 = -32602;
/// A handler failed.
pub const INTERNAL_ERROR: i64 = -32603;
/// General error of the HTTP transport.
pub const TRANSPORT_ERROR: i64 = -32000;
/// What the edge answers about sessions; the HTTP status tells the cases apart.
pub const SESSION_ERROR: i64 = -32001;
/// The session belongs to somebody else.
pub const FOREIGN_SESSION: i64 = -32003;

/// Header of the session id.
pub const SESSION_ID_HEADER: &str = "mcp-session-id";
/// Header of the negotiated protocol version.
pub const PROTOCOL_VERSION_HEADER: &str = "mcp-protocol-version";
/// Header of the cursor of a stream that a GET resumes.
pub const LAST_EVENT_ID_HEADER: &str = "last-event-id";
/// Internal header: the client's method, on the upgrade that opens a bridge's socket.
pub const METHOD_HEADER: &str = "cf-mcp-method";
/// Internal header: base64 of the client's JSON-RPC messages.
pub const MESSAGE_HEADER: &str = "cf-mcp-message";

/// The version for a session: the one asked for if the server speaks it, else its latest.
pub fn negotiated_version(requested: Option<&str>) -> &'static str {
    let spoken = PROTOCOL_VERSIONS.into_iter().find(|version| Some(*version) == requested);
    spoken.unwrap_or(PROTOCOL_VERSIONS[0])
}

/// True for a message that wants an answer.
pub fn is_request(message: &Value) -> bool {
    message["method"].is_string() && (message["id"].is_string() || message["id"].is_number())
}

/// True for a JSON-RPC message: a request, a notification or an answer.
pub fn is_message(message: &Value) -> bool {
    message["jsonrpc"] == "2.0" && (message["method"].is_string() || is_response(message))
}

/// True for the request that opens a session.
pub fn is_initialize(message: &Value) -> bool {
    message["method"] == "initialize"
}

/// True for an answer, result or error.
pub fn is_response(message: &Value) -> bool {
    message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
}

/// The answer with a result.
pub fn result_response(id: &Value, result: Value) -> Value {
    // Not `json!`, which copies what it is given.
    let members = [("jsonrpc", Value::from("2.0")), ("id", id.clone()), ("result", result)];
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A value as compact JSON text. Its `Display` writes the same through a formatter, at twice the cost.
pub fn text_of(value: &Value) -> String {
    serde_json::to_string(value).expect("JSON values are plain data")
}

/// The same of an array of values.
pub fn text_of_all(values: &[Value]) -> String {
    serde_json::to_string(values).expect("JSON values are plain data")
}

/// Bytes of a value as compact JSON text.
pub fn text_length(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("JSON values are plain data");
    count.0
}

/// The answer with an error.
pub fn error_response(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// A text frame on the socket between an object and the bridge of a client's request: a line of JSON, and below it the
/// SSE text, if there is one. The original puts the SSE text into the JSON; nobody but these two ever sees it, and JSON
/// within text within JSON is half the work of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Frame {
    /// Object to bridge: bytes for the client's SSE body.
    #[serde(rename = "cf_mcp_agent_event")]
    AgentEvent {
        /// The SSE text: one event with its `id:` line if it can be replayed, or a comment.
        #[serde(skip)]
        event: String,
        /// Id of the stored event.
        #[serde(skip_serializing_if = "Option::is_none")]
        event_id: Option<String>,
        /// Stream of the stored event.
        #[serde(skip_serializing_if = "Option::is_none")]
        stream_id: Option<String>,
        /// Streams whose delivery this frame completes; absent means `stream_id`.
        #[serde(skip_serializing_if = "Option::is_none")]
        ack_stream_ids: Option<Vec<String>>,
        /// The client's body ends after this frame.
        close: bool,
    },
    /// Bridge to object: the client was still attached when everything of this stream was written and its body ended.
    #[serde(rename = "cf_mcp_delivery_ack")]
    DeliveryAck {
        /// Id of the last event, if the frame that ended the body had one.
        #[serde(skip_serializing_if = "Option::is_none")]
        event_id: Option<String>,
        /// The delivered stream.
        stream_id: String,
    },
}

/// What a frame of any kind may have. Read in one go: a tagged enum would be read into pieces first, and these again.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyFrame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    event_id: Option<String>,
    stream_id: Option<String>,
    ack_stream_ids: Option<Vec<String>>,
    #[serde(default)]
    close: bool,
}

impl Frame {
    /// The frame of a text; none if it is of no known kind.
    pub fn parse(text: &str) -> Option<Frame> {
        let (line, event) = text.split_once('\n').unwrap_or((text, ""));
        let AnyFrame { kind, event_id, stream_id, ack_stream_ids, close } = serde_json::from_str(line).ok()?;
        let event = event.to_owned();
        match &*kind {
            "cf_mcp_agent_event" => Some(Frame::AgentEvent { event, event_id, stream_id, ack_stream_ids, close }),
            "cf_mcp_delivery_ack" => Some(Frame::DeliveryAck { event_id, stream_id: stream_id? }),
            _ => None,
        }
    }

    /// The frame as text.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a frame is plain JSON");
        if let Frame::AgentEvent { event, .. } = self {
            text.push('\n');
            text.push_str(event);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_the_words_of_the_original_and_comes_back_the_same() {
        let frame = Frame::AgentEvent {
            event: ": replay-complete\n\n".to_owned(),
            event_id: None,
            stream_id: None,
            ack_stream_ids: Some(vec!["c7".to_owned()]),
            close: true,
        };
        let text =
            concat!(r#"{"type":"cf_mcp_agent_event","ackStreamIds":["c7"],"close":true}"#, "\n: replay-complete\n\n");
        assert_eq!(frame.to_text(), text);
        assert_eq!(Frame::parse(text), Some(frame));
        let ack = r#"{"type":"cf_mcp_delivery_ack","streamId":"c7"}"#;
        assert_eq!(Frame::parse(ack), Some(Frame::DeliveryAck { event_id: None, stream_id: "c7".to_owned() }));
        assert_eq!(Frame::parse(r#"{"type":"other"}"#), None);
    }

    #[test]
    fn messages_are_told_apart_by_method_and_id() {
        let request = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let response = error_response(&json!("a"), METHOD_NOT_FOUND, "Method not found");
        let kinds = [&request, &notification, &response].map(|message| (is_request(message), is_response(message)));
        assert_eq!(kinds, [(true, false), (false, false), (false, true)]);
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_latest() {
        assert_eq!(negotiated_version(Some("2025-03-26")), "2025-03-26");
        assert_eq!(negotiated_version(Some("2026-07-28")), "2025-11-25");
        assert_eq!(negotiated_version(None), "2025-11-25");
    }
}
