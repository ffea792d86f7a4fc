//! I30: a paused execution is resumed for the account and organisation that own its session, and for nobody else.

use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::{ClientPlan, Plan, Token, client_of};
use crate::trace::{Stream, Trace};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "only-owners-resume",
    kind: Kind::Always,
    claim: "an execution that waits for a person is shown to, decided by and resumed for the owner of its session only",
    covers: &["I30"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let mut violations = Vec::new();
    for request in case.requests().iter().filter(|request| matches!(request.op(), "resume" | "look" | "decide")) {
        let Some((end, owner)) = request.end.zip(owner(plan, trace, request.begin.text("execution"))) else { continue };
        let Some(asking) = client(plan, request.client()) else { continue };
        let is_owner = asking.account == owner.account && asking.organization == owner.organization;
        if is_owner && request.token(plan) == Token::Own {
            continue;
        }
        let told = end.json("answer").map(|answer| &answer["structuredContent"]);
        let is_internal =
            told.and_then(|told| told["error"].as_str()).is_some_and(|text| text.starts_with("Internal tool error ["));
        let is_told = match request.op() {
            "resume" => told.is_some_and(|told| {
                let words = ["completed", "error", "waiting_for_interaction", "user_approval_required"];
                told["status"].as_str().is_some_and(|word| words.contains(&word)) && !is_internal
            }),
            _ => request.status() == Some(200),
        };
        if is_told {
            let what = format!("{} of a stranger was answered as the owner's", request.what());
            violations.push(Violation::at(end, what));
        }
    }
    Verdict::of(violations, None)
}

fn client<'p>(plan: &'p Plan, name: &str) -> Option<&'p ClientPlan> {
    plan.clients.iter().find(|client| client.name == name)
}

/// The client whose session asked.
fn owner<'p>(plan: &'p Plan, trace: &Trace, execution: Option<&str>) -> Option<&'p ClientPlan> {
    let mut pauses = trace.named(Stream::State, "execution.paused");
    let pause = pauses.find(|event| event.text("execution") == execution)?;
    client(plan, client_of(pause.who()?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{plan, story};
    use super::*;
    use serde_json::json;

    fn resumed(account: &str, status: &str) -> Verdict {
        let mut plan = plan();
        let mut other = plan.clients[0].clone();
        other.name = "s9".into();
        other.account = account.into();
        plan.clients.push(other);
        let answer = json!({"structuredContent": {"status": status}});
        let begin = [("request", 90_u64.into()), ("op", "resume".into()), ("execution", "exec_1".into())];
        let end = [("request", 90_u64.into()), ("outcome", "answered".into()), ("answer", answer.into())];
        let paused = story().state(30, "s1", "execution.paused", &[("execution", "exec_1".into())]);
        let asked = paused.history(40, "s9", "request.begin", &begin).history(50, "s9", "request.end", &end);
        INVARIANT.judge(&plan, &asked.build())
    }

    #[test]
    fn the_owner_may_from_any_session_and_a_stranger_from_none() {
        let own = plan().clients[0].account.clone();
        assert_eq!(resumed(&own, "completed"), Verdict::Held);
        assert_eq!(resumed("stranger", "execution_forbidden"), Verdict::Held);
        assert!(matches!(resumed("stranger", "completed"), Verdict::Violated(_)));
    }
}
