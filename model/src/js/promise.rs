//! A promise with many waiters, woken in the order in which they came.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::context::Ctx;
use super::event_loop::{EventLoop, TaskId};

/// A value that is there once, now or later. Clones share it.
pub struct Promise<T>(Rc<Inner<T>>);

struct Inner<T> {
    value: RefCell<Option<T>>,
    waiters: RefCell<Waiters>,
}

/// Who waits, in the order in which they came: mostly it is one.
#[derive(Default)]
struct Waiters {
    first: Option<Waiter>,
    others: Vec<Waiter>,
}

impl Waiters {
    fn add(&mut self, waiter: Waiter) {
        match self.first {
            None => self.first = Some(waiter),
            Some(_) => self.others.push(waiter),
        }
    }
}

struct Waiter {
    task: TaskId,
    ticket: u64,
    hops: u32,
    ctx: Ctx,
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Promise(Rc::clone(&self.0))
    }
}

impl<T: Clone + 'static> Default for Promise<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + 'static> Promise<T> {
    /// A promise that nobody has settled yet.
    pub fn new() -> Self {
        Promise(Rc::new(Inner { value: RefCell::new(None), waiters: RefCell::default() }))
    }

    /// A promise that is settled already.
    pub fn settled(value: T) -> Self {
        let promise = Self::new();
        *promise.0.value.borrow_mut() = Some(value);
        promise
    }

    /// A promise that settles by itself after `hops` trips through the queue.
    pub fn settling_after(hops: u32, value: T) -> Self {
        let promise = Self::new();
        promise.settle_after(hops, value);
        promise
    }

    /// Settles this promise after `hops` trips through the queue; 0 settles now.
    pub fn settle_after(&self, hops: u32, value: T) {
        if hops == 0 {
            return self.settle(value);
        }
        let promise = self.clone();
        EventLoop::current().queue_job(Box::new(move || promise.settle(value)), hops - 1);
    }

    /// Settles the promise and wakes its waiters; a second settlement is ignored, as in JavaScript.
    pub fn settle(&self, value: T) {
        self.0.settle_with(value);
    }

    /// The value, if it is there.
    pub fn value(&self) -> Option<T> {
        self.0.value.borrow().clone()
    }

    /// True once settled.
    pub fn is_settled(&self) -> bool {
        self.0.value.borrow().is_some()
    }

    /// True when both are the same promise.
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// `await promise`: one hop after it is settled, also when it is settled already.
    pub fn wait(&self) -> Wait<T> {
        self.wait_hops(1)
    }

    /// Waits and goes on `hops` trips after the settlement; 0 goes on nested inside the settlement.
    pub fn wait_hops(&self, hops: u32) -> Wait<T> {
        Wait { promise: self.clone(), hops, ticket: None }
    }
}

impl<T: Clone + 'static> Inner<T> {
    fn settle_with(&self, value: T) {
        if self.value.borrow().is_some() {
            return;
        }
        *self.value.borrow_mut() = Some(value);
        let Waiters { first: Some(first), others } = self.waiters.take() else { return };
        let event_loop = EventLoop::current();
        for waiter in std::iter::once(first).chain(others) {
            event_loop.wake(waiter.task, waiter.ticket, waiter.hops, &waiter.ctx);
        }
    }
}

/// The future of [`Promise::wait`].
pub struct Wait<T> {
    promise: Promise<T>,
    hops: u32,
    ticket: Option<u64>,
}

impl<T: Clone + 'static> Future for Wait<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        EventLoop::with_current(|event_loop| {
            if let Some(ticket) = self.ticket {
                if event_loop.fired() == ticket {
                    return Poll::Ready(self.promise.value().expect("a fired wait has its value"));
                }
                return Poll::Pending;
            }
            let task = event_loop.running();
            let value = if self.hops == 0 { self.promise.value() } else { None };
            if let Some(value) = value {
                return Poll::Ready(value);
            }
            let ticket = event_loop.next_ticket();
            self.ticket = Some(ticket);
            let hops = self.hops;
            if self.promise.is_settled() {
                event_loop.queue_poll(task, ticket, hops - 1);
            } else {
                let ctx = event_loop.ctx();
                self.promise.0.waiters.borrow_mut().add(Waiter { task, ticket, hops, ctx });
            }
            Poll::Pending
        })
    }
}
