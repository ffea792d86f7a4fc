//! A plan while it is drawn: what all scenarios have in common, so that the file of one says only what it is about.

pub mod asking;
mod client;
pub mod direct;
pub mod personas;

use crate::invariants::limits::{LEASE_MS, RUNNING_CEILING_MS};
use crate::plan::{
    Action, CallPlan, CallerPlan, ClientPlan, Core, Edge, Effect, ErrorKind, FaultPlan, HostConfig, Plan, ResetKind,
    RuntimeBuild, Settle, Severity, Step, StoredObject, Switches, VERSION, When, World,
};
use crate::rng::Rng;
use crate::seed::{Entropy, Seed};
use std::collections::BTreeMap;

pub use client::ClientDraft;

/// How long a client waits for an answer, in ms.
pub const REQUEST_TIMEOUT_MS: u64 = 60_000;
/// What a pause may last beyond the idle timeout, in ms: the approval window (session-core §1.7).
pub const APPROVAL_WINDOW_MS: u64 = 240_000;
/// Quiet after the touches, in ms: every request of theirs has ended by then, one way or another.
const QUIET_AFTER_MS: u64 = REQUEST_TIMEOUT_MS + 10_000;
/// Room in the last quiet for two late alarms and the tolerance of the claims, in ms.
const ROOM_MS: u64 = 160_000;

/// A plan in the making. Its world is drawn when it begins: severity, isolates and build of the runtime.
pub struct Draft {
    plan: Plan,
    entropy: Entropy,
    /// How many of its clients have a persona: so many of so many.
    personas: (u64, u64),
}

impl Draft {
    /// An empty plan of that scenario and seed.
    pub fn new(id: &str, seed: Seed) -> Draft {
        let entropy = Entropy::of(id, seed);
        let mut rng = Rng::named(&entropy, "plan.world");
        let world = World {
            severity: *rng.pick_weighted(&[(5, Severity::Calm), (3, Severity::Usual), (2, Severity::Hostile)]),
            isolate_count: rng.between(1, 3) as u32,
            runtime_build: *rng.pick(&[RuntimeBuild::May2026, RuntimeBuild::November2026]),
            switches: Switches::default(),
        };
        let plan = Plan {
            version: VERSION,
            scenario: id.to_owned(),
            seed,
            entropy: Some(entropy),
            world,
            config: HostConfig::default(),
            defects: Vec::new(),
            core: Core::Fixed,
            clients: Vec::new(),
            storage: Vec::new(),
            callers: Vec::new(),
            faults: Vec::new(),
            settle: Settle { quiet_ms: 0, touch: true, quiet_after_ms: QUIET_AFTER_MS },
            pins: BTreeMap::new(),
        };
        Draft { plan, entropy, personas: (0, 1) }
    }

    /// The stream of draws of that name; draws of one name move none of another.
    pub fn rng(&self, name: &str) -> Rng {
        Rng::named(&self.entropy, &format!("plan.{name}"))
    }

    /// All objects live in that many isolates.
    pub fn isolates(&mut self, count: u32) {
        self.plan.world.isolate_count = count;
    }

    /// What varies of the platform beside that.
    pub fn world(&mut self) -> &mut World {
        &mut self.plan.world
    }

    /// The soft cap of resident runtimes of an isolate.
    pub fn cap(&mut self, cap: u32) {
        self.plan.config.resident_runtime_soft_cap = cap;
    }

    /// The idle timeout, in ms; the ceiling of paused sessions follows from it as the host derives it.
    pub fn timeout(&mut self, ms: u64) {
        self.plan.config.session_timeout_ms = ms;
        self.plan.config.max_paused_session_idle_ms = ms + APPROVAL_WINDOW_MS;
    }

    /// An idle timeout that is mostly short, sometimes up to ten minutes, sometimes production's own.
    pub fn draw_timeout(&mut self) -> u64 {
        let mut rng = self.rng("timeout");
        let (least, most) = *rng.pick_weighted(&[
            (3, (1_000, 1_000)),
            (4, (1_000, 10_000)),
            (2, (10_000, 600_000)),
            (2, (300_000, 300_000)),
        ]);
        let ms = rng.between(least, most);
        self.timeout(ms);
        ms
    }

    /// The idle timeout, in ms.
    pub fn timeout_ms(&self) -> u64 {
        self.plan.config.session_timeout_ms
    }

    /// The longest that one exchange may take beyond what its code waits, in ms.
    pub fn latency_ms(&self) -> u64 {
        match self.plan.world.severity {
            Severity::Calm => 500,
            Severity::Usual => 2_000,
            Severity::Hostile => 20_000,
        }
    }

    /// Room for a late alarm and a slow disposal, in ms; seed document 000 leaves 4 s where alarms are on time.
    pub fn lateness_ms(&self) -> u64 {
        match self.plan.world.severity {
            Severity::Calm => 4_000,
            Severity::Usual | Severity::Hostile => 80_000,
        }
    }

    /// Silence after which a session that nothing holds has given its runtime back, in ms.
    pub fn disposed_after_ms(&self) -> u64 {
        self.timeout_ms() + self.latency_ms() + self.lateness_ms()
    }

    /// From now on this part of its clients, by chance, behaves as real ones do.
    pub fn personas(&mut self, numerator: u64, denominator: u64) {
        self.personas = (numerator, denominator);
    }

    /// Adds a client with all that it does.
    pub fn client(&mut self, mut client: ClientDraft) {
        let (numerator, denominator) = self.personas;
        if numerator > 0 && client.plan.persona.is_none() {
            // A stream of its own: what the client does is the same with a persona and without.
            let mut rng = self.rng(&format!("persona.{}", client.name()));
            if rng.chance(numerator, denominator) {
                client = client.behaving_like(personas::any(&mut rng));
            }
        }
        self.plan.clients.push(client.plan);
    }

    /// Adds an object that exists before the run.
    pub fn stored(&mut self, object: StoredObject) {
        self.plan.storage.push(object);
    }

    /// A worker calls a method of a session; calls of the same worker wait for each other.
    pub fn call(&mut self, worker: &str, call: CallPlan) {
        match self.plan.callers.iter_mut().find(|caller| caller.name == worker) {
            Some(caller) => caller.calls.push(call),
            None => self.plan.callers.push(CallerPlan { name: worker.to_owned(), calls: vec![call] }),
        }
    }

    /// When this happens, do that.
    pub fn fault(&mut self, when: When, effect: Effect) {
        self.plan.faults.push(FaultPlan::new(when, effect));
    }

    /// When this happens, if it does, do that.
    pub fn fault_by_chance(&mut self, when: When, effect: Effect) {
        self.plan.faults.push(FaultPlan { when, effect, may_miss: true });
    }

    /// At this time the platform puts that session out of memory, if it is idle; its sockets stay.
    pub fn evict(&mut self, at_ms: u64, session: &str) {
        self.fault_by_chance(at(at_ms, session), Effect::Evict {});
    }

    /// At this time the platform resets that session, if it is in memory.
    pub fn reset(&mut self, at_ms: u64, session: &str) {
        self.fault_by_chance(at(at_ms, session), Effect::Reset { kind: ResetKind::CodeUpdate });
    }

    /// At this time a deployment resets every session that clients open.
    pub fn deploy(&mut self, at_ms: u64) {
        let sessions: Vec<String> = self.plan.clients.iter().flat_map(ClientPlan::session_aliases).collect();
        sessions.iter().for_each(|session| self.reset(at_ms, session));
    }

    /// Ends the draft; the last quiet is long enough that every runtime has gone: after the timeout where nothing can stay
    /// live, else after a ceiling.
    pub fn until_idle(self) -> Plan {
        let HostConfig { session_timeout_ms, max_paused_session_idle_ms, .. } = self.plan.config;
        if self.plan.clients.iter().any(|client| client.reopen_stream || client.persona.is_some()) {
            return self.until_ceiling();
        }
        let is_paused = self.plan.clients.iter().any(asks);
        let due_ms = match self.plan.world.severity {
            _ if is_paused => max_paused_session_idle_ms + LEASE_MS,
            Severity::Calm => session_timeout_ms,
            Severity::Usual | Severity::Hostile => session_timeout_ms + LEASE_MS,
        };
        self.quiet(due_ms + ROOM_MS)
    }

    /// The same where work or streams may hold a runtime until the ceiling of running sessions.
    pub fn until_ceiling(self) -> Plan {
        let due_ms = RUNNING_CEILING_MS.max(self.plan.config.max_paused_session_idle_ms);
        self.quiet(due_ms + LEASE_MS + ROOM_MS)
    }

    /// Ends the draft with a last quiet of that many ms.
    pub fn quiet(mut self, ms: u64) -> Plan {
        self.plan.settle.quiet_ms = ms;
        self.plan
    }
}

/// Whether code of the client's calls asks a person.
fn asks(client: &ClientPlan) -> bool {
    let is_asking = |step: &Step| matches!(&step.action, Action::Call { code, .. } if code.contains("ask "));
    client.steps.iter().any(is_asking)
}

/// At this time, to that session.
pub fn at(at_ms: u64, session: &str) -> When {
    When::At { at_ms, session: Some(session.to_owned()) }
}

/// At the begin or end of the n-th operation of that name, of that session.
pub fn operation(name: &str, edge: Edge, n: u32, session: &str) -> When {
    When::Operation { operation: name.to_owned(), root: None, edge, n, session: Some(session.to_owned()) }
}

/// It fails once, as the platform fails it for that reason.
pub fn fail(error: ErrorKind) -> Effect {
    Effect::Fail { error, text: None, flags: None, lasting: false }
}
