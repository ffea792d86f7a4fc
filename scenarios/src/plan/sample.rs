//! A small valid plan that tests start from.

use super::*;

/// A small valid plan with one client.
pub(crate) fn sample() -> Plan {
    Plan {
        version: VERSION,
        scenario: "idle/stream-stays-open".into(),
        seed: Seed(7),
        entropy: None,
        world: World {
            severity: Severity::Calm,
            isolate_count: 1,
            runtime_build: RuntimeBuild::default(),
            switches: Switches::default(),
        },
        config: HostConfig { session_timeout_ms: 1_000, ..HostConfig::default() },
        defects: vec![],
        core: Core::Fixed,
        clients: vec![ClientPlan {
            name: "s1".into(),
            account: "account-1".into(),
            organization: "organization-1".into(),
            elicitation: Elicitation::Model,
            reopen_stream: false,
            persona: None,
            request_timeout_ms: 60_000,
            steps: vec![
                Step { at_ms: 0, action: Action::Open {} },
                Step { at_ms: 5, action: Action::Call { code: "return 1".into(), overlap: true } },
            ],
        }],
        storage: vec![],
        callers: vec![],
        faults: vec![],
        settle: Settle { quiet_ms: 70_000, touch: true, quiet_after_ms: 5_000 },
        pins: BTreeMap::new(),
    }
}
