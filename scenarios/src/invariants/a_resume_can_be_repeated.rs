//! I32: a decision is delivered once, and whoever repeats a resume is told the same.

use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream, Trace};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "a-resume-can-be-repeated",
    kind: Kind::Always,
    claim: "a resume that is repeated in the session of the execution, as long as its engine is there, is answered as before",
    covers: &["I32"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let faults = case.faults();
    let mut first: BTreeMap<&str, (&Event, &Event, &Json)> = BTreeMap::new();
    let mut violations = Vec::new();
    let all = case.requests();
    for request in all.iter().filter(|request| request.op() == "resume" && request.outcome() == Some("answered")) {
        let Some((execution, end, told)) = told(trace, request) else { continue };
        let Some((before, taken, known)) = first.get(execution) else {
            if is_outcome(told) {
                first.insert(execution, (end, taken_by(trace, request, execution), told));
            }
            continue;
        };
        let session = request.session.as_str();
        let is_excused = is_gone(trace, session, taken.ordinal, end.ordinal)
            || faults.is_disturbed(session, taken.at_ms, end.at_ms)
            || request.begin.ordinal < before.ordinal;
        if !is_same(told, known) && !is_excused {
            let what = format!("a repeated resume is told {}, and was told {}", told["status"], known["status"]);
            violations.push(Violation::at(end, what));
        }
    }
    Verdict::of(violations, None)
}

/// The execution of a resume in its own session, with the end of the request and what it was told.
fn told<'t>(trace: &'t Trace, request: &Request<'t>) -> Option<(&'t str, &'t Event, &'t Json)> {
    let execution = request.begin.text("execution")?;
    let mut pauses = trace.named(Stream::State, "execution.paused");
    let pause = pauses.find(|event| event.text("execution") == Some(execution))?;
    let end = request.end.filter(|_| pause.who() == Some(&*request.session))?;
    Some((execution, end, end.json("answer")?.get("structuredContent")?))
}

/// When the engine had what a resume came to: with the last resumption of the execution on its way, else with its begin.
fn taken_by<'t>(trace: &'t Trace, request: &Request<'t>, execution: &str) -> &'t Event {
    let to = request.end.map_or(u32::MAX, |end| end.ordinal);
    let is_its = |event: &&Event| event.text("execution") == Some(execution);
    let resumed = trace.named(Stream::State, "execution.resumed").filter(is_its);
    let on_its_way = resumed.filter(|event| (request.begin.ordinal..to).contains(&event.ordinal));
    on_its_way.last().unwrap_or(request.begin)
}

/// What the code came to, a further pause included; not why there is no such thing.
fn is_outcome(told: &Json) -> bool {
    matches!(told["status"].as_str(), Some("completed" | "error" | "waiting_for_interaction"))
}

/// Whether two resumes are told the same; a failure of the host has an id of its own each time, and until when a further
/// pause waits is worked out anew whenever it is told (session-core §2.21).
fn is_same(told: &Json, known: &Json) -> bool {
    const MAY_DIFFER: [&str; 2] = ["expiresAt", "ttlMs"];
    if let (Some(told), Some(known)) = (told.as_object(), known.as_object()) {
        let names = || told.keys().chain(known.keys()).filter(|name| !MAY_DIFFER.contains(&name.as_str()));
        if names().all(|name| told.get(name) == known.get(name)) {
            return true;
        }
    }
    let is_internal =
        |told: &Json| told["error"].as_str().is_some_and(|text| text.starts_with("Internal tool error ["));
    is_internal(told) && is_internal(known)
}

/// Whether the session's engine went between two events.
fn is_gone(trace: &Trace, who: &str, from: u32, to: u32) -> bool {
    let ends = ["teardown.begin", "object.gone", "object.reset", "object.constructed", "isolate.ended"];
    trace
        .events
        .iter()
        .filter(|event| (from..=to).contains(&event.ordinal))
        .any(|event| ends.contains(&&*event.name) && (event.who() == Some(who) || event.name == "isolate.ended"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, story, violation};
    use super::*;
    use serde_json::json;

    fn resume(trace: Builder, at_ms: u64, request: u64, status: &str) -> Builder {
        let answer = json!({"structuredContent": {"status": status, "executionId": "exec_1"}});
        let number = ("request", request.into());
        let begin = [number.clone(), ("op", "resume".into()), ("execution", "exec_1".into())];
        let end = [number, ("outcome", "answered".into()), ("answer", answer.into())];
        trace.history(at_ms, "s1", "request.begin", &begin).history(at_ms + 5, "s1", "request.end", &end)
    }

    fn paused() -> Builder {
        story().state(30, "s1", "execution.paused", &[("execution", "exec_1".into())])
    }

    #[test]
    fn the_same_again_is_fine_and_anything_else_is_named() {
        let twice = |second| resume(resume(paused(), 100, 90, "completed"), 200, 91, second);
        assert_eq!(judged(INVARIANT, twice("completed")), Verdict::Held);
        let found = violation(INVARIANT, twice("execution_already_settled"));
        let what = "a repeated resume is told \"execution_already_settled\", and was told \"completed\"";
        assert_eq!(found.what, what);
    }

    #[test]
    fn another_session_of_the_same_client_knows_nothing() {
        let told = resume(paused(), 100, 90, "completed");
        let opened = told
            .history(150, "s1", "request.begin", &[("request", 95u64.into()), ("op", "open".into())])
            .platform(151, "s1", "session.minted", &[("alias", "s1.2".into())])
            .history(152, "s1", "request.end", &[("request", 95u64.into()), ("outcome", "answered".into())]);
        let elsewhere = resume(opened, 200, 91, "execution_not_found");
        assert_eq!(judged(INVARIANT, elsewhere), Verdict::Held);
    }

    #[test]
    fn a_failure_of_the_host_is_the_same_whatever_its_id() {
        let failed = |id: u32| json!({"status": "error", "error": format!("Internal tool error [{id:08x}]")});
        assert!(is_same(&failed(1), &failed(2)));
        assert!(!is_same(&failed(1), &json!({"status": "error", "error": "boom"})));
    }

    #[test]
    fn an_engine_that_went_in_between_knows_nothing() {
        let after_disposal = resume(resume(paused(), 100, 90, "completed"), 2_000, 91, "execution_expired");
        assert_eq!(judged(INVARIANT, after_disposal), Verdict::Held);
    }

    #[test]
    fn an_engine_that_went_while_the_first_answer_was_under_way_knows_nothing() {
        let twice = |gone_at_ms: u64| {
            let resumed = paused().state(102, "s1", "execution.resumed", &[("execution", "exec_1".into())]);
            let gone = resumed.state(gone_at_ms, "s1", "teardown.begin", &[]);
            resume(resume(gone, 100, 90, "completed"), 200, 91, "execution_not_found")
        };
        assert_eq!(judged(INVARIANT, twice(104)), Verdict::Held);
        // The engine of a start on the way to the first resumption is not the one that took it.
        violation(INVARIANT, twice(101));
    }

    #[test]
    fn a_resume_that_came_to_nothing_is_no_outcome() {
        let refused = resume(resume(paused(), 100, 90, "execution_not_found"), 200, 91, "completed");
        assert_eq!(judged(INVARIANT, refused), Verdict::Held);
    }
}
