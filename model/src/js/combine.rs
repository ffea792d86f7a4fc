//! Awaiting, calling without awaiting, and waiting for several things, with JavaScript's hops.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use super::event_loop::EventLoop;
use super::promise::Promise;

/// `await f()` of an async function: `f` runs at once, and one hop follows after it is done.
pub async fn js<F: Future>(f: F) -> F::Output {
    let output = f.await;
    hops(1).await;
    output
}

/// Bytes from which a future is put on the heap by itself: it would be copied into its task as a whole.
const LARGE: usize = 1024;

/// `f()` without awaiting it: runs to its first suspension before this function returns.
pub fn call<F>(f: F) -> Promise<F::Output>
where
    F: Future + 'static,
    F::Output: Clone + 'static,
{
    if const { size_of::<F>() > LARGE } { start(Box::pin(f)) } else { start(f) }
}

fn start<F>(f: F) -> Promise<F::Output>
where
    F: Future + 'static,
    F::Output: Clone + 'static,
{
    let promise = Promise::new();
    let settled = promise.clone();
    EventLoop::current().start(Box::pin(async move {
        let value = f.await;
        settled.settle(value);
    }));
    promise
}

/// `count` trips through the microtask queue.
pub fn hops(count: u32) -> Hops {
    Hops { count, ticket: None }
}

/// The future of [`hops`].
pub struct Hops {
    count: u32,
    ticket: Option<u64>,
}

impl Future for Hops {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        EventLoop::with_current(|event_loop| match self.ticket {
            _ if self.count == 0 => Poll::Ready(()),
            Some(ticket) if event_loop.fired() == ticket => Poll::Ready(()),
            Some(_) => Poll::Pending,
            None => {
                let ticket = event_loop.next_ticket();
                self.ticket = Some(ticket);
                event_loop.queue_poll(event_loop.running(), ticket, self.count - 1);
                Poll::Pending
            }
        })
    }
}

/// `Promise.all`: settles one hop after the slowest of them, so its awaiter goes on two hops after.
pub fn all<T: Clone + 'static>(promises: Vec<Promise<T>>) -> Promise<Vec<T>> {
    let settled = Promise::new();
    let left = Rc::new(Cell::new(promises.len()));
    if promises.is_empty() {
        return Promise::settled(Vec::new());
    }
    let every: Rc<[Promise<T>]> = promises.into();
    for promise in every.iter() {
        let (promise, every, left, settled) = (promise.clone(), every.clone(), left.clone(), settled.clone());
        drop(call(async move {
            promise.wait().await;
            left.set(left.get() - 1);
            if left.get() == 0 {
                settled.settle(every.iter().filter_map(Promise::value).collect());
            }
        }));
    }
    settled
}

/// `Promise.all` of promises that may reject: the first rejection settles it, the others go on.
pub fn try_all<T, E>(promises: Vec<Promise<Result<T, E>>>) -> Promise<Result<Vec<T>, E>>
where
    T: Clone + 'static,
    E: Clone + 'static,
{
    let settled = Promise::new();
    for promise in &promises {
        let (promise, settled) = (promise.clone(), settled.clone());
        drop(call(async move {
            if let Err(error) = promise.wait().await {
                settled.settle(Err(error));
            }
        }));
    }
    let (every, result) = (all(promises), settled.clone());
    drop(call(async move {
        let values = every.wait_hops(0).await;
        if let Ok(values) = values.into_iter().collect() {
            result.settle(Ok(values));
        }
    }));
    settled
}

/// `Promise.race`: settles one hop after the first of them, with its value.
pub fn race<T: Clone + 'static>(promises: Vec<Promise<T>>) -> Promise<T> {
    let settled = Promise::new();
    for promise in promises {
        let settled = settled.clone();
        drop(call(async move {
            let value = promise.wait().await;
            settled.settle(value);
        }));
    }
    settled
}

/// A promise settled by a timer of the current context after `ms` milliseconds; it leaves the turn even at 0.
pub fn timer(ms: u64) -> Promise<()> {
    let promise = Promise::new();
    let settled = promise.clone();
    EventLoop::current().set_timer(ms, Box::new(move || settled.settle(())));
    promise
}

/// `setImmediate`: first-in first-out with 0 ms timers, after all microtasks.
pub fn immediate() -> Promise<()> {
    timer(0)
}

/// Runs `f` under another root name: the entry point that operations inside it belong to.
pub async fn rooted<F: Future>(root: &'static str, f: F) -> F::Output {
    let mut f = pin!(f);
    std::future::poll_fn(|cx| {
        let event_loop = EventLoop::current();
        let outer = event_loop.swap_root(root);
        let polled = f.as_mut().poll(cx);
        event_loop.swap_root(outer);
        polled
    })
    .await
}
