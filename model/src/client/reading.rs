//! What a client sees of a body while it reads: events and comments, and how far its request has come.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::Notify;

use super::{Answer, Brings, ClientObserver, Cut, Noticed, Outcome, SeenEvent};
use crate::net::http_client::BodyStream;
use crate::net::sse::{SseEvent, SseItem};
use crate::net::timer::with_deadline;
use crate::rt;

/// What the body of a refusal was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Told {
    /// No JSON-RPC error.
    #[default]
    Nothing,
    /// A JSON-RPC error with the id of the request.
    Own,
    /// A JSON-RPC error with another id, or none.
    Foreign,
}

/// A request while it is under way.
pub(super) struct Progress<'a> {
    client: &'a Arc<str>,
    observer: &'a dyn ClientObserver,
    noticed: &'a Cell<Noticed>,
    cut: Option<Cut>,
    /// Its number.
    pub(super) request: u64,
    /// Status, once the head came.
    pub(super) status: Cell<Option<u16>>,
    answered: Cell<bool>,
    events: Cell<u32>,
    more: Notify,
    /// The id of the last event that had one.
    pub(super) cursor: RefCell<Option<String>>,
    /// What the body of a refusal was.
    pub(super) told: Cell<Told>,
    /// A body is given up when nothing comes for so long, in ms.
    silence_ms: Option<u64>,
    /// Who is to have the answer as soon as it is there.
    waiting: Option<&'a dyn Fn(Answer)>,
    /// Where a held stream keeps its cursor and the wait before its next GET.
    followed: Option<Followed<'a>>,
}

/// Cursor and wait of a held stream.
type Followed<'a> = (&'a RefCell<Option<String>>, &'a Cell<Option<u64>>);

impl<'a> Progress<'a> {
    /// A request that has begun.
    pub(super) fn new(
        client: &'a Arc<str>,
        observer: &'a dyn ClientObserver,
        noticed: &'a Cell<Noticed>,
        request: u64,
        cut: Option<Cut>,
    ) -> Self {
        Progress {
            client,
            observer,
            noticed,
            cut,
            request,
            status: Cell::new(None),
            answered: Cell::new(false),
            events: Cell::new(0),
            more: Notify::new(),
            cursor: RefCell::default(),
            told: Cell::default(),
            silence_ms: None,
            waiting: None,
            followed: None,
        }
    }

    /// The same, which keeps what the next GET of a stream needs.
    pub(super) fn following(self, cursor: &'a RefCell<Option<String>>, retry_ms: &'a Cell<Option<u64>>) -> Self {
        Progress { followed: Some((cursor, retry_ms)), ..self }
    }

    /// The same, whose body is given up when nothing comes for so long.
    pub(super) fn silent_after(self, silence_ms: Option<u64>) -> Self {
        Progress { silence_ms, ..self }
    }

    /// The same, whose answer goes to `waiting` before the end of the body.
    pub(super) fn answering(self, waiting: &'a dyn Fn(Answer)) -> Self {
        Progress { waiting: Some(waiting), ..self }
    }

    /// Gives the answer to whoever waits for it.
    pub(super) fn answer(&self, answer: impl FnOnce() -> Option<Answer>) {
        if let Some((waiting, answer)) = self.waiting.and_then(|waiting| Some((waiting, answer()?))) {
            waiting(answer);
        }
    }

    /// The next bytes of a body; an error also when nothing came for too long.
    pub(super) async fn next_of(&self, body: &mut BodyStream) -> Option<Result<Bytes, String>> {
        let Some(silence_ms) = self.silence_ms else { return body.next().await };
        match with_deadline(rt::now_ms() + silence_ms, body.next()).await {
            Some(piece) => piece,
            None => Some(Err(format!("nothing came for {silence_ms} ms"))),
        }
    }

    /// What is still missing.
    pub(super) fn waiting_for(&self) -> &'static str {
        match (self.status.get(), self.answered.get()) {
            (None, _) => "head",
            (Some(_), false) => "answer",
            (Some(_), true) => "end of body",
        }
    }

    /// Says whether every answer is there.
    pub(super) fn set_answered(&self, answered: bool) {
        self.answered.set(answered);
    }

    /// Comes to an end when the client drops the connection; never if it was not told to.
    async fn cut(&self) {
        let Some(cut) = self.cut else { return std::future::pending().await };
        while self.events.get() < cut.after_events {
            self.more.notified().await;
        }
        rt::sleep_ms(cut.ms).await;
    }

    /// What comes first: the end of `talk`, or the cut.
    pub(super) async fn unless_cut(&self, talk: impl Future<Output = Outcome>) -> Outcome {
        let (mut talk, mut cut) = (std::pin::pin!(talk), std::pin::pin!(self.cut()));
        std::future::poll_fn(|cx| match talk.as_mut().poll(cx) {
            Poll::Pending => cut.as_mut().poll(cx).map(|()| Outcome::Cut),
            ready => ready,
        })
        .await
    }

    /// The message of one item, if it has one; tells and counts the rest. An error when it is not what MCP sends. What
    /// comes with the event at which the client leaves at once is not looked at any more.
    pub(super) async fn look_at(&self, item: SseItem) -> Result<Option<Value>, String> {
        let event = match item {
            SseItem::Comment(_) => {
                notice(self.noticed, |noticed| &mut noticed.comments);
                return Ok(None);
            }
            SseItem::TooLong => return Err("an event is too long".to_owned()),
            SseItem::Event(event) => event,
        };
        if self.cut.is_some_and(|cut| cut.ms == 0 && cut.after_events <= self.events.get()) {
            return std::future::pending().await;
        }
        let message = if is_priming(&event) { None } else { Some(message_of(&event)?) };
        let brings = match &message {
            None => Brings::Priming,
            Some(message) => match message.get("id").and_then(Value::as_str).filter(|_| is_response(message)) {
                Some(id) => Brings::Response(id),
                None => Brings::Message,
            },
        };
        self.observer.request_event(self.client, self.request, &SeenEvent { id: event.id.as_deref(), brings });
        if message.is_none() {
            notice(self.noticed, |noticed| &mut noticed.priming);
        }
        self.follow(&event);
        self.events.set(self.events.get() + 1);
        self.more.notify_one();
        Ok(message)
    }

    fn follow(&self, event: &SseEvent) {
        let (cursor, retry_ms) = self.followed.map_or((&self.cursor, None), |(cursor, wait)| (cursor, Some(wait)));
        if let Some(id) = &event.id {
            // An empty id means that there is no cursor any more.
            *cursor.borrow_mut() = Some(id.clone()).filter(|id| !id.is_empty());
        }
        if let Some(retry_ms) = retry_ms.filter(|_| event.retry_ms.is_some()) {
            retry_ms.set(event.retry_ms);
        }
    }

    /// Counts a message that nobody waited for.
    pub(super) fn count_message(&self) {
        notice(self.noticed, |noticed| &mut noticed.messages);
    }
}

/// True for 2xx.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
}

fn is_priming(event: &SseEvent) -> bool {
    event.event.as_deref() == Some("mcp-priming") || event.data.as_deref().unwrap_or_default().is_empty()
}

fn message_of(event: &SseEvent) -> Result<Value, String> {
    let data = event.data.as_deref().unwrap_or_default();
    serde_json::from_str(data).map_err(|error| format!("the data of an event is not JSON: {error}"))
}

/// Counts one more of something.
fn notice(noticed: &Cell<Noticed>, which: impl FnOnce(&mut Noticed) -> &mut u64) {
    let mut counts = noticed.get();
    *which(&mut counts) += 1;
    noticed.set(counts);
}
