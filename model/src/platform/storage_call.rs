//! A storage call in progress: performed or held, then answered within the turn, or failed.

#[cfg(test)]
use std::cell::Cell;
use std::future::IntoFuture;
use std::rc::Rc;

use super::error::JsError;
use super::object::Instance;
use super::operate::{self, Outcome};
use crate::js::{EventLoop, Promise, Wait};
use crate::operation::{Edge, Operation};

/// A storage call in progress: its effect has happened, `.await` waits for its answer.
pub struct StorageCall<T: Clone + 'static> {
    pub(super) promise: Promise<Result<T, JsError>>,
    pub(super) hops: u32,
}

/// A storage call settles two trips after the call; its awaiter goes on at the third (loop rule, measured).
pub(super) const SETTLES_AFTER: u32 = 2;

impl<T: Clone + 'static> StorageCall<T> {
    pub(super) fn rejected(error: JsError) -> Self {
        StorageCall { promise: Promise::settled(Err(error)), hops: 1 }
    }

    /// A call that what stands in the platform's place answers.
    pub(super) fn given(operation: &'static Operation, promise: Promise<Result<T, JsError>>) -> Self {
        StorageCall { promise, hops: operation.hops.saturating_sub(SETTLES_AFTER).max(1) }
    }

    /// The promise behind it, to be awaited later or together with others.
    pub fn promise(&self) -> Promise<Result<T, JsError>> {
        self.promise.clone()
    }
}

impl<T: Clone + 'static> IntoFuture for StorageCall<T> {
    type Output = Result<T, JsError>;
    type IntoFuture = Wait<Result<T, JsError>>;

    fn into_future(self) -> Self::IntoFuture {
        self.promise.wait_hops(self.hops)
    }
}

/// Begins a call: its effect now, or when it is released, or never.
pub(super) fn perform<T: Clone + 'static>(
    operation: &'static Operation,
    instance: Rc<Instance>,
    promise: Promise<Result<T, JsError>>,
    settles_after: u32,
    effect: impl FnOnce(&Instance) -> Result<T, JsError> + 'static,
) {
    match operate::edge_past_gate(operation, Edge::Begin) {
        Outcome::Go => answer(operation, instance, promise, settles_after, effect),
        Outcome::Fail(error) => fail(operation, &instance, &promise, settles_after, error),
        Outcome::Gone => {}
        Outcome::Wait(wait) => hold_gate(&instance, wait, move |instance, passed| match passed {
            Ok(()) => answer(operation, instance, promise, settles_after, effect),
            Err(error) => fail(operation, &instance, &promise, settles_after, error),
        }),
    }
}

/// Begins a `sync()`.
pub(super) fn sync(operation: &'static Operation, instance: Rc<Instance>, promise: Promise<Result<(), JsError>>) {
    match operate::edge_past_gate(operation, Edge::Begin) {
        Outcome::Go => flush(operation, instance, promise),
        Outcome::Fail(error) => promise.settle_after(SETTLES_AFTER, Err(error)),
        Outcome::Gone => {}
        Outcome::Wait(wait) => hold_gate(&instance, wait, move |instance, passed| match passed {
            Ok(()) => flush(operation, instance, promise),
            Err(error) => promise.settle(Err(error)),
        }),
    }
}

/// Performs the effect now and settles the promise when its trips are over and the end of the operation has passed.
fn answer<T: Clone + 'static>(
    operation: &'static Operation,
    instance: Rc<Instance>,
    promise: Promise<Result<T, JsError>>,
    settles_after: u32,
    effect: impl FnOnce(&Instance) -> Result<T, JsError>,
) {
    let value = instance.storage_error().map_or_else(|| effect(&instance), Err);
    let finish = Box::new(move || finish(operation, &instance, promise, value));
    EventLoop::current().queue_job(finish, settles_after - 1);
}

/// Rejects without any effect.
#[cfg_attr(not(test), expect(unused_variables, reason = "only the tests are told which call it is"))]
fn fail<T: Clone + 'static>(
    operation: &'static Operation,
    instance: &Instance,
    promise: &Promise<Result<T, JsError>>,
    settles_after: u32,
    error: JsError,
) {
    #[cfg(test)]
    crate::observed::storage_failed(&instance.key, operation, &error);
    promise.settle_after(settles_after, Err(error));
}

/// The end of an operation has come: its answer goes to the waiting code.
fn finish<T: Clone + 'static>(
    operation: &'static Operation,
    instance: &Rc<Instance>,
    promise: Promise<Result<T, JsError>>,
    value: Result<T, JsError>,
) {
    match operate::edge_past_gate(operation, Edge::End) {
        Outcome::Go => promise.settle(value),
        Outcome::Fail(error) => promise.settle(Err(error)),
        Outcome::Gone => {}
        Outcome::Wait(wait) => hold_gate(instance, wait, move |_, passed| promise.settle(passed.and(value))),
    }
}

/// Leaves the turn, before any other event (50 syncs in a row let nothing in, platform fact 28), and settles the promise
/// when everything that was written before is durable.
fn flush(operation: &'static Operation, instance: Rc<Instance>, promise: Promise<Result<(), JsError>>) {
    // Fact: 28. Awaiting storage lets no event in, syncs included. [R:G1, R:G1b, S:io/actor-sqlite.c++]
    let event_loop = EventLoop::current();
    let wait = Box::new(move || {
        if let Some(error) = instance.storage_error() {
            return finish(operation, &instance, promise, Err(error));
        }
        let needed = instance.store.begun.get();
        if instance.store.committed.get() >= needed {
            return finish(operation, &instance, promise, Ok(()));
        }
        let durable = Promise::new();
        instance.store.syncs.borrow_mut().push((needed, durable.clone()));
        drop(crate::js::call(async move {
            durable.wait_hops(0).await;
            // It comes back through the gate.
            let event_loop = EventLoop::current();
            let done = Box::new(move || finish(operation, &instance, promise, Ok(())));
            event_loop.run_later(event_loop.now_ms(), event_loop.ctx(), done);
        }));
    });
    event_loop.run_next(event_loop.ctx(), wait);
}

/// A delayed or held storage operation keeps the input gate shut and ends the turn.
fn hold_gate(
    instance: &Rc<Instance>,
    wait: Promise<Result<(), JsError>>,
    then: impl FnOnce(Rc<Instance>, Result<(), JsError>) + 'static,
) {
    let event_loop = EventLoop::current();
    let instance = Rc::clone(instance);
    #[cfg(test)]
    let has_gate = !GATELESS.get();
    #[cfg(not(test))]
    let has_gate = true;
    if has_gate {
        event_loop.storage_wait_begins(&instance.io);
    }
    event_loop.start(Box::pin(async move {
        let passed = wait.wait_hops(0).await;
        if has_gate {
            EventLoop::current().storage_wait_ends(&instance.io);
        }
        then(instance, passed);
    }));
}

#[cfg(test)]
thread_local! {
    /// Set where storage has no input gate, as in the fakes of the recorded programs.
    pub(crate) static GATELESS: Cell<bool> = const { Cell::new(false) };
}
