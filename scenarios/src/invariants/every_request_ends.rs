//! L13: every request ends by an answer, an error or a closed stream, never by a client that had to give up.

use super::requests::Request;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream, Trace};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "every-request-ends",
    kind: Kind::Eventually,
    claim: "every request ends with an answer, an error or a closed stream, before its client gives up",
    covers: &["I5", "L8", "L13"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let all = case.requests();
    if all.is_empty() {
        return Verdict::CannotTell("no client asked for anything".into());
    }
    let faults = case.faults();
    let mut violations = Vec::new();
    let mut open_count = 0_u32;
    let mut is_young_open = false;
    for request in all {
        // A stream is held for as long as both sides like, and a GET that nothing is left for stays open.
        let is_held_stream = matches!(request.op(), "stream" | "recover") && request.head.is_some();
        match request.end {
            None if is_held_stream => {}
            None => {
                open_count += 1;
                // Begun so shortly before the end that its client still waits.
                let is_young = |last: &Event| last.at_ms < request.begin.at_ms + request.patience_ms(plan);
                is_young_open |= trace.events.last().is_some_and(is_young);
                let old = trace.events.last().filter(|last| !is_young(last));
                violations.extend(old.map(|last| unended(request, last)));
            }
            Some(end) => {
                let excused = is_held_stream
                    || faults.is_held_until(&request.session, end.at_ms, request.patience_ms(plan))
                    || request.outlasts_patience(plan, all);
                // Only of those that are left the whole trace is looked through.
                if request.outcome() == Some("gave-up") && !excused && !is_silenced(trace, request, end) {
                    violations.push(given_up(request, end));
                }
            }
        }
    }
    if open_count > 0 && !trace.is_complete() {
        violations.retain(|violation| violation.pending.is_none());
        return Verdict::of(violations, Some("the run was cut while requests were open".into()));
    }
    Verdict::of(violations, is_young_open.then(|| "the run ended while clients still waited".into()))
}

/// Whether the platform let the stream of a request fall silent in place of its end, as its object was lost (platform facts
/// 202, 224), or evicted the object with its work by the old rule (facts 13, 16): nobody at the edge learns that, so nobody
/// can tell the client. That its time-out ends the wait is as described (session-core L13).
fn is_silenced(trace: &Trace, request: &Request, end: &Event) -> bool {
    trace.of(Stream::Platform).any(|event| {
        matches!(&*event.name, "stream.silenced" | "work.cut-off")
            && event.who() == Some(&*request.session)
            && (request.begin.ordinal..end.ordinal).contains(&event.ordinal)
    })
}

fn unended(request: &Request, last: &Event) -> Violation {
    let (who, op) = (request.client(), request.op());
    let pending = format!("{who}: {op} begun at {} ms has no end", request.begin.at_ms);
    let what = format!("{} never ended", request.what());
    Violation::at(last, what).of(who).pending(pending)
}

fn given_up(request: &Request, end: &Event) -> Violation {
    let waited_ms = end.at_ms - request.begin.at_ms.min(end.at_ms);
    Violation::at(end, format!("{} was given up after {waited_ms} ms", request.what()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, plan, story, violation};
    use super::*;
    use crate::plan::{Action, Elicitation};

    #[test]
    fn answers_refusals_and_ended_streams_are_ends() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        for outcome in ["refused", "ended", "failed"] {
            let trace = story().change("request.end", 3, "outcome", outcome.into());
            assert_eq!(judged(INVARIANT, trace), Verdict::Held, "{outcome}");
        }
    }

    #[test]
    fn a_call_that_its_client_gave_up_is_named() {
        let trace = story().change("request.end", 3, "outcome", "gave-up".into());
        assert_eq!(violation(INVARIANT, trace).what, "a call was given up after 8 ms");
    }

    #[test]
    fn a_stream_that_the_platform_let_fall_silent_is_nobodys_fault() {
        let gave_up = || story().change("request.end", 3, "outcome", "gave-up".into());
        for name in ["stream.silenced", "work.cut-off"] {
            assert_eq!(judged(INVARIANT, gave_up().platform(22, "s1", name, &[])), Verdict::Held);
        }
        violation(INVARIANT, gave_up().platform(22, "s2", "stream.silenced", &[]));
        violation(INVARIANT, gave_up().platform(15, "s1", "stream.silenced", &[]));
    }

    #[test]
    fn a_handshake_that_was_given_up_reads_as_a_sentence() {
        let trace = story().change("request.end", 0, "outcome", "gave-up".into());
        assert_eq!(violation(INVARIANT, trace).what, "an open was given up after 8 ms");
    }

    #[test]
    fn code_that_takes_longer_than_its_client_waits_is_its_own_fault() {
        let judged = |code: &str| {
            let mut slow = plan();
            slow.clients[0].steps[2].action = Action::Call { code: code.into(), overlap: false };
            INVARIANT.judge(&slow, &story().change("request.end", 3, "outcome", "gave-up".into()).build())
        };
        assert_eq!(judged("wait 70000; return 1"), Verdict::Held);
        assert!(matches!(judged("wait 30000; return 1"), Verdict::Violated(_)));
    }

    #[test]
    fn a_client_that_waits_for_less_than_the_wires_take_blames_nobody() {
        let judged = |patience_ms: u64| {
            let mut hasty = plan();
            hasty.clients[0].request_timeout_ms = patience_ms;
            INVARIANT.judge(&hasty, &story().change("request.end", 3, "outcome", "gave-up".into()).build())
        };
        assert_eq!(judged(5), Verdict::Held);
        assert!(matches!(judged(20_000), Verdict::Violated(_)));
    }

    #[test]
    fn a_client_that_reads_nothing_for_long_blames_nobody() {
        let judged = |ms: u64| {
            let mut stalling = plan();
            stalling.clients[0].steps[1].action = Action::Stall { ms };
            let gave_up = story().without("request.begin", 2).without("request.head", 2).without("request.end", 2);
            let gave_up = gave_up.without_between(25, 1_000).without_between(5_020, 150_000);
            let end = [("request", 4_u64.into()), ("outcome", "gave-up".into())];
            INVARIANT.judge(&stalling, &gave_up.history(60_020, "s1", "request.end", &end).build())
        };
        assert!(!matches!(judged(100_000), Verdict::Violated(_)));
        assert!(matches!(judged(20_000), Verdict::Violated(_)));
    }

    #[test]
    fn a_resume_waits_for_its_person_where_people_are_asked_in_the_browser() {
        let judged = |elicitation, patience_ms: u64| {
            let mut asked = plan();
            asked.clients[0].elicitation = elicitation;
            asked.clients[0].request_timeout_ms = patience_ms;
            let resume = story().change("request.begin", 4, "op", "resume".into());
            INVARIANT.judge(&asked, &resume.change("request.end", 4, "outcome", "gave-up".into()).build())
        };
        assert_eq!(judged(Elicitation::Browser, 60_000), Verdict::Held);
        assert!(matches!(judged(Elicitation::Browser, 300_000), Verdict::Violated(_)));
        assert!(matches!(judged(Elicitation::Model, 60_000), Verdict::Violated(_)));
    }

    #[test]
    fn a_request_that_the_end_of_the_run_overtakes_is_open() {
        let judged = |patience_ms: u64| {
            let mut patient = plan();
            patient.clients[0].request_timeout_ms = patience_ms;
            INVARIANT.judge(&patient, &story().without("request.end", 3).build())
        };
        assert!(matches!(judged(10_000_000), Verdict::CannotTell(_)));
        assert!(matches!(judged(60_000), Verdict::Violated(_)));
    }

    #[test]
    fn a_call_without_an_end_is_open_for_ever() {
        let found = violation(INVARIANT, story().without("request.end", 3));
        assert_eq!(found.pending.as_deref(), Some("s1: call begun at 20 ms has no end"));
    }

    #[test]
    fn a_stream_that_is_still_held_at_the_end_is_fine() {
        assert_eq!(judged(INVARIANT, story().without("request.end", 2)), Verdict::Held);
    }

    #[test]
    fn a_run_that_was_cut_with_open_requests_cannot_tell() {
        assert!(matches!(judged(INVARIANT, story().cut(24)), Verdict::CannotTell(_)));
    }

    #[test]
    fn a_client_that_waits_less_than_its_person_is_judged_by_its_own_patience() {
        // The code waits for half of what the client does, and much less than half of what its person would.
        let mut slow = plan();
        slow.clients[0].request_timeout_ms = 600_000;
        slow.clients[0].steps[3].action =
            crate::plan::Action::Call { code: "wait 50000; return \"after-1\"".into(), overlap: false };
        let given_up = || story().change("request.end", 4, "outcome", "gave-up".into());
        assert!(matches!(INVARIANT.judge(&slow, &given_up().build()), Verdict::Violated(_)));
        let told = given_up().change("request.begin", 4, "patience_ms", 60_000_u64.into());
        assert_eq!(INVARIANT.judge(&slow, &told.build()), Verdict::Held);
    }

    #[test]
    fn a_client_that_hangs_by_its_own_fault_is_no_violation() {
        let hung = [("of", 4_u64.into()), ("until", "ever".into()), ("why", "nothing can bring its answer".into())];
        let trace = story().change("request.end", 3, "outcome", "ended".into()).history(29, "s1", "client.hung", &hung);
        assert_eq!(judged(INVARIANT, trace), Verdict::Held);
    }
}
