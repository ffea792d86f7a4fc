//! Wake-up calls for tasks that are polled often: armed once for each deadline.
//!
//! The simulated runtime never takes a timer back and adds one more at every poll of a sleep, so a sleep
//! must not be polled again while it waits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Wake-up calls for one task, for one deadline after the other.
#[derive(Default)]
pub struct Alarm {
    armed: Vec<Armed>,
}

struct Armed {
    due_ms: u64,
    waker: Waker,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Alarm {
    /// Ready when the clock reads `due_ms` (epoch milliseconds) or later, else the task is woken then.
    ///
    /// An earlier deadline that is still armed is left alone: it wakes the task, which asks again. So is a later one, as
    /// long as the runtime is simulated: its timer is still there when it is asked for again.
    pub fn poll_until(&mut self, due_ms: u64, cx: &mut Context<'_>) -> Poll<()> {
        let now_ms = super::now_ms();
        if now_ms >= due_ms {
            return Poll::Ready(());
        }
        self.armed.retain(|armed| armed.due_ms > now_ms && armed.waker.will_wake(cx.waker()));
        if let Some(armed) = self.armed.iter_mut().find(|armed| armed.due_ms <= due_ms) {
            // Real timers may be polled again for free, and may fire a little early by our clock.
            if cfg!(madsim) || armed.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        if !cfg!(madsim) {
            self.armed.clear();
        }
        let mut sleep: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(super::sleep_until_ms(due_ms));
        while sleep.as_mut().poll(cx).is_ready() {
            if super::now_ms() >= due_ms {
                return Poll::Ready(());
            }
            sleep = Box::pin(super::sleep_until_ms(due_ms));
        }
        self.armed.push(Armed { due_ms, waker: cx.waker().clone(), sleep });
        Poll::Pending
    }
}
