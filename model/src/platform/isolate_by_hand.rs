//! An isolate outside of any cluster, whose loop is turned by hand: for objects that stand on what they are given.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::cluster::{Cluster, ClusterConfig, RuntimeBuild};
use super::isolate::{Isolate, IsolateId};
use super::object::{DurableObject, ObjectContext, ObjectKey};
use super::object_state::ObjectState;
use crate::js::{Ctx, LoopByHand};

/// The isolate, and the clock that only its owner moves.
pub struct IsolateByHand {
    hand: LoopByHand,
    now_ms: u64,
}

impl IsolateByHand {
    /// An isolate without objects, whose clock reads `now_ms` (epoch milliseconds).
    pub fn new(now_ms: u64) -> Self {
        let hand = LoopByHand::new("by-hand", now_ms);
        let build = RuntimeBuild::May2026;
        let cluster = Cluster::start(ClusterConfig { isolate_count: 0, build, classes: BTreeMap::new() });
        hand.event_loop().set_host(Isolate::new(IsolateId(1), cluster));
        IsolateByHand { hand, now_ms }
    }

    /// Constructs an object that stands on `state`.
    pub fn place(
        &self,
        key: &ObjectKey,
        state: Rc<dyn ObjectState>,
        class: impl FnOnce(ObjectContext) -> Rc<dyn DurableObject>,
    ) {
        let event_loop = self.hand.event_loop();
        let construct = |isolate: &Isolate| drop(isolate.construct(event_loop, key, true, Some(state), class));
        self.hand.inside(|| Isolate::of(event_loop, construct));
    }

    /// What the clock reads, in epoch milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Moves the clock on to `now_ms`, and runs each timer that is due by then in its time; `told` hears of each.
    pub fn advance_to(&mut self, now_ms: u64, told: impl Fn(u64)) {
        while let Some(due_ms) = self.hand.next_timer().filter(|due_ms| *due_ms <= now_ms) {
            self.now_ms = due_ms.max(self.now_ms);
            self.hand.run_timers(due_ms, || told(due_ms));
        }
        self.now_ms = now_ms;
        self.hand.run_due(now_ms);
    }

    /// Runs `f` as code of a context, as an event of its own, until the loop has come to rest.
    pub fn run_in(&self, ctx: &Ctx, f: impl FnOnce() + 'static) {
        self.hand.event_loop().run_later(self.now_ms, ctx.clone(), Box::new(f));
        self.hand.run_due(self.now_ms);
    }

    /// Looks at what is in the isolate, without any event.
    pub fn look<T>(&self, f: impl FnOnce() -> T) -> T {
        self.hand.inside(f)
    }
}
