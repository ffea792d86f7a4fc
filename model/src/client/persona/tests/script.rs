//! A server that answers GETs and calls as a script says, and what a client with a persona was seen to do there.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::client::persona::find;
use crate::client::toy::Logging;
use crate::client::{CallOptions, Client, ClientConfig, RequestOutcome};
use crate::net::testkit::{Latency, Toy, in_world, log, machine, on, toy_edge};
use crate::rt;

/// What the server does with a GET.
#[derive(Clone, Copy, Debug)]
pub(super) enum Get {
    /// A stream that ends cleanly after 50 ms, with this event id and `retry:` if there are any.
    Ends(Option<&'static str>, Option<u64>),
    /// The same, whose connection is lost.
    Breaks(Option<&'static str>),
    /// A stream that brings the answer to the call with the JSON-RPC id r1 after 50 ms, and ends.
    Answers,
    /// A stream on which nothing ever comes.
    Silent,
    /// A stream with a comment every 15 s.
    Lives,
    /// This status.
    Refuses(u16),
    /// The connection is lost before any answer.
    Unreached,
}

/// What the server does with a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    /// Answers it.
    Answers,
    /// Answers it with a JSON-RPC error on a primed stream.
    Errs,
    /// A stream with this event id, which ends cleanly or is lost after 50 ms.
    Ends(Option<&'static str>, bool),
    /// This status with a JSON-RPC error: with the id of the request, or null.
    Refuses(u16, bool),
    /// This status with plain text.
    RefusesInText(u16),
    /// The connection is lost before any answer.
    Lost,
    /// A primed stream on which no answer comes, only comments.
    Waits,
}

thread_local! {
    static GETS: RefCell<VecDeque<Get>> = const { RefCell::new(VecDeque::new()) };
    static CALLS: RefCell<VecDeque<Call>> = const { RefCell::new(VecDeque::new()) };
    static SESSIONS: RefCell<u32> = const { RefCell::new(0) };
}

/// A run: a client with that persona, a server with that script. GETs beyond it live on, calls beyond it are answered.
pub(super) fn run<F, Fut>(persona: &str, gets: &[Get], calls: &[Call], story: F) -> Seen
where
    F: FnOnce(Rc<Client>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let persona = find(persona).expect("a persona");
    let (gets, calls) = (gets.to_vec(), calls.to_vec());
    let lines = in_world(1, Latency::Calm, move || async move {
        GETS.set(gets.into());
        CALLS.set(calls.into());
        let (edge, clients) = (machine("edge", [10, 0, 0, 1]), machine("clients", [10, 0, 1, 1]));
        let address = toy_edge(&edge, false, behave).await;
        on(&clients, move || async move {
            let mut config = ClientConfig::new("s1", address);
            (config.persona, config.request_timeout_ms) = (Some(persona), 600_000);
            story(Client::new(config, Rc::new(Logging::default()))).await;
        })
        .await;
        edge.kill();
        clients.kill();
        rt::sleep_ms(1).await;
    });
    Seen(lines)
}

/// A call.
pub(super) async fn call(client: &Rc<Client>) -> RequestOutcome {
    client.call("return 1", CallOptions::default()).await
}

/// The log of a run.
pub(super) struct Seen(pub(super) Vec<String>);

impl Seen {
    /// When each line of the client with that text came, in ms, with the line.
    pub(super) fn at(&self, text: &str) -> Vec<(u64, &str)> {
        let own = self.0.iter().filter_map(|line| {
            let (at, rest) = line.split_once(' ')?;
            Some((at.parse().ok()?, rest))
        });
        own.filter(|(_, rest)| rest.starts_with("s1 ") && rest.contains(text)).collect()
    }

    /// How many lines of the client have that text.
    pub(super) fn count(&self, text: &str) -> usize {
        self.at(text).len()
    }

    /// The time from the end of a request, or of a stream, to each GET of that kind after it, in ms; the handshake left out.
    pub(super) fn waits(&self, kind: &str) -> Vec<u64> {
        let (mut last_ms, mut waits) = (None, Vec::new());
        let mut lines = self.at("");
        let first = lines.iter().position(|(_, line)| line.ends_with("GET stream")).unwrap_or(lines.len());
        for (at_ms, line) in lines.split_off(first) {
            if line.ends_with(&format!("GET {kind}")) {
                waits.extend(last_ms.map(|last_ms| at_ms - last_ms));
            } else if ["ended", "failed", "refused", "answered error"].iter().any(|word| line.contains(word)) {
                last_ms = Some(at_ms);
            }
        }
        waits
    }

    /// The cursors of the GETs, as the server saw them.
    pub(super) fn cursors(&self) -> Vec<&str> {
        self.0.iter().filter_map(|line| line.split_once("edge cursor ")).map(|(_, cursor)| cursor).collect()
    }
}

fn headers(kind: &str) -> Vec<(String, String)> {
    vec![("content-type".to_owned(), kind.to_owned())]
}

fn stream(toy: &Toy, id: Option<&str>, retry_ms: Option<u64>) {
    toy.reply.head(200, headers("text/event-stream"));
    let retry = retry_ms.map_or(String::new(), |ms| format!("retry: {ms}\n"));
    if let Some(id) = id {
        toy.reply.write(format!("id: {id}\n{retry}data:\n\n").into());
    } else if retry_ms.is_some() {
        toy.reply.write(format!("{retry}\n").into());
    }
}

async fn alive(toy: &Toy) {
    for _ in 0..1_000 {
        rt::sleep_ms(15_000).await;
        toy.reply.write(Bytes::from_static(b": keepalive\n\n"));
    }
}

async fn get(toy: Toy) {
    if toy.head.path != "/mcp" {
        log(format_args!("edge has no {}", toy.head.path));
        return toy.reply.full(404, Vec::new(), Bytes::new());
    }
    if toy.header("mcp-session-id").is_none() {
        log(format_args!("edge is asked without a session"));
        return toy.reply.full(400, Vec::new(), Bytes::new());
    }
    log(format_args!("edge cursor {}", toy.header("last-event-id").unwrap_or("-")));
    match GETS.with_borrow_mut(VecDeque::pop_front).unwrap_or(Get::Lives) {
        Get::Ends(id, retry_ms) => {
            stream(&toy, id, retry_ms);
            rt::sleep_ms(50).await;
            toy.reply.end();
        }
        Get::Breaks(id) => {
            stream(&toy, id, None);
            rt::sleep_ms(50).await;
        }
        Get::Answers => {
            stream(&toy, Some("r:9"), None);
            rt::sleep_ms(50).await;
            let answer = json!({ "jsonrpc": "2.0", "id": "r1", "result": { "late": true } });
            toy.reply.write(format!("id: r:10\ndata: {answer}\n\n").into());
            toy.reply.end();
        }
        Get::Silent => {
            stream(&toy, None, None);
            rt::sleep_ms(3_000_000).await;
        }
        Get::Lives => {
            stream(&toy, None, None);
            alive(&toy).await;
        }
        Get::Refuses(status) => toy.reply.full(status, Vec::new(), Bytes::from_static(b"no")),
        Get::Unreached => {}
    }
}

async fn execute(toy: Toy, id: Value) {
    let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "ran": true } });
    let error = json!({ "code": -32001, "message": "no" });
    match CALLS.with_borrow_mut(VecDeque::pop_front).unwrap_or(Call::Answers) {
        Call::Answers => toy.reply.full(200, headers("application/json"), result.to_string().into()),
        Call::Errs => {
            stream(&toy, Some("c:1"), None);
            let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            toy.reply.write(format!("id: c:2\ndata: {answer}\n\n").into());
            toy.reply.end();
        }
        Call::Ends(event, is_clean) => {
            stream(&toy, event, None);
            rt::sleep_ms(50).await;
            if is_clean {
                toy.reply.end();
            }
        }
        Call::Refuses(status, is_own) => {
            let id = if is_own { id } else { Value::Null };
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            toy.reply.full(status, headers("application/json"), body.to_string().into());
        }
        Call::RefusesInText(status) => toy.reply.full(status, headers("text/plain"), Bytes::from_static(b"no")),
        Call::Lost => {}
        Call::Waits => {
            stream(&toy, Some("c:1"), None);
            alive(&toy).await;
        }
    }
}

async fn post(toy: Toy) {
    let message: Value = serde_json::from_slice(&toy.body).expect("the client posts JSON");
    let Some(id) = message.get("id").cloned() else {
        let method = message["method"].as_str().unwrap_or("?");
        log(format_args!("edge got {method} {}", message["params"]["requestId"].as_str().unwrap_or("")));
        return toy.reply.full(202, Vec::new(), Bytes::new());
    };
    let version = toy.header("mcp-protocol-version").unwrap_or("-");
    match message["method"].as_str() {
        Some("initialize") => {
            let number = SESSIONS.with_borrow_mut(|number| {
                *number += 1;
                *number
            });
            log(format_args!("edge opens {number} for {}, said {version}", message["params"]["protocolVersion"]));
            let mut headers = headers("application/json");
            headers.push(("mcp-session-id".to_owned(), format!("sess-{number}")));
            let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "protocolVersion": "2025-11-25" } });
            toy.reply.full(200, headers, result.to_string().into());
        }
        Some("server/discover") => {
            log(format_args!("edge is probed, said {version}"));
            toy.reply.full(400, Vec::new(), Bytes::new());
        }
        Some("tools/list") => {
            log(format_args!("edge lists its tools"));
            let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [] } });
            toy.reply.full(200, headers("application/json"), result.to_string().into());
        }
        _ => {
            log(format_args!("edge called in {}, said {version}", toy.header("mcp-session-id").unwrap_or("-")));
            execute(toy, id).await;
        }
    }
}

fn behave(toy: Toy) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        match toy.head.method.as_str() {
            "POST" => post(toy).await,
            "GET" => get(toy).await,
            _ => toy.reply.full(200, Vec::new(), Bytes::new()),
        }
    })
}
