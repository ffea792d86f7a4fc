//! A loop that is turned by hand, by a clock of its owner's: no node, no mail, no waker.

use std::rc::Rc;
use std::sync::Arc;

use super::{CURRENT, Event, EventLoop, Running, What};
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

    /// When the next timer is due. Only for a loop that is at rest: nothing else waits there.
    pub fn next_timer(&self) -> Option<u64> {
        let mut events = self.event_loop().events.borrow_mut();
        while events.peek().is_some_and(|event| is_cleared(event)) {
            events.pop();
        }
        events.peek().map(|event| event.due_ms)
    }

    /// Runs the timers that are due at `due_ms` in the order in which they were set, each until the loop is at rest again;
    /// `told` hears of each just before.
    pub fn run_timers(&self, due_ms: u64, told: impl Fn()) {
        let mut timers = Vec::new();
        while self.next_timer() == Some(due_ms) {
            timers.extend(self.event_loop().events.borrow_mut().pop());
        }
        self.event_loop().polled_ms.set(due_ms);
        for timer in timers.into_iter().filter(|timer| !is_cleared(timer)) {
            told();
            self.inside(|| {
                self.event_loop().run_event(timer);
                while self.event_loop().turn() {}
            });
        }
    }
}

fn is_cleared(event: &Event) -> bool {
    matches!(&event.what, What::Timer(_, cleared, _) if cleared.get())
}
