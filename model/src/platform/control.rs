//! The harness's handle on the platform; it exists in no production system.

use std::rc::Rc;

use super::cluster::Cluster;
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

enum Order {
    Release(u64),
    Reset(ObjectKey, JsError),
    Interrupt(ObjectKey, &'static str),
}

impl Control {
    /// The handle on a cluster.
    pub fn new(cluster: Cluster) -> Self {
        Control { cluster }
    }

    /// Lets the operation that is held under `number` go on, wherever it is.
    pub fn release(&self, number: u64) {
        for inbox in self.cluster.inboxes() {
            inbox.post(
                rt::now_ms(),
                Lane::named(&"platform".into(), "order", 0),
                Box::new(OrderLetter(Order::Release(number))),
            );
        }
    }

    /// Resets an object; false when it is placed nowhere.
    pub fn reset(&self, key: &ObjectKey, error: JsError) -> bool {
        self.order(key, Order::Reset(key.clone(), error))
    }

    /// Interrupts a running root fiber (`init` or `disposal`) of an object; false when it is placed nowhere.
    pub fn interrupt(&self, key: &ObjectKey, what: &'static str) -> bool {
        self.order(key, Order::Interrupt(key.clone(), what))
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
            Order::Release(number) => isolate.release(event_loop, number),
            Order::Reset(key, error) => isolate.reset_object(event_loop, &key, error),
            Order::Interrupt(key, what) => isolate.interrupt_object(event_loop, &key, what),
        });
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}

    fn passes_gates(&self) -> bool {
        true
    }
}
