//! The session class on a stand: what it calls outside is held at a gate until it is let go, and its clock stands still.
//!
//! Everything around the class is replaced: `base` the framework's classes, `state` name and storage, `host` the
//! hooks, `runtime` engine, server and database handle. `gates` holds their calls, `act` is what can be done to a
//! session, `look` what it is like afterwards. Recordings of the real class were made on such a stand, and are compared
//! with what the class here does on this one.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{CLASS, NAME_PREFIX, SessionObject};
use crate::agents::Status;
use crate::config::HostConfig;
use crate::defect::DefectSet;
use crate::js::{Ctx, EventLoop};
use crate::platform::{IsolateByHand, JsError, ObjectKey};
use crate::rt;
use crate::telemetry;

mod act;
mod base;
mod gates;
mod host;
mod look;
mod runtime;
mod state;

pub use act::Act;
pub use gates::{Failure, OpenGate};

use gates::Shared;
use state::StandState;

/// Where the clock of a stand begins, in epoch milliseconds: the zero of every time that goes in or comes out.
const BASE_MS: u64 = rt::EPOCH_MS;

/// What the sessions of a stand have in common.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Soft cap on resident runtimes.
    pub cap: u32,
    /// Idle timeout, milliseconds.
    pub timeout: u64,
    /// Idle ceiling of a session that is paused, milliseconds.
    pub max_paused: u64,
    /// Whether the directory of execution owners is bound.
    pub has_dir: bool,
    /// The sessions.
    pub sessions: Vec<SessionSetup>,
}

/// How a session is before anything is done.
#[derive(Clone, Debug)]
pub struct SessionSetup {
    /// Session id.
    pub id: String,
    /// Whether the object knows its name.
    pub named: bool,
    /// Whether it registers to be asked for its runtime.
    pub supports_cap: bool,
    /// Whether its props are in memory.
    pub props_in_memory: bool,
    /// Whether the framework has started it.
    pub start: StartStatus,
    /// What a start is given.
    pub props: Value,
    /// What is stored.
    pub storage: StoredSetup,
}

/// Start status of the framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStatus {
    /// Never started.
    Zero,
    /// Started.
    Started,
}

/// Storage of a session: times are milliseconds from the zero of the stand.
#[derive(Clone, Debug)]
pub struct StoredSetup {
    /// The alarm slot.
    pub alarm: Option<i64>,
    /// Keys and values.
    pub data: BTreeMap<String, Value>,
}

/// A session with what it stands on.
struct Placed {
    session: Rc<SessionObject>,
    state: Rc<StandState>,
    props: Value,
}

/// The stand.
pub struct Stand {
    isolate: IsolateByHand,
    shared: Rc<Shared>,
    sessions: Vec<Placed>,
    /// Keep-alive references and waits by the number under which they were begun.
    kept: Rc<act::Kept>,
}

impl Stand {
    /// A stand with its sessions. `tell` hears of everything that happens, each time as a JSON array that begins with what
    /// it is; log lines are told as everywhere.
    ///
    /// # Errors
    /// When there is no session.
    pub fn new(setup: &Setup, defects: &DefectSet, tell: impl Fn(Value) + 'static) -> Result<Stand, &'static str> {
        if setup.sessions.is_empty() {
            return Err("a stand needs a session");
        }
        let shared = Shared::new(tell);
        let mut stand = Stand {
            isolate: IsolateByHand::new(BASE_MS),
            shared: Rc::clone(&shared),
            sessions: Vec::new(),
            kept: Rc::default(),
        };
        stand.isolate.look(|| telemetry::divert(Rc::new(look::Spans(Rc::clone(&shared)))));
        for (index, session) in setup.sessions.iter().enumerate() {
            let placed = stand.place(index, setup, session, defects);
            shared.sessions.borrow_mut().push(Rc::downgrade(&placed.session));
            stand.sessions.push(placed);
        }
        Ok(stand)
    }

    fn place(&self, index: usize, setup: &Setup, session: &SessionSetup, defects: &DefectSet) -> Placed {
        let config = HostConfig {
            session_timeout_ms: setup.timeout,
            max_paused_session_idle_ms: setup.max_paused,
            resident_runtime_soft_cap: setup.cap,
            supports_cap_eviction: session.supports_cap,
            execution_owner_bound: setup.has_dir,
            kept_pauses: Vec::new(),
            defects: defects.clone(),
        };
        let name: Arc<str> = format!("{NAME_PREFIX}{}", session.id).into();
        let state = Rc::new(StandState::new(&self.shared, index, Arc::clone(&name), session));
        let (base, host) = (base::StandBase::new(&state), host::StandHost::new(&self.shared, index));
        let mut made = None;
        let key = ObjectKey::named(CLASS, name);
        self.isolate.place(&key, Rc::clone(&state) as _, |ctx| {
            let object = SessionObject::extending(Rc::new(base), Rc::new(host), ctx, Rc::new(config));
            if session.props_in_memory {
                *object.agent.props.borrow_mut() = Some(session.props.clone());
            }
            if session.start == StartStatus::Started {
                object.agent.status.set(Status::Started);
            }
            made = Some(Rc::clone(&object));
            object
        });
        Placed { session: made.expect("a constructor makes its object"), state, props: session.props.clone() }
    }

    /// How many sessions there are.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// What the clock reads, in milliseconds from the zero of the stand.
    pub fn now_ms(&self) -> i64 {
        relative(self.isolate.now_ms())
    }

    /// Does something to a session, and lets everything run that no gate holds. `number` is what it is called by in what is
    /// told of it, and by [`Act::AbortWait`] and [`Act::KeepAliveEnds`].
    ///
    /// # Panics
    /// When there is no such session.
    pub fn act(&self, number: usize, session: usize, act: &Act) {
        let Placed { session, state, props } = &self.sessions[session];
        let doing = act::Doing {
            number,
            session: Rc::clone(session),
            state: Rc::clone(state),
            props: props.clone(),
            shared: Rc::clone(&self.shared),
            kept: Rc::clone(&self.kept),
        };
        let act = act.clone();
        self.isolate.run_in(&context_of(session), move || doing.run(act));
    }

    /// The open gates, in the order in which they were opened.
    pub fn open(&self) -> Vec<OpenGate> {
        self.shared.open_gates()
    }

    /// Lets a call go on: its effect happens now. With `pauses`, an execution that is resumed pauses again.
    pub fn release(&self, gate: u64, pauses: bool) {
        self.pass(gate, Ok(gates::Then { pauses }));
    }

    /// Makes a call fail, without any effect.
    pub fn fail(&self, gate: u64, failure: Failure) {
        self.pass(gate, Err(failure.error()));
    }

    fn pass(&self, gate: u64, passed: Result<gates::Then, JsError>) {
        if let Some(gate) = self.shared.take(gate) {
            self.isolate.run_in(&gate.ctx, move || (gate.finish)(passed));
        }
    }

    /// Moves the clock on, and runs each timer that is due by then in its time.
    pub fn advance(&mut self, ms: u64) {
        let target_ms = self.isolate.now_ms().saturating_add(ms);
        let shared = Rc::clone(&self.shared);
        self.isolate.advance_to(target_ms, |due_ms| (shared.tell)(json!(["timer", relative(due_ms)])));
    }

    /// What a session is like now.
    pub fn state(&self, session: usize) -> Value {
        let Placed { session, state, .. } = &self.sessions[session];
        self.isolate.look(|| look::state(session, state))
    }

    /// What the isolate counts now.
    pub fn counters(&self) -> Value {
        self.isolate.look(|| look::counters(&self.shared))
    }
}

/// Where code of a session runs.
fn context_of(session: &SessionObject) -> Ctx {
    Ctx { context: Rc::clone(session.ctx().io()), section: 0, root: "platform" }
}

/// A time as it goes out of the stand.
fn relative(at_ms: u64) -> i64 {
    super::signed(at_ms) - super::signed(BASE_MS)
}

/// A time as it comes into the stand.
fn absolute(at_ms: i64) -> i64 {
    at_ms.saturating_add(super::signed(BASE_MS))
}

/// The reading of the stand's clock.
fn now_ms() -> u64 {
    EventLoop::current().now_ms()
}
