//! A loop that is turned by hand, by a clock of its owner's: no node, no mail, no waker.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::{CURRENT, EventLoop, Running, What};
use crate::js::Inbox;

/// A loop in its owner's hands; it is taken apart with them.
pub struct LoopByHand(Running);

impl LoopByHand {
    /// A loop whose clock reads `now_ms` (epoch milliseconds).
    pub fn new(name: &str, now_ms: u64) -> Self {
        LoopByHand(Running(EventLoop::at(now_ms, Arc::from(name), Inbox::new(), false)))
    }

    /// The loop, for what belongs into it.
    pub fn event_loop(&self) -> &Rc<EventLoop> {
        &self.0.0
    }

    /// Runs `f` where the loop is the one whose code runs.
    pub fn inside<T>(&self, f: impl FnOnce() -> T) -> T {
        let outer = CURRENT.with_borrow_mut(|current| current.replace(Rc::clone(self.event_loop())));
        let value = f();
        CURRENT.with_borrow_mut(|current| *current = outer);
        value
    }

    /// Turns it until nothing is due at `now_ms` any more.
    pub fn run_due(&self, now_ms: u64) {
        self.inside(|| {
            self.event_loop().polled_ms.set(now_ms);
            while self.event_loop().turn() {}
        });
    }

    /// When each timer that was not cleared is due, the earliest first.
    pub fn timers(&self) -> Vec<u64> {
        let events = self.event_loop().events.borrow();
        let is_armed = |cleared: &Rc<Cell<bool>>| !cleared.get();
        let timers = events.iter().filter(|event| matches!(&event.what, What::Timer(_, cleared, _) if is_armed(cleared)));
        let mut due: Vec<u64> = timers.map(|event| event.due_ms).collect();
        due.sort_unstable();
        due
    }
}
