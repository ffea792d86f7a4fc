//! The Go SDK, read in its source of August and September 2026 only.
//!
//! Not stated there, and taken so: a call whose stream ends without an event id is an error, and a lost connection too.

use super::{
    Deletes, Fate, Forgets, Growth, Listens, Origin, Persona, Posts, Reaction, Reconnect, Renewal, Resume, Retry,
    Verdict, Verdicts,
};

/// Five tries with jitter; any refusal of a later GET, and too many streams at one event id, end the connection.
///
/// Source: `handleSSE` of `mcp/streamable.go`. A stream makes progress when it brings an event id that is not the last one
/// known, and more than five without end the connection. The first stream counts as well: without ids it is one of the
/// six that make none, so five reconnects follow it; with one id for all of them the first has made progress, and six do.
const RECONNECT: Reconnect = Reconnect {
    base_ms: 1_000,
    growth: Growth::By(3, 2),
    cap_ms: 30_000,
    jitter: true,
    abort_at_once: false,
    counts_aborts: false,
    counts_ends_without_id: false,
    forgets: Forgets::AtHead,
    failures_max: Some(5),
    after_last: Verdict::EndsClient,
    no_progress_max: Some(5),
    retry: Retry::Ends,
    first: Verdicts {
        server_error: Verdict::EndsClient,
        unreached: Verdict::EndsClient,
        ..Verdicts::all(Verdict::GivesUp)
    },
    later: Verdicts { unreached: Verdict::Counts, ..Verdicts::all(Verdict::EndsClient) },
};

/// The SDK.
pub(super) const GO_SDK: Persona = Persona {
    name: "go-sdk-2026-08",
    origin: Origin::Source("the Go SDK of August and September 2026"),
    story: "waits a random time, and ends the connection on a refused GET or on streams that make no progress",
    asks_version: "2025-11-25",
    says_version: true,
    probes: false,
    asks_before: &[],
    lists: false,
    leaves_orphan: false,
    listens: Listens::AfterInitialized,
    listener: RECONNECT,
    call: Resume {
        reconnect: Some(RECONNECT),
        given_up: Fate::EndsClient,
        without_id: Fate::Error,
        after_error: false,
    },
    post: Posts {
        not_found: Reaction::Renews(Renewal {
            waits_ms: 0,
            initialize_timeout_ms: None,
            keeps_streams: false,
            resends: true,
        }),
        bad_request: Reaction::EndsClient,
        denied: Reaction::EndsClient,
        client_error: Reaction::EndsClient,
        surfaces_errors: true,
        ..Posts::ERRORS
    },
    keeps_cursor: true,
    silence_ms: None,
    request_timeout_ms: None,
    cancels: true,
    deletes: Deletes::Always,
    delete_timeout_ms: None,
};
