//! Clients on the TypeScript SDKs, measured with the npm packages `@modelcontextprotocol/sdk` 1.32.2,
//! `@modelcontextprotocol/client` 2.4.0, `mcp-remote` 0.15.1 and `@modelcontextprotocol/inspector` 2.12.0.

use super::{
    Deletes, Fate, Forgets, Growth, Listens, Origin, Persona, Posts, Reaction, Reconnect, Renewal, Resume, Retry,
    Verdict, Verdicts,
};

/// Two tries, 1000 and 1500 ms after each other, then never again.
const RECONNECT: Reconnect = Reconnect {
    base_ms: 1_000,
    growth: Growth::By(3, 2),
    cap_ms: 30_000,
    jitter: false,
    abort_at_once: false,
    counts_aborts: false,
    counts_ends_without_id: false,
    forgets: Forgets::AtHead,
    failures_max: Some(2),
    after_last: Verdict::GivesUp,
    no_progress_max: None,
    retry: Retry::Everywhere,
    first: Verdicts::all(Verdict::GivesUp),
    later: Verdicts { not_allowed: Verdict::GivesUp, ..Verdicts::all(Verdict::Counts) },
};

/// The first version's client.
pub(super) const SDK_1: Persona = Persona {
    name: "ts-sdk-1.32.2",
    origin: Origin::Measured("npm @modelcontextprotocol/sdk 1.32.2"),
    story: "two tries for a stream, calls that hang to their time-out, and one that asks again and again for an error it has",
    asks_version: "2025-11-25",
    says_version: true,
    probes: false,
    asks_before: &[],
    lists: false,
    leaves_orphan: false,
    listens: Listens::AfterInitialized,
    listener: RECONNECT,
    call: Resume { reconnect: Some(RECONNECT), given_up: Fate::Hangs, without_id: Fate::Hangs, after_error: true },
    post: Posts::ERRORS,
    keeps_cursor: false,
    silence_ms: Some(300_000),
    request_timeout_ms: Some(60_000),
    cancels: true,
    deletes: Deletes::WhenAsked,
    delete_timeout_ms: None,
};

/// The second version's client.
pub(super) const CLIENT_2: Persona = Persona {
    name: "ts-client-2.4.0",
    origin: Origin::Measured("npm @modelcontextprotocol/client 2.4.0"),
    story: "two tries for a stream, and calls that hang to their time-out",
    call: Resume { after_error: false, ..SDK_1.call },
    ..SDK_1
};

/// What the proxy asks for before its handshake: two bare GETs, which a server with sessions answers 400, and six for
/// metadata of authorization, which one without answers 404. That they are six was measured, of which names was not: taken
/// are the three that a client may look for, each with the endpoint's path and without.
const BEFORE_REMOTE: &[Option<&str>] = &[
    None,
    None,
    Some("/.well-known/oauth-protected-resource/mcp"),
    Some("/.well-known/oauth-protected-resource"),
    Some("/.well-known/oauth-authorization-server/mcp"),
    Some("/.well-known/oauth-authorization-server"),
    Some("/.well-known/openid-configuration/mcp"),
    Some("/.well-known/openid-configuration"),
];

/// A proxy on the second version's client.
pub(super) const MCP_REMOTE: Persona = Persona {
    name: "mcp-remote-0.15.1",
    origin: Origin::Measured("npm mcp-remote 0.15.1"),
    story: "looks around first, leaves a session behind, opens a new one on 404 and asks again there, and never ends one",
    asks_before: BEFORE_REMOTE,
    leaves_orphan: true,
    post: Posts {
        not_found: Reaction::Renews(Renewal {
            waits_ms: 0,
            initialize_timeout_ms: Some(30_000),
            keeps_streams: true,
            resends: true,
        }),
        ..Posts::ERRORS
    },
    request_timeout_ms: None,
    deletes: Deletes::Never,
    ..CLIENT_2
};

/// A command line on the second version's client: initialize, initialized, GET, tools/list, then what it is to do.
pub(super) const INSPECTOR: Persona = Persona {
    name: "inspector-2.12.0-cli",
    origin: Origin::Measured("npm @modelcontextprotocol/inspector 2.12.0, --cli"),
    story: "asks for the tools first, closes its stream and leaves its session behind",
    lists: true,
    deletes: Deletes::Never,
    ..CLIENT_2
};
