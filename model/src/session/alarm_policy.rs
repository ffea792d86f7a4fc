//! What an alarm comes to: a pure decision from numbers.

use crate::config::{MAX_RUNNING_SESSION_IDLE_MS, PAUSED_EXECUTION_LEASE_MS, RUNNING_EXECUTION_LEASE_MS};

/// What is known when the alarm fires.
#[derive(Clone, Copy, Debug)]
pub struct AlarmFacts {
    /// Milliseconds since the last activity; 0 when unknown.
    pub idle_ms: u64,
    /// Paused executions.
    pub paused: usize,
    /// Requests accepted and not answered.
    pub running: usize,
    /// Live sockets.
    pub streams: usize,
    /// The host's idle timeout.
    pub timeout_ms: u64,
    /// The host's ceiling for paused sessions.
    pub max_paused_ms: u64,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmDecision {
    /// Not idle long enough: the framework's alarm runs.
    IdleWithinTimeout,
    /// A paused execution keeps the session for so many milliseconds more.
    ExtendPaused(u64),
    /// Running work or a stream does.
    ExtendRunning(u64),
    /// The runtime is disposed. (The described name; nothing durable is destroyed.)
    DestroyIdleSession,
}

/// Decides.
pub fn decide(facts: AlarmFacts) -> AlarmDecision {
    let AlarmFacts { idle_ms, paused, running, streams, timeout_ms, max_paused_ms } = facts;
    if idle_ms < timeout_ms {
        AlarmDecision::IdleWithinTimeout
    } else if paused > 0 {
        if idle_ms < max_paused_ms {
            AlarmDecision::ExtendPaused((max_paused_ms - idle_ms).clamp(1, PAUSED_EXECUTION_LEASE_MS))
        } else {
            AlarmDecision::DestroyIdleSession
        }
    } else if (running > 0 || streams > 0) && idle_ms < MAX_RUNNING_SESSION_IDLE_MS {
        AlarmDecision::ExtendRunning((MAX_RUNNING_SESSION_IDLE_MS - idle_ms).clamp(1, RUNNING_EXECUTION_LEASE_MS))
    } else {
        AlarmDecision::DestroyIdleSession
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> AlarmFacts {
        AlarmFacts { idle_ms: 300_000, paused: 0, running: 0, streams: 0, timeout_ms: 300_000, max_paused_ms: 540_000 }
    }

    #[test]
    fn a_session_is_idle_from_exactly_the_timeout_on() {
        assert_eq!(decide(AlarmFacts { idle_ms: 299_999, ..facts() }), AlarmDecision::IdleWithinTimeout);
        assert_eq!(decide(facts()), AlarmDecision::DestroyIdleSession);
    }

    #[test]
    fn a_pause_extends_up_to_its_ceiling_whatever_else_is_live() {
        let paused = AlarmFacts { paused: 1, running: 1, streams: 1, ..facts() };
        assert_eq!(decide(paused), AlarmDecision::ExtendPaused(240_000));
        assert_eq!(decide(AlarmFacts { idle_ms: 539_999, ..paused }), AlarmDecision::ExtendPaused(1));
        assert_eq!(decide(AlarmFacts { idle_ms: 540_000, ..paused }), AlarmDecision::DestroyIdleSession);
    }

    #[test]
    fn a_stream_or_an_unanswered_request_extends_up_to_the_running_ceiling() {
        assert_eq!(decide(AlarmFacts { streams: 1, ..facts() }), AlarmDecision::ExtendRunning(240_000));
        let late = AlarmFacts { running: 1, idle_ms: 2_099_999, ..facts() };
        assert_eq!(decide(late), AlarmDecision::ExtendRunning(1));
        assert_eq!(decide(AlarmFacts { idle_ms: 2_100_000, ..late }), AlarmDecision::DestroyIdleSession);
    }
}
