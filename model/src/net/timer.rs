//! Timers for code that is polled often: armed once for each deadline.
//!
//! The simulated runtime never takes a timer back and adds one more at every poll of a sleep, so a sleep
//! must not be polled again while it waits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::rt;

/// A wake-up call for one task; reused for one deadline after the other.
#[derive(Default)]
pub struct Alarm {
    armed: Option<Armed>,
}

struct Armed {
    due_ms: u64,
    waker: Waker,
    sleep: Pin<Box<dyn Future<Output = ()>>>,
}

impl Alarm {
    /// Ready when the clock reads `due_ms` (epoch milliseconds) or later, else the task is woken then.
    ///
    /// An earlier deadline that is still armed is left alone: it wakes the task, which asks again.
    pub fn poll_until(&mut self, due_ms: u64, cx: &mut Context<'_>) -> Poll<()> {
        let now_ms = rt::now_ms();
        if now_ms >= due_ms {
            return Poll::Ready(());
        }
        if let Some(armed) = &mut self.armed
            && armed.due_ms > now_ms
            && armed.due_ms <= due_ms
            && armed.waker.will_wake(cx.waker())
        {
            // Real timers may be polled again for free, and may fire a little early by our clock.
            if cfg!(madsim) || armed.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        let mut sleep: Pin<Box<dyn Future<Output = ()>>> = Box::pin(rt::sleep_until_ms(due_ms));
        while sleep.as_mut().poll(cx).is_ready() {
            if rt::now_ms() >= due_ms {
                return Poll::Ready(());
            }
            sleep = Box::pin(rt::sleep_until_ms(due_ms));
        }
        self.armed = Some(Armed { due_ms, waker: cx.waker().clone(), sleep });
        Poll::Pending
    }
}

/// What `future` gives, or `None` once the clock reads `deadline_ms` (epoch milliseconds).
///
/// The future is dropped at the deadline. When both are ready at once the future wins.
pub async fn with_deadline<T>(deadline_ms: u64, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut alarm = Alarm::default();
    std::future::poll_fn(|cx| {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(value));
        }
        alarm.poll_until(deadline_ms, cx).map(|()| None)
    })
    .await
}
