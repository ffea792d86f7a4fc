//! What the platform does to an incarnation by itself: drawn when it is made, nothing in a calm world.

use std::cell::Cell;
use std::rc::Rc;

use super::error::JsError;
use super::eviction::Rest;
use super::isolate::Isolate;
use super::object::Instance;
use crate::js::{Ctx, EventLoop};
use crate::rt;

/// What is in store for an incarnation.
#[derive(Default)]
pub(super) struct Fate {
    /// After how many milliseconds of idleness it leaves memory, if it can hibernate by then; never for 0.
    evicted_after_ms: u64,
    /// Events that have come in.
    events: Cell<u64>,
    /// Whether its eviction cuts off work in the background, once that was in question.
    is_cut_off: Cell<Option<bool>>,
}

impl Fate {
    pub fn drawn(label: &str) -> Self {
        // Fact: 215. An idle object is evicted at any time from 10 s on, with or without pending work. [facts 13-17]
        Fate { evicted_after_ms: rt::stray(label, "eviction"), events: Cell::new(0), is_cut_off: Cell::new(None) }
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
        self.look_at(
            event_loop,
            event_loop.now_ms() + after_ms,
            Spell { since_ms: event_loop.now_ms(), event: self.fate.events.get() },
        );
    }

    fn look_at(self: &Rc<Self>, event_loop: &EventLoop, at_ms: u64, spell: Spell) {
        let instance = Rc::clone(self);
        let look = Box::new(move || instance.look(&EventLoop::current(), spell));
        let ctx = Ctx { context: Rc::clone(&self.io), section: 0, root: "platform" };
        event_loop.run_past_gate(at_ms, ctx, look);
    }

    /// Lets the object go, or looks again when it may.
    fn look(self: &Rc<Self>, event_loop: &EventLoop, spell: Spell) {
        if self.fate.events.get() != spell.event || self.is_zombie() {
            return;
        }
        let (now_ms, rest) = (event_loop.now_ms(), self.rest());
        match self.goes_ms(rest, spell) {
            Some(goes_ms) if goes_ms <= now_ms => {
                Isolate::of(event_loop, |isolate| isolate.put_out(event_loop, self, "evicted"));
            }
            Some(goes_ms) if rest == Rest::Complete => self.look_at(event_loop, goes_ms, spell),
            // What it still does may be over before.
            goes_ms => {
                let again_ms = now_ms + self.fate.evicted_after_ms;
                self.look_at(event_loop, goes_ms.map_or(again_ms, |goes_ms| goes_ms.min(again_ms)), spell);
            }
        }
    }

    /// Whether its eviction cuts off what it still does: drawn once, when that is first in question.
    fn is_cut_off(&self) -> bool {
        let drawn = self.fate.is_cut_off.get();
        drawn.unwrap_or_else(|| {
            let is_cut_off = rt::stray(&self.io.label, "eviction.pending-work") > 0;
            self.fate.is_cut_off.set(Some(is_cut_off));
            is_cut_off
        })
    }

    /// When it may leave memory, as things stand.
    fn goes_ms(&self, rest: Rest, spell: Spell) -> Option<u64> {
        let after_ms = self.fate.evicted_after_ms;
        let stirred_ms = self.io.stirred_ms();
        match rest {
            Rest::None => None,
            // Fact: 15. Locally an idle object goes 10 s after its last activity; nothing of it is called. [R:EV1,
            // S:server/server.c++ handleShutdown]
            // Fact: 181. A 30 s heartbeat does not keep an object from the local 10 s eviction. [RA:EV3, RA:AG15]
            Rest::Complete => Some(spell.since_ms.max(stirred_ms) + after_ms),
            // Fact: 16. Locally pending timers and background work keep an object; in production only since autumn 2026,
            // for 15 minutes each. [R:EV2, D:changelog 2026-10-01, I:cloudflare/cloudflare-docs#33454]
            Rest::WorkPending => {
                let is_old_rule = Isolate::current(|isolate| isolate.switches.evicts_pending_work);
                Some(if is_old_rule || self.is_cut_off() {
                    spell.since_ms + busy_ms(after_ms)
                } else {
                    stirred_ms + HELD_MS
                })
            }
        }
    }
}

/// A time without events.
#[derive(Clone, Copy)]
struct Spell {
    /// Since when, in epoch milliseconds.
    since_ms: u64,
    /// The number of the event before it.
    event: u64,
}

/// The longest that a timer or a piece of work in the background holds an object, in milliseconds.
const HELD_MS: u64 = 15 * 60_000;

/// After how many milliseconds without events an object goes that cannot hibernate, by what was drawn for one that can:
/// 70 to 140 s for 10 to 140 s.
fn busy_ms(after_ms: u64) -> u64 {
    // Fact: 13. An idle object leaves memory after 10 s where it can hibernate, after 70 to 140 s where it cannot.
    // [D:durable-object-lifecycle]
    70_000 + after_ms.clamp(10_000, 140_000).saturating_sub(10_000) * 70 / 130
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
