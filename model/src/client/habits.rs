//! How a client with a persona comes and goes: handshake, its end by itself or by its person, another session on 404.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::sync::Notify;

use super::bare::Client;
use super::exchange::{Exchange, version_of};
use super::persona::{Deletes, Listens, Persona, Reaction, Renewal};
use super::reading::is_success;
use super::wire::Message;
use super::{Answer, Habit, Op, Outcome, RequestOutcome};
use crate::net::timer::with_deadline;
use crate::rt;

/// How long a client waits for the answer to `server/discover` before it opens a session all the same, in ms.
const DISCOVER_MS: u64 = 10_000;

/// What a client with a persona has to remember.
#[derive(Default)]
pub(super) struct Habits {
    /// The protocol version that was negotiated.
    pub(super) version: RefCell<Option<String>>,
    /// The server's `retry:` in ms, where one holds for all streams.
    pub(super) hint_ms: Cell<Option<u64>>,
    /// POSTs and DELETEs under way.
    pub(super) in_flight: Cell<u32>,
    /// Told whenever one of them ends, and when a renewal does.
    pub(super) settled: Notify,
    /// GETs under way for what calls lost, each with a number of its own.
    pub(super) recovering: RefCell<std::collections::BTreeSet<u32>>,
    /// Why nothing is sent any more, until it connects again.
    unusable: Cell<Option<&'static str>>,
    is_renewing: Cell<bool>,
}

impl Habits {
    /// Takes from the answer to `initialize` which version was negotiated.
    pub(super) fn negotiated(&self, answer: &Answer) {
        *self.version.borrow_mut() = version_of(answer);
    }
}

impl Client {
    /// Why it can be asked for nothing, if so.
    pub(super) fn why_unusable(&self) -> Option<&'static str> {
        self.habits.unusable.get().or_else(|| self.session().is_none().then_some("it has no session"))
    }

    /// Whether it has ended, was closed, or sends nothing any more.
    pub(super) fn is_unusable(&self) -> bool {
        self.habits.unusable.get().is_some()
    }

    /// Tells that it was asked for something that it cannot do.
    pub(super) fn skip(&self, op: Op, why: &'static str) -> RequestOutcome {
        self.observer.habit(&self.config.label, Habit::Skipped { op, why });
        RequestOutcome { status: None, outcome: Outcome::Failed(why.to_owned()) }
    }

    /// Connects as the persona does, the session that it had before left where it is.
    pub(super) async fn connect(self: &Rc<Self>, persona: &'static Persona) -> RequestOutcome {
        self.end_stream();
        self.forget_session();
        self.habits.unusable.set(None);
        if persona.probes {
            let (op, message) = (Op::Discover, Message::discover());
            let deadline_ms = rt::now_ms() + DISCOVER_MS;
            self.exchange(Exchange { op, message: Some(&message), cut: None, of: None, deadline_ms }).await;
        }
        for page in persona.asks_before {
            let (op, message) = (Op::Probe, Message::probe(*page));
            let deadline_ms = self.patience_ends_ms();
            self.exchange(Exchange { op, message: Some(&message), cut: None, of: None, deadline_ms }).await;
        }
        if persona.leaves_orphan {
            let outcome = self.open_session(persona, self.patience_ends_ms()).await;
            if self.session().is_none() {
                return outcome;
            }
        }
        let opened = self.open_session(persona, self.patience_ends_ms()).await;
        if !persona.lists || self.why_unusable().is_some() {
            return opened;
        }
        self.list(persona).await
    }

    /// Asks for the tools; a client that does so uses none that it was not told of.
    async fn list(self: &Rc<Self>, persona: &'static Persona) -> RequestOutcome {
        let message = Message::list();
        let deadline_ms = self.patience_ends_ms();
        let list = Exchange { op: Op::List, message: Some(&message), cut: None, of: None, deadline_ms };
        let listed = self.exchange(list).await.outcome;
        if !matches!(listed.outcome, Outcome::Answered(Answer::Result(_))) {
            self.end_client(persona, "it was told of no tools").await;
        }
        listed
    }

    /// `initialize`, `initialized` and the GET, in the persona's order. Without a session if it fails.
    async fn open_session(self: &Rc<Self>, persona: &'static Persona, deadline_ms: u64) -> RequestOutcome {
        self.forget_session();
        self.habits.version.take();
        let message = Message::initialize(&self.config);
        let open = Exchange { op: Op::Open, message: Some(&message), cut: None, of: None, deadline_ms };
        let opened = self.exchange(open).await.outcome;
        if !matches!(opened.outcome, Outcome::Answered(Answer::Result(_))) {
            // Its listener is there before the answer that it was opened for.
            if persona.listens == Listens::AtHead {
                self.end_stream();
            }
            self.forget_session();
            return opened;
        }
        if persona.listens == Listens::BeforeInitialized {
            self.start_listening().await;
        }
        let session = self.session();
        let deadline_ms = self.patience_ends_ms();
        let message = Message::initialized();
        let initialized = Exchange { op: Op::Initialized, message: Some(&message), cut: None, of: None, deadline_ms };
        let initialized = self.exchange(initialized).await.outcome;
        if !initialized.status.is_some_and(is_success) {
            self.end_client(persona, "its handshake failed").await;
            return initialized;
        }
        // Its person may have closed it meanwhile.
        if persona.listens == Listens::AfterInitialized && self.session() == session {
            self.start_listening().await;
        }
        initialized
    }

    /// It ends as a whole, by itself: its streams are closed, and some end their session.
    pub(super) async fn end_client(self: &Rc<Self>, persona: &'static Persona, why: &'static str) {
        if self.habits.unusable.replace(Some(why)).is_some() {
            return;
        }
        let deletes = persona.deletes == Deletes::Always && self.session().is_some();
        self.observer.habit(&self.config.label, Habit::Ended { why, deletes });
        self.end_stream();
        if deletes {
            self.delete(persona).await;
        }
        self.forget_session();
    }

    /// It has no session any more, and whoever asks for something of it leaves that.
    fn forget_session(&self) {
        self.session.take();
        self.habits.settled.notify_waiters();
    }

    /// Nothing is sent any more, and its session is still its own.
    pub(super) fn break_client(&self, why: &'static str) {
        if self.habits.unusable.replace(Some(why)).is_none() {
            self.observer.habit(&self.config.label, Habit::Broke { why });
        }
    }

    /// Its person closes it.
    pub(super) async fn leave(self: &Rc<Self>, persona: &'static Persona) -> RequestOutcome {
        if self.session().is_none() {
            return self.skip(Op::Close, self.why_unusable().unwrap_or("it has no session"));
        }
        self.listeners.borrow().iter().for_each(|listener| listener.stop_reopening());
        let outcome = match persona.deletes {
            Deletes::Never => RequestOutcome { status: None, outcome: Outcome::Ended },
            Deletes::Always | Deletes::WhenAsked => self.delete(persona).await,
        };
        self.end_stream();
        self.forget_session();
        self.habits.unusable.set(Some("it is closed"));
        outcome
    }

    async fn delete(self: &Rc<Self>, persona: &'static Persona) -> RequestOutcome {
        let deadline_ms = rt::now_ms() + persona.delete_timeout_ms.unwrap_or(self.config.patience_ms());
        self.exchange(Exchange { op: Op::Close, message: None, cut: None, of: None, deadline_ms }).await.outcome
    }

    /// Opens another session in place of `gone`, unless that was done already: whether there is one.
    pub(super) async fn renew(
        self: &Rc<Self>,
        persona: &'static Persona,
        renewal: Renewal,
        gone: Option<&str>,
    ) -> bool {
        while self.habits.is_renewing.get() {
            self.habits.settled.notified().await;
        }
        if self.session().as_deref() != gone {
            return self.session().is_some();
        }
        self.habits.is_renewing.set(true);
        let others = async {
            while self.habits.in_flight.get() > 0 {
                self.habits.settled.notified().await;
            }
        };
        with_deadline(rt::now_ms() + renewal.waits_ms, others).await;
        self.observer.habit(&self.config.label, Habit::Renews);
        if !renewal.keeps_streams {
            self.end_stream();
        }
        let patience_ms = self.config.patience_ms();
        let timeout_ms = renewal.initialize_timeout_ms.map_or(patience_ms, |ms| ms.min(patience_ms));
        self.open_session(persona, rt::now_ms() + timeout_ms).await;
        self.habits.is_renewing.set(false);
        self.habits.settled.notify_waiters();
        self.session().is_some()
    }

    /// What a request that was answered so does to its client.
    pub(super) fn reaction(persona: &Persona, status: Option<u16>, is_told: bool) -> Reaction {
        match status {
            None => persona.post.lost,
            Some(status) if persona.post.surfaces_errors && is_told && status != 404 => Reaction::Error,
            Some(status) => persona.post.of(status),
        }
    }
}
