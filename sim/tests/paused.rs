//! Random plans of clients that run code which asks a person, resume it, repeat that, and leave it: every claim holds.
//!
//! Goal: what a paused execution holds and gives back, in all the orders that latencies and timers make of it. Method:
//! short code with questions in a row, waits and give-ups; resumes in the own session and in others; idle times and
//! ceilings on both sides of the approval window. Nobody ends its session here, and nothing is made to fail.

use std::collections::BTreeMap;

use scenarios::plan::{
    Action, ClientPlan, Core, Elicitation, HostConfig, Plan, Response, RuntimeBuild, Settle, Severity, Step, Switches,
    VERSION, World,
};
use scenarios::rng::Rng;
use scenarios::seed::{Entropy, Seed};
use sim::exit_code::ExitCode;
use sim::run::{RunOptions, run_plan};

/// Plans that are run.
const PLAN_COUNT: u64 = 60;

fn question(rng: &mut Rng) -> String {
    let within = match rng.below(6) {
        0 => format!(r#","withinMs":{}"#, rng.pick(&[1, 100, 5_000, 239_999, 240_001, 300_000])),
        _ => String::new(),
    };
    let word = rng.pick(&["ask", "offer"]);
    match rng.below(3) {
        0 => format!(r#"{word} {{"kind":"url","message":"Sign in","url":"https://host/in"{within}}}"#),
        _ => format!(r#"{word} {{"kind":"form","message":"Deploy {}?"{within}}}"#, rng.below(100)),
    }
}

fn code(rng: &mut Rng) -> String {
    let mut statements = Vec::new();
    for _ in 0..rng.between(1, 4) {
        statements.push(match rng.below(5) {
            0 => format!("wait {}", rng.pick(&[1, 50, 3_000, 12_000])),
            1 => format!("emit {}", rng.below(10)),
            _ => question(rng),
        });
    }
    statements.push(rng.pick(&["return answer", "return 7"]).to_string());
    statements.join("; ")
}

fn action(rng: &mut Rng, client_count: u64) -> Action {
    match rng.below(20) {
        0 => Action::Ping {},
        1 => Action::Stream {},
        2..=9 => Action::Call { code: code(rng), overlap: rng.chance(1, 5) },
        _ => Action::Resume {
            response: *rng.pick(&[Response::Accept, Response::Decline, Response::Cancel]),
            of: rng.chance(1, 2).then(|| format!("s{}", rng.between(1, client_count))),
            overlap: false,
        },
    }
}

fn client(rng: &mut Rng, number: u64, client_count: u64) -> ClientPlan {
    let mut at_ms = rng.between(1, 50);
    let mut steps = vec![Step { at_ms, action: Action::Open {} }];
    for _ in 0..rng.between(2, 8) {
        at_ms += rng.pick(&[50, 50, 100, 500, 500, 3_000, 60_000, 250_000]);
        steps.push(Step { at_ms, action: action(rng, client_count) });
    }
    ClientPlan {
        name: format!("s{number}"),
        account: "account-1".into(),
        organization: rng.pick(&["organization-1", "organization-1", "organization-2"]).to_string(),
        elicitation: Elicitation::Model,
        reopen_stream: false,
        persona: None,
        request_timeout_ms: 60_000,
        steps,
    }
}

fn plan(seed: u64) -> Plan {
    let entropy = Entropy::of("paused", Seed(seed));
    let mut rng = Rng::named(&entropy, "plan");
    let client_count = rng.between(1, 3);
    Plan {
        version: VERSION,
        scenario: "paused".into(),
        seed: Seed(seed),
        entropy: Some(entropy),
        world: World {
            severity: *rng.pick(&[Severity::Calm, Severity::Usual, Severity::Hostile]),
            isolate_count: *rng.pick(&[1, 2, 3]),
            runtime_build: *rng.pick(&[RuntimeBuild::May2026, RuntimeBuild::November2026]),
        },
        config: HostConfig {
            session_timeout_ms: *rng.pick(&[1_000, 4_000, 60_000, 300_000]),
            max_paused_session_idle_ms: *rng.pick(&[6_000, 100_000, 540_000]),
            ..HostConfig::default()
        },
        defects: Vec::new(),
        core: Core::Fixed,
        clients: (1..=client_count).map(|number| client(&mut rng, number, client_count)).collect(),
        storage: Vec::new(),
        callers: Vec::new(),
        faults: Vec::new(),
        settle: Settle { quiet_ms: *rng.pick(&[30_000, 700_000, 2_500_000]), touch: true, quiet_after_ms: 70_000 },
        pins: BTreeMap::new(),
    }
}

#[test]
fn every_claim_holds_of_sessions_that_pause() {
    for seed in 1..=PLAN_COUNT {
        let plan = plan(seed);
        plan.validate().expect("a valid plan");
        let result = run_plan(&plan, &RunOptions::default()).expect("the harness runs");
        assert_eq!(result.outcome(), ExitCode::Held, "seed {seed}: {:?}\n{}", result.findings, plan.to_json());
    }
}

#[test]
fn the_plans_pause_resume_repeat_and_expire() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 1..=PLAN_COUNT {
        let result = run_plan(&plan(seed), &RunOptions::default()).expect("the harness runs");
        for event in &result.trace.events {
            let about = event.text("by").or(event.text("action")).or(event.text("outcome")).unwrap_or("");
            *counts.entry(format!("{} {about}", event.name).trim().to_owned()).or_default() += 1;
        }
    }
    for situation in [
        "execution.paused",
        "execution.resumed accept",
        "execution.resumed decline",
        "execution.settled completed",
        "execution.settled paused",
        "lease.returned resume",
        "lease.returned expiry",
        "lease.returned teardown",
        "mcp_pending_approval_lease_expire",
        "mcp_session_paused_lease_extension",
    ] {
        assert!(counts.contains_key(situation), "no plan reaches {situation}: {counts:?}");
    }
}
