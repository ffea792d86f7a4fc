//! The C# SDK and VS Code, read in their sources of 2026 only.
//!
//! Not stated there, and taken so: a call that cannot be resumed is an error, a lost connection too.

use super::{
    Deletes, Fate, Forgets, Growth, Listens, Origin, Persona, Posts, Reaction, Reconnect, Renewal, Resume, Retry,
    Verdict, Verdicts,
};

/// A second between any two; five tries, without limit after clean ends once an event had an id.
const CSHARP: Reconnect = Reconnect {
    base_ms: 1_000,
    growth: Growth::Not,
    cap_ms: 1_000,
    jitter: false,
    abort_at_once: false,
    counts_aborts: true,
    counts_ends_without_id: true,
    forgets: Forgets::AtId,
    failures_max: Some(5),
    after_last: Verdict::GivesUp,
    no_progress_max: None,
    retry: Retry::CleanEnds,
    first: CSHARP_REFUSED,
    later: CSHARP_REFUSED,
};

const CSHARP_REFUSED: Verdicts = Verdicts {
    not_found: Verdict::EndsClient,
    not_allowed: Verdict::GivesUp,
    client_error: Verdict::GivesUp,
    ..Verdicts::all(Verdict::Counts)
};

/// The C# SDK.
pub(super) const CSHARP_SDK: Persona = Persona {
    name: "csharp-sdk-2026",
    origin: Origin::Source("the C# SDK of 2026"),
    story: "five tries a second apart, and 404 ends the client",
    asks_version: "2025-11-25",
    says_version: true,
    probes: false,
    asks_before: &[],
    lists: false,
    leaves_orphan: false,
    listens: Listens::AfterInitialized,
    listener: CSHARP,
    call: Resume { reconnect: Some(CSHARP), given_up: Fate::Error, without_id: Fate::Error, after_error: false },
    post: Posts { not_found: Reaction::EndsClient, ..Posts::ERRORS },
    keeps_cursor: true,
    silence_ms: None,
    request_timeout_ms: None,
    cancels: true,
    deletes: Deletes::Always,
    delete_timeout_ms: None,
};

/// A second after a clean end, for ever; one more second for each lost connection; off for good at any refusal.
const EDITOR: Reconnect = Reconnect {
    growth: Growth::Linear,
    cap_ms: 30_000,
    counts_ends_without_id: false,
    forgets: Forgets::AtHead,
    failures_max: None,
    first: EDITOR_REFUSED,
    later: EDITOR_REFUSED,
    ..CSHARP
};

const EDITOR_REFUSED: Verdicts = Verdicts { unreached: Verdict::Counts, ..Verdicts::all(Verdict::GivesUp) };

/// VS Code.
pub(super) const VSCODE: Persona = Persona {
    name: "vscode-2026",
    origin: Origin::Source("VS Code of 2026"),
    story: "listens before it says initialized, resumes no call, and starts its server again on 404 and 400",
    says_version: false,
    listens: Listens::AtHead,
    listener: EDITOR,
    call: Resume { reconnect: None, ..CSHARP_SDK.call },
    post: Posts {
        not_found: Reaction::Renews(Renewal {
            waits_ms: 0,
            initialize_timeout_ms: None,
            keeps_streams: false,
            resends: false,
        }),
        bad_request: Reaction::Renews(Renewal {
            waits_ms: 0,
            initialize_timeout_ms: None,
            keeps_streams: false,
            resends: false,
        }),
        denied: Reaction::Breaks,
        client_error: Reaction::Breaks,
        server_error: Reaction::Breaks,
        ..Posts::ERRORS
    },
    ..CSHARP_SDK
};
