//! The faults of a plan: when something happens, do something.

use serde::{Deserialize, Serialize};

/// One fault: when something happens, do something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// The trigger.
    pub when: When,
    /// The effect, once triggered.
    pub effect: Effect,
    /// Whether it may find nothing that it could happen to: it was drawn, and aims at what a run need not pass. That is
    /// told in the ledger and is no failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_miss: bool,
}

impl FaultPlan {
    /// A fault that must happen.
    pub fn new(when: When, effect: Effect) -> Self {
        Self { when, effect, may_miss: false }
    }
}

/// What triggers a fault: a time, or the begin or end of the n-th operation that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "super::parse::WhenFields", into = "super::parse::WhenFields")]
pub enum When {
    /// At this many ms since the start of the run.
    At {
        /// Virtual ms since the start.
        at_ms: u64,
        /// Alias of the session it happens to; a hold's release needs none.
        session: Option<String>,
    },
    /// When an operation of the host begins or ends.
    Operation {
        /// Name as in `model/OPERATIONS.md`: `teardown · server.close`.
        operation: String,
        /// The entry point it runs for (`dispose`, `init`, `alarm`, …); any when absent.
        root: Option<String>,
        /// Begin or end.
        edge: Edge,
        /// Which match, counted from 1.
        n: u32,
        /// Alias of the session; any when absent. What waits at the edge belongs to the client, by its name.
        session: Option<String>,
    },
}

/// Which end of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// Before it takes effect.
    #[default]
    Begin,
    /// After it took effect, before its caller goes on.
    End,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// The operation fails with this error; `lasting`: so does every later match.
    Fail {
        /// Kind of the error; it decides the text unless `text` is given.
        error: ErrorKind,
        /// The exact message instead of the platform's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Properties of the error object instead of the platform's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flags: Option<Vec<ErrorFlag>>,
        /// From now on rather than once.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lasting: bool,
    },
    /// The operation takes this much longer.
    Delay {
        /// Additional ms.
        ms: u64,
    },
    /// The operation waits until released: by a trigger, or after a time; exactly one of the two.
    Hold {
        /// Trigger of the release.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<When>,
        /// Ms until the release.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_ms: Option<u64>,
        /// It fails with this error when it is released, instead of going on; held at its begin it has no effect then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fail: Option<ErrorKind>,
    },
    /// The running init or disposal of the session is interrupted.
    Interrupt {
        /// Which of the two.
        what: Interruptible,
    },
    /// The object leaves memory while it is idle; its open sockets stay, and the next event constructs a new incarnation
    /// that still has them.
    Evict {},
    /// The object is reset: its memory is gone, what is pending is dropped.
    Reset {
        /// Why the platform did it.
        kind: ResetKind,
    },
}

/// The text of [`ErrorKind::Unknown`].
pub const UNKNOWN_ERROR_TEXT: &str = "something nobody expected";

/// Kinds of errors an operation can be made to fail with (session-core §4.1, platform facts 96–109).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// `Durable Object reset because its code was updated.`
    CodeUpdate,
    /// `… storage operation exceeded timeout …`
    StorageTimeout,
    /// Internal error in the object's storage.
    StorageInternal,
    /// Internal error while the object starts.
    StartupInternalError,
    /// A section (`blockConcurrencyWhile`) that took too long.
    ConcurrencyReset,
    /// The CPU limit.
    CpuLimit,
    /// The memory limit.
    MemoryLimit,
    /// `internal error; reference = …`
    InternalError,
    /// An error of no special text that is flagged retryable.
    Retryable,
    /// The object destroyed itself.
    Destroyed,
    /// A text that no classifier recognises.
    Unknown,
}

/// Properties that an error object of the platform can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorFlag {
    /// `retryable = true`
    Retryable,
    /// `overloaded = true`
    Overloaded,
    /// `remote = true`
    Remote,
    /// `durableObjectReset = true`
    DurableObjectReset,
}

/// What can be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interruptible {
    /// The running init.
    Init,
    /// The running disposal.
    Disposal,
}

/// Why an object is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetKind {
    /// A deploy.
    CodeUpdate,
    /// The isolate's memory limit.
    Memory,
    /// The CPU limit.
    Cpu,
    /// A storage operation that took too long.
    StorageTimeout,
    /// The object moved to another place.
    Moved,
}
