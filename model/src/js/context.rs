//! The owner of I/O: one context for each object's incarnation, one for each stateless request (platform fact 115).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use crate::platform::JsError;

use super::event_loop::{Event, TaskId};

/// Number of a critical section within its loop; 0 is "in no section".
pub type SectionId = u64;

/// What a context belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// One incarnation of a Durable Object.
    Object,
    /// One request of a stateless worker.
    Request,
}

/// The context of an incarnation or a request: its gate, its tasks, whether it is gone.
pub struct IoContext {
    /// Number within its loop; a new incarnation has a new one.
    pub number: u64,
    /// What it belongs to.
    pub owner: Owner,
    /// Session id, client label or isolate name, for decisions and traces.
    pub label: Arc<str>,
    pub(super) dead: Cell<bool>,
    pub(super) death: RefCell<Option<JsError>>,
    /// Storage operations that were delayed or held: while there are any, the input gate stays shut.
    pub(super) storage_waits: Cell<u32>,
    /// The innermost running section.
    pub(super) section: Cell<SectionId>,
    /// Sections that wait to start, with the section they were called in.
    pub(super) sections_waiting: RefCell<VecDeque<Box<Event>>>,
    /// Events that came while the gate was shut.
    pub(super) blocked: RefCell<VecDeque<Box<Event>>>,
    pub(super) tasks: RefCell<Vec<TaskId>>,
    /// A timer from before the section is due: on the older runtime build it blocks the timers behind it.
    pub(super) timers_jammed: Cell<bool>,
    /// Timers that are armed.
    pub(super) timers: Cell<u32>,
    /// When a task or a timer of it last began or ended.
    pub(super) stirred_ms: Cell<u64>,
    /// Operations until the platform resets it; never for 0.
    fuse: Cell<u32>,
}

impl IoContext {
    pub(super) fn new(number: u64, owner: Owner, label: Arc<str>) -> Rc<Self> {
        Rc::new(IoContext {
            number,
            owner,
            label,
            dead: Cell::new(false),
            death: RefCell::new(None),
            storage_waits: Cell::new(0),
            section: Cell::new(0),
            sections_waiting: RefCell::default(),
            blocked: RefCell::default(),
            tasks: RefCell::default(),
            timers_jammed: Cell::new(false),
            timers: Cell::new(0),
            stirred_ms: Cell::new(0),
            fuse: Cell::new(0),
        })
    }

    /// True once the incarnation was reset or the request is over: none of its code runs any more.
    pub fn is_dead(&self) -> bool {
        self.dead.get()
    }

    /// What callers get that were still waiting when it died.
    pub fn death(&self) -> Option<JsError> {
        self.death.borrow().clone()
    }

    /// Lets go of everything that waits here; its loop has ended.
    pub(crate) fn empty(&self) {
        drop((self.blocked.take(), self.sections_waiting.take()));
    }

    /// From now on it has so many operations; 0 for any number.
    pub fn set_fuse(&self, operations: u32) {
        self.fuse.set(operations);
    }

    /// Counts one operation; true for the last.
    pub fn burns_out(&self) -> bool {
        let left = self.fuse.get();
        self.fuse.set(left.saturating_sub(1));
        left == 1
    }

    /// True while no event from outside waits and none would have to.
    pub fn is_open(&self) -> bool {
        self.blocked.borrow().is_empty() && !self.is_gated()
    }

    /// True while a task or a timer of it is left.
    pub fn has_pending_work(&self) -> bool {
        !self.tasks.borrow().is_empty() || self.timers.get() > 0
    }

    /// When a task or a timer of it last began or ended, in epoch milliseconds; 0 when it never had one.
    pub fn stirred_ms(&self) -> u64 {
        self.stirred_ms.get()
    }

    /// True while events from outside wait.
    pub fn is_gated(&self) -> bool {
        self.storage_waits.get() > 0 || self.section.get() != 0
    }
}

/// Where a piece of code runs: in which context, in which section, for which entry point.
#[derive(Clone)]
pub struct Ctx {
    /// The context.
    pub context: Rc<IoContext>,
    /// The section it was started in; 0 for none.
    pub section: SectionId,
    /// The entry point it runs for.
    pub root: &'static str,
}
