//! I42: no client gets a 5xx other than 503, and every refusal is a JSON-RPC error.

use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Value};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "refusals-are-told",
    kind: Kind::Always,
    claim: "a refused request gets a JSON-RPC error, and no 5xx but 503",
    covers: &["I42"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut violations = Vec::new();
    for request in case.requests().iter().filter(|request| request.outcome() == Some("refused")) {
        let (Some(status), Some(end)) = (request.status(), request.end) else { continue };
        let Some(fault) = fault_of(request, status, end) else { continue };
        // A failure that no classifier knows, which only a plan brings about, is a bare 500 by description.
        if !faults.is_disturbed(&request.session, request.begin.at_ms, end.at_ms) {
            violations.push(Violation::at(end, format!("{} is refused {fault}", request.what())).of(&request.session));
        }
    }
    Verdict::of(violations, None)
}

fn fault_of(request: &Request, status: u64, end: &Event) -> Option<String> {
    if (500..600).contains(&status) && status != 503 {
        return Some(format!("with status {status}"));
    }
    let is_told = matches!(end.field("answer"), Some(Value::Json(error)) if error["code"].is_i64());
    // The console speaks no JSON-RPC, and says what it refuses in words of its own; pages that are not there say nothing.
    let is_spared = matches!(request.op(), "close" | "look" | "decide" | "probe");
    (!is_told && !is_spared).then(|| format!("with status {status} and no JSON-RPC error"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;
    use serde_json::json;

    fn refused(status: u64, answer: serde_json::Value) -> Builder {
        story()
            .change("request.head", 4, "status", status.into())
            .change("request.end", 4, "outcome", "refused".into())
            .change("request.end", 4, "answer", answer.into())
    }

    #[test]
    fn an_error_of_the_protocol_is_a_refusal_and_a_bare_500_or_text_is_none() {
        let error = || json!({"code": -32001, "message": "Session not found"});
        assert_eq!(judged(INVARIANT, refused(404, error())), Verdict::Held);
        assert_eq!(judged(INVARIANT, refused(503, error())), Verdict::Held);
        assert_eq!(violation(INVARIANT, refused(500, error())).what, "a call is refused with status 500");
        let found = violation(INVARIANT, refused(404, json!("gone")));
        assert_eq!(found.what, "a call is refused with status 404 and no JSON-RPC error");
        let looked = |status| refused(status, json!("gone")).change("request.begin", 4, "op", "look".into());
        assert_eq!(judged(INVARIANT, looked(404)), Verdict::Held);
        assert_eq!(violation(INVARIANT, looked(500)).what, "a look is refused with status 500");
    }
}
