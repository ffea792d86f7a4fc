//! What a client tells whoever drives it: its requests as they happen, its streams, and what it does by itself.

use std::sync::Arc;

use super::{Op, RequestOutcome};

/// Which side ended a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The server ended the body, or the connection broke.
    Server,
    /// The client closed its connection.
    Client,
}

impl StreamEnd {
    /// The word used in histories.
    pub fn word(self) -> &'static str {
        match self {
            StreamEnd::Server => "server",
            StreamEnd::Client => "client",
        }
    }
}

/// What a request asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What for.
    pub op: Op,
    /// JSON-RPC ids of the requests in its body.
    pub ids: &'a [String],
    /// The `last-event-id` that it sends.
    pub cursor: Option<&'a str>,
    /// The request that it carries on.
    pub of: Option<u64>,
    /// The session that it names; told of clients with a persona only, who may use several at once.
    pub session: Option<&'a str>,
    /// How long the client waits for the answer, in ms; told of clients with a persona only.
    pub patience_ms: Option<u64>,
}

/// One event of an event stream, as its reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenEvent<'a> {
    /// Its id, which is a cursor.
    pub id: Option<&'a str>,
    /// What it brings.
    pub brings: Brings<'a>,
}

/// What an event brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brings<'a> {
    /// A first cursor, or nothing.
    Priming,
    /// The response to the request of that JSON-RPC id.
    Response(&'a str),
    /// Any other message.
    Message,
}

impl Brings<'_> {
    /// The word used in histories.
    pub fn word(self) -> &'static str {
        match self {
            Brings::Priming => "priming",
            Brings::Response(_) => "response",
            Brings::Message => "message",
        }
    }
}

/// What a client does by itself that no request shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It opens a stream no more.
    GaveUp {
        /// What the stream was for.
        op: Op,
        /// Why.
        why: &'static str,
    },
    /// A request of it hangs: no answer can reach it any more.
    Hung {
        /// The request.
        request: u64,
        /// Whether it ends at its time-out, or never.
        ends: bool,
        /// Why.
        why: &'static str,
    },
    /// It ends as a whole.
    Ended {
        /// Why.
        why: &'static str,
        /// Whether it ends its session as well.
        deletes: bool,
    },
    /// Every later request of it fails without being sent.
    Broke {
        /// Why.
        why: &'static str,
    },
    /// It opens another session in place of one that is gone.
    Renews,
    /// It is asked for something that it cannot do any more.
    Skipped {
        /// What.
        op: Op,
        /// Why.
        why: &'static str,
    },
}

impl Habit {
    /// The word used in histories.
    pub fn word(self) -> &'static str {
        match self {
            Habit::GaveUp { .. } => "client.gave-up",
            Habit::Hung { .. } => "client.hung",
            Habit::Ended { .. } => "client.ended",
            Habit::Broke { .. } => "client.broke",
            Habit::Renews => "client.renews",
            Habit::Skipped { .. } => "client.skipped",
        }
    }
}

/// What a client says about its requests as they happen; called in order, must not call back.
pub trait ClientObserver {
    /// A request begins. The number returned names it in all further calls; unique in the run.
    fn request_begin(&self, client: &Arc<str>, asked: &Asked<'_>) -> u64;
    /// An event of its body came.
    fn request_event(&self, client: &Arc<str>, request: u64, event: &SeenEvent<'_>);
    /// The head of the answer came. `session` is its `mcp-session-id`.
    fn request_head(&self, client: &Arc<str>, request: u64, status: u16, session: Option<&str>);
    /// The request is over; once for each begin, for a held stream when it ends.
    fn request_end(&self, client: &Arc<str>, request: u64, outcome: &RequestOutcome);
    /// A GET stream is open; after its head.
    fn stream_open(&self, client: &Arc<str>, request: u64);
    /// An open GET stream ended; before its request's end.
    fn stream_end(&self, client: &Arc<str>, request: u64, by: StreamEnd);
    /// It does something by itself that no request shows.
    fn habit(&self, client: &Arc<str>, habit: Habit);
}
