//! Knobs of the host, with production's defaults; units are in the names.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::defect::DefectSet;

/// Longest extension for paused work.
pub const PAUSED_EXECUTION_LEASE_MS: u64 = 240_000;
/// Longest single extension for running work.
pub const RUNNING_EXECUTION_LEASE_MS: u64 = 240_000;
/// Idle ceiling of a session with running work or open streams; not overridable.
pub const MAX_RUNNING_SESSION_IDLE_MS: u64 = 2_100_000;
/// How long an approval can be given; also the life of a pending approval's lease.
pub const PAUSED_APPROVAL_TIMEOUT_MS: u64 = 240_000;
/// Longest wait of a tool call for a decision in the browser.
pub const BROWSER_APPROVAL_WAIT_TIMEOUT_MS: u64 = 241_000;
/// Longest wait for the session that owns a paused execution.
pub const MODEL_RESUME_FORWARD_TIMEOUT_MS: u64 = 10_000;
/// Longest wait for a client's answer to an elicitation.
pub const ELICITATION_TIMEOUT_MS: u64 = 60_000;
/// Outcomes of resumes that an engine keeps for replay, oldest dropped first.
pub const SETTLED_OUTCOMES_MAX: usize = 64;
/// Ids of settled executions that an engine remembers, oldest dropped first.
pub const SETTLED_IDS_MAX: usize = 1_024;
/// Age at which a GET stream is rotated.
pub const MAX_SSE_AGE_MS: u64 = 1_800_000;
/// The framework's heartbeat while a keep-alive reference is held.
pub const KEEP_ALIVE_INTERVAL_MS: u64 = 30_000;
/// Time between condemning a session and destroying it.
pub const DESTROY_ALARM_DELAY_MS: u64 = 1_000;
/// Time between keepalive comments on an SSE stream.
pub const SSE_KEEPALIVE_MS: u64 = 25_000;
/// Largest backlog of a bridge's writer.
pub const MAX_PENDING_SSE_BYTES: usize = 8_388_608;
/// What a fresh GET is sent of undelivered streams before it ends, unless its last stream exceeds it: with a whole stream
/// on top it is within the backlog of a bridge.
pub const MAX_REPLAY_BYTES: usize = 4_194_304;
/// Largest POST body.
pub const MAX_POST_BODY_BYTES: usize = 4_194_304;
/// Events kept of one stream.
pub const MAX_EVENTS_PER_STREAM: usize = 64;
/// Bytes kept of one stream.
pub const MAX_BYTES_PER_STREAM: usize = 2_097_152;
/// Largest event that is stored.
pub const MAX_STORABLE_EVENT_BYTES: usize = 122_880;
/// Events of one replay or trim read.
pub const REPLAY_LIMIT: usize = 1_000;
/// Keys of one multi-delete.
pub const DELETE_CHUNK: usize = 128;
/// Rows of one list of request rows or undelivered markers.
pub const LIST_LIMIT: usize = 1_000;

/// What an operator sets, and which historical defects are switched on.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Idle time after which a runtime is given back.
    pub session_timeout_ms: u64,
    /// Idle ceiling of a session with a paused execution.
    pub max_paused_session_idle_ms: u64,
    /// Runtimes an isolate tries not to exceed.
    pub resident_runtime_soft_cap: u32,
    /// Whether sessions register to be asked for their runtime; a host without it only counts them.
    pub supports_cap_eviction: bool,
    /// The directory of execution owners is bound; without it a paused execution is resumable in its own session only.
    pub execution_owner_bound: bool,
    /// Pauses that the engine's own store kept beyond the runtime they began in; every engine of the session takes them up.
    /// None where pauses are kept in memory only, as in the described host.
    pub kept_pauses: Vec<KeptPause>,
    /// Defects that are switched on; none in production.
    pub defects: DefectSet,
}

/// A paused execution in an engine's store.
#[derive(Clone, Debug)]
pub struct KeptPause {
    /// Id of the session.
    pub session: Arc<str>,
    /// Id of the execution.
    pub execution: Arc<str>,
    /// The code that goes on with the response.
    pub code: Arc<str>,
    /// Whether it got its response: what is over is not taken up again.
    pub is_over: Arc<AtomicBool>,
}

impl Default for HostConfig {
    fn default() -> Self {
        HostConfig {
            session_timeout_ms: 300_000,
            max_paused_session_idle_ms: 540_000,
            resident_runtime_soft_cap: 32,
            supports_cap_eviction: true,
            execution_owner_bound: true,
            kept_pauses: Vec::new(),
            defects: DefectSet::default(),
        }
    }
}
