//! Fibers of the effect library: four exits, interruption, masked regions, finalisers.
//!
//! Nested effects run inline and cost no hop: they are plain `async fn`s awaited with `.await`. Only what suspends is
//! wrapped in [`Fiber::at`]. An interrupt ends the wait of the fiber, never the work it waited for.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use crate::js::{EventLoop, Promise};
use crate::platform::JsError;

/// Why an effect did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An expected error of the effect's error channel.
    Fail(JsError),
    /// A defect: a rejection or throw nobody declared.
    Die(JsError),
    /// The fiber was interrupted; failure handlers do not see it.
    Interrupt,
}

impl Cause {
    /// The error as an awaiting caller of the effect sees it.
    pub fn into_error(self) -> JsError {
        match self {
            Cause::Fail(error) | Cause::Die(error) => error,
            Cause::Interrupt => JsError::new(INTERRUPTED),
        }
    }

    /// The error, unless it is an interrupt.
    pub fn error(&self) -> Option<&JsError> {
        match self {
            Cause::Fail(error) | Cause::Die(error) => Some(error),
            Cause::Interrupt => None,
        }
    }
}

/// Text of a promise that rejects because its fiber was interrupted (measured).
pub const INTERRUPTED: &str = "All fibers interrupted without error";

/// How an effect ended.
pub type Exit<T> = Result<T, Cause>;

/// A rejection of a promise inside an effect is a defect.
pub fn or_die<T>(result: Result<T, JsError>) -> Exit<T> {
    result.map_err(Cause::Die)
}

/// A handle on the root fiber of a running effect. Clones share it.
#[derive(Clone)]
pub struct Fiber(Rc<State>);

struct State {
    interrupted: Cell<bool>,
    ended: Cell<bool>,
    masks: Cell<u32>,
    signal: Promise<()>,
}

impl Default for Fiber {
    fn default() -> Self {
        Self::new()
    }
}

impl Fiber {
    /// A fiber nobody has interrupted.
    pub fn new() -> Self {
        Fiber(Rc::new(State {
            interrupted: Cell::new(false),
            ended: Cell::new(false),
            masks: Cell::new(0),
            signal: Promise::new(),
        }))
    }

    /// Aborts the root effect: it ends at its suspension point now, or when its masked region ends.
    pub fn interrupt(&self) {
        if !self.0.interrupted.replace(true) {
            self.0.signal.settle(());
        }
    }

    /// The root effect has ended; an interrupt changes nothing any more.
    pub fn end(&self) {
        self.0.ended.set(true);
    }

    /// True while the root effect runs and nobody has interrupted it.
    pub fn can_be_interrupted(&self) -> bool {
        !self.0.ended.get() && !self.0.interrupted.get()
    }

    /// True when both are handles on one fiber.
    pub fn same(&self, other: &Fiber) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    fn must_stop(&self) -> bool {
        self.0.interrupted.get() && self.0.masks.get() == 0
    }

    /// A suspension point: waits for `wait`, or ends with [`Cause::Interrupt`].
    pub async fn at<F: Future>(&self, wait: F) -> Exit<F::Output> {
        let mut wait = pin!(wait);
        let mut signal = pin!(self.0.signal.wait_hops(0));
        std::future::poll_fn(|cx| {
            if self.must_stop() {
                return Poll::Ready(Err(Cause::Interrupt));
            }
            if let Poll::Ready(value) = wait.as_mut().poll(cx) {
                return Poll::Ready(Ok(value));
            }
            if !self.0.interrupted.get() {
                // Registers once; an interrupt then polls this task nested.
                let _ = signal.as_mut().poll(cx);
            }
            Poll::Pending
        })
        .await
    }

    /// A suspension point on a promise that may reject; a rejection is a defect.
    pub async fn or_die<T, F: Future<Output = Result<T, JsError>>>(&self, wait: F) -> Exit<T> {
        or_die(self.at(wait).await?)
    }

    /// An uninterruptible region; an interrupt that came meanwhile takes effect at its end.
    pub async fn masked<F: Future>(&self, region: F) -> Exit<F::Output> {
        self.0.masks.set(self.0.masks.get() + 1);
        let value = region.await;
        self.0.masks.set(self.0.masks.get() - 1);
        if self.must_stop() { Err(Cause::Interrupt) } else { Ok(value) }
    }

    /// Runs a finaliser: masked, whatever became of the fiber.
    pub async fn finally<F: Future>(&self, finaliser: F) -> F::Output {
        self.0.masks.set(self.0.masks.get() + 1);
        let value = finaliser.await;
        self.0.masks.set(self.0.masks.get() - 1);
        value
    }
}

/// `timeoutOrElse`: what the effect comes to, or none when it has not ended `ms` milliseconds from now. Both sides start
/// at once, the effect first, and the loser is interrupted in the same stretch: what it waited for runs on.
///
/// # Errors
/// Those of the effect.
pub async fn within<T, F>(ms: u64, effect: impl FnOnce(Fiber) -> F) -> Exit<Option<T>>
where
    F: Future<Output = Exit<T>>,
{
    let fiber = Fiber::new();
    let mut running = pin!(effect(fiber.clone()));
    let mut timer = None;
    let exit = std::future::poll_fn(|cx| {
        let polled = running.as_mut().poll(cx);
        if polled.is_pending() && timer.is_none() {
            let fiber = fiber.clone();
            timer = Some(EventLoop::current().set_timer(ms, Box::new(move || fiber.interrupt())));
        }
        polled
    })
    .await;
    timer.iter().for_each(crate::js::TimerHandle::clear);
    match exit {
        Err(Cause::Interrupt) => Ok(None),
        exit => exit.map(Some),
    }
}
