//! L4: whoever uses a session after its disposal is served as if nothing had happened.

use super::faults::FaultLog;
use super::replay::Replay;
use super::requests::{Request, requests};
use super::{Invariant, Kind, Verdict, Violation};
use crate::plan::Plan;
use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "disposed-session-serves-again",
    kind: Kind::Eventually,
    claim: "a request that its client begins after the session's runtime was let go is served, unless the client ended the session",
    judge,
};

fn judge(plan: &Plan, trace: &Trace) -> Verdict {
    let after = requests_after_release(trace);
    let faults = FaultLog::of(plan, trace);
    let patience: BTreeMap<&str, u64> =
        plan.clients.iter().map(|client| (client.name.as_str(), client.request_timeout_ms)).collect();
    let opens = ended_opens(trace);
    let mut violations = Vec::new();
    let mut served_count = 0_u32;
    for request in requests(trace) {
        let Some(&let_go_ms) = after.get(&request.begin.ordinal) else {
            continue;
        };
        // A request without an end is another claim's business.
        let Some(end) = request.end else { continue };
        if !has_session(&opens, &request) {
            continue;
        }
        if request.is_served() {
            served_count += 1;
            continue;
        }
        let client = request.client();
        let patience_ms = patience.get(client).copied().unwrap_or(0);
        let is_excused = faults.is_disturbed(&request.session, let_go_ms, end.at_ms)
            || faults.is_held_until(end.at_ms, patience_ms)
            || is_crossed(trace, &request, end);
        if !is_excused {
            violations.push(refused(&request, end, let_go_ms));
        }
    }
    let unknown = (served_count == 0).then(|| "no request followed a disposal".to_owned());
    Verdict::of(violations, unknown)
}

/// A handshake that ended.
struct Opened {
    client: String,
    ended: u32,
    is_served: bool,
}

fn ended_opens(trace: &Trace) -> Vec<Opened> {
    let opens = requests(trace).into_iter().filter(|request| request.op() == "open");
    let ended = |open: Request| {
        Some(Opened { client: open.client().to_owned(), ended: open.end?.ordinal, is_served: open.is_served() })
    };
    opens.filter_map(ended).collect()
}

/// A client whose last handshake was not answered has no session to use.
fn has_session(opens: &[Opened], request: &Request) -> bool {
    let before = |open: &&Opened| open.client == request.client() && open.ended < request.begin.ordinal;
    opens.iter().rfind(before).is_some_and(|open| open.is_served)
}

fn refused(request: &Request, end: &Event, let_go_ms: u64) -> Violation {
    let status = match request.status() {
        Some(status) => format!(" with status {status}"),
        None => String::new(),
    };
    let how = end.text("outcome").unwrap_or("?");
    let (who, op) = (&request.session, request.op());
    let what = format!("{} after the disposal was not served but {how}{status}", request.what());
    let begun = request.begin.at_ms;
    let pending = format!("{who}: runtime let go at {let_go_ms} ms, {op} begun at {begun} ms has no answer");
    Violation::at(end, what).pending(pending)
}

/// Requests that begin while their session's runtime is being let go or gone, by ordinal, with when that began.
fn requests_after_release(trace: &Trace) -> BTreeMap<u32, u64> {
    let mut let_go: BTreeMap<String, u64> = BTreeMap::new();
    let mut found = BTreeMap::new();
    Replay::each(trace, |replay, event| {
        let Some(who) = event.who().map(|who| replay.session_in_use(event, who)) else { return };
        let may_be_destroyed = replay.session(who).is_some_and(|session| session.may_be_destroyed());
        match (event.stream, &*event.name) {
            (Stream::State, "disposal.begin") => {
                let_go.insert(who.to_owned(), event.at_ms);
            }
            // A destroy that nobody asked for is a disposal gone wrong.
            (Stream::State, "destroy.begin") if !may_be_destroyed => {
                let_go.insert(who.to_owned(), event.at_ms);
            }
            (Stream::State, "runtime.installed") => {
                let_go.remove(who);
            }
            (Stream::History, "request.begin") => {
                let is_use = !matches!(event.text("op"), Some("open" | "close"));
                if let Some(at_ms) = let_go.get(who).filter(|_| is_use && !may_be_destroyed) {
                    found.insert(event.ordinal, *at_ms);
                }
            }
            _ => {}
        }
    });
    found
}

/// Whether the client ended the session, or another disposal began, while the request was under way: an idle deadline
/// that falls between the owner check and the delivery of one request is a race of its own, not this claim's.
fn is_crossed(trace: &Trace, request: &Request, end: &Event) -> bool {
    trace.events.iter().any(|event| {
        let is_within = (request.begin.ordinal..end.ordinal).contains(&event.ordinal);
        let is_close = event.is(Stream::History, "request.begin") && event.text("op") == Some("close");
        let ends_session = is_close && event.who() == Some(request.client());
        let disposes = event.is(Stream::State, "disposal.begin") && event.who() == Some(&*request.session);
        is_within && (ends_session || disposes)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judged, story, violation};
    use super::*;

    #[test]
    fn a_call_after_the_disposal_that_is_answered_is_fine() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
    }

    #[test]
    fn a_call_that_is_refused_after_the_disposal_is_named() {
        let trace = story().change("request.end", 4, "outcome", "refused".into()).change(
            "request.head",
            4,
            "status",
            404_u64.into(),
        );
        let found = violation(INVARIANT, trace);
        assert_eq!(found.what, "a call after the disposal was not served but refused with status 404");
        assert_eq!(
            found.pending.as_deref(),
            Some("s1: runtime let go at 1021 ms, call begun at 5020 ms has no answer")
        );
    }

    #[test]
    fn a_destroy_that_nobody_asked_for_counts_as_a_disposal() {
        let trace =
            story().rename("disposal.begin", "destroy.begin").change("request.end", 4, "outcome", "refused".into());
        violation(INVARIANT, trace);
    }

    #[test]
    fn a_session_that_its_client_ended_need_not_serve() {
        let close = [("request", 90_u64.into()), ("op", "close".into())];
        let trace = story()
            .history(4_000, "s1", "request.begin", &close)
            .change("request.end", 4, "outcome", "refused".into())
            .change("request.end", 5, "outcome", "refused".into());
        assert!(matches!(judged(INVARIANT, trace), Verdict::CannotTell(_)));
    }

    #[test]
    fn without_a_request_after_a_disposal_nothing_can_be_told() {
        assert!(matches!(judged(INVARIANT, story().cut(4_000)), Verdict::CannotTell(_)));
    }
}
