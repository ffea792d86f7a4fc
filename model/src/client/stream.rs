//! The standalone GET stream: held open, drained, and opened again when the server ends it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::answer::{Progress, is_success, look_at, notice, read_answer};
use super::bare::Client;
use super::{Op, Outcome, RequestOutcome, StreamEnd};
use crate::net::http_client::{BodyStream, HttpConnection, Response};
use crate::net::sim_io::Closer;
use crate::net::sse::{SseItem, SseParser};
use crate::net::timer::with_deadline;
use crate::rt;

/// Wait before a stream that ended is opened again, unless the server said `retry:`. Every client tried waits
/// one second or draws around it.
const REOPEN_AFTER_MS: u64 = 1000;
/// Attempts in a row that may fail without an answer; then the stream is given up, as the TypeScript client does.
const REOPEN_FAILURES_MAX: u32 = 2;

/// What a client knows of its stream.
#[derive(Default)]
pub(super) struct Listener {
    /// Counts the client's wishes; a task that belongs to an older one ends.
    wish: Cell<u64>,
    reopening_stopped: Cell<bool>,
    open: RefCell<Option<Open>>,
    cursor: RefCell<Option<String>>,
    retry_ms: Cell<Option<u64>>,
}

/// The stream that is open now.
struct Open {
    request: u64,
    closer: Closer,
}

/// The reading end of an open stream.
struct Held {
    request: u64,
    body: BodyStream,
    _connection: HttpConnection,
}

impl Listener {
    /// A stream that ends from now on stays closed.
    pub(super) fn stop_reopening(&self) {
        self.reopening_stopped.set(true);
    }
}

impl Client {
    /// Opens the GET stream and holds it in the background; one that is open is ended first.
    ///
    /// Returns when the head came. The error is the outcome of a request that did not become a stream.
    pub async fn stream(self: &Rc<Self>) -> Result<(), RequestOutcome> {
        self.end_stream();
        self.listener.reopening_stopped.set(false);
        *self.listener.cursor.borrow_mut() = None;
        self.listener.retry_ms.set(None);
        let wish = self.listener.wish.get();
        if let Some(held) = self.open_stream(wish).await? {
            rt::spawn("client.stream", Rc::clone(self).hold(held, wish));
        }
        Ok(())
    }

    /// Closes the GET stream, if one is open, and opens it no more.
    pub fn end_stream(&self) {
        self.listener.wish.set(self.listener.wish.get() + 1);
        if let Some(open) = self.listener.open.take() {
            open.closer.close();
            self.stream_ended(open.request, StreamEnd::Client, Outcome::Ended);
        }
    }

    /// True while a GET stream is open.
    pub fn holds_stream(&self) -> bool {
        self.listener.open.borrow().is_some()
    }

    /// One GET. `None` when the client stopped wanting it meanwhile.
    async fn open_stream(&self, wish: u64) -> Result<Option<Held>, RequestOutcome> {
        let label = &self.config.label;
        let request = self.observer.request_begin(label, Op::Stream);
        let progress = Progress::default();
        let opening = with_deadline(self.patience_ends_ms(), self.get(request, &progress)).await;
        let refused = match opening {
            Some(Ok((connection, body))) => {
                self.observer.stream_open(label, request);
                if self.listener.wish.get() != wish {
                    self.stream_ended(request, StreamEnd::Client, Outcome::Ended);
                    return Ok(None);
                }
                *self.listener.open.borrow_mut() = Some(Open { request, closer: connection.closer() });
                return Ok(Some(Held { request, body, _connection: connection }));
            }
            Some(Err(outcome)) => outcome,
            None => Outcome::GaveUp { waiting_for: progress.waiting_for() },
        };
        let outcome = RequestOutcome { status: progress.status.get(), outcome: refused };
        self.observer.request_end(label, request, &outcome);
        Err(outcome)
    }

    /// Connects, sends the GET, and gives the body if it is a stream.
    async fn get(&self, request: u64, progress: &Progress) -> Result<(HttpConnection, BodyStream), Outcome> {
        let failed = |text: String| Outcome::Failed(text);
        let mut http = self.request(Op::Stream, None);
        if let Some(cursor) = &*self.listener.cursor.borrow() {
            http.headers.push(("last-event-id".to_owned(), cursor.clone()));
        }
        let connecting = HttpConnection::connect(&self.config.label, "g", self.config.edge);
        let mut connection = connecting.await.map_err(|error| failed(error.to_string()))?;
        let response = connection.send(http).await.map_err(|error| failed(error.text))?;
        let Response { status, .. } = response;
        progress.status.set(Some(status));
        self.observer.request_head(&self.config.label, request, status, response.header("mcp-session-id"));
        if is_success(status) {
            return Ok((connection, response.body));
        }
        Err(read_answer(response, None, progress, &self.noticed).await.outcome)
    }

    /// Drains a stream and its successors until the client, or its habit, ends it.
    async fn hold(self: Rc<Self>, mut held: Held, wish: u64) {
        loop {
            let outcome = self.drain(&mut held.body).await;
            // Ended by the client: that was told when it happened.
            if self.listener.open.borrow().as_ref().is_none_or(|open| open.request != held.request) {
                return;
            }
            self.listener.open.take();
            self.stream_ended(held.request, StreamEnd::Server, outcome);
            drop(held);
            match self.reopen(wish).await {
                Some(next) => held = next,
                None => return,
            }
        }
    }

    async fn drain(&self, body: &mut BodyStream) -> Outcome {
        let mut parser = SseParser::default();
        while let Some(bytes) = body.next().await {
            let bytes = match bytes {
                Ok(bytes) => bytes,
                Err(text) => return Outcome::Failed(text),
            };
            for item in parser.feed(&bytes) {
                self.follow(&item);
                match look_at(item, &self.noticed) {
                    Ok(Some(_)) => notice(&self.noticed, |noticed| &mut noticed.messages),
                    Ok(None) => {}
                    Err(text) => return Outcome::Failed(text),
                }
            }
        }
        Outcome::Ended
    }

    /// Keeps what the next GET needs: the cursor and the wait.
    fn follow(&self, item: &SseItem) {
        let SseItem::Event(event) = item else { return };
        if let Some(id) = &event.id {
            // An empty id means that there is no cursor any more.
            *self.listener.cursor.borrow_mut() = Some(id.clone()).filter(|id| !id.is_empty());
        }
        if event.retry_ms.is_some() {
            self.listener.retry_ms.set(event.retry_ms);
        }
    }

    async fn reopen(&self, wish: u64) -> Option<Held> {
        let mut failures = 0;
        while self.config.reopen_stream && failures < REOPEN_FAILURES_MAX {
            rt::sleep_ms(self.listener.retry_ms.get().unwrap_or(REOPEN_AFTER_MS)).await;
            if self.listener.wish.get() != wish || self.listener.reopening_stopped.get() {
                return None;
            }
            match self.open_stream(wish).await {
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
