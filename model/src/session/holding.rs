//! How long something of the isolate's may be held before its holder is taken for dead.

use super::HostConfig;
use crate::defect::defect;
use crate::js::EventLoop;

/// Longest time that a cold build holds a reservation or a permit, in milliseconds: twice the longest section.
pub(super) const HELD_MS_MAX: u64 = 60_000;

/// Found here: an object that is reset gives nothing back (platform facts 103, 132), so what its build held would be
/// missing for the life of the isolate. What is held for too long is taken back by whoever needs it next.
pub(super) fn is_expired(config: &HostConfig, since_ms: u64) -> bool {
    let held_ms = EventLoop::current().now_ms() - since_ms;
    held_ms >= HELD_MS_MAX && !defect!(config, LostHoldingsKept)
}
