//! The numbers that claims rest on: times in ms, and counts.

use crate::decision::DELAY_MS_MAX;

/// Beyond this idle time a runtime goes whatever is live (session-core §1.7, MAX_RUNNING_SESSION_IDLE_MS).
pub const RUNNING_CEILING_MS: u64 = 2_100_000;
/// The longest extension that running work or a live stream earns (session-core §1.7, RUNNING_EXECUTION_LEASE_MS).
pub const LEASE_MS: u64 = 240_000;
/// How long a paused execution can be approved (session-core §1.7, PAUSED_APPROVAL_TIMEOUT_MS).
pub const APPROVAL_MS: u64 = 240_000;
/// The latest that an alarm comes (platform facts 68, 210).
pub const ALARM_LATE_MS_MAX: u64 = DELAY_MS_MAX;
/// What a disposal itself may take once its alarm fired: closes, deletions and commits in a hostile world.
pub const DISPOSAL_MS_MAX: u64 = 10_000;
/// How long the alarm slot may lag behind intent while the write that follows is on its way.
pub const ALARM_WRITE_MS_MAX: u64 = 5_000;
/// The longest that a section lasts before the platform resets its object, in ms (platform fact 36).
pub const SECTION_MS_MAX: u64 = 30_000;
/// How long after its condemnation the alarm of a session is due (session-core §1.7, DESTROY_ALARM_DELAY_MS).
pub const CONDEMNED_MS: u64 = 1_000;
/// Builds of an isolate that hold a permit at a time (session-core §1.7, MAX_CONCURRENT_BUILDS).
pub const PERMIT_COUNT_MAX: u64 = 4;
/// How long a build waits for a permit before it does without one (MAX_QUEUE_WAIT_MS).
pub const PERMIT_QUEUE_MS: u64 = 10_000;
/// The longest wait for a build permit, with the time until a waiter notices what became of it.
pub const PERMIT_WAIT_MS_MAX: u64 = 10_200;
/// A session that was asked for its runtime is not asked again for so long (EVICTION_REQUEST_GRACE_MS).
pub const EVICTION_GRACE_MS: u64 = 15_000;
/// What was lost with its object is taken back after so long: the core's lease and a second for the world.
pub const HELD_MS_MAX: u64 = 61_000;
/// What may wait in the edge for one client, in bytes (session-core §1.7, MAX_PENDING_SSE_BYTES).
pub const BACKLOG_BYTES_MAX: u64 = 8_388_608;
/// A fresh GET is sent at least so much of what was not delivered, in bytes, before it leaves the rest for the next one: half
/// of what may wait for its client.
pub const REPLAY_BYTES_MIN: u64 = 4_194_304;
