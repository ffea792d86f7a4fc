//! The client of the seed documents: plain requests, each waited for until its body ends.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::answer::{Reading, read_answer};
use super::pool::Pool;
use super::reading::Progress;
use super::recover::CutCall;
use super::stream::Listener;
use super::wire::{Known, Message, http_request};
use super::{Asked, ClientConfig, ClientObserver, Cut, Noticed, Op, Outcome, RequestOutcome};
use crate::net::http_client::Request;
use crate::net::stalls;
use crate::net::timer::with_deadline;
use crate::rt;

/// How a client makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallOptions {
    /// How many calls of the same code stand in its POST.
    pub copies: u32,
    /// When it drops the connection; what it came for can then be recovered.
    pub cut: Option<Cut>,
}

impl Default for CallOptions {
    fn default() -> Self {
        CallOptions { copies: 1, cut: None }
    }
}

/// One client and its session. Methods may overlap; each is one step of the client.
pub struct Client {
    pub(super) config: ClientConfig,
    pub(super) observer: Rc<dyn ClientObserver>,
    pub(super) listeners: RefCell<Vec<Rc<Listener>>>,
    pub(super) noticed: Cell<Noticed>,
    /// The call that was cut last and whose answers have not come since.
    pub(super) cut_call: RefCell<Option<CutCall>>,
    session: RefCell<Option<String>>,
    bearer: RefCell<String>,
    pool: Rc<Pool>,
    requests: Cell<u64>,
    ids: Cell<u64>,
}

impl Client {
    /// A client that has not connected yet.
    pub fn new(config: ClientConfig, observer: Rc<dyn ClientObserver>) -> Rc<Client> {
        Rc::new(Client {
            bearer: RefCell::new(config.bearer.clone()),
            config,
            observer,
            listeners: RefCell::default(),
            noticed: Cell::default(),
            cut_call: RefCell::default(),
            session: RefCell::default(),
            pool: Rc::default(),
            requests: Cell::new(0),
            ids: Cell::new(0),
        })
    }

    /// The session id that the server gave, if any.
    pub fn session(&self) -> Option<String> {
        self.session.borrow().clone()
    }

    /// From now on it presents this bearer token.
    pub fn present(&self, bearer: &str) {
        bearer.clone_into(&mut self.bearer.borrow_mut());
    }

    /// What came beside answers so far, over all streams.
    pub fn noticed(&self) -> Noticed {
        self.noticed.get()
    }

    /// Connections for POST that are open or being opened.
    pub fn open_connections(&self) -> usize {
        self.pool.len()
    }

    /// Opens a session: `initialize`, then, if that was answered, the `initialized` notification.
    ///
    /// Gives the outcome of the last of them.
    pub async fn open(&self) -> RequestOutcome {
        *self.session.borrow_mut() = None;
        let opened = self.exchange(Op::Open, Some(Message::initialize(&self.config)), None).await;
        if !matches!(opened.outcome, Outcome::Answered(_)) {
            return opened;
        }
        self.exchange(Op::Initialized, Some(Message::initialized()), None).await
    }

    /// Uses a session that somebody else opened.
    pub fn adopt(&self, session: String) {
        *self.session.borrow_mut() = Some(session);
    }

    /// Reads nothing of any answer for so long, in ms.
    pub fn stall(&self, ms: u64) {
        stalls::stall(&self.config.label, ms);
    }

    /// Runs `code` by the tool `execute`.
    pub async fn call(&self, code: &str, options: CallOptions) -> RequestOutcome {
        let ids = (0..options.copies.max(1)).map(|_| self.next_id()).collect();
        self.exchange(Op::Call, Some(Message::execute(ids, code)), options.cut).await
    }

    /// The same as [`Client::call`], recorded as a touch.
    pub async fn touch(&self, code: &str) -> RequestOutcome {
        self.exchange(Op::Touch, Some(Message::execute(vec![self.next_id()], code)), None).await
    }

    /// Takes up a paused execution by the tool `resume`, with what a person decided: `accept`, `decline` or `cancel`.
    pub async fn resume(&self, execution: &str, action: &str) -> RequestOutcome {
        self.exchange(Op::Resume, Some(Message::resume(self.next_id(), execution, action)), None).await
    }

    /// A person looks at a paused execution of a session, in the console.
    pub async fn look(&self, session: &str, execution: &str) -> RequestOutcome {
        self.exchange(Op::Look, Some(Message::about(session, execution, None)), None).await
    }

    /// A person decides about it there: `accept`, `decline` or `cancel`.
    pub async fn decide(&self, session: &str, execution: &str, action: &str) -> RequestOutcome {
        self.exchange(Op::Decide, Some(Message::about(session, execution, Some(action))), None).await
    }

    /// A JSON-RPC ping.
    pub async fn ping(&self) -> RequestOutcome {
        self.exchange(Op::Ping, Some(Message::ping(self.next_id())), None).await
    }

    /// Ends the session by DELETE. An open stream is left for the server to end, and not opened again.
    pub async fn close(&self) -> RequestOutcome {
        self.listeners.borrow().iter().for_each(|listener| listener.stop_reopening());
        self.exchange(Op::Close, None, None).await
    }

    /// The next HTTP request for `op`.
    pub(super) fn request(&self, op: Op, message: Option<&Message>) -> Request {
        let number = self.requests.get() + 1;
        self.requests.set(number);
        let (session, bearer) = (self.session.borrow(), self.bearer.borrow());
        http_request(&self.config, op, number, &Known { session: session.as_deref(), bearer: &bearer }, message)
    }

    /// The instant at which a request that begins now is given up.
    pub(super) fn patience_ends_ms(&self) -> u64 {
        rt::now_ms() + self.config.request_timeout_ms
    }

    fn next_id(&self) -> String {
        let number = self.ids.get() + 1;
        self.ids.set(number);
        format!("r{number}")
    }

    async fn exchange(&self, op: Op, message: Option<Message>, cut: Option<Cut>) -> RequestOutcome {
        let label = &self.config.label;
        let ids = message.as_ref().map_or(&[][..], |message| &message.ids);
        let request = self.observer.request_begin(label, &Asked { op, ids, cursor: None });
        let progress = Progress::new(label, &*self.observer, &self.noticed, request, cut);
        let talk = self.talk(op, message.as_ref(), &progress);
        let outcome = match with_deadline(self.patience_ends_ms(), progress.unless_cut(talk)).await {
            Some(outcome) => outcome,
            None => Outcome::GaveUp { waiting_for: progress.waiting_for() },
        };
        let outcome = RequestOutcome { status: progress.status.get(), outcome };
        if outcome.outcome == Outcome::Cut {
            *self.cut_call.borrow_mut() = Some(CutCall { ids: ids.to_vec(), cursor: progress.cursor.take() });
        }
        self.observer.request_end(label, request, &outcome);
        outcome
    }

    /// Sends one request and reads its answer. Dropped in between, it drops the connection.
    async fn talk(&self, op: Op, message: Option<&Message>, progress: &Progress<'_>) -> Outcome {
        let http = self.request(op, message);
        let ids = message.map_or(&[][..], |message| &message.ids);
        let (lease, response) = match self.pool.send(&self.config, http).await {
            Ok(sent) => sent,
            Err(error) => return Outcome::Failed(error.text),
        };
        progress.status.set(Some(response.status));
        let session = response.header("mcp-session-id").map(str::to_owned);
        self.observer.request_head(&self.config.label, progress.request, response.status, session.as_deref());
        let Reading { outcome, complete } = read_answer(response, ids, progress).await;
        if op == Op::Open && matches!(outcome, Outcome::Answered(_)) {
            *self.session.borrow_mut() = session;
        }
        if complete {
            lease.give_back();
        }
        outcome
    }
}
