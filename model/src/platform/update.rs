//! Code updates that wait: the old code goes on until its object is idle, or until a delay is over.

use std::rc::Rc;

use super::error::JsError;
use super::eviction::Rest;
use super::isolate::Isolate;
use crate::js::{Ctx, EventLoop, IoContext};
use crate::rt;

/// The longest that a code update waits, in milliseconds.
const LONGEST_MS: u64 = 300_000;
/// How often it is looked whether the object is idle, in milliseconds.
const LOOK_MS: u64 = 1_000;

/// A code update that has not reached its object yet.
pub(super) struct Update {
    pub context: Rc<IoContext>,
    pub error: JsError,
    pub found: Box<dyn FnOnce()>,
    until_ms: u64,
}

impl Isolate {
    /// Whether a reset is a code update that may wait here.
    pub(super) fn defers(&self, label: &str, error: &JsError) -> bool {
        // Fact: 24. A deployment resets at once, or the old code goes on until it hibernates or a delay is over.
        // [D:durable-objects-code-updates]
        let is_update = error.message == JsError::code_updated().message;
        is_update && (self.switches.defers_updates || rt::stray(label, "update.deferred") > 0)
    }

    /// Begins to wait.
    pub(super) fn defer_update(
        &self,
        event_loop: &EventLoop,
        context: Rc<IoContext>,
        error: JsError,
        found: Box<dyn FnOnce()>,
    ) {
        let until_ms = event_loop.now_ms() + LONGEST_MS;
        self.update(event_loop, Update { context, error, found, until_ms });
    }

    fn update(&self, event_loop: &EventLoop, update: Update) {
        // Fact: 24. A deployment resets at once, or the old code goes on until it hibernates or a delay is over.
        // [D:durable-objects-code-updates]
        // Fact: 234. The default mode and delay of deployments, and the runtime's own retries. [not reached locally]
        let instance = self.by_context.borrow().get(&update.context.number).cloned();
        let Some(instance) = instance.filter(|_| !update.context.is_dead()) else { return };
        if instance.rest() == Rest::Complete {
            (update.found)();
            self.put_out(event_loop, &instance, "updated");
        } else if event_loop.now_ms() >= update.until_ms {
            (update.found)();
            self.reset_from_outside(event_loop, &update.context, update.error);
        } else {
            let ctx = Ctx { context: Rc::clone(&update.context), section: 0, root: "platform" };
            let look = Box::new(move || {
                let event_loop = EventLoop::current();
                Isolate::of(&event_loop, |isolate| isolate.update(&event_loop, update));
            });
            event_loop.run_past_gate(event_loop.now_ms() + LOOK_MS, ctx, look);
        }
    }
}
