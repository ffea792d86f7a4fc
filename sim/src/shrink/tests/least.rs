//! What is canonical in a shrunk plan: texts, numbers, times, actions, words and orders that were drawn become the same.

use super::*;
use scenarios::plan::{CallPlan, CallerPlan, ErrorKind, FaultPlan, Response};

fn call(code: &str) -> Action {
    Action::Call { code: code.to_owned(), overlap: false }
}

/// A plan of one client that does this.
fn of_steps(steps: &[(u64, Action)]) -> Plan {
    let mut plan = drawn(7, "idle-alarm-not-rearmed");
    plan.clients.truncate(1);
    plan.clients[0].steps =
        steps.iter().map(|(at_ms, action)| Step { at_ms: *at_ms, action: action.clone() }).collect();
    plan
}

fn steps_of(plan: &Plan) -> Vec<(u64, Action)> {
    let steps = plan.clients.iter().flat_map(|client| &client.steps);
    steps.map(|step| (step.at_ms, step.action.clone())).collect()
}

/// The least plan in which a rule holds, of which no candidate may show it.
fn least_of(plan: &Plan, holds: impl Fn(&Plan) -> bool) -> Plan {
    let rule = |plan: &Plan| Ok(shows(if holds(plan) { &[ExitCode::Safety] } else { &[] }));
    let target = signature(ExitCode::Safety);
    let least = shrink(plan, &target, &Budget::default(), &mut Rule(rule), &mut |_| {}).expect("it can be shrunk");
    assert_eq!(least.ending, Ending::Minimal);
    for candidate in candidates(&least.plan) {
        assert!(!holds(&candidate), "still shows it:\n{}", candidate.to_json());
    }
    least.plan
}

#[test]
fn marks_and_sizes_that_were_drawn_become_the_same() {
    /// Someone is asked by a form, and someone is sent more than 60,000 bytes.
    fn holds(plan: &Plan) -> bool {
        let codes = steps_of(plan).into_iter().filter_map(|(_, action)| action.code().map(str::to_owned));
        let all: Vec<String> = codes.collect();
        let sizes = all.iter().filter_map(|code| code.split_once("return large ")?.1.split_once(' ')?.0.parse().ok());
        let is_large = sizes.into_iter().any(|bytes: u64| bytes > 60_000);
        is_large && all.iter().any(|code| code.contains("ask {") && code.contains("form"))
    }
    let expected = [(0, call(r#"ask {"kind":"form","message":"1"}"#)), (0, call(r#"return large 100000 "1""#))];
    for (mark, bytes) in [("s1-1-c8b6d31d", 61_398), ("s3-4-1f3c65b7", 73_001)] {
        let ask = format!(r#"wait 3; ask {{"kind":"form","message":"{mark}-1","withinMs":977}}; return answer"#);
        let large = format!(r#"emit "{mark}"; return large {bytes} "{mark}-2""#);
        let plan = of_steps(&[(0, Action::Open {}), (3, call(&large)), (7, call(&ask))]);
        assert_eq!(steps_of(&least_of(&plan, holds)), expected);
    }
}

#[test]
fn a_call_that_needs_no_arguments_has_none_not_even_empty_ones() {
    let is_called =
        |plan: &Plan| plan.callers.iter().flat_map(|caller| &caller.calls).any(|call| call.method == "init");
    for arguments in [serde_json::json!({}), serde_json::json!({"a": [[]], "b": null})] {
        let mut plan = of_steps(&[(0, Action::Open {})]);
        let session = plan.clients[0].name.clone();
        let call = CallPlan { at_ms: 0, session, method: "init".to_owned(), arguments, overlap: false };
        plan.callers.push(CallerPlan { name: "c1".to_owned(), calls: vec![call] });
        assert_eq!(least_of(&plan, is_called).callers[0].calls[0].arguments, serde_json::Value::Null);
    }
}

#[test]
fn calls_that_must_differ_are_called_by_their_numbers() {
    let holds = |plan: &Plan| {
        let codes: Vec<String> =
            steps_of(plan).iter().filter_map(|(_, action)| Some(action.code()?.to_owned())).collect();
        codes.len() == 2 && codes[0] != codes[1]
    };
    let expected = [(0, call("return 1")), (0, call("return 2"))];
    for codes in [["return \"s1-1-ab\"", "return \"s1-2-cd\""], ["return 2", "return 1"], ["return 5", "return 9"]] {
        assert_eq!(steps_of(&least_of(&of_steps(&codes.map(|code| (5, call(code)))), holds)), expected, "{codes:?}");
    }
}

#[test]
fn one_of_two_steps_at_one_time_moves_to_the_start() {
    let late = |plan: &Plan| steps_of(plan).len() == 3 && steps_of(plan)[1].0 >= 2_000;
    let plan = of_steps(&[(0, Action::Open {}), (2_000, Action::Ping {}), (2_000, Action::Ping {})]);
    let times: Vec<u64> = steps_of(&least_of(&plan, late)).iter().map(|(at_ms, _)| *at_ms).collect();
    assert_eq!(times, [0, 2_000, 0]);
}

#[test]
fn a_timeout_and_the_step_that_waits_for_it_become_smaller_together() {
    /// Something happens shortly after the timeout.
    fn holds(plan: &Plan) -> bool {
        let timeout_ms = plan.config.session_timeout_ms;
        steps_of(plan).iter().any(|(at_ms, _)| (timeout_ms + 50..timeout_ms + 300).contains(at_ms))
    }
    for (timeout_ms, at_ms) in [(7_000, 7_100), (3_300, 3_400)] {
        let mut plan = of_steps(&[(0, Action::Open {}), (at_ms, Action::Ping {})]);
        plan.config.session_timeout_ms = timeout_ms;
        let least = least_of(&plan, holds);
        assert_eq!((least.config.session_timeout_ms, steps_of(&least)), (1_000, vec![(1_100, Action::Ping {})]));
    }
}

#[test]
fn an_action_becomes_a_simpler_one_and_the_simpler_one_comes_first() {
    let open = |plan: &Plan| matches!(steps_of(plan)[..], [(_, Action::Open {}), _, _]);
    let expected = [(0, Action::Open {}), (0, Action::Ping {}), (0, Action::Ping {})];
    let of = |action: Action| of_steps(&[(0, Action::Open {}), (0, Action::Close {}), (0, action)]);
    for action in [Action::Close {}, Action::Ping {}, Action::Listen {}, Action::Stall { ms: 30 }] {
        assert_eq!(steps_of(&least_of(&of(action), open)), expected);
    }
    let both = |plan: &Plan| {
        let has = |wanted: &Action| steps_of(plan).iter().any(|(_, action)| action == wanted);
        has(&Action::Close {}) && has(&Action::EndStream {})
    };
    let expected = [(0, Action::EndStream {}), (0, Action::Close {})];
    for steps in [[Action::Close {}, Action::EndStream {}], [Action::EndStream {}, Action::Close {}]] {
        assert_eq!(steps_of(&least_of(&of_steps(&steps.map(|action| (0, action))), both)), expected);
    }
}

#[test]
fn words_of_a_list_become_the_simplest() {
    let resumes = |plan: &Plan| steps_of(plan).iter().any(|(_, action)| matches!(action, Action::Resume { .. }));
    for response in [Response::Cancel, Response::Decline, Response::Accept] {
        let decide = Action::Decide { response, of: None };
        let resume = Action::Resume { response, of: None, overlap: true };
        let plan = of_steps(&[(0, decide), (0, resume)]);
        let expected = [(0, Action::Resume { response: Response::Accept, of: None, overlap: false })];
        assert_eq!(steps_of(&least_of(&plan, resumes)), expected);
    }
    let mut plan = of_steps(&[(0, Action::Open {})]);
    let when = serde_json::json!({"operation": model::operations::names()[0], "n": 1});
    let when = serde_json::from_value(when).expect("a trigger");
    let effect = scenarios::plan::Effect::Fail { error: ErrorKind::CpuLimit, text: None, flags: None, lasting: false };
    plan.faults = vec![FaultPlan::new(when, effect)];
    let least = least_of(&plan, |plan| !plan.faults.is_empty());
    let text = least.to_json();
    assert!(text.contains("\"error\": \"unknown\""), "{text}");
}

#[test]
fn drawn_forms_of_one_failure_become_one_plan() {
    for (scenario, defect, seeds) in [
        ("destroy/around-delete", "destroy-ungated", [3, 7]),
        ("approval/resumed-elsewhere", "directory-without-rpc", [1, 3]),
    ] {
        let scenario = catalog::find(scenario).expect("the scenario exists");
        let digests = seeds.map(|seed| {
            let plan = Plan { defects: vec![defect.to_owned()], ..(scenario.plan)(Seed(seed)) };
            let least = shrunk(&plan, &mut Here);
            assert_eq!(least.ending, Ending::Minimal);
            (least.plan.content_digest(), least.plan.to_json())
        });
        assert_eq!(digests[0].0, digests[1].0, "{} {}", digests[0].1, digests[1].1);
    }
}

#[test]
fn pins_without_effect_are_dropped_before_anything_else() {
    let plain = drawn(7, "idle-alarm-not-rearmed");
    let mut plan = plain.clone();
    plan.pins.insert("s1/never-asked@17#3".to_owned(), 1);
    let (least, of_plain) = (shrunk_loosely(&plan), shrunk_loosely(&plain));
    assert_eq!(least.unused_pins, ["s1/never-asked@17#3"]);
    assert_eq!((least.plan, of_plain.unused_pins.len()), (of_plain.plan, 0));
}

fn shrunk_loosely(plan: &Plan) -> Shrinking {
    let answer = Here.judge(plan, JUDGED).expect("it runs");
    let target = gravest(&answer).expect("it fails").clone();
    shrink(plan, &target, &Budget::default(), &mut Here, &mut |_| {}).expect("it can be shrunk")
}
