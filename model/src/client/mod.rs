//! Models of MCP clients over Streamable HTTP, with the habits that real ones show on the wire.
//!
//! A client opens a session, holds a GET stream, calls tools. It knows no plan and writes no history: whoever drives
//! it sees each request through a [`ClientObserver`]. [`bare`] is the client of the seed documents, a plain `fetch`. With a
//! [`persona`] it does by itself what a real client does: listens, resumes, opens another session, gives up, hangs.

mod answer;
pub mod bare;
mod conduct;
mod exchange;
mod follow;
mod habits;
mod listen;
mod observer;
pub mod persona;
mod pool;
mod reading;
mod recover;
mod stream;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

pub use bare::{CallOptions, Client};
pub use observer::{Asked, Brings, ClientObserver, Habit, SeenEvent, StreamEnd};
pub use persona::Persona;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;

/// Who a client is and how it behaves.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Name in the run; connections and decisions carry it.
    pub label: Arc<str>,
    /// Address of the edge.
    pub edge: SocketAddr,
    /// Path and query of the MCP endpoint.
    pub target: String,
    /// Account behind the bearer token.
    pub account: String,
    /// Organization behind the bearer token.
    pub organization: String,
    /// Bearer token that it begins with.
    pub bearer: String,
    /// Version asked for and sent in `mcp-protocol-version`.
    pub protocol_version: String,
    /// Milliseconds after which a request without an answer is given up.
    pub request_timeout_ms: u64,
    /// Whether a GET stream that the server ended is opened again.
    pub reopen_stream: bool,
    /// What it does by itself; nothing but that when absent.
    pub persona: Option<&'static Persona>,
}

impl ClientConfig {
    /// A client of the seed documents: `/mcp`, version 2025-03-26, 60 s, ended streams stay closed.
    pub fn new(label: &str, edge: SocketAddr) -> ClientConfig {
        ClientConfig {
            label: Arc::from(label),
            edge,
            target: "/mcp".to_owned(),
            account: String::new(),
            organization: String::new(),
            bearer: String::new(),
            protocol_version: "2025-03-26".to_owned(),
            request_timeout_ms: 60_000,
            reopen_stream: false,
            persona: None,
        }
    }

    /// How long it waits for an answer, in ms: as long as its persona does, unless its person loses patience before.
    pub fn patience_ms(&self) -> u64 {
        let own_ms = self.persona.and_then(|persona| persona.request_timeout_ms);
        own_ms.map_or(self.request_timeout_ms, |ms| ms.min(self.request_timeout_ms))
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `initialize`.
    Open,
    /// `notifications/initialized`.
    Initialized,
    /// The standalone GET.
    Stream,
    /// `tools/call` of `execute`.
    Call,
    /// `tools/call` of `resume`.
    Resume,
    /// A person looks at a paused execution, in the console.
    Look,
    /// A person decides about it there.
    Decide,
    /// `ping`.
    Ping,
    /// DELETE.
    Close,
    /// A call made only to see whether the session is still served.
    Touch,
    /// A GET that asks for what a call that was cut should have answered.
    Recover,
    /// `server/discover`, without a session.
    Discover,
    /// A GET that finds out who is there, without a session.
    Probe,
    /// `tools/list`.
    List,
    /// `notifications/cancelled`.
    Cancel,
}

impl Op {
    /// The word used in histories.
    pub fn word(self) -> &'static str {
        match self {
            Op::Open => "open",
            Op::Initialized => "initialized",
            Op::Stream => "stream",
            Op::Call => "call",
            Op::Resume => "resume",
            Op::Look => "look",
            Op::Decide => "decide",
            Op::Ping => "ping",
            Op::Close => "close",
            Op::Touch => "touch",
            Op::Recover => "recover",
            Op::Discover => "discover",
            Op::Probe => "probe",
            Op::List => "list",
            Op::Cancel => "cancel",
        }
    }

    /// The HTTP method it goes by.
    pub fn method(self) -> &'static str {
        match self {
            Op::Stream | Op::Recover | Op::Look | Op::Probe => "GET",
            Op::Close => "DELETE",
            _ => "POST",
        }
    }
}

/// How one HTTP request ended for its client.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestOutcome {
    /// HTTP status, if a head came.
    pub status: Option<u16>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The ways in which a request ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The answer came, and the body's end after it.
    Answered(Answer),
    /// The status was not 2xx. `error` is the JSON-RPC error of the body, else the body as JSON or text, else null.
    Refused {
        /// What the body said.
        error: Value,
    },
    /// The body ended, complete as HTTP, without an answer. Also a GET stream that either side ended.
    Ended,
    /// The client's patience ended; it dropped the connection.
    GaveUp {
        /// What was still missing: `head`, `answer` or `end of body` (the answer was there).
        waiting_for: &'static str,
    },
    /// The client dropped its connection in the middle, because it was told to.
    Cut,
    /// The connection failed or what came was not MCP.
    Failed(String),
}

impl Outcome {
    /// The word used in histories.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Answered(_) => "answered",
            Outcome::Refused { .. } => "refused",
            Outcome::Ended => "ended",
            Outcome::GaveUp { .. } => "gave-up",
            Outcome::Cut => "cut",
            Outcome::Failed(_) => "failed",
        }
    }
}

/// The content of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// `result` of the JSON-RPC response; of several calls in one POST an array, in their order.
    Result(Value),
    /// `error` of the JSON-RPC response; of several calls the first.
    Error(Value),
    /// A 2xx to a message that has no response.
    Empty,
}

/// When a client drops the connection of a request: so many events have come, and then so much time has gone by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Events of the body; 0 counts the time from the request's begin.
    pub after_events: u32,
    /// Milliseconds.
    pub ms: u64,
}

/// What a client saw beside answers; it acts on none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// Events of type `mcp-priming`, and events without data.
    pub priming: u64,
    /// Comment lines (keepalives).
    pub comments: u64,
    /// Messages that were not the answer waited for.
    pub messages: u64,
}
