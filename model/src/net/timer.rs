//! Deadlines for code that is polled often.

use std::future::Future;
use std::task::Poll;

use crate::rt::Alarm;

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
