//! The client of the seed documents: plain requests, each waited for until its body ends.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::exchange::Exchange;
use super::habits::Habits;
use super::pool::Pool;
use super::recover::CutCall;
use super::stream::Listener;
use super::wire::{Known, Message, http_request};
use super::{ClientConfig, ClientObserver, Cut, Noticed, Op, Outcome, RequestOutcome};
use crate::net::http_client::Request;
use crate::net::stalls;
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
    /// What its persona has to remember.
    pub(super) habits: Habits,
    pub(super) session: RefCell<Option<String>>,
    bearer: RefCell<String>,
    pub(super) pool: Rc<Pool>,
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
            habits: Habits::default(),
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
    pub async fn open(self: &Rc<Self>) -> RequestOutcome {
        if let Some(persona) = self.config.persona {
            return self.connect(persona).await;
        }
        *self.session.borrow_mut() = None;
        let opened = self.plain(Op::Open, Some(&Message::initialize(&self.config)), None).await;
        if !matches!(opened.outcome, Outcome::Answered(_)) {
            return opened;
        }
        self.plain(Op::Initialized, Some(&Message::initialized()), None).await
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
    pub async fn call(self: &Rc<Self>, code: &str, options: CallOptions) -> RequestOutcome {
        // No real client posts several calls together.
        let copies = if self.config.persona.is_some() { 1 } else { options.copies.max(1) };
        let ids = (0..copies).map(|_| self.next_id()).collect();
        self.ask(Op::Call, &Message::execute(ids, code), options.cut).await
    }

    /// The same as [`Client::call`], recorded as a touch.
    pub async fn touch(self: &Rc<Self>, code: &str) -> RequestOutcome {
        self.ask(Op::Touch, &Message::execute(vec![self.next_id()], code), None).await
    }

    /// Takes up a paused execution by the tool `resume`, with what a person decided: `accept`, `decline` or `cancel`.
    pub async fn resume(self: &Rc<Self>, execution: &str, action: &str) -> RequestOutcome {
        self.ask(Op::Resume, &Message::resume(self.next_id(), execution, action), None).await
    }

    /// A person looks at a paused execution of a session, in the console.
    pub async fn look(self: &Rc<Self>, session: &str, execution: &str) -> RequestOutcome {
        self.plain(Op::Look, Some(&Message::about(session, execution, None)), None).await
    }

    /// A person decides about it there: `accept`, `decline` or `cancel`.
    pub async fn decide(self: &Rc<Self>, session: &str, execution: &str, action: &str) -> RequestOutcome {
        self.plain(Op::Decide, Some(&Message::about(session, execution, Some(action))), None).await
    }

    /// A JSON-RPC ping.
    pub async fn ping(self: &Rc<Self>) -> RequestOutcome {
        self.ask(Op::Ping, &Message::ping(self.next_id()), None).await
    }

    /// Ends the session by DELETE. An open stream is left for the server to end, and not opened again. A persona closes
    /// its streams, and some leave their session behind.
    pub async fn close(self: &Rc<Self>) -> RequestOutcome {
        if let Some(persona) = self.config.persona {
            return self.leave(persona).await;
        }
        self.listeners.borrow().iter().for_each(|listener| listener.stop_reopening());
        self.plain(Op::Close, None, None).await
    }

    /// The next HTTP request for `op`.
    pub(super) fn request(&self, op: Op, message: Option<&Message>) -> Request {
        let session = self.session.borrow();
        self.request_in(session.as_deref(), op, message)
    }

    /// The same in that session, or in none.
    pub(super) fn request_in(&self, session: Option<&str>, op: Op, message: Option<&Message>) -> Request {
        let number = self.requests.get() + 1;
        self.requests.set(number);
        let (bearer, negotiated) = (self.bearer.borrow(), self.habits.version.borrow());
        let version = match self.config.persona {
            None => Some(self.config.protocol_version.as_str()),
            Some(persona) => negotiated.as_deref().filter(|_| persona.says_version && op != Op::Open),
        };
        http_request(&self.config, op, number, &Known { session, bearer: &bearer, version }, message)
    }

    /// The instant at which a request that begins now is given up.
    pub(super) fn patience_ends_ms(&self) -> u64 {
        rt::now_ms() + self.config.patience_ms()
    }

    fn next_id(&self) -> String {
        let number = self.ids.get() + 1;
        self.ids.set(number);
        format!("r{number}")
    }

    /// Sends a message that its steps say, and nothing more.
    async fn plain(self: &Rc<Self>, op: Op, message: Option<&Message>, cut: Option<Cut>) -> RequestOutcome {
        let posted = self.exchange(Exchange { op, message, cut, of: None, deadline_ms: self.patience_ends_ms() }).await;
        if posted.outcome.outcome == Outcome::Cut {
            let ids = message.map_or_else(Vec::new, |message| message.ids.clone());
            *self.cut_call.borrow_mut() = Some(CutCall { ids, cursor: posted.cursor });
        }
        posted.outcome
    }

    /// A request to its session, with all that its persona makes of it.
    async fn ask(self: &Rc<Self>, op: Op, message: &Message, cut: Option<Cut>) -> RequestOutcome {
        match self.config.persona {
            Some(persona) => self.conduct(persona, op, message, cut).await,
            None => self.plain(op, Some(message), cut).await,
        }
    }
}
