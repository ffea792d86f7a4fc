//! Personas: what a real MCP client does by itself, as numbers and choices that one engine carries out.
//!
//! A persona says when its client opens its GET, how long it waits before it opens an ended stream again and when it stops
//! trying, what an answer other than the one it wants does to it, how it gets what a call lost, and how it leaves. The
//! tables beside this file say which client each was measured with, or that it was only read in its source.

mod go;
mod knocks;
mod others;
mod python;
mod rust;
#[cfg(all(test, madsim))]
mod tests;
mod typescript;

use std::fmt;

pub(super) use knocks::{Ended, Knocks, Next};

/// Every persona, one line each.
pub const PERSONAS: &[&Persona] = &[
    &typescript::SDK_1,
    &typescript::CLIENT_2,
    &typescript::MCP_REMOTE,
    &typescript::INSPECTOR,
    &python::MCP_1,
    &python::MCP_2,
    &python::FASTMCP,
    &rust::RMCP,
    &go::GO_SDK,
    &others::CSHARP_SDK,
    &others::VSCODE,
];

/// The persona of that name.
pub fn find(name: &str) -> Option<&'static Persona> {
    PERSONAS.iter().copied().find(|persona| persona.name == name)
}

/// What one real client does by itself.
#[derive(Debug)]
pub struct Persona {
    /// Its name in plans: the client and its version.
    pub name: &'static str,
    /// Where its numbers come from.
    pub origin: Origin,
    /// What tells it from the others, in one sentence.
    pub story: &'static str,
    /// The protocol version that it asks for.
    pub asks_version: &'static str,
    /// Whether it says the negotiated version in `mcp-protocol-version`.
    pub says_version: bool,
    /// Whether it first asks for `server/discover`, without a session.
    pub probes: bool,
    /// What it GETs first, without a session and one after the other: pages, or the MCP endpoint where none is named.
    pub asks_before: &'static [Option<&'static str>],
    /// Whether it asks for the tools before anything else.
    pub lists: bool,
    /// Whether it leaves another session with an open GET behind, which nobody ends.
    pub leaves_orphan: bool,
    /// When it opens its GET.
    pub listens: Listens,
    /// How it opens its GET again.
    pub listener: Reconnect,
    /// How it gets what a call's stream did not bring.
    pub call: Resume,
    /// What the end of a POST other than by its answer does.
    pub post: Posts,
    /// Whether the cursor is kept when a stream ends that brought no event with an id.
    pub keeps_cursor: bool,
    /// A body on which nothing comes for so long is given up, in ms; never when absent.
    pub silence_ms: Option<u64>,
    /// A request is given up after so long, in ms; never when absent.
    pub request_timeout_ms: Option<u64>,
    /// Whether it tells the server of a request that it has given up.
    pub cancels: bool,
    /// Whether it ends its session with DELETE when it is closed.
    pub deletes: Deletes,
    /// How long it waits for the answer to its DELETE, in ms; as for any request when absent.
    pub delete_timeout_ms: Option<u64>,
}

/// Where the numbers of a persona come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Seen on the wire with this client and version.
    Measured(&'static str),
    /// Read in the published source of this client only.
    Source(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Measured(client) => write!(out, "measured with {client}"),
            Origin::Source(client) => write!(out, "source of {client} only"),
        }
    }
}

/// When a client opens its GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens {
    /// As soon as the head of the answer to `initialize` came.
    AtHead,
    /// Just before it posts `notifications/initialized`.
    BeforeInitialized,
    /// After the 202 to it.
    AfterInitialized,
}

/// Whether a client that is closed ends its session with DELETE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletes {
    /// Always, also when it ends by itself.
    Always,
    /// Only when its application asks for that; ending by itself it does not.
    WhenAsked,
    /// Never.
    Never,
}

/// How a stream that ended, or a GET that was refused, is followed by another GET.
#[derive(Clone, Copy, Debug)]
pub struct Reconnect {
    /// The wait after a clean end, in ms; the base of all others.
    pub base_ms: u64,
    /// How the wait grows with each failure in a row.
    pub growth: Growth,
    /// The longest wait, in ms.
    pub cap_ms: u64,
    /// Whether a random time of up to the same length is added.
    pub jitter: bool,
    /// Whether the GET after a lost connection comes at once.
    pub abort_at_once: bool,
    /// Whether a lost connection counts as a failure.
    pub counts_aborts: bool,
    /// Whether a clean end counts as a failure as long as no event had an id.
    pub counts_ends_without_id: bool,
    /// What makes it forget its failures.
    pub forgets: Forgets,
    /// So many failures in a row end it; none do when absent.
    pub failures_max: Option<u32>,
    /// What the last of them comes to.
    pub after_last: Verdict,
    /// More streams in a row than this that end at the same event id end the whole client.
    pub no_progress_max: Option<u32>,
    /// What `retry:` of the server changes.
    pub retry: Retry,
    /// What the first GET of all comes to when it does not become a stream.
    pub first: Verdicts,
    /// The same of every later one.
    pub later: Verdicts,
}

/// How the wait grows with each failure in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Not at all.
    Not,
    /// By this factor, numerator and denominator.
    By(u64, u64),
    /// By the base.
    Linear,
}

/// What makes a client forget that it failed to open a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgets {
    /// The head of a stream.
    AtHead,
    /// An event with an id.
    AtId,
    /// The clean end of a stream.
    AtCleanEnd,
}

/// What the server's `retry:` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Every wait of every stream of the client.
    Everywhere,
    /// Every wait of that stream.
    Stream,
    /// Waits of that stream after an end of any kind.
    Ends,
    /// Waits of that stream after a clean end.
    CleanEnds,
    /// The next wait of that stream after a clean end; later waits are no shorter.
    Once,
}

/// What a GET that did not become a stream does to its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts as a failure.
    Counts,
    /// The stream is given up for good.
    GivesUp,
    /// The whole client ends.
    EndsClient,
}

/// The same by what came instead.
#[derive(Clone, Copy, Debug)]
pub struct Verdicts {
    /// Status 404.
    pub not_found: Verdict,
    /// Status 405.
    pub not_allowed: Verdict,
    /// Any other 4xx.
    pub client_error: Verdict,
    /// A 5xx.
    pub server_error: Verdict,
    /// No answer at all.
    pub unreached: Verdict,
}

impl Verdicts {
    /// The same whatever came.
    pub const fn all(verdict: Verdict) -> Verdicts {
        Verdicts {
            not_found: verdict,
            not_allowed: verdict,
            client_error: verdict,
            server_error: verdict,
            unreached: verdict,
        }
    }

    /// What comes of that status; of no answer when there is none.
    pub fn of(&self, status: Option<u16>) -> Verdict {
        match status {
            Some(404) => self.not_found,
            Some(405) => self.not_allowed,
            Some(status) if status >= 500 => self.server_error,
            Some(_) => self.client_error,
            None => self.unreached,
        }
    }
}

/// How a client gets what a call's stream did not bring.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    /// By GET with the last event id, if there was one; not at all when absent.
    pub reconnect: Option<Reconnect>,
    /// What becomes of the call when these GETs are given up.
    pub given_up: Fate,
    /// What becomes of it when its stream ends and no event had an id.
    pub without_id: Fate,
    /// Whether a stream that brought a JSON-RPC error is asked for again all the same.
    pub after_error: bool,
}

/// What becomes of a call that no answer can reach any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its caller is told.
    Error,
    /// It hangs until its time-out, or for ever if there is none.
    Hangs,
    /// The whole client ends.
    EndsClient,
}

/// What the end of a POST other than by its answer does.
#[derive(Clone, Copy, Debug)]
pub struct Posts {
    /// Status 404.
    pub not_found: Reaction,
    /// Status 400.
    pub bad_request: Reaction,
    /// Status 401, 403 or 429.
    pub denied: Reaction,
    /// Any other 4xx.
    pub client_error: Reaction,
    /// A 5xx.
    pub server_error: Reaction,
    /// No answer at all.
    pub lost: Reaction,
    /// Whether a JSON-RPC error as the body goes to the caller, whatever the status but 404.
    pub surfaces_errors: bool,
    /// Whether a JSON-RPC error with an id that is not the request's goes unheard, and the call hangs; not with 401, 403, 404
    /// and 429.
    pub foreign_id_hangs: bool,
}

impl Posts {
    /// The caller is told of whatever happens.
    pub const ERRORS: Posts = Posts {
        not_found: Reaction::Error,
        bad_request: Reaction::Error,
        denied: Reaction::Error,
        client_error: Reaction::Error,
        server_error: Reaction::Error,
        lost: Reaction::Error,
        surfaces_errors: false,
        foreign_id_hangs: false,
    };

    /// What a refusal with that status does.
    pub fn of(&self, status: u16) -> Reaction {
        match status {
            404 => self.not_found,
            400 => self.bad_request,
            401 | 403 | 429 => self.denied,
            500.. => self.server_error,
            _ => self.client_error,
        }
    }
}

/// What a POST that did not bring its answer does to its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Its caller is told.
    Error,
    /// The whole client ends.
    EndsClient,
    /// Its caller is told, and so are the callers of everything later, which is not sent any more.
    Breaks,
    /// It opens another session.
    Renews(Renewal),
}

/// How a client opens another session in place of one that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// How long it waits before that for other POSTs to end, in ms.
    pub waits_ms: u64,
    /// How long it waits for the answer to its `initialize`, in ms; as for any request when absent.
    pub initialize_timeout_ms: Option<u64>,
    /// Whether the streams of the session before stay open.
    pub keeps_streams: bool,
    /// Whether the request is then sent once more.
    pub resends: bool,
}
