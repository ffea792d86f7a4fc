//! Clients that behave like real ones: the plan names them, the engine of the model knows them, and shrinking does without.

use std::collections::BTreeSet;

use model::client::persona::PERSONAS;
use scenarios::catalog;
use scenarios::catalog::draft::personas;
use scenarios::plan::{Action, ClientPlan, Plan, Step};
use scenarios::seed::Seed;
use scenarios::trace::{Event, Stream};
use sim::exit_code::ExitCode;
use sim::run::{RunOptions, RunResult, run_plan};

/// A calm world with one client of that persona and these steps.
fn plan(persona: &str, steps: Vec<Step>) -> Plan {
    let mut plan = (catalog::find("stream/two-listeners").expect("the scenario exists").plan)(Seed(1));
    plan.entropy = None;
    let client = ClientPlan { persona: Some(persona.to_owned()), steps, ..plan.clients.remove(0) };
    plan.clients = vec![client];
    plan.validate().expect("it is a plan");
    plan
}

fn step(at_ms: u64, action: Action) -> Step {
    Step { at_ms, action }
}

fn call(code: &str) -> Action {
    Action::Call { code: code.to_owned(), overlap: false }
}

fn run(plan: &Plan) -> RunResult {
    run_plan(plan, &RunOptions::default()).expect("the harness runs")
}

fn begins<'r>(result: &'r RunResult, op: &str) -> Vec<&'r Event> {
    result.trace.named(Stream::History, "request.begin").filter(|event| event.text("op") == Some(op)).collect()
}

#[test]
fn what_scenarios_draw_is_what_the_model_knows() {
    let drawn: BTreeSet<&str> = personas::PERSONAS.iter().map(|(_, name)| *name).collect();
    let known: BTreeSet<&str> = PERSONAS.iter().map(|persona| persona.name).collect();
    assert_eq!(drawn, known);
    assert!(personas::PERSONAS.iter().all(|(weight, _)| *weight > 0));
}

#[test]
fn every_persona_opens_calls_and_leaves_and_every_claim_holds() {
    for persona in PERSONAS {
        let steps = vec![
            step(1, Action::Open {}),
            step(3_000, call("return \"one\"")),
            step(4_000, Action::Ping {}),
            step(5_000, Action::Close {}),
        ];
        let result = run(&plan(persona.name, steps));
        assert_eq!(result.outcome(), ExitCode::Held, "{}: {:?}", persona.name, result.findings);
        assert!(!begins(&result, "stream").is_empty(), "{} listens by itself", persona.name);
    }
}

#[test]
fn what_a_client_asks_for_before_its_session_is_refused_and_harms_nobody() {
    let steps = || vec![step(1, Action::Open {}), step(3_000, call("return \"one\""))];
    let result = run(&plan("mcp-remote-0.15.1", steps()));
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
    let numbers: BTreeSet<u64> = begins(&result, "probe").iter().filter_map(|asked| asked.number("request")).collect();
    let ends = result.trace.named(Stream::History, "request.end");
    let ends = ends.filter(|end| end.number("request").is_some_and(|number| numbers.contains(&number)));
    let told: Vec<u64> = ends.filter_map(|end| end.number("status")).collect();
    assert_eq!(told, [400, 400, 404, 404, 404, 404, 404, 404]);
    let result = run(&plan("inspector-2.12.0-cli", steps()));
    let listed = begins(&result, "list")[0].number("request");
    let end = result.trace.named(Stream::History, "request.end").find(|end| end.number("request") == listed);
    let tools = end.and_then(|end| end.json("answer")).and_then(|answer| answer["tools"].as_array().map(Vec::len));
    assert!(tools.is_some_and(|count| count > 0) && result.outcome() == ExitCode::Held, "{:?}", result.findings);
}

#[test]
fn what_a_call_lost_belongs_to_the_step_of_the_call() {
    let cut = Some(scenarios::plan::Cut { after_events: 1, ms: 0 });
    let post = Action::Post { code: "wait 300; return \"cut\"".into(), copies: 1, cut };
    let slow = Action::Call { code: "wait 5000; return \"slow\"".into(), overlap: true };
    let steps = vec![step(1, Action::Open {}), step(2_990, slow), step(3_000, post), step(9_000, Action::Ping {})];
    let result = run(&plan("rmcp-3.11.0", steps));
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
    let recovers = begins(&result, "recover");
    assert_eq!(recovers.len(), 1);
    assert_eq!((recovers[0].number("step"), recovers[0].text("session")), (Some(2), Some("s1")));
}

#[test]
fn a_session_that_another_one_takes_the_place_of_is_told_apart() {
    let steps = vec![step(1, Action::Open {}), step(3_000, call("return \"one\""))];
    let result = run(&plan("mcp-remote-0.15.1", steps));
    assert_eq!(result.outcome(), ExitCode::Held, "{:?}", result.findings);
    let of = |op| begins(&result, op).iter().filter_map(|event| event.text("session")).collect::<BTreeSet<_>>();
    assert_eq!(of("stream"), ["s1", "s1.2"].into());
    assert_eq!(of("call"), ["s1.2"].into());
}

#[test]
fn steps_about_streams_do_nothing_with_a_persona() {
    let listen = |at_ms, action| step(at_ms, action);
    let steps = vec![
        step(1, Action::Open {}),
        listen(4_000, Action::Stream {}),
        listen(4_100, Action::Listen {}),
        listen(4_200, Action::Recover { fresh: true, cut: None }),
        listen(4_300, Action::EndStream {}),
    ];
    let result = run(&plan("ts-client-2.4.0", steps));
    let late = |event: &&&Event| (4_000..4_400).contains(&event.at_ms);
    assert_eq!(begins(&result, "stream").iter().filter(late).count(), 0);
    assert!(result.trace.named(Stream::History, "stream.end").all(|end| end.text("by") != Some("client")));
}

#[test]
fn a_random_wait_is_a_decision_with_a_name() {
    let steps = vec![step(1, Action::Open {}), step(9_000, Action::Ping {})];
    let mut plan = plan("go-sdk-2026-08", steps);
    let first_again_ms = |plan: &Plan| begins(&run(plan), "stream")[1].at_ms;
    let calm_ms = first_again_ms(&plan);
    plan.pins.insert("s1/client.jitter@0#0".to_owned(), 700);
    assert_eq!(first_again_ms(&plan), calm_ms + 700);
}

#[test]
fn what_a_call_lost_is_not_asked_for_in_another_session() {
    // Somebody else ends the session under a call; its client opens another one over the next call, before the first ends.
    let slow = Action::Call { code: "wait 30000; return \"slow\"".into(), overlap: true };
    let steps = vec![step(1, Action::Open {}), step(5_000, slow), step(9_700, call("return \"next\""))];
    let mut plan = plan("go-sdk-2026-08", steps);
    let other = ClientPlan {
        name: "s2".into(),
        persona: None,
        steps: vec![step(9_000, Action::Adopt { of: "s1".into() }), step(9_500, Action::Close {})],
        ..plan.clients[0].clone()
    };
    plan.clients.push(other);
    let result = run(&plan);
    let renewed = result.trace.named(Stream::History, "client.renews").count();
    let lost = result.trace.named(Stream::History, "request.end").any(|event| event.text("outcome") == Some("ended"));
    assert!(renewed == 1 && lost, "{:?}", result.findings);
    assert_eq!(begins(&result, "recover").iter().filter(|asked| asked.text("session") == Some("s1.2")).count(), 0);
}
