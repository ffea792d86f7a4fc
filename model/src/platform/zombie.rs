//! Resets from outside: most cut the code off; some leave it going on beside its successor, without storage.

use std::rc::Rc;

use super::error::JsError;
use super::isolate::Isolate;
use super::object::Instance;
use crate::js::{Ctx, EventLoop, IoContext};
use crate::rt;

/// How long code goes on after its object was reset, in milliseconds (platform fact 22).
const LONGEST_MS: u64 = 30_000;

impl Isolate {
    /// Resets an incarnation from outside. True when its code goes on all the same.
    pub(super) fn reset_from_outside(&self, event_loop: &EventLoop, context: &Rc<IoContext>, error: JsError) -> bool {
        let instance = self.by_context.borrow().get(&context.number).cloned();
        if let Some(instance) = &instance {
            instance.is_blameless.set(self.habits.spares_alarms && !error.overloaded);
        }
        let leaves = instance.filter(|it| !context.is_dead() && it.can_go_on() && self.leaves_zombie(it, &error));
        match leaves {
            Some(instance) => self.leave_zombie(event_loop, &instance, error),
            None => {
                self.reset(event_loop, context, error);
                return false;
            }
        }
        true
    }

    /// Where it ran into a limit nothing goes on.
    fn leaves_zombie(&self, instance: &Instance, error: &JsError) -> bool {
        // Fact: 110. On the newer build it is cut off at once and its callers get the error. [R11:E9, R11:E6]
        // Fact: 217. After a reset: cut off, a zombie up to its first storage call, or up to 30 s beyond; storage then
        // speaks in several texts. [facts 22, 109, 110, 112]
        let leaves = || self.switches.leaves_zombies || rt::stray(&instance.io.label, "reset.zombie") > 0;
        !error.overloaded && leaves()
    }

    /// The object is gone for everybody else: its stubs are broken, its sockets closed, its successor is made by whoever
    /// comes next. What it has begun goes on.
    fn leave_zombie(&self, event_loop: &EventLoop, instance: &Rc<Instance>, error: JsError) {
        // Fact: 23. An old instance that touches no storage can go on beside the new one and never learn of it.
        // [D:known-issues]
        // Fact: 219. Two instances of one object for a while, the old one without storage. [fact 23]
        let label = &instance.io.label;
        platform_event!("object.reset", label, kind = &*error.message);
        platform_event!("object.gone", label, reason = &*error.message);
        platform_event!("object.zombie", label);
        *instance.zombie.borrow_mut() = Some(error.clone());
        self.objects.borrow_mut().remove(&instance.key);
        instance.count_reset(&error);
        self.drop_sockets(event_loop, instance);
        if self.switches.is_local {
            self.forget_running_alarm(instance);
        } else {
            self.alarm_after_reset(instance, !instance.is_blameless.get());
        }
        // Fact: 22. In production a request in flight may go on for 30 s after a shutdown, until it touches storage; sockets
        // close at once. [D:durable-object-lifecycle]
        let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root: "platform" };
        let context = Rc::clone(&instance.io);
        let end = Box::new(move || EventLoop::current().kill(&context, error));
        event_loop.run_past_gate(event_loop.now_ms() + LONGEST_MS, ctx, end);
    }
}

impl Instance {
    /// What was on its way to be durable is lost, and breaks the object at once (platform fact 46).
    fn can_go_on(&self) -> bool {
        let is_written = !self.store.dirty.get() && self.store.in_flight.borrow().is_empty();
        is_written && !self.store.in_transaction() && self.outgoing.borrow().is_empty() && !self.is_zombie()
    }

    /// Whether it goes on although its object was reset.
    pub(super) fn is_zombie(&self) -> bool {
        self.zombie.borrow().is_some()
    }

    /// What its storage rejects with.
    pub(super) fn storage_error(&self) -> Option<JsError> {
        // Fact: 109. On the older build code that was reset from outside goes on as a zombie, and only storage rejects.
        // [R26:E9, R26:E6, I:cloudflare/agents#1617, I:cloudflare/agents#1730]
        self.zombie.borrow().clone()
    }
}
