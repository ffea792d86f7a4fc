//! The plan: everything a run needs, as versioned, readable data that a person can edit and a shrinker can cut.
//!
//! Every type here is a promise to stored files: unknown fields are refused, and a change of meaning raises
//! [`VERSION`] and adds a step to the upgrade chain in `plan/parse.rs`.

mod cut;
mod direct;
mod fault;
mod fault_text;
mod identity;
mod parse;
#[cfg(test)]
mod sample;
mod switches;
#[cfg(test)]
mod tests;
mod turned;
mod validate;

use crate::bad_input::BadInput;
use crate::document::without_doubles;
use crate::seed::{Entropy, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

pub use cut::Cut;
pub use direct::{CallPlan, CallerPlan, PausedPlan, StoredObject};
pub use fault::{Edge, Effect, ErrorFlag, ErrorKind, FaultPlan, Interruptible, ResetKind, UNKNOWN_ERROR_TEXT, When};
pub use identity::{Elicitation, Token};
#[cfg(test)]
pub(crate) use sample::sample;
pub use switches::{
    AfterReset, CodeUpdate, ColdAlarmName, DeleteAll, Eviction, ForeignWrite, GetAlarm, LargeValues, ResetAlarm,
    Runtime, SectionTimers, SocketsAfterReset, Switches,
};
pub use turned::{TURNED, Turned};
pub use validate::{CLIENT_COUNT_MAX, CODE_BYTES_MAX, FAULT_COUNT_MAX, SPAN_MS_MAX, STEP_COUNT_MAX};

/// The version of the plan format that this build writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// Why a plan is refused: place, problem and remedy in one sentence.
pub type PlanError = BadInput;

/// One run, complete: what exists, what clients do, what goes wrong, how it settles, and how decisions are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format version, see [`VERSION`].
    pub version: u32,
    /// Id of the scenario that drew it (`idle/stream-stays-open`); provenance, and free text for plans made by hand.
    pub scenario: String,
    /// The seed it was drawn from, 0 in one that was shrunk; provenance only, a run takes nothing from it.
    pub seed: Seed,
    /// Source of unpinned decisions; without it every unpinned decision takes its calm default, 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<Entropy>,
    /// The platform the run happens on.
    pub world: World,
    /// What an operator configures.
    #[serde(default)]
    pub config: HostConfig,
    /// Kebab-case names of historic or found bugs that are switched on.
    #[serde(default)]
    pub defects: Vec<String>,
    /// Which core runs: with the bugs that were found here fixed, or as described.
    #[serde(default)]
    pub core: Core,
    /// The clients, each with one session of its own at a time.
    pub clients: Vec<ClientPlan>,
    /// Objects that exist before the run, beside those that clients make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<StoredObject>,
    /// Workers that call methods of sessions directly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<CallerPlan>,
    /// What goes wrong, and when.
    #[serde(default)]
    pub faults: Vec<FaultPlan>,
    /// How the run ends.
    pub settle: Settle,
    /// Decisions that are fixed: `<who>/<what>@<step>#<n>` to value.
    #[serde(default, deserialize_with = "without_doubles")]
    pub pins: BTreeMap<String, u64>,
}

/// The platform of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// How far latencies, lateness and commits stray.
    pub severity: Severity,
    /// Isolates that objects are placed in; at least 1.
    pub isolate_count: u32,
    /// Which build of the runtime is modelled, where the two known ones differ.
    #[serde(default)]
    pub runtime_build: RuntimeBuild,
    /// Habits of the platform that the build does not settle.
    #[serde(default, skip_serializing_if = "Switches::is_default")]
    pub switches: Switches,
}

/// How badly the platform behaves by itself, without planned faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Base latencies, alarms on time, commits durable by the next turn.
    #[default]
    Calm,
    /// What production mostly shows.
    Usual,
    /// What production rarely shows, often; due times are rounded up so that events meet.
    Hostile,
}

/// A build of the modelled runtime, by its date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RuntimeBuild {
    /// The older build, which the described host pins.
    #[default]
    #[serde(rename = "2026-05-26")]
    May2026,
    /// The newer build.
    #[serde(rename = "2026-11-17")]
    November2026,
}

/// The core under test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Core {
    /// With the bugs that were found here repaired.
    #[default]
    Fixed,
    /// As the behavioural specification describes it.
    Described,
}

/// What an operator of the host can set; defaults are production's (session-core §1.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// Idle time after which a session gives its runtime back, in ms.
    pub session_timeout_ms: u64,
    /// Idle time after which a paused session does, in ms.
    pub max_paused_session_idle_ms: u64,
    /// Runtimes an isolate tries not to exceed.
    pub resident_runtime_soft_cap: u32,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self { session_timeout_ms: 300_000, max_paused_session_idle_ms: 540_000, resident_runtime_soft_cap: 32 }
    }
}

/// One client and what it does, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPlan {
    /// Name of the client, and alias of its first session in traces: `s1`, `s2`, …; see [`session_alias`].
    pub name: String,
    /// Account it authenticates as.
    pub account: String,
    /// Organisation of that account.
    pub organization: String,
    /// Where a person is asked when code of its calls asks.
    #[serde(default, skip_serializing_if = "Elicitation::is_default")]
    pub elicitation: Elicitation,
    /// Whether it opens its GET stream again when the server ended it.
    #[serde(default)]
    pub reopen_stream: bool,
    /// Name of the real client that it behaves like between its steps; without one it does what they say and no more. With
    /// one it listens, resumes and tries again by itself, so that steps about streams do nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// How long it waits for an answer before it gives up, in ms.
    #[serde(default = "default_request_timeout_ms")]
    pub request_timeout_ms: u64,
    /// What it does; a step begins at its time or when the one before has ended, whichever is later.
    pub steps: Vec<Step>,
}

fn default_request_timeout_ms() -> u64 {
    60_000
}

impl ClientPlan {
    /// The code that the settle phase calls when it touches this client's session; the answer names the session.
    pub fn touch_code(&self) -> String {
        format!("return \"touch-{}\"", self.name)
    }

    /// The token that requests of the step of that index present, or of the touch for indexes after the last step.
    pub fn token_at(&self, step: usize) -> Token {
        let before = self.steps.iter().take(step.saturating_add(1)).rev();
        let presented = |step: &Step| match step.action {
            Action::Present { token } => Some(token),
            _ => None,
        };
        before.map(presented).find_map(|token| token).unwrap_or_default()
    }

    /// Aliases of the sessions that its steps can open.
    pub fn session_aliases(&self) -> impl Iterator<Item = String> + '_ {
        (1..=self.session_count()).map(|number| session_alias(&self.name, number))
    }

    /// How many sessions its steps can open; one where none opens any. Some personas open one more for each.
    pub fn session_count(&self) -> u64 {
        let opens = self.steps.iter().filter(|step| matches!(step.action, Action::Open {})).count() as u64;
        let each = if self.persona.is_some() { 2 } else { 1 };
        opens.max(1) * each
    }

    /// The code behind a request: of the step of that index, or of the touch for indexes after the last step.
    pub fn code_of_step(&self, step: usize) -> Option<String> {
        match self.steps.get(step) {
            Some(step) => step.action.code().map(str::to_owned),
            None => Some(self.touch_code()),
        }
    }
}

/// Alias of the n-th session that a client was given, from 1: `s1`, then `s1.2`, `s1.3`, ….
pub fn session_alias(client: &str, number: u64) -> String {
    if number <= 1 { client.to_owned() } else { format!("{client}.{number}") }
}

/// The client that a session alias belongs to; any other name is its own.
pub fn client_of(alias: &str) -> &str {
    alias.split_once('.').map_or(alias, |(client, _)| client)
}

/// One dated action of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Earliest begin, in whole ms since the start of the run.
    pub at_ms: u64,
    /// What is done.
    pub action: Action,
}

/// What a client can do. Variants without data are written `Action::Open {}` so that stray fields are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// The handshake: `initialize`, then the `initialized` notification.
    Open {},
    /// Opens a standalone GET stream and holds it.
    Stream {},
    /// `tools/call execute` with this code in the engine's language.
    Call {
        /// Statements separated by `;`.
        code: String,
        /// The client's next step does not wait for the answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overlap: bool,
    },
    /// One POST with a `tools/call execute` of this code, or with several, whose connection the client may drop.
    Post {
        /// Statements separated by `;`.
        code: String,
        /// How many calls of the code stand in it.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        copies: u32,
        /// When the client drops the connection; never when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<Cut>,
    },
    /// A GET for what the POST that was cut last should have answered, read to its end.
    Recover {
        /// Without the cursor that the client has.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fresh: bool,
        /// When the client drops the connection; never when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<Cut>,
    },
    /// The client reads nothing that comes for so long, on any of its connections, and goes on with its next step.
    Stall {
        /// Whole ms.
        ms: u64,
    },
    /// Opens one more standalone GET stream, beside those that it holds.
    Listen {},
    /// The client uses the session that another one uses now.
    Adopt {
        /// The other client.
        of: String,
    },
    /// `tools/call resume` of the execution that a client was last told waits for a person.
    Resume {
        /// What the person decides.
        response: Response,
        /// The client that was told; the same one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
        /// The client's next step does not wait for the answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overlap: bool,
    },
    /// A person looks at the execution that a client was last told waits for a person, in the console, and decides there.
    Decide {
        /// What the person decides.
        response: Response,
        /// The client that was told; the same one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// From now on it authenticates with this token.
    Present {
        /// The token.
        token: Token,
    },
    /// A JSON-RPC ping.
    Ping {},
    /// The client closes its GET stream.
    EndStream {},
    /// The client ends its session with DELETE.
    Close {},
}

impl Action {
    /// The name of the action as the plan and the story write it.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Open {} => "open",
            Action::Stream {} => "stream",
            Action::Call { .. } => "call",
            Action::Post { .. } => "post",
            Action::Recover { .. } => "recover",
            Action::Stall { .. } => "stall",
            Action::Listen {} => "listen",
            Action::Adopt { .. } => "adopt",
            Action::Resume { .. } => "resume",
            Action::Decide { .. } => "decide",
            Action::Present { .. } => "present",
            Action::Ping {} => "ping",
            Action::EndStream {} => "end_stream",
            Action::Close {} => "close",
        }
    }

    /// The code that it calls.
    pub fn code(&self) -> Option<&str> {
        match self {
            Action::Call { code, .. } | Action::Post { code, .. } => Some(code),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn code_mut(&mut self) -> Option<&mut String> {
        match self {
            Action::Call { code, .. } | Action::Post { code, .. } => Some(code),
            _ => None,
        }
    }

    /// When the client drops the connection.
    pub fn cut_mut(&mut self) -> Option<&mut Option<Cut>> {
        match self {
            Action::Post { cut, .. } | Action::Recover { cut, .. } => Some(cut),
            _ => None,
        }
    }

    /// The other client that it names.
    pub fn other(&self) -> Option<&String> {
        match self {
            Action::Resume { of, .. } | Action::Decide { of, .. } => of.as_ref(),
            Action::Adopt { of } => Some(of),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn other_mut(&mut self) -> Option<&mut String> {
        match self {
            Action::Resume { of, .. } | Action::Decide { of, .. } => of.as_mut(),
            Action::Adopt { of } => Some(of),
            _ => None,
        }
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

/// What a person decides about a paused execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// Yes.
    Accept,
    /// No.
    Decline,
    /// Neither.
    Cancel,
}

impl Response {
    /// The word in plans and on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Response::Accept => "accept",
            Response::Decline => "decline",
            Response::Cancel => "cancel",
        }
    }
}

/// How a run ends: quiet for liveness, then a touch of each session, then quiet for recovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settle {
    /// Untouched quiet after the last step, in ms; *eventually* claims are judged on it.
    pub quiet_ms: u64,
    /// Whether each session is then used once.
    pub touch: bool,
    /// Quiet after the touches, in ms.
    pub quiet_after_ms: u64,
}

impl Plan {
    /// xxh3-64 of the canonical JSON (fields in declaration order, no spaces).
    pub fn digest(&self) -> PlanDigest {
        PlanDigest(xxh3_64(self.compact_json().as_bytes()))
    }

    /// The digest without where the plan comes from: plans of different seeds that do the same have the same.
    pub fn content_digest(&self) -> PlanDigest {
        Plan { scenario: String::new(), seed: Seed(0), ..self.clone() }.digest()
    }

    /// Readable JSON, two spaces deep, ending with a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a plan is plain data");
        text.push('\n');
        text
    }

    fn compact_json(&self) -> String {
        serde_json::to_string(self).expect("a plan is plain data")
    }
}

/// Digest of a plan, shown as 8 hexadecimal digits (the upper half).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlanDigest(pub u64);

impl fmt::Display for PlanDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:08x}", self.0 >> 32)
    }
}
