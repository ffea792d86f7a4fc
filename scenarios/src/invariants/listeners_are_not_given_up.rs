//! L14's end: a client that comes back for what it missed gets on with it, however much that is.

use super::faults::FaultLog;
use super::requests::Request;
use super::streams::{cuts_connections, ends_session, happened};
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::Action;
use crate::trace::Stream;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "listeners-are-not-given-up",
    kind: Kind::Always,
    claim: "of two fresh GETs in a row of a client that reads, one at least is not cut by its bridge before any delivery",
    covers: &[],
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let is_get = |get: &&Request| matches!(get.op(), "stream" | "recover") && get.begin.text("cursor").is_none();
    let mut before: BTreeMap<&str, &Request> = BTreeMap::new();
    let mut violations = Vec::new();
    for get in case.requests().iter().filter(is_get) {
        let session = get.session.as_str();
        let Some(end) = get.end.filter(|_| is_given_up(case, faults, get)) else {
            before.remove(session);
            continue;
        };
        let first = before.insert(session, get).filter(|first| !is_delivered(case, first, end.ordinal));
        if first.is_some() {
            let what = format!("{} was cut by its bridge, as the one before it, and nothing was delivered", get.what());
            violations.push(Violation::at(end, what).of(session));
        }
    }
    Verdict::of(violations, None)
}

/// Whether the bridge cut the body of a GET, and neither the client nor anything that happened to its session is why.
fn is_given_up(case: &Case<'_>, faults: &FaultLog<'_>, get: &Request<'_>) -> bool {
    // Where the cut comes on the heels of the head, the client sees neither.
    let (200, Some("failed"), Some(end)) = (get.status().unwrap_or(200), get.outcome(), get.end) else { return false };
    let (from_ms, to_ms) = (get.begin.at_ms, end.at_ms);
    let is_cut = happened(case, &get.session, get.begin.ordinal, end.ordinal, |event| {
        cuts_connections(event) || ends_session(event)
    });
    let is_excused = faults.is_disturbed(&get.session, from_ms, to_ms) || faults.held_ms(from_ms, to_ms) > 0;
    !is_cut && !is_excused && !may_stall(case, get)
}

/// Whether something of the session was acknowledged since a GET began.
fn is_delivered(case: &Case<'_>, get: &Request<'_>, to: u32) -> bool {
    let is_ack = |event: &crate::trace::Event| event.is(Stream::State, "delivery.acknowledged");
    happened(case, &get.session, get.begin.ordinal, to, is_ack)
}

/// Whether the client may have read nothing while the GET was there: a stall begins before the client's next request.
fn may_stall(case: &Case<'_>, get: &Request<'_>) -> bool {
    let Some(client) = case.plan.clients.iter().find(|client| client.name == get.client()) else { return false };
    client.steps.iter().enumerate().any(|(index, step)| {
        let Action::Stall { ms } = step.action else { return false };
        let is_later = |next: &&Request| {
            next.client() == client.name && next.begin.number("step").is_some_and(|step| step > index as u64)
        };
        let next_ms = case.requests().iter().find(is_later).map_or(u64::MAX, |next| next.begin.at_ms);
        get.begin.at_ms < next_ms.saturating_add(ms) && get.end.is_none_or(|end| end.at_ms >= step.at_ms)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan, violation};
    use super::*;

    fn given_up(trace: Builder, at_ms: u64, number: u64) -> Builder {
        let number = || ("request", number.into());
        trace
            .history(at_ms, "s1", "request.begin", &[number(), ("op", "recover".into()), ("step", 2_u64.into())])
            .history(at_ms + 5, "s1", "request.head", &[number(), ("status", 200_u64.into())])
            .history(at_ms + 9, "s1", "request.end", &[number(), ("outcome", "failed".into())])
    }

    fn twice() -> Builder {
        given_up(given_up(Builder::default(), 10, 7), 30, 8)
    }

    #[test]
    fn the_second_cut_in_a_row_is_named() {
        assert_eq!(judged(INVARIANT, given_up(Builder::default(), 10, 7)), Verdict::Held);
        let found = violation(INVARIANT, twice());
        assert_eq!(found.what, "a recover was cut by its bridge, as the one before it, and nothing was delivered");
        assert_eq!(found.at_ms, 39);
    }

    #[test]
    fn a_delivery_in_between_or_a_teardown_or_a_cursor_is_another_matter() {
        assert_eq!(judged(INVARIANT, twice().state(20, "s1", "delivery.acknowledged", &[])), Verdict::Held);
        assert_eq!(judged(INVARIANT, twice().state(35, "s1", "teardown.begin", &[])), Verdict::Held);
        let resumed = twice().change("request.begin", 1, "cursor", "c3:0000000000000001".into());
        assert_eq!(judged(INVARIANT, resumed), Verdict::Held);
    }

    #[test]
    fn a_client_that_does_not_read_is_given_up_for_that() {
        let mut plan = plan();
        plan.clients[0].steps[1].action = Action::Stall { ms: 10 };
        let trace = twice().build();
        assert_eq!(INVARIANT.judge(&plan, &trace), Verdict::Held);
        plan.clients[0].steps[1].action = Action::Stall { ms: 0 };
        assert!(matches!(INVARIANT.judge(&plan, &trace), Verdict::Violated(_)));
    }
}
