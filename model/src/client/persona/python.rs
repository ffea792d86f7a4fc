//! Clients on the Python SDKs, measured with the packages `mcp` 1.30.0 and 2.3.0, and `fastmcp` 4.2.3.

use super::{
    Deletes, Fate, Forgets, Growth, Listens, Origin, Persona, Posts, Reaction, Reconnect, Resume, Retry, Verdict,
    Verdicts,
};

/// Two lives, which only a clean end gives back: every second failure or lost connection ends it.
const RECONNECT: Reconnect = Reconnect {
    base_ms: 1_000,
    growth: Growth::Not,
    cap_ms: 1_000,
    jitter: false,
    abort_at_once: false,
    counts_aborts: true,
    counts_ends_without_id: false,
    forgets: Forgets::AtCleanEnd,
    failures_max: Some(2),
    after_last: Verdict::GivesUp,
    no_progress_max: None,
    retry: Retry::Stream,
    first: Verdicts::all(Verdict::Counts),
    later: Verdicts::all(Verdict::Counts),
};

/// The first version's client.
pub(super) const MCP_1: Persona = Persona {
    name: "py-mcp-1.30.0",
    origin: Origin::Measured("PyPI mcp 1.30.0"),
    story: "a refused POST ends the whole client and its session, and a lost call hangs for ever",
    asks_version: "2025-11-25",
    says_version: true,
    probes: false,
    asks_before: &[],
    lists: false,
    leaves_orphan: false,
    listens: Listens::BeforeInitialized,
    listener: RECONNECT,
    call: Resume { reconnect: Some(RECONNECT), given_up: Fate::Hangs, without_id: Fate::Hangs, after_error: false },
    post: Posts {
        not_found: Reaction::Error,
        bad_request: Reaction::EndsClient,
        denied: Reaction::EndsClient,
        client_error: Reaction::EndsClient,
        server_error: Reaction::EndsClient,
        lost: Reaction::EndsClient,
        ..Posts::ERRORS
    },
    keeps_cursor: true,
    silence_ms: Some(300_000),
    request_timeout_ms: None,
    cancels: false,
    deletes: Deletes::Always,
    delete_timeout_ms: None,
};

/// The second version's client.
pub(super) const MCP_2: Persona = Persona {
    name: "py-mcp-2.3.0",
    origin: Origin::Measured("PyPI mcp 2.3.0"),
    story: "asks for server/discover first, and ends itself and its session when a POST loses its connection",
    probes: true,
    call: Resume { given_up: Fate::Error, without_id: Fate::Error, ..MCP_1.call },
    post: Posts { lost: Reaction::EndsClient, ..Posts::ERRORS },
    cancels: true,
    ..MCP_1
};

/// A client on top of it.
pub(super) const FASTMCP: Persona = Persona {
    name: "fastmcp-4.2.3",
    origin: Origin::Measured("PyPI fastmcp 4.2.3"),
    story: "fails every call after one POST that lost its connection, until it is closed",
    post: Posts { lost: Reaction::Breaks, ..Posts::ERRORS },
    ..MCP_2
};
