//! Seed document 000: an idle session gives its runtime back while its client still holds a stream open.
//!
//! Goal: the idle alarm survives the framework that recomputes the alarm slot after every call, so that an idle
//! session is disposed, says so in an exported span, and serves the next call as if nothing had happened.
//! Method: handshake, a held GET stream, calls, silence beyond the timeout, one more call; up to five neighbours do
//! similar things. Whether the stream counts for the idle policy follows from platform facts 199 and 206: the first GET
//! replays what was undelivered and ends, so only a client that opens it again has a live connection.

#[cfg(test)]
mod tests;

use crate::catalog::Scenario;
use crate::invariants::limits::{LEASE_MS, RUNNING_CEILING_MS};
use crate::plan::{Action, ClientPlan, Core, HostConfig, Plan, RuntimeBuild, Settle, Severity, Step, VERSION, World};
use crate::rng::Rng;
use crate::seed::{Entropy, Seed};
use std::collections::BTreeMap;

/// The scenario of seed document 000.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an idle session gives its runtime back while its client holds a stream open, and the next call is served as if nothing had happened",
    weight: 10,
    sometimes: &[
        "situation/stream-held-while-idle",
        "situation/idle-alarm-rearmed",
        "situation/call-meets-cold",
        "situation/start-joined",
        "alarm/dispose-quiet",
        "alarm/extend-stream",
        "alarm/extend-running",
        "span/dispose/idle",
        "life-cycle/cold-to-starting",
    ],
    plan,
};

const ID: &str = "idle/stream-stays-open";
/// How long a client waits for an answer.
const REQUEST_TIMEOUT_MS: u64 = 60_000;
/// Quiet after the touches: every request of theirs has ended by then, one way or another.
const QUIET_AFTER_MS: u64 = REQUEST_TIMEOUT_MS + 10_000;

/// What the draws of one plan have in common.
struct Frame {
    entropy: Entropy,
    severity: Severity,
    timeout_ms: u64,
}

fn plan(seed: Seed) -> Plan {
    let entropy = Entropy::of(ID, seed);
    let mut rng = Rng::named(&entropy, "plan.world");
    let severity = *rng.pick_weighted(&[(5, Severity::Calm), (3, Severity::Usual), (2, Severity::Hostile)]);
    let world = World {
        severity,
        isolate_count: rng.between(1, 3) as u32,
        runtime_build: *rng.pick(&[RuntimeBuild::May2026, RuntimeBuild::November2026]),
    };
    let frame = Frame { entropy, severity, timeout_ms: timeout_ms(&entropy) };
    let neighbour_count = neighbour_count(&entropy);
    let clients: Vec<ClientPlan> = (1..=neighbour_count + 1).map(|number| frame.client(number)).collect();
    let settle = frame.settle(&clients);
    Plan {
        version: VERSION,
        scenario: ID.into(),
        seed,
        entropy: Some(entropy),
        world,
        config: HostConfig {
            session_timeout_ms: frame.timeout_ms,
            // As the host derives it: idle timeout plus the approval window.
            max_paused_session_idle_ms: frame.timeout_ms + 240_000,
            ..HostConfig::default()
        },
        defects: Vec::new(),
        core: Core::Fixed,
        clients,
        storage: Vec::new(),
        callers: Vec::new(),
        faults: Vec::new(),
        settle,
        pins: BTreeMap::new(),
    }
}

/// Mostly none or one: the story needs one session, and a crowd costs time.
fn neighbour_count(entropy: &Entropy) -> u64 {
    let mut rng = Rng::named(entropy, "plan.neighbours");
    let (least, most) = *rng.pick_weighted(&[(12, (0, 0)), (3, (1, 1)), (2, (2, 3)), (1, (4, 5))]);
    rng.between(least, most)
}

/// Mostly short, sometimes up to ten minutes, sometimes production's own.
fn timeout_ms(entropy: &Entropy) -> u64 {
    let mut rng = Rng::named(entropy, "plan.timeout");
    let (least, most) = *rng.pick_weighted(&[
        (3, (1_000, 1_000)),
        (4, (1_000, 10_000)),
        (2, (10_000, 600_000)),
        (2, (300_000, 300_000)),
    ]);
    rng.between(least, most)
}

impl Frame {
    /// Client 1 tells the story; the others are its neighbours.
    fn client(&self, number: u64) -> ClientPlan {
        let mut rng = Rng::named(&self.entropy, &format!("plan.client.{number}"));
        let is_neighbour = number > 1;
        let account = if is_neighbour && rng.chance(1, 3) { 1 } else { number };
        let mut steps = Steps {
            frame: self,
            name: format!("s{number}"),
            at_ms: if is_neighbour { rng.below(3_000) } else { 0 },
            busy_ms: 0,
            list: Vec::new(),
        };
        let has_stream = !is_neighbour || rng.chance(2, 3);
        steps.push(Action::Open {});
        if has_stream {
            steps.rest(rng.between(5, 60));
            steps.push(Action::Stream {});
        }
        let (least, most) = *rng.pick_weighted(&[(4, (1, 1)), (4, (2, 2)), (2, (3, 5))]);
        for _ in 0..rng.between(least, most) {
            steps.rest(self.gap_ms(&mut rng));
            if is_neighbour && rng.chance(1, 5) {
                steps.push(Action::Ping {});
            } else {
                let overlap = is_neighbour && rng.chance(1, 6);
                steps.call(&mut rng, overlap);
            }
        }
        steps.rest(self.idle_ms(steps.busy_ms));
        if rng.chance(1, 3) {
            // Two requests meet at the cold session.
            steps.call(&mut rng, true);
        }
        steps.call(&mut rng, false);
        if is_neighbour && rng.chance(1, 8) {
            steps.rest(rng.between(100, 2_000));
            steps.push(Action::Close {});
        }
        ClientPlan {
            reopen_stream: has_stream && rng.chance(1, 4),
            account: format!("account-{account}"),
            organization: format!("organization-{account}"),
            name: steps.name,
            request_timeout_ms: REQUEST_TIMEOUT_MS,
            steps: steps.list,
        }
    }

    /// The gap before a call: mostly below the timeout, sometimes around it, so that call and alarm meet.
    fn gap_ms(&self, rng: &mut Rng) -> u64 {
        let timeout = self.timeout_ms;
        if rng.chance(1, 6) {
            return timeout - 12 + rng.below(25);
        }
        rng.between(1, timeout * 9 / 10)
    }

    /// Silence that ends after the disposal of a session without a live connection.
    fn idle_ms(&self, busy_ms: u64) -> u64 {
        let lease = if busy_ms + self.latency_ms() >= self.timeout_ms { LEASE_MS } else { 0 };
        busy_ms + self.latency_ms() + self.timeout_ms + lease + self.lateness_ms()
    }

    /// The longest that one exchange may take beyond what its code waits.
    fn latency_ms(&self) -> u64 {
        match self.severity {
            Severity::Calm => 500,
            Severity::Usual => 2_000,
            Severity::Hostile => 20_000,
        }
    }

    /// Room for a late alarm and a slow disposal; the seed document leaves 4 s where alarms are on time.
    fn lateness_ms(&self) -> u64 {
        match self.severity {
            Severity::Calm => 4_000,
            Severity::Usual | Severity::Hostile => 80_000,
        }
    }

    /// Long enough that every runtime must have gone: after the timeout where nothing can stay live, else after the
    /// ceiling. Two late alarms and the tolerance of the claim fit in.
    fn settle(&self, clients: &[ClientPlan]) -> Settle {
        let is_live = clients.iter().any(|client| client.reopen_stream);
        let due_ms = if is_live {
            RUNNING_CEILING_MS.max(self.timeout_ms) + LEASE_MS
        } else if self.severity == Severity::Calm {
            self.timeout_ms
        } else {
            self.timeout_ms + LEASE_MS
        };
        Settle { quiet_ms: due_ms + 160_000, touch: true, quiet_after_ms: QUIET_AFTER_MS }
    }
}

/// The steps of one client while they are drawn.
struct Steps<'a> {
    frame: &'a Frame,
    name: String,
    at_ms: u64,
    busy_ms: u64,
    list: Vec<Step>,
}

impl Steps<'_> {
    fn rest(&mut self, ms: u64) {
        self.at_ms += ms;
    }

    fn push(&mut self, action: Action) {
        self.list.push(Step { at_ms: self.at_ms, action });
    }

    /// A call whose answer names this client and this step, so that a foreign answer cannot pass for it.
    fn call(&mut self, rng: &mut Rng, overlap: bool) {
        let mark = format!("{}-{}-{:08x}", self.name, self.list.len(), rng.below(1 << 32));
        let wait_ms = match rng.below(20) {
            0..=13 => 0,
            14..=18 => rng.between(1, 200),
            // Rarely beyond a short timeout: running work then holds the runtime for a lease.
            _ => rng.between(200, (2 * self.frame.timeout_ms).min(20_000)),
        };
        self.busy_ms = self.busy_ms.max(wait_ms);
        let wait = if wait_ms > 0 { format!("wait {wait_ms}; ") } else { String::new() };
        let code = match rng.below(8) {
            0..=4 => format!("{wait}return \"{mark}\""),
            5 => format!("{wait}return {{\"mark\":\"{mark}\",\"n\":{}}}", rng.below(100)),
            6 => format!("emit \"{mark}\"; {wait}return \"{mark}\""),
            _ => format!("{wait}fail \"{mark}\""),
        };
        self.push(Action::Call { code, overlap });
    }
}
