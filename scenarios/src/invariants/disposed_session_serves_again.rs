//! L4: whoever uses a session after its disposal is served as if nothing had happened.

use super::limits::BACKLOG_BYTES_MAX;
use super::owners::{self, is_stranger};
use super::replay::Replay;
use super::requests::Request;
use super::streams::{ends_session, happened};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Token;
use crate::trace::{Event, Stream, Trace};
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "disposed-session-serves-again",
    kind: Kind::Eventually,
    claim: "a request that its client begins after the session's runtime was let go is served, unless the client ended the session",
    covers: &["L4"],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let Case { plan, trace, .. } = *case;
    let after = requests_after_release(case);
    let faults = case.faults();
    let all = case.requests();
    let mut violations = Vec::new();
    let mut served_count = 0_u32;
    let mut openers = None;
    for request in all {
        let Some(&let_go_ms) = after.get(&request.begin.ordinal) else {
            continue;
        };
        // A request without an end is another claim's business.
        let Some(end) = request.end else { continue };
        // A client whose last handshake was not answered, or not yet, has no session to use.
        if request.was_given_session(all) != Some(true) || request.token(plan) != Token::Own {
            continue;
        }
        if request.is_served() {
            served_count += 1;
            continue;
        }
        let patience_ms = request.patience_ms(plan);
        let is_excused = faults.is_disturbed(&request.session, let_go_ms, end.at_ms)
            || faults.is_held_until(&request.session, end.at_ms, patience_ms)
            || request.outlasts_patience(plan, all)
            || is_crossed(trace, request, end)
            || is_too_large(case, request, end)
            // Who comes with the id of somebody else's session is turned away, whatever its runtime does (I27).
            || is_stranger(openers.get_or_insert_with(|| owners::openers(case)), plan, request)
            || happened(case, &request.session, request.begin.ordinal, end.ordinal, ends_session);
        if !is_excused {
            violations.push(refused(request, end, let_go_ms));
        }
    }
    let unknown = (served_count == 0).then(|| "no request followed a disposal".to_owned());
    Verdict::of(violations, unknown)
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
fn requests_after_release(case: &Case<'_>) -> BTreeMap<u32, u64> {
    let mut let_go: BTreeMap<String, u64> = BTreeMap::new();
    let mut found = BTreeMap::new();
    Replay::each(case, |replay, event| {
        let Some(who) = event.who().map(|who| replay.session_in_use(event, who)) else { return };
        let may_be_destroyed = || replay.session(who).is_some_and(|session| session.may_be_destroyed());
        match (event.stream, &*event.name) {
            (Stream::State, "disposal.begin") => {
                let_go.insert(who.to_owned(), event.at_ms);
            }
            // A destroy that nobody asked for is a disposal gone wrong.
            (Stream::State, "destroy.begin") if !may_be_destroyed() => {
                let_go.insert(who.to_owned(), event.at_ms);
            }
            (Stream::State, "runtime.installed") => {
                let_go.remove(who);
            }
            (Stream::History, "request.begin") => {
                let is_use =
                    !matches!(event.text("op"), Some("open" | "discover" | "probe" | "close" | "look" | "decide"));
                if let Some(at_ms) = let_go.get(who).filter(|_| is_use && !may_be_destroyed()) {
                    found.insert(event.ordinal, *at_ms);
                }
            }
            _ => {}
        }
    });
    found
}

/// Whether the answers outgrew what may wait at the edge for one client (session-core §1.7): it has half of that when the
/// next one comes, and the client is given up.
fn is_too_large(case: &Case<'_>, request: &Request, end: &Event) -> bool {
    let within =
        |what: &dyn Fn(&Event) -> bool| happened(case, &request.session, request.begin.ordinal, end.ordinal, what);
    let is_much = |event: &Event| event.number("bytes").is_some_and(|bytes| bytes > BACKLOG_BYTES_MAX / 2);
    within(&|event| event.is(Stream::State, "sse.backlog") && is_much(event))
        && within(&|event| event.is(Stream::Platform, "socket.closed") && event.number("code") == Some(1_013))
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
    use super::super::testing::{Builder, judged, plan, story, violation};
    use super::*;
    use crate::plan::Action;

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
    fn who_comes_with_the_id_of_another_account_is_no_user_of_it() {
        let turned_away = |account: &str| {
            let mut plan = plan();
            let mut other = plan.clients[0].clone();
            (other.name, other.account) = ("s2".to_owned(), account.to_owned());
            plan.clients.push(other);
            let begin = [("request", 90_u64.into()), ("op", "call".into())];
            let end = [("request", 90_u64.into()), ("outcome", "refused".into()), ("status", 403_u64.into())];
            let open = [("request", 89_u64.into()), ("op", "open".into())];
            let opened = [("request", 89_u64.into()), ("outcome", "answered".into()), ("status", 200_u64.into())];
            let has_own =
                story().history(1_900, "s2", "request.begin", &open).history(1_950, "s2", "request.end", &opened);
            let adopted = has_own.history(2_000, "s2", "session.adopted", &[("of", "s1".into())]);
            let called =
                adopted.history(2_100, "s2", "request.begin", &begin).history(2_110, "s2", "request.end", &end);
            INVARIANT.judge(&plan, &called.build())
        };
        assert_eq!(turned_away("somebody-else"), Verdict::Held);
        let own = plan().clients[0].account.clone();
        assert!(matches!(turned_away(&own), Verdict::Violated(_)));
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

    /// The story with a handshake from 4,000 ms to `until_ms` whose client tries its GET stream again at 4,500 ms.
    fn stream_beside_a_handshake(until_ms: u64) -> Builder {
        let begin = |request: u64, op: &'static str| [("request", request.into()), ("op", op.into())];
        let refused = [("request", 91_u64.into()), ("outcome", "refused".into()), ("status", 400_u64.into())];
        let answered = [("request", 90_u64.into()), ("outcome", "answered".into()), ("status", 200_u64.into())];
        story()
            .history(4_000, "s1", "request.begin", &begin(90, "open"))
            .history(until_ms, "s1", "request.end", &answered)
            .history(4_500, "s1", "request.begin", &begin(91, "stream"))
            .history(4_600, "s1", "request.end", &refused)
    }

    #[test]
    fn a_client_in_a_handshake_has_no_session_to_use() {
        assert_eq!(judged(INVARIANT, stream_beside_a_handshake(4_700)), Verdict::Held);
        violation(INVARIANT, stream_beside_a_handshake(4_400));
    }

    #[test]
    fn code_that_takes_longer_than_its_client_waits_is_its_own_fault() {
        let gave_up = || story().change("request.end", 4, "outcome", "gave-up".into()).build();
        let mut slow = plan();
        slow.clients[0].steps[3].action = Action::Call { code: "wait 70000; return 1".into(), overlap: false };
        assert_eq!(INVARIANT.judge(&slow, &gave_up()), Verdict::Held);
        assert!(matches!(INVARIANT.judge(&plan(), &gave_up()), Verdict::Violated(_)));
    }

    #[test]
    fn answers_that_outgrow_the_edge_are_asked_for_again() {
        let given_up = |bytes: u64| {
            let failed = story().change("request.end", 4, "outcome", "failed".into());
            let waits = failed.state(5_022, "s1", "sse.backlog", &[("bytes", bytes.into())]);
            waits.platform(5_023, "s1", "socket.closed", &[("code", 1_013_u64.into())])
        };
        assert_eq!(judged(INVARIANT, given_up(6_000_484)), Verdict::Held);
        violation(INVARIANT, given_up(3_000_320));
        violation(INVARIANT, given_up(6_000_484).without("socket.closed", 1));
    }

    #[test]
    fn without_a_request_after_a_disposal_nothing_can_be_told() {
        assert!(matches!(judged(INVARIANT, story().cut(4_000)), Verdict::CannotTell(_)));
    }
}
