//! What the client's tests need: an observer that logs, and a toy MCP edge on a machine of its own.

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Answer, Asked, Client, ClientConfig, ClientObserver, Habit, Outcome, RequestOutcome, SeenEvent, StreamEnd,
};
use crate::net::Reply;
use crate::net::testkit::{Latency, Toy, in_world, log, machine, on, toy_edge};
use crate::rt;

/// Writes what it is told into the log of the run.
#[derive(Default)]
pub(super) struct Logging {
    requests: Cell<u64>,
}

impl ClientObserver for Logging {
    fn request_begin(&self, client: &Arc<str>, asked: &Asked<'_>) -> u64 {
        let op = asked.op;
        let request = self.requests.get() + 1;
        self.requests.set(request);
        log(format_args!("{client} #{request} {} {}", op.method(), op.word()));
        request
    }

    /// What came is shown by the client's own counts.
    fn request_event(&self, _: &Arc<str>, _: u64, _: &SeenEvent<'_>) {}

    fn request_head(&self, client: &Arc<str>, request: u64, status: u16, session: Option<&str>) {
        log(format_args!("{client} #{request} head {status} {}", session.unwrap_or("-")));
    }

    fn request_end(&self, client: &Arc<str>, request: u64, outcome: &RequestOutcome) {
        let detail = match &outcome.outcome {
            Outcome::Answered(Answer::Result(value)) => value.to_string(),
            Outcome::Answered(Answer::Error(value)) => format!("error {value}"),
            Outcome::Answered(Answer::Empty) | Outcome::Ended | Outcome::Cut => String::new(),
            Outcome::Refused { error } => error.to_string(),
            Outcome::GaveUp { waiting_for } => (*waiting_for).to_owned(),
            Outcome::Failed(_) => "…".to_owned(),
        };
        log(format_args!("{client} #{request} {} {detail}", outcome.outcome.word()));
    }

    fn stream_open(&self, client: &Arc<str>, request: u64) {
        log(format_args!("{client} #{request} stream open"));
    }

    fn stream_end(&self, client: &Arc<str>, request: u64, by: StreamEnd) {
        log(format_args!("{client} #{request} stream end by {}", by.word()));
    }

    fn habit(&self, client: &Arc<str>, habit: Habit) {
        let more = match habit {
            Habit::GaveUp { op, why } | Habit::Skipped { op, why } => format!("{}: {why}", op.word()),
            Habit::Hung { request, ends, why } => {
                format!("#{request} {}: {why}", if ends { "to its time-out" } else { "for ever" })
            }
            Habit::Ended { why, .. } | Habit::Broke { why } => why.to_owned(),
            Habit::Renews => String::new(),
        };
        log(format_args!("{client} {} {more}", habit.word()));
    }
}

fn sse_headers() -> Vec<(String, String)> {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![header("content-type", "text/event-stream"), header("mcp-session-id", "sess-1")]
}

fn json_headers() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned())]
}

/// Writes `text` in pieces of five bytes, each a millisecond or more apart.
async fn write_slowly(reply: &Reply, text: String) {
    for piece in text.into_bytes().chunks(5) {
        reply.write(Bytes::copy_from_slice(piece));
        rt::sleep_ms(2).await;
    }
}

async fn answer_message(toy: Toy) {
    let message: Value = serde_json::from_slice(&toy.body).expect("the client posts JSON");
    let Some(id) = message.get("id").cloned() else {
        return toy.reply.full(202, Vec::new(), Bytes::new());
    };
    let code = message["params"]["arguments"]["code"].as_str().unwrap_or_default().to_owned();
    let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "ran": code } });
    match code.as_str() {
        "refuse" => {
            let error =
                json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32001, "message": "Session not found" } });
            toy.reply.full(404, json_headers(), error.to_string().into());
        }
        "json" => toy.reply.full(200, json_headers(), result.to_string().into()),
        "close" => {
            let mut headers = json_headers();
            headers.push(("connection".to_owned(), "close".to_owned()));
            toy.reply.full(200, headers, result.to_string().into());
        }
        "no-head" => rt::sleep_ms(3_000_000).await,
        "silent" => {
            toy.reply.head(200, sse_headers());
            rt::sleep_ms(3_000_000).await;
        }
        "no-end" => {
            toy.reply.head(200, sse_headers());
            toy.reply.write(format!("data: {result}\n\n").into());
            rt::sleep_ms(3_000_000).await;
        }
        "end" => {
            toy.reply.head(200, sse_headers());
            toy.reply.write(Bytes::from_static(b"event: mcp-priming\nid: p:1\ndata: {}\n\n"));
            toy.reply.end();
        }
        "error" => {
            toy.reply.head(200, sse_headers());
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": "Internal error" } });
            toy.reply.write(format!("data: {error}\n\n").into());
            toy.reply.end();
        }
        _ => {
            toy.reply.head(200, sse_headers());
            let priming = "event: mcp-priming\nid: p:1\ndata: {\"method\":\"notifications/message\"}\n\n";
            let other = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
            let text = format!("{priming}: keepalive\r\n\r\ndata: {other}\n\nid: p:2\ndata: {result}\n\n");
            write_slowly(&toy.reply, text).await;
            toy.reply.end();
        }
    }
}

async fn answer_stream(toy: Toy) {
    let cursor = toy.header("last-event-id").unwrap_or("-").to_owned();
    log(format_args!("edge stream of {} after {cursor}", toy.head.peer));
    match (toy.head.query.as_str(), cursor.as_str()) {
        ("ends", "-") => {
            toy.reply.head(200, sse_headers());
            toy.reply.write(Bytes::from_static(b": hello\n\nid: g:7\ndata: {}\n\n"));
            rt::sleep_ms(50).await;
            toy.reply.end();
        }
        ("ends", "g:7") => {
            toy.reply.head(200, sse_headers());
            toy.reply.write(Bytes::from_static(b"id: g:8\nretry: 300\ndata:\n\n"));
            rt::sleep_ms(50).await;
            // Dropped without an end: the body is cut.
        }
        ("ends", "g:8") => {
            toy.reply.head(200, sse_headers());
            rt::sleep_ms(3_000_000).await;
        }
        ("refused", _) => toy.reply.full(405, Vec::new(), Bytes::from_static(b"no stream here")),
        _ => {
            toy.reply.head(200, sse_headers());
            for _ in 0..1000 {
                rt::sleep_ms(25_000).await;
                toy.reply.write(Bytes::from_static(b": keepalive\n\n"));
            }
        }
    }
}

/// What the toy edge does with each request: the code of a call, or the query, says what.
pub(super) fn behave(toy: Toy) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        match toy.head.method.as_str() {
            "POST" => answer_message(toy).await,
            "GET" => answer_stream(toy).await,
            _ => toy.reply.full(200, Vec::new(), Bytes::new()),
        }
    })
}

/// A world with one toy edge; `story` runs on the clients' machine and is told the edge's address.
pub(super) fn world<F, Fut>(seed: u64, latency: Latency, story: F) -> Vec<String>
where
    F: FnOnce(SocketAddr) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    in_world(seed, latency, move || async move {
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        on(&clients, move || story(address)).await;
        edge.kill();
        clients.kill();
        rt::sleep_ms(1).await;
    })
}

/// A client as in the seed documents.
pub(super) fn client(label: &str, edge: SocketAddr) -> Rc<Client> {
    Client::new(ClientConfig::new(label, edge), Rc::new(Logging::default()))
}
