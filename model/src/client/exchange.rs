//! One POST or DELETE, and what it comes to.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value;

use super::answer::{Reading, read_answer};
use super::bare::Client;
use super::persona::{Listens, Retry};
use super::reading::{Progress, Told, is_success};
use super::wire::Message;
use super::{Answer, Asked, Cut, Op, Outcome, RequestOutcome};
use crate::net::timer::with_deadline;
use crate::rt;

/// What is sent.
pub(super) struct Exchange<'a> {
    pub(super) op: Op,
    pub(super) message: Option<&'a Message>,
    /// When the connection is dropped.
    pub(super) cut: Option<Cut>,
    /// The request that it carries on.
    pub(super) of: Option<u64>,
    /// When it is given up, in epoch ms.
    pub(super) deadline_ms: u64,
}

/// What it came to.
pub(super) struct Posted {
    /// Its number.
    pub(super) request: u64,
    /// The session that the client had when it was sent.
    pub(super) session: Option<String>,
    pub(super) outcome: RequestOutcome,
    /// The last event id of its body.
    pub(super) cursor: Option<String>,
    /// The server's `retry:` in ms, as far as the client keeps it.
    pub(super) hint_ms: Option<u64>,
    /// What a refusal said.
    pub(super) told: Told,
}

impl Client {
    pub(super) async fn exchange(self: &Rc<Self>, exchange: Exchange<'_>) -> Posted {
        let Exchange { op, message, cut, of, deadline_ms } = exchange;
        let label = &self.config.label;
        let ids = message.map_or(&[][..], |message| &message.ids);
        let (own, session) = (self.session(), self.told_session(op));
        let patience_ms = self.config.persona.map(|_| deadline_ms.saturating_sub(rt::now_ms()));
        let asked = Asked { op, ids, cursor: None, of, session: session.as_deref(), patience_ms };
        let request = self.observer.request_begin(label, &asked);
        let (cursor, own_hint) = (RefCell::default(), Cell::new(None));
        let hint_ms = self.shared_hint().unwrap_or(&own_hint);
        let progress = Progress::new(label, &*self.observer, &self.noticed, request, cut)
            .silent_after(self.silence_ms())
            .following(&cursor, hint_ms);
        self.habits.in_flight.set(self.habits.in_flight.get() + 1);
        let talk = self.talk(op, message, &progress);
        let outcome = match with_deadline(deadline_ms, progress.unless_cut(talk)).await {
            Some(outcome) => outcome,
            None => Outcome::GaveUp { waiting_for: progress.waiting_for() },
        };
        self.habits.in_flight.set(self.habits.in_flight.get() - 1);
        self.habits.settled.notify_waiters();
        let outcome = RequestOutcome { status: progress.status.get(), outcome };
        let told = progress.told.get();
        self.observer.request_end(label, request, &outcome);
        Posted { request, session: own, outcome, hint_ms: hint_ms.get(), cursor: cursor.take(), told }
    }

    /// Sends one request and reads its answer. Dropped in between, it drops the connection.
    async fn talk(self: &Rc<Self>, op: Op, message: Option<&Message>, progress: &Progress<'_>) -> Outcome {
        let http = self.request(op, message);
        let ids = message.map_or(&[][..], |message| &message.ids);
        let (lease, response) = match self.pool.send(&self.config, http).await {
            Ok(sent) => sent,
            Err(error) => return Outcome::Failed(error.text),
        };
        progress.status.set(Some(response.status));
        let session = response.header("mcp-session-id").map(str::to_owned);
        self.observer.request_head(&self.config.label, progress.request, response.status, session.as_deref());
        let listens_now = self.config.persona.is_some_and(|persona| persona.listens == Listens::AtHead);
        if op == Op::Open && listens_now && is_success(response.status) {
            self.session.borrow_mut().clone_from(&session);
            self.start_listening().await;
        }
        let Reading { outcome, complete } = read_answer(response, ids, progress).await;
        if let (Op::Open, Outcome::Answered(answer)) = (op, &outcome) {
            *self.session.borrow_mut() = session;
            self.habits.negotiated(answer);
        }
        if complete {
            lease.give_back();
        }
        outcome
    }

    /// The session that a request names, for the observer of a client with a persona.
    pub(super) fn told_session(&self, op: Op) -> Option<String> {
        let names_none = matches!(op, Op::Open | Op::Discover | Op::Probe | Op::Look | Op::Decide);
        self.config.persona.filter(|_| !names_none)?;
        self.session()
    }

    /// How long the client waits, for the observer of a client with a persona.
    pub(super) fn told_patience_ms(&self) -> Option<u64> {
        self.config.persona.map(|_| self.config.patience_ms())
    }

    /// Where the client keeps a `retry:` that holds for all its streams.
    pub(super) fn shared_hint(&self) -> Option<&Cell<Option<u64>>> {
        let is_shared = self.config.persona.is_some_and(|persona| persona.listener.retry == Retry::Everywhere);
        is_shared.then_some(&self.habits.hint_ms)
    }

    /// After how long of silence a body is given up, in ms.
    pub(super) fn silence_ms(&self) -> Option<u64> {
        self.config.persona.and_then(|persona| persona.silence_ms)
    }
}

/// The protocol version that an answer to `initialize` names.
pub(super) fn version_of(answer: &Answer) -> Option<String> {
    let Answer::Result(result) = answer else { return None };
    result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned)
}
