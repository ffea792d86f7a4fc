//! Every answer is exactly the one that its own request's code comes to, so that no caller gets another's.

use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::expect::evaluate;
use crate::plan::Plan;
use crate::trace::{Event, Value};
use serde_json::Value as Json;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "answers-are-right",
    kind: Kind::Always,
    claim: "an answered call answers exactly what its code comes to, to the client that asked",
    covers: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let plan = case.plan;
    let faults = case.faults();
    let mut violations = Vec::new();
    let mut judged_count = 0_u32;
    let mut unknown = None;
    for request in case.requests() {
        let Some(end) = request.end.filter(|_| request.outcome() == Some("answered")) else {
            continue;
        };
        let Some(answer) = end.field("answer").map(json_of) else {
            continue;
        };
        let is_disturbed = faults.is_disturbed(&request.session, request.begin.at_ms, end.at_ms);
        if is_disturbed && is_failure(&answer) {
            continue;
        }
        match compare(plan, request, &answer, is_disturbed) {
            Compared::Right => judged_count += 1,
            Compared::Wrong(difference) => {
                violations.push(wrong(request, end, &difference));
            }
            Compared::Unknown(reason) => unknown = Some(reason),
            Compared::NotJudged => {}
        }
    }
    if judged_count == 0 && unknown.is_none() {
        unknown = Some("no call was answered".into());
    }
    Verdict::of(violations, unknown)
}

enum Compared {
    Right,
    Wrong(String),
    Unknown(String),
    NotJudged,
}

/// Compares an answer, or each of a batch; under a fault those that failed over it are passed over.
fn compare(plan: &Plan, request: &Request, answer: &Json, is_disturbed: bool) -> Compared {
    let code = match request.op() {
        "call" | "touch" => code_of(plan, request),
        // What a real client asks for by itself belongs to the step of the call that lost it.
        "recover" => match code_of(plan, request) {
            Some(code) => Some(code),
            None => return Compared::NotJudged,
        },
        "ping" if answer.as_object().is_some_and(serde_json::Map::is_empty) => {
            return Compared::Right;
        }
        "ping" => return Compared::Wrong(format!("a ping is answered with {{}}, not {answer}")),
        _ => return Compared::NotJudged,
    };
    let Some(code) = code else {
        return Compared::Unknown(format!("the plan has no code for a {} of {}", request.op(), request.client()));
    };
    let Some(expected) = evaluate(&code) else {
        return Compared::Unknown(format!(
            "the code of a call of {} is not of the engine's language",
            request.client()
        ));
    };
    if is_error(answer) {
        return Compared::Wrong(format!("the answer is the error {answer}"));
    }
    let expected = if request.is_asked_in_browser(plan) { expected.in_browser() } else { expected };
    let count = request.begin.number("rpc_count");
    let answers = match (count, answer) {
        (Some(_), Json::Array(answers)) => answers.as_slice(),
        _ => std::slice::from_ref(answer),
    };
    if count.is_some_and(|count| count != answers.len() as u64) {
        return Compared::Wrong(format!("{} answers to {} calls", answers.len(), count.unwrap_or(0)));
    }
    let mut judged = answers.iter().filter(|answer| !(is_disturbed && is_failure(answer)));
    match judged.try_for_each(|answer| expected.compare(answer)) {
        Ok(()) => Compared::Right,
        Err(difference) => Compared::Wrong(difference),
    }
}

fn code_of(plan: &Plan, request: &Request) -> Option<String> {
    let client = plan.clients.iter().find(|client| client.name == request.client())?;
    if request.op() == "touch" {
        return Some(client.touch_code());
    }
    client.code_of_step(usize::try_from(request.begin.number("step")?).ok()?)
}

fn wrong(request: &Request, end: &Event, difference: &str) -> Violation {
    let (what, begun) = (request.what(), request.begin.at_ms);
    Violation::at(end, format!("{what} begun at {begun} ms was answered wrongly: {difference}"))
}

/// What a fault may make of an answer: a JSON-RPC error, or the tool's word that it failed itself (session-core §2.23),
/// which no code of a plan can say.
fn is_failure(answer: &Json) -> bool {
    let told = answer["structuredContent"]["error"].as_str();
    let is_of_tool = answer["isError"] == true && told.is_some_and(|told| told.starts_with("Internal tool error ["));
    is_error(answer) || is_of_tool
}

/// A JSON-RPC error, as against a result.
fn is_error(answer: &Json) -> bool {
    answer.get("code").is_some_and(Json::is_i64) && answer.get("structuredContent").is_none()
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Json(json) => json.clone(),
        Value::Text(text) => Json::from(&**text),
        Value::Bool(flag) => Json::from(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, answer, judged, plan_with_failing_alarm_write, story, violation};
    use super::*;
    use crate::plan::{Action, Elicitation};
    use serde_json::json;

    #[test]
    fn the_answers_of_the_story_are_right() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn another_s_answer_is_wrong() {
        let found = violation(INVARIANT, story().change("request.end", 3, "answer", answer("after-1")));
        assert_eq!(
            found.what,
            "a call begun at 20 ms was answered wrongly: result is \"after-1\", expected \"before-1\""
        );
    }

    #[test]
    fn an_error_is_no_answer_to_a_call() {
        let error = json!({"code": -32603, "message": "Internal error"});
        let found = violation(INVARIANT, story().change("request.end", 3, "answer", error.into()));
        assert!(found.what.contains("-32603"), "{}", found.what);
    }

    #[test]
    fn a_tool_that_failed_itself_is_an_answer_under_a_fault_only() {
        let text = "Internal tool error [0a1b2c3d]";
        let failed = json!({
            "content": [{"type": "text", "text": format!("Error: {text}")}],
            "structuredContent": {"status": "error", "error": text},
            "isError": true,
        });
        let trace = story().change("request.end", 3, "answer", failed.clone().into());
        violation(INVARIANT, trace.clone());
        let faulty = plan_with_failing_alarm_write();
        let judged = |at_ms| INVARIANT.judge(&faulty, &trace.clone().fault(at_ms, "fault.delivered", 0).build());
        assert_eq!(judged(22), Verdict::Held);
        assert!(matches!(judged(40), Verdict::Violated(_)), "a fault after the answer excuses nothing");
        let wrong = story().change("request.end", 3, "answer", answer("after-1")).fault(22, "fault.delivered", 0);
        assert!(matches!(INVARIANT.judge(&faulty, &wrong.build()), Verdict::Violated(_)));
        // Of a batch each answer is judged for itself.
        let batch = |other: &str| {
            let Value::Json(other) = answer(other) else { panic!("an object") };
            let both = story().change("request.begin", 3, "rpc_count", 2_u64.into());
            both.change("request.end", 3, "answer", json!([failed.clone(), other]).into())
        };
        let under_fault = |trace: Builder| INVARIANT.judge(&faulty, &trace.fault(22, "fault.delivered", 0).build());
        assert_eq!(under_fault(batch("before-1")), Verdict::Held);
        assert!(matches!(under_fault(batch("after-1")), Verdict::Violated(_)));
        violation(INVARIANT, batch("before-1"));
    }

    #[test]
    fn people_are_asked_where_the_opener_of_the_session_said() {
        let asked = |opener: Elicitation, of_caller: Elicitation| {
            let mut plan = super::super::testing::plan();
            let mut other = plan.clients[0].clone();
            (plan.clients[0].elicitation, other.name, other.elicitation) = (opener, "s2".into(), of_caller);
            other.steps[2].action =
                Action::Call { code: r#"ask {"kind":"form","message":"m"}"#.into(), overlap: false };
            plan.clients.push(other);
            let number = ("request", 90_u64.into());
            let begin = [number.clone(), ("step", 2_u64.into()), ("op", "call".into())];
            let told = json!({"structuredContent": {"status": "user_approval_required"}});
            let end = [number, ("outcome", "answered".into()), ("answer", told.into())];
            let adopted = story().history(5_100, "s2", "session.adopted", &[("of", "s1".into())]);
            let called =
                adopted.history(5_200, "s2", "request.begin", &begin).history(5_210, "s2", "request.end", &end);
            matches!(INVARIANT.judge(&plan, &called.build()), Verdict::Violated(_))
        };
        assert!(!asked(Elicitation::Browser, Elicitation::Model));
        assert!(asked(Elicitation::Model, Elicitation::Browser));
    }

    #[test]
    fn a_touch_is_judged_like_a_call() {
        violation(INVARIANT, story().change("request.end", 5, "answer", answer("before-1")));
    }

    #[test]
    fn what_a_client_gets_by_asking_again_is_judged_by_the_call_that_lost_it() {
        let recovered = |text| {
            let begin = [("request", 90_u64.into()), ("step", 2_u64.into()), ("op", "recover".into())];
            let end = [("request", 90_u64.into()), ("outcome", "answered".into()), ("answer", answer(text))];
            story().history(40, "s1", "request.begin", &begin).history(50, "s1", "request.end", &end)
        };
        assert_eq!(judged(INVARIANT, recovered("before-1")), Verdict::Held);
        violation(INVARIANT, recovered("after-1"));
    }

    #[test]
    fn without_an_answered_call_nothing_can_be_told() {
        assert!(matches!(judged(INVARIANT, story().cut(15)), Verdict::CannotTell(_)));
    }
}
