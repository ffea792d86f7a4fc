//! Which clients read nothing now: the client says it, and its server's writes wait once the window between is full.
//!
//! One run lives on one OS thread, so the table is a thread-local, as for the labels.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::rt;

/// Bytes that a connection takes for a client that does not read.
pub const WINDOW_BYTES: usize = 64 * 1024;

/// A time in which a client reads nothing, in epoch milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    from_ms: u64,
    /// When it reads again.
    pub until_ms: u64,
}

thread_local! {
    static STALLS: RefCell<BTreeMap<Arc<str>, Stall>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets every stall; called at the start of a run.
pub fn reset() {
    STALLS.with_borrow_mut(BTreeMap::clear);
}

/// The client of that label reads nothing for so long, in ms.
pub fn stall(label: &Arc<str>, ms: u64) {
    let from_ms = rt::now_ms();
    STALLS.with_borrow_mut(|stalls| stalls.insert(Arc::clone(label), Stall { from_ms, until_ms: from_ms + ms }));
}

/// Until when the client reads nothing, if it does not read now.
pub fn until(label: &str) -> Option<u64> {
    let now_ms = rt::now_ms();
    STALLS.with_borrow(|stalls| stalls.get(label).map(|stall| stall.until_ms)).filter(|until_ms| now_ms < *until_ms)
}

/// The stall as the other end notices it: not in the millisecond in which it began, whose order is nobody's.
pub fn noticed(label: &str) -> Option<Stall> {
    let now_ms = rt::now_ms();
    let is_noticed = |stall: &Stall| stall.from_ms < now_ms && now_ms < stall.until_ms;
    STALLS.with_borrow(|stalls| if stalls.is_empty() { None } else { stalls.get(label).copied() }).filter(is_noticed)
}
