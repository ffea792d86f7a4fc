//! What the edge answers when there is no stream: JSON-RPC errors with their statuses and headers.

use std::rc::Rc;

use serde_json::json;

use super::exchange::Exchange;
use crate::mcp;
use crate::session::failure::Reset;

/// Seconds that every 503 asks the client to wait.
const RETRY_AFTER_S: &str = "2";

/// A header.
pub(super) fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Answers with a JSON-RPC error, id null.
pub(super) fn refuse(exchange: &Rc<Exchange>, status: u16, code: i64, message: &str) {
    refuse_with(exchange, status, code, message, Vec::new());
}

/// The same with more headers.
pub(super) fn refuse_with(exchange: &Rc<Exchange>, status: u16, code: i64, message: &str, more: Vec<(String, String)>) {
    let mut headers = vec![header("content-type", "application/json"), header("access-control-allow-origin", "*")];
    if status == 503 {
        headers.push(header("retry-after", RETRY_AFTER_S));
    }
    headers.extend(more);
    let body = json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": null});
    exchange.answer(status, headers, body.to_string());
}

/// Answers a recognised platform failure by its disposition.
pub(super) fn answer_reset(exchange: &Rc<Exchange>, reset: Reset) {
    if reset.disposition == "session_dead" {
        refuse(exchange, 404, mcp::SESSION_ERROR, "Session timed out, please reconnect");
    } else {
        refuse(exchange, 503, mcp::SESSION_ERROR, "MCP session is restarting, please retry");
    }
}

/// Answers `OPTIONS`.
pub(super) fn answer_options(exchange: &Rc<Exchange>) {
    let headers = vec![
        header("access-control-allow-origin", "*"),
        header("access-control-allow-methods", "GET, POST, DELETE, OPTIONS"),
        header(
            "access-control-allow-headers",
            "content-type, authorization, mcp-session-id, accept, mcp-protocol-version",
        ),
        header("access-control-expose-headers", "mcp-session-id, WWW-Authenticate"),
    ];
    exchange.answer(204, headers, String::new());
}
