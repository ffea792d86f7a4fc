//! What the platform does to an incarnation by itself: drawn when it is made, nothing in a calm world.

use std::cell::Cell;
use std::rc::Rc;

use super::error::JsError;
use super::isolate::Isolate;
use super::object::Instance;
use crate::js::{Ctx, EventLoop};
use crate::rt;

/// What is in store for an incarnation.
#[derive(Default)]
pub(super) struct Fate {
    /// After how many milliseconds of idleness it leaves memory; never for 0.
    evicted_after_ms: u64,
    /// Events that have come in.
    events: Cell<u64>,
}

impl Fate {
    pub fn drawn(label: &str) -> Self {
        // Fact: 215. An idle object is evicted at any time from 10 s on, with or without pending work. [facts 13-17]
        Fate { evicted_after_ms: rt::stray(label, "eviction"), events: Cell::new(0) }
    }
}

impl Instance {
    /// An event comes in.
    pub(super) fn event_begins(&self) {
        self.fate.events.set(self.fate.events.get() + 1);
        self.idle_since_ms.set(None);
    }

    /// An event is over: if nothing more comes the object may go.
    pub(super) fn event_ends(self: &Rc<Self>, event_loop: &EventLoop) {
        let after_ms = self.fate.evicted_after_ms;
        if after_ms == 0 || self.io.is_dead() {
            return;
        }
        // Fact: 13. An idle object leaves memory after 10 s where it can hibernate, after 70 to 140 s where it cannot.
        // [D:durable-object-lifecycle]
        // Fact: 15. Locally an idle object goes 10 s after its last activity; nothing of it is called. [R:EV1,
        // S:server/server.c++ handleShutdown]
        let seen = self.fate.events.get();
        let instance = Rc::clone(self);
        let look = Box::new(move || {
            let event_loop = EventLoop::current();
            if instance.fate.events.get() == seen && !instance.is_zombie() {
                let key = instance.key.clone();
                // Fact: 181. A 30 s heartbeat does not keep an object from the local 10 s eviction. [RA:EV3, RA:AG15]
                Isolate::of(&event_loop, |isolate| isolate.evict_after(&event_loop, &key, after_ms));
            }
        });
        let ctx = Ctx { context: Rc::clone(&self.io), section: 0, root: "platform" };
        event_loop.run_past_gate(event_loop.now_ms() + after_ms, ctx, look);
    }
}

/// Draws at which operation of its own the incarnation is reset; at none for 0.
pub(super) fn draw_fuse(label: &str) -> u32 {
    // Fact: 216. A reset at any await, of one object or of all in an isolate. [facts 21, 135]
    u32::try_from(rt::stray(label, "reset")).unwrap_or(0)
}

/// What such a reset is told as.
pub(super) fn draw_reset(label: &str) -> JsError {
    // Memory limits and moves are left to plans: no host recognises their texts, and somebody is paged.
    match rt::decide(label, "reset.kind", 3) {
        0 => JsError::code_updated(),
        1 => JsError::cpu_exceeded(),
        _ => JsError::storage_timeout(),
    }
}
