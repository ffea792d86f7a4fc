//! The gates of a stand: calls that wait until somebody lets them go on, or fail.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use serde_json::Value;

use crate::js::{Ctx, EventLoop, Promise};
use crate::platform::JsError;
use crate::session::SessionObject;
use crate::session::owner_object::OwnerRecord;

/// A call that waits, as it is seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenGate {
    /// Its number, in the order of the calls.
    pub id: u64,
    /// The session whose surroundings were called.
    pub session: usize,
    /// What was called.
    pub name: &'static str,
    /// With what; null for nothing.
    pub argument: Value,
}

/// How a gate can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The platform replaced the code.
    CodeUpdate,
    /// The platform's storage was too slow.
    StorageTimeout,
    /// Something that nobody recognises.
    Unknown,
}

impl Failure {
    pub(super) fn error(self) -> JsError {
        JsError::new(match self {
            Failure::CodeUpdate => "Durable Object reset because its code was updated.",
            Failure::StorageTimeout => {
                "Durable Object storage operation exceeded timeout which caused object to be reset."
            }
            Failure::Unknown => "quota exceeded for namespace",
        })
    }
}

/// What becomes of a call that goes on.
#[derive(Clone, Copy)]
pub(super) struct Then {
    /// An execution that is resumed pauses again.
    pub pauses: bool,
}

pub(super) struct Gate {
    shown: OpenGate,
    /// Where the call was made.
    pub ctx: Ctx,
    pub finish: Box<dyn FnOnce(Result<Then, JsError>)>,
}

/// What all parts of a stand share.
pub(super) struct Shared {
    /// Hears of everything.
    pub tell: Box<dyn Fn(Value)>,
    pub sessions: RefCell<Vec<Weak<SessionObject>>>,
    /// The directory of execution owners, in the order of its entries.
    pub directory: RefCell<Vec<(Arc<str>, OwnerRecord)>>,
    gates: RefCell<Vec<Gate>>,
    gate_count: Cell<u64>,
    pub handles: Cell<u64>,
    pub runtimes: Cell<u64>,
    pub connections: Cell<u64>,
    pub background: Cell<u64>,
    /// Number of the next pause that an engine makes up.
    pub next_pause: Cell<u64>,
}

impl Shared {
    pub fn new(tell: impl Fn(Value) + 'static) -> Rc<Self> {
        Rc::new(Shared {
            tell: Box::new(tell),
            sessions: RefCell::default(),
            directory: RefCell::default(),
            gates: RefCell::default(),
            gate_count: Cell::new(0),
            handles: Cell::new(0),
            runtimes: Cell::new(0),
            connections: Cell::new(0),
            background: Cell::new(0),
            next_pause: Cell::new(0),
        })
    }

    /// Opens a gate: the call is answered by `effect` when it is let go on.
    pub fn gate<T: Clone + 'static>(
        &self,
        session: usize,
        name: &'static str,
        argument: Value,
        effect: impl FnOnce(Then) -> T + 'static,
    ) -> Promise<Result<T, JsError>> {
        self.gate_with(session, name, argument, move |passed, answered| answered.settle(passed.map(effect)))
    }

    /// Opens a gate that `finish` answers in its own time.
    pub fn gate_with<T: Clone + 'static>(
        &self,
        session: usize,
        name: &'static str,
        argument: Value,
        finish: impl FnOnce(Result<Then, JsError>, Promise<Result<T, JsError>>) + 'static,
    ) -> Promise<Result<T, JsError>> {
        let id = next(&self.gate_count);
        let mut told = serde_json::json!(["gate", id, session, name]);
        if let (false, Some(told)) = (argument.is_null(), told.as_array_mut()) {
            told.push(argument.clone());
        }
        (self.tell)(told);
        let answered = Promise::new();
        let answer = answered.clone();
        let gate = Gate {
            shown: OpenGate { id, session, name, argument },
            ctx: EventLoop::current().ctx(),
            finish: Box::new(move |passed| finish(passed, answer)),
        };
        self.gates.borrow_mut().push(gate);
        answered
    }

    pub fn open_gates(&self) -> Vec<OpenGate> {
        self.gates.borrow().iter().map(|gate| gate.shown.clone()).collect()
    }

    pub fn take(&self, id: u64) -> Option<Gate> {
        let mut gates = self.gates.borrow_mut();
        let index = gates.iter().position(|gate| gate.shown.id == id)?;
        Some(gates.remove(index))
    }

    pub fn session(&self, id: &str) -> Option<Rc<SessionObject>> {
        let sessions = self.sessions.borrow();
        let mut all = sessions.iter().filter_map(Weak::upgrade);
        all.find(|session| &**session.label() == id)
    }

    pub fn index_of(&self, label: &str) -> Option<usize> {
        let sessions = self.sessions.borrow();
        sessions.iter().position(|session| session.upgrade().is_some_and(|session| &**session.label() == label))
    }
}

/// Counts one on and gives the count before.
pub(super) fn next(count: &Cell<u64>) -> u64 {
    count.replace(count.get().saturating_add(1))
}
