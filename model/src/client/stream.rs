//! Standalone GET streams: held open, drained, and opened again when the server ends them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::answer::{read_answer, read_stream};
use super::bare::Client;
use super::reading::{Progress, is_success};
use super::{Asked, Op, Outcome, RequestOutcome, StreamEnd};
use crate::net::http_client::{BodyStream, HttpConnection, Response};
use crate::net::sim_io::Closer;
use crate::net::timer::with_deadline;
use crate::rt;

/// Wait before a stream that ended is opened again, unless the server said `retry:`. Every client tried waits
/// one second or draws around it.
const REOPEN_AFTER_MS: u64 = 1000;
/// Attempts in a row that may fail without an answer; then the stream is given up, as the TypeScript client does.
const REOPEN_FAILURES_MAX: u32 = 2;

/// What a client knows of one of its streams.
pub(super) struct Listener {
    /// Name of its connections.
    lane: String,
    /// The session that it is of, where that is not always the client's own.
    pub(super) session: Option<String>,
    unwanted: Cell<bool>,
    reopening_stopped: Cell<bool>,
    open: RefCell<Option<Open>>,
    pub(super) cursor: RefCell<Option<String>>,
    pub(super) retry_ms: Cell<Option<u64>>,
}

/// The stream that is open now.
struct Open {
    request: u64,
    closer: Closer,
}

/// The reading end of an open stream.
pub(super) struct Held {
    request: u64,
    body: BodyStream,
    connection: HttpConnection,
}

impl Listener {
    /// The n-th stream that a client wants at once, from 0.
    pub(super) fn new(number: usize, session: Option<String>) -> Rc<Self> {
        let lane = if number == 0 { "g".to_owned() } else { format!("g{}", number + 1) };
        Rc::new(Listener {
            lane,
            session,
            unwanted: Cell::new(false),
            reopening_stopped: Cell::new(false),
            open: RefCell::default(),
            cursor: RefCell::default(),
            retry_ms: Cell::new(None),
        })
    }

    /// A stream that ends from now on stays closed.
    pub(super) fn stop_reopening(&self) {
        self.reopening_stopped.set(true);
    }

    /// Whether no GET is to follow.
    pub(super) fn is_over(&self) -> bool {
        self.unwanted.get() || self.reopening_stopped.get()
    }
}

impl Client {
    /// Opens a GET stream and holds it in the background; those that are open are ended first, unless it is to stand
    /// `beside` them.
    ///
    /// Returns when the head came. The error is the outcome of a request that did not become a stream.
    pub async fn stream(self: &Rc<Self>, beside: bool) -> Result<(), RequestOutcome> {
        if !beside {
            self.end_stream();
        }
        let listener = Listener::new(self.listeners.borrow().len(), None);
        self.listeners.borrow_mut().push(Rc::clone(&listener));
        if let Some(held) = self.open_stream(&listener).await? {
            rt::spawn("client.stream", Rc::clone(self).hold(listener, held));
        }
        Ok(())
    }

    /// Closes every GET stream that is open, and opens them no more.
    pub fn end_stream(&self) {
        for listener in self.listeners.take() {
            listener.unwanted.set(true);
            if let Some(open) = listener.open.take() {
                open.closer.close();
                self.stream_ended(open.request, StreamEnd::Client, Outcome::Ended);
            }
        }
    }

    /// True while a GET stream is open.
    pub fn holds_stream(&self) -> bool {
        self.listeners.borrow().iter().any(|listener| listener.open.borrow().is_some())
    }

    /// One GET. `None` when the client stopped wanting it meanwhile.
    pub(super) async fn open_stream(&self, listener: &Listener) -> Result<Option<Held>, RequestOutcome> {
        let label = &self.config.label;
        let cursor = listener.cursor.borrow().clone();
        let (session, patience_ms) = (listener.session.as_deref(), self.told_patience_ms());
        let asked = Asked { op: Op::Stream, ids: &[], cursor: cursor.as_deref(), of: None, session, patience_ms };
        let request = self.observer.request_begin(label, &asked);
        let progress = Progress::new(label, &*self.observer, &self.noticed, request, None);
        let opening = self.get(listener, cursor.as_deref(), &progress);
        let refused = match with_deadline(self.patience_ends_ms(), opening).await {
            Some(Ok((connection, body))) => {
                self.observer.stream_open(label, request);
                if listener.unwanted.get() {
                    self.stream_ended(request, StreamEnd::Client, Outcome::Ended);
                    return Ok(None);
                }
                *listener.open.borrow_mut() = Some(Open { request, closer: connection.closer() });
                return Ok(Some(Held { request, body, connection }));
            }
            Some(Err(outcome)) => outcome,
            None => Outcome::GaveUp { waiting_for: progress.waiting_for() },
        };
        let outcome = RequestOutcome { status: progress.status.get(), outcome: refused };
        self.observer.request_end(label, request, &outcome);
        Err(outcome)
    }

    /// Connects, sends the GET, and gives the body if it is a stream.
    async fn get(
        &self,
        listener: &Listener,
        cursor: Option<&str>,
        progress: &Progress<'_>,
    ) -> Result<(HttpConnection, BodyStream), Outcome> {
        let failed = |text: String| Outcome::Failed(text);
        let mut http = match listener.session.as_deref() {
            Some(session) => self.request_in(Some(session), Op::Stream, None),
            None => self.request(Op::Stream, None),
        };
        http.headers.extend(cursor.map(|cursor| ("last-event-id".to_owned(), cursor.to_owned())));
        let connecting = HttpConnection::connect(&self.config.label, &listener.lane, self.config.edge);
        let mut connection = connecting.await.map_err(|error| failed(error.to_string()))?;
        let response = connection.send(http).await.map_err(|error| failed(error.text))?;
        let Response { status, .. } = response;
        progress.status.set(Some(status));
        let session = response.header("mcp-session-id");
        self.observer.request_head(&self.config.label, progress.request, status, session);
        if is_success(status) {
            return Ok((connection, response.body));
        }
        Err(read_answer(response, &[], progress).await.outcome)
    }

    /// Drains a stream and its successors until the client, or its habit, ends it.
    async fn hold(self: Rc<Self>, listener: Rc<Listener>, held: Held) {
        let mut next = Some(held);
        while let Some(held) = next {
            if self.drain(&listener, held).await.is_none() {
                return;
            }
            next = self.reopen(&listener).await;
        }
    }

    /// Reads a stream to its end. Nothing if the client itself ended it; that was told when it happened.
    pub(super) async fn drain(&self, listener: &Listener, held: Held) -> Option<Outcome> {
        let Held { request, body, connection } = held;
        let progress = Progress::new(&self.config.label, &*self.observer, &self.noticed, request, None)
            .silent_after(self.silence_ms())
            .following(&listener.cursor, self.shared_hint().unwrap_or(&listener.retry_ms));
        let outcome = read_stream(body, &[], &progress).await.outcome;
        if listener.open.borrow().as_ref().is_none_or(|open| open.request != request) {
            return None;
        }
        listener.open.take();
        self.stream_ended(request, StreamEnd::Server, outcome.clone());
        drop(connection);
        Some(outcome)
    }

    async fn reopen(&self, listener: &Listener) -> Option<Held> {
        let mut failures = 0;
        while self.config.reopen_stream && failures < REOPEN_FAILURES_MAX {
            rt::sleep_ms(listener.retry_ms.get().unwrap_or(REOPEN_AFTER_MS)).await;
            if listener.unwanted.get() || listener.reopening_stopped.get() {
                return None;
            }
            match self.open_stream(listener).await {
                Ok(held) => return held,
                Err(outcome) if outcome.status.is_some() => return None,
                Err(_) => failures += 1,
            }
        }
        None
    }

    fn stream_ended(&self, request: u64, by: StreamEnd, outcome: Outcome) {
        self.observer.stream_end(&self.config.label, request, by);
        let outcome = RequestOutcome { status: Some(200), outcome };
        self.observer.request_end(&self.config.label, request, &outcome);
    }
}
