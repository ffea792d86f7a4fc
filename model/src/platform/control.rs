//! The harness's handle on the platform; it exists in no production system.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::cluster::{Cluster, lock};
use super::error::JsError;
use super::isolate::{Isolate, IsolateId};
use super::object::ObjectKey;
use crate::js::{EventLoop, IoContext, Lane, Letter, SectionId};
use crate::rt;

/// Trouble from outside, done to a cluster.
#[derive(Clone)]
pub struct Control {
    cluster: Cluster,
}

/// Told just before an order acts; never, when it finds nothing to act on.
type Found = Box<dyn FnOnce() + Send>;

enum Order {
    Release(u64, Result<(), JsError>),
    Reset(ObjectKey, JsError, Found),
    Evict(ObjectKey, Found),
    Interrupt(ObjectKey, &'static str, Found),
}

impl Control {
    /// The handle on a cluster.
    pub fn new(cluster: Cluster) -> Self {
        Control { cluster }
    }

    /// Lets the operation that is held under `number` go on, wherever it is.
    pub fn release(&self, number: u64) {
        self.end_hold(number, &Ok(()));
    }

    /// Makes the operation that is held under `number` fail, wherever it is. Held at its begin, it has no effect.
    pub fn fail(&self, number: u64, error: JsError) {
        self.end_hold(number, &Err(error));
    }

    fn end_hold(&self, number: u64, passed: &Result<(), JsError>) {
        for inbox in self.cluster.inboxes() {
            inbox.post(
                rt::now_ms(),
                Lane::named(&"platform".into(), "order", 0),
                Box::new(OrderLetter(Order::Release(number, passed.clone()))),
            );
        }
    }

    /// Resets an object, and calls `found` just before, if it is in memory by then; false when it is placed nowhere.
    pub fn reset(&self, key: &ObjectKey, error: JsError, found: impl FnOnce() + Send + 'static) -> bool {
        // Fact: 21. An object may be restarted at any time. [D:durable-object-lifecycle, D:agents/durable-execution]
        self.order(key, Order::Reset(key.clone(), error, Box::new(found)))
    }

    /// Evicts an object, and calls `found` just before, if it is in memory and idle by then; false when it is placed nowhere.
    pub fn evict(&self, key: &ObjectKey, found: impl FnOnce() + Send + 'static) -> bool {
        self.order(key, Order::Evict(key.clone(), Box::new(found)))
    }

    /// Makes an object's storage and alarm what they are when the world begins. The object must not be in memory.
    pub fn store(&self, key: &ObjectKey, values: BTreeMap<Arc<str>, Arc<Value>>, alarm_ms: Option<u64>) {
        self.cluster.store(key, values, alarm_ms);
    }

    /// What is durable of an object: its values, and when its alarm is due in epoch milliseconds.
    pub fn stored(&self, key: &ObjectKey) -> (BTreeMap<Arc<str>, Arc<Value>>, Option<u64>) {
        let durable = self.cluster.durable(key);
        let durable = lock(&durable);
        (durable.values.clone(), durable.alarm)
    }

    /// Interrupts the root fiber (`init` or `disposal`) of an object, and calls `found` just before, if one runs by
    /// then; false when the object is placed nowhere.
    pub fn interrupt(&self, key: &ObjectKey, what: &'static str, found: impl FnOnce() + Send + 'static) -> bool {
        self.order(key, Order::Interrupt(key.clone(), what, Box::new(found)))
    }

    /// True when an interrupt at the operation that is shown to the director now would find a root fiber to end.
    pub fn can_interrupt_here(what: &'static str) -> bool {
        let ctx = EventLoop::current().ctx();
        Isolate::current(|isolate| isolate.running(&ctx.context, what)).is_some()
    }

    /// Ends an isolate; a new one takes its place.
    pub fn end_isolate(&self, id: IsolateId) {
        self.cluster.end_isolate(id);
    }

    fn order(&self, key: &ObjectKey, order: Order) -> bool {
        let isolate = self.cluster.isolate_of(key);
        isolate.is_some_and(|isolate| self.cluster.post_to(isolate, Box::new(OrderLetter(order))))
    }
}

struct OrderLetter(Order);

impl Letter for OrderLetter {
    fn context(&self, _: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        None
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        Isolate::of(event_loop, |isolate| match self.0 {
            Order::Release(number, passed) => drop(isolate.release(event_loop, number, &passed)),
            Order::Reset(key, error, found) => isolate.reset_object(event_loop, &key, error, found),
            Order::Evict(key, found) => isolate.evict_object(event_loop, &key, found),
            Order::Interrupt(key, what, found) => isolate.interrupt_object(event_loop, &key, what, found),
        });
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}

    fn passes_gates(&self) -> bool {
        true
    }
}
