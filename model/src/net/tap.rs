//! What clients sent and got over HTTP, connection by connection, for whoever listens on their thread.
//!
//! It only listens: nothing is drawn, awaited or sent because of it, and without a listener nothing is kept. A
//! measurement plays what was heard again without the host, to know what the host costs.

use std::cell::RefCell;
use std::sync::Arc;

use super::http_client::Request;
use crate::rt;

/// One connection of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardConnection {
    /// Label of the client.
    pub label: Arc<str>,
    /// When it began to connect, in ms since the start of the run.
    pub at_ms: u64,
    /// When the client let it go; none while it holds it.
    pub closed_at_ms: Option<u64>,
    /// Its requests, in order.
    pub exchanges: Vec<HeardExchange>,
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardExchange {
    /// When it was given to the connection, in ms since the start of the run.
    pub sent_at_ms: u64,
    /// What was sent.
    pub request: Request,
    /// The head of the answer, if it came.
    pub head: Option<HeardHead>,
    /// The body of the answer, in the pieces in which it came.
    pub pieces: Vec<HeardPiece>,
    /// When the body ended; none for one that was not read to its end.
    pub ended_at_ms: Option<u64>,
}

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardHead {
    /// When it came, in ms since the start of the run.
    pub at_ms: u64,
    /// HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

/// A piece of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardPiece {
    /// When it came, in ms since the start of the run.
    pub at_ms: u64,
    /// Its length in bytes.
    pub byte_count: usize,
}

thread_local! {
    static HEARD: RefCell<Option<Vec<HeardConnection>>> = const { RefCell::new(None) };
}

/// Listens from now on to the clients of this thread.
pub fn listen() {
    HEARD.set(Some(Vec::new()));
}

/// Stops listening; what was heard, in the order in which connections began.
pub fn finish() -> Vec<HeardConnection> {
    HEARD.take().unwrap_or_default()
}

/// The place of a connection among those that are heard.
#[derive(Clone, Copy)]
pub(super) struct Tap(usize);

/// The place of an exchange.
#[derive(Clone, Copy)]
pub(super) struct ExchangeTap {
    connection: usize,
    exchange: usize,
}

impl Tap {
    /// A client begins to connect; none when nobody listens.
    pub(super) fn connect(label: &Arc<str>) -> Option<Tap> {
        HEARD.with_borrow_mut(|heard| {
            let heard = heard.as_mut()?;
            let label = Arc::clone(label);
            heard.push(HeardConnection { label, at_ms: rt::run_ms(), closed_at_ms: None, exchanges: Vec::new() });
            Some(Tap(heard.len() - 1))
        })
    }

    /// A request is given to the connection.
    pub(super) fn sent(self, request: &Request) -> ExchangeTap {
        let sent = HeardExchange {
            sent_at_ms: rt::run_ms(),
            request: request.clone(),
            head: None,
            pieces: Vec::new(),
            ended_at_ms: None,
        };
        let exchange = self.with(|connection| {
            connection.exchanges.push(sent);
            connection.exchanges.len() - 1
        });
        ExchangeTap { connection: self.0, exchange: exchange.unwrap_or_default() }
    }

    /// The client lets the connection go.
    pub(super) fn closed(self) {
        // A world is also taken down when nobody listens any more, and its clock is gone then.
        self.with(|connection| connection.closed_at_ms = Some(rt::run_ms()));
    }

    fn with<T>(self, change: impl FnOnce(&mut HeardConnection) -> T) -> Option<T> {
        HEARD.with_borrow_mut(|heard| heard.as_mut()?.get_mut(self.0).map(change))
    }
}

impl ExchangeTap {
    /// The head of the answer came.
    pub(super) fn head(self, status: u16, headers: &[(String, String)]) {
        self.with(|exchange| {
            exchange.head = Some(HeardHead { at_ms: rt::run_ms(), status, headers: headers.to_vec() });
        });
    }

    /// A piece of the body came.
    pub(super) fn piece(self, byte_count: usize) {
        self.with(|exchange| exchange.pieces.push(HeardPiece { at_ms: rt::run_ms(), byte_count }));
    }

    /// The body ended, or was cut.
    pub(super) fn ended(self) {
        self.with(|exchange| exchange.ended_at_ms = Some(rt::run_ms()));
    }

    fn with(self, change: impl FnOnce(&mut HeardExchange)) {
        Tap(self.connection).with(|connection| connection.exchanges.get_mut(self.exchange).map(change));
    }
}
