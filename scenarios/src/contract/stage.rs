//! Builds the plan of a row: a calm world with one isolate, stored objects, callers, and what goes wrong.

use crate::plan::{
    Action, CallPlan, CallerPlan, ClientPlan, Core, Edge, Effect, Elicitation, ErrorKind, FaultPlan, HostConfig,
    Interruptible, PausedPlan, Plan, RuntimeBuild, Settle, Severity, Step, StoredObject, Switches, VERSION, When,
    World,
};
use crate::seed::Seed;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What the platform says when a deployment resets an object.
pub const CODE_UPDATED: &str = "Durable Object reset because its code was updated.";
/// Idle timeout where a row needs no disposal by the alarm, in ms.
pub const LONG_TIMEOUT_MS: u64 = 60_000;
/// Quiet at the end of a run: everything that was asked for in the background has happened, in ms.
const DRAIN_MS: u64 = 1_000;
/// When what [`Stage::resident`] asks for is there, in ms after it was asked.
pub const BUILT_AFTER_MS: u64 = 80;

/// A plan in the making.
pub struct Stage(Plan);

impl Stage {
    /// An empty stage for the row of that id.
    pub fn new(id: &str) -> Stage {
        Stage(Plan {
            version: VERSION,
            scenario: format!("contract/{id}"),
            seed: Seed(0),
            entropy: None,
            world: World {
                severity: Severity::Calm,
                isolate_count: 1,
                runtime_build: RuntimeBuild::May2026,
                switches: Switches::default(),
            },
            config: HostConfig { session_timeout_ms: LONG_TIMEOUT_MS, ..HostConfig::default() },
            defects: Vec::new(),
            core: Core::Fixed,
            clients: Vec::new(),
            storage: Vec::new(),
            callers: Vec::new(),
            faults: Vec::new(),
            settle: Settle { quiet_ms: DRAIN_MS, touch: false, quiet_after_ms: 1 },
            pins: BTreeMap::new(),
        })
    }

    /// The plan.
    pub fn plan(self) -> Plan {
        self.0
    }

    /// Idle timeout and, for paused sessions, idle ceiling.
    pub fn timeouts(mut self, session_ms: u64, paused_ms: u64) -> Stage {
        self.0.config.session_timeout_ms = session_ms;
        self.0.config.max_paused_session_idle_ms = paused_ms;
        self
    }

    /// The soft cap.
    pub fn cap(mut self, cap: u32) -> Stage {
        self.0.config.resident_runtime_soft_cap = cap;
        self
    }

    /// Quiet after everything was done.
    pub fn quiet(mut self, ms: u64) -> Stage {
        self.0.settle.quiet_ms = ms;
        self
    }

    /// An object with these values in its storage.
    pub fn stored(mut self, session: &str, values: Json) -> Stage {
        let values = values.as_object().cloned().unwrap_or_default().into_iter().collect();
        let object =
            StoredObject { session: session.to_owned(), named: true, values, alarm_at_ms: None, paused: Vec::new() };
        self.0.storage.push(object);
        self
    }

    /// The same for an object whose id never had a name.
    pub fn nameless(self, session: &str, values: Json) -> Stage {
        let mut stage = self.stored(session, values);
        stage.last().named = false;
        stage
    }

    /// The object that was stored last has an execution that waits for a person, in every engine it builds.
    pub fn paused(mut self, execution: &str, code: &str) -> Stage {
        self.last().paused.push(PausedPlan { execution: execution.to_owned(), code: code.to_owned() });
        self
    }

    fn last(&mut self) -> &mut StoredObject {
        self.0.storage.last_mut().expect("an object was stored")
    }

    /// A call of a session's method; the next one of that session's caller waits for its answer.
    pub fn call(self, at_ms: u64, session: &str, method: &str, arguments: Json) -> Stage {
        self.add_call(at_ms, session, method, arguments, false)
    }

    /// A call that goes on beside the next.
    pub fn beside(self, at_ms: u64, session: &str, method: &str, arguments: Json) -> Stage {
        self.add_call(at_ms, session, method, arguments, true)
    }

    fn add_call(mut self, at_ms: u64, session: &str, method: &str, arguments: Json, overlap: bool) -> Stage {
        let name = format!("of-{session}");
        if !self.0.callers.iter().any(|caller| caller.name == name) {
            self.0.callers.push(CallerPlan { name: name.clone(), calls: Vec::new() });
        }
        let call = CallPlan { at_ms, session: session.to_owned(), method: method.to_owned(), arguments, overlap };
        self.0
            .callers
            .iter_mut()
            .filter(|caller| caller.name == name)
            .for_each(|caller| caller.calls.push(call.clone()));
        self
    }

    /// An object that nothing was stored of, with its props and a runtime built by `init` alone.
    pub fn resident(self, at_ms: u64, session: &str) -> Stage {
        self.stored(session, json!({})).build(at_ms, session)
    }

    /// Props and a runtime built by `init` alone.
    pub fn build(self, at_ms: u64, session: &str) -> Stage {
        let props = json!({"props": props()});
        self.call(at_ms, session, "updateProps", props).beside(at_ms + 1, session, "init", Json::Null)
    }

    /// An object that a first request has named and started.
    pub fn started(self, at_ms: u64, session: &str) -> Stage {
        let name = json!({"name": format!("streamable-http:{session}"), "props": props()});
        self.stored(session, json!({})).call(at_ms, session, "setName", name)
    }

    /// A client with an account of its own; a step begins at its time at the earliest.
    pub fn client(mut self, name: &str, reopen_stream: bool, steps: &[(u64, Action)]) -> Stage {
        self.0.clients.push(ClientPlan {
            name: name.to_owned(),
            account: format!("account-{name}"),
            organization: format!("organization-{name}"),
            elicitation: Elicitation::Model,
            reopen_stream,
            persona: None,
            request_timeout_ms: 60_000,
            steps: steps.iter().map(|(at_ms, action)| Step { at_ms: *at_ms, action: action.clone() }).collect(),
        });
        self
    }

    /// An operation of a session fails once, with the platform's text for a deployment.
    pub fn reset_at(self, operation: &str, session: &str) -> Stage {
        self.fail(operation, Some(session), ErrorKind::CodeUpdate, CODE_UPDATED, false)
    }

    /// An operation of a session fails once, with this text.
    pub fn fail_at(self, operation: &str, session: &str, text: &str) -> Stage {
        self.fail(operation, Some(session), ErrorKind::Unknown, text, false)
    }

    /// An operation fails from now on, whosever it is.
    pub fn fail_always(self, operation: &str, text: &str) -> Stage {
        self.fail(operation, None, ErrorKind::Unknown, text, true)
    }

    fn fail(self, operation: &str, session: Option<&str>, error: ErrorKind, text: &str, lasting: bool) -> Stage {
        let effect = Effect::Fail { error, text: Some(text.to_owned()), flags: None, lasting };
        self.fault(begin(operation, 1, session), effect)
    }

    /// The n-th such operation of a session waits at a gate that opens at this time.
    pub fn gate(self, operation: &str, n: u32, session: &str, opens_at_ms: u64) -> Stage {
        let release = When::At { at_ms: opens_at_ms, session: None };
        self.fault(
            begin(operation, n, Some(session)),
            Effect::Hold { release: Some(release), for_ms: None, fail: None },
        )
    }

    /// What runs of a session is interrupted.
    pub fn interrupt(self, at_ms: u64, session: &str, what: Interruptible) -> Stage {
        self.fault(When::At { at_ms, session: Some(session.to_owned()) }, Effect::Interrupt { what })
    }

    /// A session leaves memory; its sockets stay.
    pub fn evict(self, at_ms: u64, session: &str) -> Stage {
        self.fault(When::At { at_ms, session: Some(session.to_owned()) }, Effect::Evict {})
    }

    fn fault(mut self, when: When, effect: Effect) -> Stage {
        self.0.faults.push(FaultPlan::new(when, effect));
        self
    }
}

fn begin(operation: &str, n: u32, session: Option<&str>) -> When {
    let session = session.map(str::to_owned);
    When::Operation { operation: operation.to_owned(), root: None, edge: Edge::Begin, n, session }
}

/// Props of a session of `user-1` in `org-1`, as an edge attaches them.
fn props() -> Json {
    json!({"session": {"organizationId": "org-1", "organizationName": "Org 1", "userId": "user-1"}})
}

/// The owner of the sessions here, as arguments of a call.
pub fn owner() -> Json {
    json!({"accountId": "user-1", "organizationId": "org-1"})
}
