//! Worlds with many sessions, all resident to the end: spread over time, so that what grows is their number alone.

use scenarios::plan::{
    Action, CallPlan, CallerPlan, ClientPlan, Core, Elicitation, HostConfig, Plan, RuntimeBuild, Settle, Severity,
    Step, StoredObject, Switches, VERSION, World,
};
use scenarios::seed::{Entropy, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const ID: &str = "bench/crowd";
/// Time between two sessions that begin, in ms: a few requests are under way at any time, however many sessions.
const GAP_MS: u64 = 7;
/// Least time between two requests of one session, in ms.
const PAUSE_MS: u64 = 1_000;
/// No session is ever idle for this long: three days, in ms.
const TIMEOUT_MS: u64 = 3 * 24 * 60 * 60 * 1000;
/// More than any crowd has, so that nobody is evicted.
const CAP: u32 = 1_000_000;

/// The sessions of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crowd {
    /// How many.
    pub sessions: u32,
    /// Calls of each after it is open.
    pub calls: u32,
    /// Methods are called through stubs, and nobody speaks HTTP.
    pub is_direct: bool,
}

impl Crowd {
    /// Requests of HTTP, or calls of methods, in the whole world.
    pub fn request_count(&self) -> u64 {
        // To open a session takes two of either kind.
        u64::from(self.sessions) * (2 + u64::from(self.calls))
    }

    /// The plan of the world.
    pub fn plan(&self) -> Plan {
        let numbers = || 1..=u64::from(self.sessions);
        let clients = || numbers().map(|number| self.client(number)).collect();
        let callers = || numbers().map(|number| self.caller(number)).collect();
        let stored = || numbers().map(stored).collect();
        Plan {
            version: VERSION,
            scenario: ID.to_owned(),
            seed: Seed(0),
            entropy: Some(Entropy::of(ID, Seed(0))),
            world: World {
                severity: Severity::Usual,
                isolate_count: 4,
                runtime_build: RuntimeBuild::May2026,
                switches: Switches::default(),
            },
            config: HostConfig {
                session_timeout_ms: TIMEOUT_MS,
                max_paused_session_idle_ms: TIMEOUT_MS,
                resident_runtime_soft_cap: CAP,
            },
            defects: Vec::new(),
            core: Core::Fixed,
            clients: if self.is_direct { Vec::new() } else { clients() },
            storage: if self.is_direct { stored() } else { Vec::new() },
            callers: if self.is_direct { callers() } else { Vec::new() },
            faults: Vec::new(),
            settle: Settle { quiet_ms: PAUSE_MS, touch: false, quiet_after_ms: 1 },
            pins: BTreeMap::new(),
        }
    }

    /// When a session begins its n-th round: every session is open before the first one is called.
    fn at_ms(&self, number: u64, round: u64) -> u64 {
        let round_ms = (u64::from(self.sessions) * GAP_MS).max(PAUSE_MS);
        round * round_ms + number * GAP_MS
    }

    fn client(&self, number: u64) -> ClientPlan {
        let call = |round: u64| Step {
            at_ms: self.at_ms(number, round),
            action: Action::Call { code: format!("return \"s{number}-{round}\""), overlap: false },
        };
        let open = Step { at_ms: self.at_ms(number, 0), action: Action::Open {} };
        ClientPlan {
            name: format!("s{number}"),
            account: format!("account-{number}"),
            organization: format!("organization-{number}"),
            elicitation: Elicitation::Model,
            reopen_stream: false,
            persona: None,
            request_timeout_ms: 60_000,
            steps: std::iter::once(open).chain((1..=u64::from(self.calls)).map(call)).collect(),
        }
    }

    /// Props and a runtime, as an edge asks for them, then more questions.
    fn caller(&self, number: u64) -> CallerPlan {
        let call = |round: u64, method: &str, arguments: Json| CallPlan {
            at_ms: self.at_ms(number, round),
            session: format!("s{number}"),
            method: method.to_owned(),
            arguments,
            overlap: false,
        };
        let props = json!({"props": {"session": {
            "organizationId": format!("organization-{number}"), "organizationName": "Org", "userId": format!("account-{number}"),
        }}});
        let opened = [call(0, "updateProps", props), call(0, "init", Json::Null)];
        let asked = (1..=u64::from(self.calls)).map(|round| call(round, "getInitializeRequest", Json::Null));
        CallerPlan { name: format!("of-s{number}"), calls: opened.into_iter().chain(asked).collect() }
    }
}

fn stored(number: u64) -> StoredObject {
    StoredObject {
        session: format!("s{number}"),
        named: true,
        values: BTreeMap::new(),
        alarm_at_ms: None,
        paused: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::speed::{Kind, one_run};
    use scenarios::trace::Stream;

    #[test]
    fn every_session_of_a_crowd_is_resident_at_the_end_and_every_request_is_answered() {
        for is_direct in [false, true] {
            let crowd = Crowd { sessions: 30, calls: 2, is_direct };
            let plan = crowd.plan();
            assert_eq!(plan.validate(), Ok(()));
            assert_eq!(crate::callers::unknown_method(&plan), None);
            let trace = one_run(&plan, Kind::Kept).expect("it runs").trace;
            let (ended, good) = if is_direct { ("call.end", "returned") } else { ("request.end", "answered") };
            let answered = trace.named(Stream::History, ended).filter(|event| event.text("outcome") == Some(good));
            assert_eq!(answered.count() as u64, crowd.request_count(), "direct: {is_direct}");
            let ledgers = scenarios::ledgers::ledgers(&trace);
            let runtimes = ledgers.iter().find(|ledger| ledger.thing == "resident runtimes");
            assert_eq!(runtimes.map(|ledger| (ledger.taken, ledger.open())), Some((30, 30)), "direct: {is_direct}");
        }
    }

    #[test]
    fn no_two_sessions_begin_anything_in_the_same_millisecond() {
        let plan = Crowd { sessions: 200, calls: 3, is_direct: false }.plan();
        let mut times: Vec<u64> = plan.clients.iter().flat_map(|client| &client.steps).map(|step| step.at_ms).collect();
        let count = times.len();
        times.sort_unstable();
        times.dedup();
        assert_eq!(times.len(), count);
    }
}
