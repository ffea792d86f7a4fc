//! Eviction: an idle object leaves memory, and its accepted sockets stay for the incarnation that comes next.
//!
//! Platform facts 13-15 and 140. Unlike a reset it breaks no stub and drops no socket. No code runs (fact 103), so what
//! the object held in module scope stays held.

use std::rc::Rc;

use super::error::JsError;
use super::isolate::Isolate;
use super::object::{Instance, ObjectKey};
use crate::js::{Ctx, EventLoop};

/// How long the local runtime keeps an idle object in memory, in milliseconds (platform fact 15).
const LOCAL_IDLE_MS: u64 = 10_000;

/// How long the process remembers the name of an object that it evicted, in milliseconds.
const NAME_KEPT_MS: u64 = 60_000;

impl Isolate {
    /// Whether the process still knows by which name an object was in memory.
    pub(super) fn remembers_name(&self, event_loop: &EventLoop, key: &ObjectKey) -> bool {
        let kept_until = self.names.borrow().get(key).copied();
        kept_until.is_some_and(|until_ms| event_loop.now_ms() <= until_ms)
    }

    /// Where idle objects leave by themselves: notes since when they are, and looks again when their time is over.
    pub(super) fn watch_idle(&self, event_loop: &EventLoop) {
        let instances: Vec<Rc<Instance>> = self.objects.borrow().values().map(Rc::clone).collect();
        for instance in instances {
            let is_idle = instance.rest() == Rest::Complete;
            if !is_idle {
                instance.idle_since_ms.set(None);
            } else if instance.idle_since_ms.get().is_none() {
                let since_ms = event_loop.now_ms();
                instance.idle_since_ms.set(Some(since_ms));
                let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root: "platform" };
                let look = Box::new(move || {
                    if instance.idle_since_ms.get() == Some(since_ms) {
                        let event_loop = EventLoop::current();
                        Isolate::of(&event_loop, |isolate| {
                            isolate.evict_object(&event_loop, &instance.key, Box::new(|| ()));
                        });
                    }
                });
                // Fact: 15. Locally an idle object goes 10 s after its last activity; nothing of it is called. [R:EV1,
                // S:server/server.c++ handleShutdown]
                event_loop.run_past_gate(since_ms + LOCAL_IDLE_MS, ctx, look);
            }
        }
    }

    /// Evicts the object, if it is in memory and idle; says so just before.
    pub(super) fn evict_object(&self, event_loop: &EventLoop, key: &ObjectKey, found: Box<dyn FnOnce()>) {
        let may_go = |instance: &Rc<Instance>| match instance.rest() {
            Rest::Complete => true,
            Rest::WorkPending => self.switches.evicts_pending_work,
            Rest::None => false,
        };
        let Some(instance) = self.living_instance(key).filter(may_go) else { return };
        found();
        self.put_out(event_loop, &instance, "evicted");
    }

    /// An incarnation that is idle leaves memory.
    pub(super) fn put_out(&self, event_loop: &EventLoop, instance: &Rc<Instance>, reason: &'static str) {
        let key = &instance.key;
        if instance.rest() == Rest::WorkPending {
            // Whoever waits for it is told nothing: the sockets stay.
            platform_event!("work.cut-off", instance.io.label);
        }
        platform_event!("object.gone", instance.io.label, reason = reason);
        let sockets = std::mem::take(&mut *instance.sockets.borrow_mut());
        if !sockets.is_empty() {
            // Fact: 200. An object evicted under an open GET starts again at the next call, and the GET goes on. [RA:MC4]
            self.hibernated.borrow_mut().insert(key.clone(), sockets);
        }
        if instance.knows_name {
            self.names.borrow_mut().insert(key.clone(), event_loop.now_ms() + NAME_KEPT_MS);
        }
        self.objects.borrow_mut().remove(key);
        self.by_context.borrow_mut().remove(&instance.io.number);
        self.slots.forget(&instance.io);
        // Fact: 20. No code of an object runs when it goes, whatever the reason. [D:durable-object-lifecycle]
        drop(instance.object.borrow_mut().take());
        // Nobody waits for this incarnation, so nobody is told.
        event_loop.kill(&instance.io, JsError::connection_lost());
    }

    /// Gives a new incarnation the sockets that were kept for it.
    pub(super) fn wake_sockets(&self, instance: &Rc<Instance>) {
        // Fact: 140. An accepted hibernatable socket survives eviction and wakes the object by name. [R:WS1]
        let kept = self.hibernated.borrow_mut().remove(&instance.key).unwrap_or_default();
        let woken = kept.into_iter().map(|(number, socket)| (number, socket.woken(instance)));
        instance.sockets.borrow_mut().extend(woken);
    }

    /// A reset reaches the sockets of an object that is not in memory, too (platform fact 143).
    pub(super) fn drop_kept_sockets(&self, event_loop: &EventLoop, key: &ObjectKey) {
        let kept = self.hibernated.borrow_mut().remove(key).unwrap_or_default();
        kept.values().for_each(|socket| socket.drop_by_platform(event_loop));
    }

    /// Whether sockets are kept for an object that is not in memory.
    pub(super) fn keeps_sockets_of(&self, key: &ObjectKey) -> bool {
        self.hibernated.borrow().contains_key(key)
    }
}

/// How far an object has come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// An event is in progress, or something is on its way out or to the disk.
    None,
    /// Only timers and work in the background are left: it cannot hibernate.
    WorkPending,
    /// Nothing at all: it can hibernate.
    Complete,
}

impl Instance {
    /// How far it has come to rest.
    pub(super) fn rest(&self) -> Rest {
        // Fact: 18. A request in progress keeps the instance, however long it takes. [R:EV3]
        let is_quiet = self.calls.borrow().is_empty()
            && self.outgoing.borrow().is_empty()
            && self.closing.borrow().is_empty()
            && self.alarm_running.get().is_none();
        let is_durable = !self.store.dirty.get() && self.store.in_flight.borrow().is_empty();
        if !(is_quiet && is_durable && self.io.is_open()) {
            return Rest::None;
        }
        // Fact: 14. A timer, an awaited fetch, an accepted ordinary socket or an event in progress keeps an object from
        // hibernating. [D:durable-object-lifecycle]
        // Fact: 201. Locally a 14 s call finishes on its instance, with a reference or without. [RA:MC5, RA:MC5b]
        if self.io.has_pending_work() { Rest::WorkPending } else { Rest::Complete }
    }
}
