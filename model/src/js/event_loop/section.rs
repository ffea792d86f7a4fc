//! Critical sections (`blockConcurrencyWhile`, transactions) and the storage side of the input gate.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use super::{Event, EventLoop, Lane, What};
use crate::js::context::{Ctx, IoContext, SectionId};
use crate::js::promise::Promise;
use crate::platform::JsError;

/// Longest section in milliseconds; a longer one resets the object (platform fact 36).
pub const SECTION_MAX_MS: u64 = 30_000;

impl EventLoop {
    /// Runs `callback` with the gate shut: nothing comes in but what is started inside it (platform fact 30).
    ///
    /// The gate shuts at the call; the callback starts on a later turn, after all pending microtasks. The promise
    /// settles after the section has ended, before the events that waited (platform fact 32).
    pub fn section<F, T>(&self, callback: impl FnOnce() -> F + 'static) -> Promise<T>
    where
        F: Future<Output = T> + 'static,
        T: Clone + 'static,
    {
        let caller = self.ctx();
        let settled = Promise::new();
        let result = settled.clone();
        let outer = caller.clone();
        let start = Box::new(move || EventLoop::current().enter_section(outer, callback, result));
        self.seq.set(self.seq.get() + 1);
        let event = Event {
            due_ms: self.now_ms(),
            seq: self.seq.get(),
            lane: Lane::Local(caller.context.number),
            place: Some((Rc::clone(&caller.context), caller.section)),
            bypass: true,
            priority: Cell::new(None),
            what: What::Run(caller.clone(), start),
        };
        caller.context.sections_waiting.borrow_mut().push_back(Box::new(event));
        self.starting.borrow_mut().push(Rc::clone(&caller.context));
        settled
    }

    /// The next section that may start: its caller's section runs and no storage operation is held.
    pub(super) fn next_section(&self) -> Option<Box<Event>> {
        let mut starting = self.starting.borrow_mut();
        for index in 0..starting.len() {
            let context = Rc::clone(&starting[index]);
            let current = context.section.get();
            let mut waiting = context.sections_waiting.borrow_mut();
            let open = context.storage_waits.get() == 0;
            let may_start =
                |e: &Event| e.place.as_ref().is_some_and(|(_, from)| self.running_section(*from) == current);
            let next = waiting.iter().position(|event| open && may_start(event));
            if let Some(event) = next.and_then(|next| waiting.remove(next)) {
                starting.remove(index);
                return Some(event);
            }
        }
        starting.retain(|context| !context.is_dead());
        None
    }

    fn enter_section<F, T>(&self, caller: Ctx, callback: impl FnOnce() -> F, result: Promise<T>)
    where
        F: Future<Output = T> + 'static,
        T: Clone + 'static,
    {
        let id = self.next_number();
        let context = Rc::clone(&caller.context);
        // Fact: 30. A section lets in nothing but what was started inside it. [R:G5, R:G5b, R:A12, R:G6b, R:G6d]
        self.parents.borrow_mut().insert(id, context.section.replace(id));
        let inside = Ctx { section: id, ..caller.clone() };
        self.guard_length(&inside);
        let body = self.with_ctx(inside.clone(), callback);
        self.start_in(
            inside,
            Box::pin(async move {
                let value = body.await;
                let outer = caller.clone();
                // Fact: 32. After a section its own caller goes on before the events that waited. [R:G5]
                let leave = Box::new(move || {
                    EventLoop::current().leave_section(&outer.context, id);
                    result.settle(value);
                });
                EventLoop::current().run_next(caller, leave);
            }),
        );
    }

    /// Runs `f` as the next event, before all that wait.
    pub fn run_next(&self, ctx: Ctx, f: Box<dyn FnOnce()>) {
        self.seq.set(self.seq.get() + 1);
        let event = Event {
            due_ms: self.now_ms(),
            seq: self.seq.get(),
            lane: Lane::Local(ctx.context.number),
            place: None,
            bypass: true,
            priority: Cell::new(None),
            what: What::Run(ctx, f),
        };
        self.urgent.borrow_mut().push_back(Box::new(event));
    }

    fn leave_section(&self, context: &IoContext, id: u64) {
        let parent = self.parents.borrow_mut().remove(&id).unwrap_or(0);
        if parent != 0 {
            self.ended_inside.borrow_mut().insert(id, parent);
        } else {
            self.ended_inside.borrow_mut().retain(|_, around| *around != id);
        }
        if context.section.get() == id {
            context.section.set(parent);
        } else {
            // One inside it still runs: that keeps the gate shut, and then leads to the one around both.
            self.parents.borrow_mut().values_mut().filter(|around| **around == id).for_each(|around| *around = parent);
        }
        context.timers_jammed.set(false);
        self.unblock(context);
    }

    /// The sections of a dead context are over.
    pub(super) fn forget_sections(&self, context: &IoContext) {
        let mut section = context.section.get();
        while section != 0 {
            section = self.parents.borrow_mut().remove(&section).unwrap_or(0);
        }
    }

    /// The section that an event of `section` belongs to now: what outlives a section goes on in the one around it.
    pub(super) fn running_section(&self, mut section: SectionId) -> SectionId {
        while section != 0 && !self.parents.borrow().contains_key(&section) {
            section = self.ended_inside.borrow().get(&section).copied().unwrap_or(0);
        }
        section
    }

    /// A section that is still running after 30 s resets the object; its waiting callers get the same error.
    fn guard_length(&self, inside: &Ctx) {
        let ctx = inside.clone();
        let watch = Box::new(move || {
            let this = EventLoop::current();
            if this.parents.borrow().contains_key(&ctx.section) && !ctx.context.is_dead() {
                // Fact: 36. A section over 30 s resets the object with a text of its own, for those who waited too.
                // [R:GL1, R:GL2]
                let error = JsError::section_too_long();
                platform_event!("object.reset", ctx.context.label, kind = &*error.message);
                this.kill(&ctx.context, error);
            }
        });
        self.run_past_gate(self.now_ms() + SECTION_MAX_MS, inside.clone(), watch);
    }

    /// A storage operation began to wait: the input gate shuts.
    pub fn storage_wait_begins(&self, context: &IoContext) {
        context.storage_waits.set(context.storage_waits.get() + 1);
    }

    /// It is done: the gate opens when it was the last.
    pub fn storage_wait_ends(&self, context: &IoContext) {
        context.storage_waits.set(context.storage_waits.get() - 1);
        if context.storage_waits.get() == 0 {
            self.unblock(context);
        }
    }
}
