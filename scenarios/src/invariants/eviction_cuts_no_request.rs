//! I16 and L4 as the client sees them: a request under way when its session is evicted for the cap is still answered.

use super::requests::Request;
use super::streams::{ends_session, happened};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::trace::{Event, Stream, Trace};

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "eviction-cuts-no-request",
    kind: Kind::Always,
    claim: "a request during which its session is disposed for the cap does not end without an answer",
    covers: &["I16"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let trace = case.trace;
    let evictions: Vec<&Event> =
        trace.named(Stream::State, "disposal.begin").filter(|event| event.text("reason") == Some("cap")).collect();
    if evictions.is_empty() {
        return Verdict::Held;
    }
    let faults = case.faults();
    let all = case.requests();
    let mut violations = Vec::new();
    for request in all.iter().filter(|request| is_owed(request) && request.outcome() == Some("ended")) {
        let Some(end) = request.end else { continue };
        let session = session_of(trace, request, end);
        let is_within = |event: &&&Event| {
            event.who() == Some(&*session) && (request.begin.ordinal..end.ordinal).contains(&event.ordinal)
        };
        // What an earlier one took, the request may have got back.
        let Some(eviction) = evictions.iter().rfind(is_within) else { continue };
        let is_excused = is_closing(all, &session, end)
            || happened(case, &session, request.begin.ordinal, end.ordinal, ends_session)
            || faults.is_disturbed(&session, request.begin.at_ms, end.at_ms)
            || faults.holds_connect(eviction.at_ms)
            || faults.holds_eviction(eviction.at_ms);
        if !is_excused {
            let what = format!("{} got no answer: its session was evicted meanwhile", request.what());
            let (begun, at_ms) = (request.begin.at_ms, eviction.at_ms);
            let pending = format!("{session}: {} begun at {begun} ms, runtime let go at {at_ms} ms", request.op());
            violations.push(Violation::at(end, what).pending(pending));
        }
    }
    Verdict::of(violations, None)
}

/// Whether a request is owed an answer; a GET ends with what there is for it, and asking again is all that is lost.
fn is_owed(request: &Request) -> bool {
    !matches!(request.op(), "stream" | "recover")
}

/// The session that a request is about: for a handshake the one that it brought, if it came so far.
fn session_of(trace: &Trace, request: &Request, end: &Event) -> String {
    let is_its = |event: &&Event| {
        event.who == request.begin.who && (request.begin.ordinal..end.ordinal).contains(&event.ordinal)
    };
    let minted = trace.named(Stream::Platform, "session.minted").filter(is_its).last();
    let minted = minted.filter(|_| request.op() == "open");
    minted.map_or_else(|| request.session.clone(), |event| event.text("alias").unwrap_or(request.client()).to_owned())
}

/// Whether its client ended the session before the end of the request.
fn is_closing(all: &[Request], session: &str, end: &Event) -> bool {
    let closes = |other: &&Request| other.op() == "close" && other.session == session;
    all.iter().filter(closes).any(|close| close.begin.ordinal < end.ordinal)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan_with_failing_alarm_write, story, violation};
    use super::*;
    use crate::plan::{Edge, Effect, When};

    /// The last call of the story ends without an answer.
    fn unanswered() -> Builder {
        story().change("request.end", 4, "outcome", "ended".into())
    }

    fn evicted(trace: Builder, at_ms: u64) -> Builder {
        trace.state(at_ms, "s1", "disposal.begin", &[("reason", "cap".into())])
    }

    #[test]
    fn a_request_that_is_answered_or_that_no_eviction_met_is_fine() {
        assert_eq!(judged(INVARIANT, evicted(story(), 5_021)), Verdict::Held);
        assert_eq!(judged(INVARIANT, evicted(unanswered(), 4_000)), Verdict::Held);
    }

    #[test]
    fn a_request_that_an_eviction_cut_is_named() {
        let found = violation(INVARIANT, evicted(unanswered(), 5_021));
        assert_eq!(found.what, "a call got no answer: its session was evicted meanwhile");
        assert_eq!(found.pending.as_deref(), Some("s1: call begun at 5020 ms, runtime let go at 5021 ms"));
    }

    #[test]
    fn a_get_that_an_eviction_ended_is_owed_nothing() {
        let get = |op: &'static str| evicted(unanswered(), 5_021).change("request.begin", 4, "op", op.into());
        assert_eq!(judged(INVARIANT, get("stream")), Verdict::Held);
        assert_eq!(judged(INVARIANT, get("recover")), Verdict::Held);
        violation(INVARIANT, get("ping"));
    }

    #[test]
    fn a_session_that_its_client_ended_owes_nothing() {
        let close = [("request", 90_u64.into()), ("op", "close".into())];
        let closed = evicted(unanswered(), 5_021).history(5_020, "s1", "request.begin", &close);
        assert_eq!(judged(INVARIANT, closed), Verdict::Held);
    }

    #[test]
    fn a_second_session_of_a_client_is_judged_by_its_own_evictions() {
        let open = [("request", 90_u64.into()), ("op", "open".into())];
        let answered = [("request", 90_u64.into()), ("outcome", "answered".into())];
        let reopened = || {
            unanswered()
                .history(4_000, "s1", "request.begin", &open)
                .platform(4_001, "s1", "session.minted", &[("alias", "s1.2".into())])
                .history(4_002, "s1", "request.end", &answered)
        };
        let evicted = |who| reopened().state(5_021, who, "disposal.begin", &[("reason", "cap".into())]);
        assert_eq!(judged(INVARIANT, evicted("s1")), Verdict::Held);
        assert!(violation(INVARIANT, evicted("s1.2")).pending.is_some_and(|told| told.starts_with("s1.2: call")));
        let close = [("request", 91_u64.into()), ("op", "close".into())];
        violation(INVARIANT, evicted("s1.2").history(3_000, "s1", "request.begin", &close));
    }

    #[test]
    fn an_eviction_while_a_connect_is_held_after_its_start_is_of_the_fault() {
        let judged = |operation: &str| {
            let mut plan = plan_with_failing_alarm_write();
            plan.faults[0].when =
                When::Operation { operation: operation.into(), root: None, edge: Edge::End, n: 1, session: None };
            plan.faults[0].effect = Effect::Delay { ms: 50 };
            // The first eviction is over when the connect starts the runtime again, and is held.
            let trace = evicted(evicted(unanswered(), 5_020), 5_023).fault(5_022, "fault.delivered", 0).build();
            INVARIANT.judge(&plan, &trace)
        };
        assert_eq!(judged("connect · start"), Verdict::Held);
        assert_eq!(judged("start · join"), Verdict::Held);
        assert_eq!(judged("init · flush"), Verdict::Held);
        // What the eviction itself had found before it was held is old news.
        assert_eq!(judged("evict · dispose"), Verdict::Held);
        assert!(matches!(judged("bridge · stub.fetch"), Verdict::Violated(_)));
    }
}
