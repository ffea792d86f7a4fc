//! The client of the crate `rmcp`, measured with 3.11.0.

use super::{
    Deletes, Fate, Forgets, Growth, Listens, Origin, Persona, Posts, Reaction, Reconnect, Renewal, Resume, Retry,
    Verdict, Verdicts,
};

/// At once after a lost connection, a second after a clean end, then 2, 4, 8 … s without limit or end.
const RECONNECT: Reconnect = Reconnect {
    base_ms: 1_000,
    growth: Growth::By(2, 1),
    cap_ms: u64::MAX / 4,
    jitter: false,
    abort_at_once: true,
    counts_aborts: false,
    counts_ends_without_id: false,
    forgets: Forgets::AtHead,
    failures_max: None,
    after_last: Verdict::GivesUp,
    no_progress_max: None,
    retry: Retry::Once,
    first: Verdicts::all(Verdict::GivesUp),
    later: Verdicts { not_allowed: Verdict::GivesUp, ..Verdicts::all(Verdict::Counts) },
};

/// The client.
pub(super) const RMCP: Persona = Persona {
    name: "rmcp-3.11.0",
    origin: Origin::Measured("crates.io rmcp 3.11.0"),
    story: "opens a new session on 404, knocks for ever, and hangs on an error that does not name its request",
    asks_version: "2026-07-28",
    says_version: true,
    probes: false,
    asks_before: &[],
    lists: false,
    leaves_orphan: false,
    listens: Listens::AfterInitialized,
    listener: RECONNECT,
    call: Resume { reconnect: Some(RECONNECT), given_up: Fate::Error, without_id: Fate::Error, after_error: false },
    post: Posts {
        not_found: Reaction::Renews(Renewal {
            waits_ms: 5_000,
            initialize_timeout_ms: None,
            keeps_streams: false,
            resends: true,
        }),
        foreign_id_hangs: true,
        ..Posts::ERRORS
    },
    keeps_cursor: true,
    silence_ms: None,
    request_timeout_ms: None,
    cancels: true,
    deletes: Deletes::Always,
    delete_timeout_ms: Some(5_000),
};
