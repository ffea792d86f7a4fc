//! I27: the owner of a session passes its owner check, and nobody else does.

use super::faults::FaultLog;
use super::owners::{Owner, openers, whose};
use super::streams::ends_session;
use super::{Case, Invariant, Kind, Verdict, Violation};
use crate::plan::{Plan, Token};
use crate::trace::{Event, Stream, Trace};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// See the claim.
pub const INVARIANT: Invariant = Invariant {
    name: "owners-may-pass",
    kind: Kind::Always,
    claim: "whoever asks about a session is told yes exactly if account and organization are those of its record",
    covers: &["I27"],
    judge,
};

const METHOD: &str = "validateMcpSessionOwner";

fn judge(case: &Case<'_>) -> Verdict {
    let faults = case.faults();
    let mut violations = direct_checks(case.plan, case.trace, faults);
    violations.extend(requests(case, faults));
    Verdict::of(violations, None)
}

/// Owner checks of workers that call the method directly.
fn direct_checks(plan: &Plan, trace: &Trace, faults: &FaultLog<'_>) -> Vec<Violation> {
    let mut begun: BTreeMap<u64, (&Event, Vec<Owner>)> = BTreeMap::new();
    let mut stored: BTreeMap<String, Owner> = plan.storage.iter().filter_map(stored_owner).collect();
    let mut owners = stored.clone();
    let mut violations = Vec::new();
    for event in &trace.events {
        let who = event.who().unwrap_or("");
        match (event.stream, &*event.name) {
            (Stream::State, "meta.kept") => {
                let owner =
                    (event.text("user").unwrap_or("").to_owned(), event.text("organization").unwrap_or("").to_owned());
                begun
                    .values_mut()
                    .filter(|(begin, _)| begin.who() == Some(who))
                    .for_each(|(_, seen)| seen.push(owner.clone()));
                owners.insert(who.to_owned(), owner);
            }
            (Stream::Platform, "storage.put") if event.text("key") == Some("session-meta") => {
                stored.extend(owners.get_key_value(who).map(|(who, owner)| (who.clone(), owner.clone())));
            }
            // What was not written yet goes with its object, and the record is what it was.
            (Stream::Platform, "object.reset" | "object.gone") => {
                owners.remove(who);
                owners.extend(stored.get_key_value(who).map(|(who, owner)| (who.clone(), owner.clone())));
            }
            (Stream::Platform, "isolate.ended") => owners = stored.clone(),
            // Whoever asks of a session that cannot be started is told so; why it cannot is not this claim's.
            (Stream::State, "start.end") if event.text("outcome") == Some("failed") => {
                begun.retain(|_, (begin, _)| begin.who() != Some(who));
            }
            // The record goes with the session, and with its object the calls that it was asked.
            _ if ends_session(event) => {
                begun.retain(|_, (begin, _)| begin.who() != Some(who));
                owners.remove(who);
                stored.remove(who);
            }
            (Stream::History, "call.begin") if event.text("method") == Some(METHOD) => {
                if let Some(call) = event.number("call") {
                    begun.insert(call, (event, owners.get(who).cloned().into_iter().collect()));
                }
            }
            (Stream::History, "call.end") => {
                let Some((begin, owners)) = event.number("call").and_then(|call| begun.remove(&call)) else { continue };
                if owners.is_empty() || faults.is_disturbed(who, begin.at_ms, event.at_ms) {
                    continue;
                }
                violations.extend(wrong(begin, event, &owners).map(|what| Violation::at(event, what)));
            }
            _ => {}
        }
    }
    violations
}

fn stored_owner(stored: &crate::plan::StoredObject) -> Option<(String, Owner)> {
    let meta = stored.values.get("session-meta")?;
    let text = |key: &str| meta[key].as_str().map(str::to_owned);
    Some((stored.session.clone(), (text("userId")?, text("organizationId")?)))
}

/// What is wrong with the verdict of a check, given all who owned the session while it was made.
fn wrong(begin: &Event, end: &Event, owners: &[Owner]) -> Option<String> {
    let asked = begin.json("arguments")?;
    let is_asked = |owner: &&Owner| asked["accountId"] == *owner.0 && asked["organizationId"] == *owner.1;
    let verdict = end.field("value").and_then(|value| match value {
        crate::trace::Value::Json(Json::String(word)) => Some(word.as_str()),
        crate::trace::Value::Text(word) => Some(word),
        _ => None,
    });
    match (end.text("outcome"), verdict) {
        (Some("threw"), _) => Some(format!("an owner check failed: {}", end.text("error").unwrap_or("?"))),
        (_, Some("ok")) if owners.iter().all(|owner| !is_asked(&owner)) => {
            Some("a stranger passed the owner check".to_owned())
        }
        (_, Some("forbidden")) if owners.iter().all(|owner| is_asked(&owner)) => {
            Some("the owner did not pass the owner check".to_owned())
        }
        _ => None,
    }
}

/// Requests of clients that come with the id of a session: who opened it, and whose token comes.
fn requests(case: &Case<'_>, faults: &FaultLog<'_>) -> Vec<Violation> {
    let openers = openers(case);
    let mut violations = Vec::new();
    for request in case.requests().iter().filter(|request| !request.is_sessionless()) {
        let (Some(end), Some(caller)) = (request.end, whose(case.plan, request)) else { continue };
        let Some((from, owner)) = openers.get(&request.session) else { continue };
        // Who asked for a session in vain comes without an id.
        if request.begin.ordinal < *from || request.was_given_session(case.requests()) == Some(false) {
            continue;
        }
        let is_refused = matches!(request.token(case.plan), Token::Expired | Token::Revoked | Token::Suspended);
        let what = match request.status() {
            Some(status) if caller != *owner && status / 100 == 2 => "a stranger was served",
            Some(403) if caller == *owner && !is_refused && !faults.is_disturbed(&request.session, 0, end.at_ms) => {
                "the owner was turned away as a stranger"
            }
            _ => continue,
        };
        violations.push(Violation::at(end, format!("{what}: {}", request.what())).of(&request.session));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Builder, judged, plan, story};
    use super::*;
    use crate::plan::{Action, Step};
    use serde_json::json;

    fn checked(account: &str, value: &str) -> Verdict {
        let kept = [("user", "account-1".into()), ("organization", "organization-1".into())];
        checked_after(Builder::default().state(1, "s1", "meta.kept", &kept), account, value)
    }

    fn checked_after(trace: Builder, account: &str, value: &str) -> Verdict {
        let arguments = json!({"accountId": account, "organizationId": "organization-1"});
        let begin = [("call", 1_u64.into()), ("method", METHOD.into()), ("arguments", arguments.into())];
        let end = [("call", 1_u64.into()), ("outcome", "returned".into()), ("value", json!(value).into())];
        judged(INVARIANT, trace.history(10, "s1", "call.begin", &begin).history(12, "s1", "call.end", &end))
    }

    #[test]
    fn a_verdict_must_be_that_of_the_record() {
        assert_eq!(judged(INVARIANT, story()), Verdict::Held);
        assert_eq!(checked("account-1", "ok"), Verdict::Held);
        assert_eq!(checked("account-2", "forbidden"), Verdict::Held);
        assert!(matches!(checked("account-2", "ok"), Verdict::Violated(_)));
        assert!(matches!(checked("account-1", "forbidden"), Verdict::Violated(_)));
    }

    #[test]
    fn a_record_that_a_reset_kept_from_storage_is_none() {
        let record = |account: &'static str| [("user", account.into()), ("organization", "organization-1".into())];
        let put = |trace: Builder, at_ms| trace.platform(at_ms, "s1", "storage.put", &[("key", "session-meta".into())]);
        let first = put(Builder::default().state(1, "s1", "meta.kept", &record("account-1")), 2);
        let second = |trace: Builder| trace.state(3, "s1", "meta.kept", &record("account-2"));
        let reset = |trace: Builder| trace.platform(5, "s1", "object.reset", &[]);
        assert_eq!(checked_after(reset(second(first.clone())), "account-1", "ok"), Verdict::Held);
        let written = || put(second(first.clone()), 4);
        assert_eq!(checked_after(reset(written()), "account-2", "ok"), Verdict::Held);
        assert!(matches!(checked_after(reset(written()), "account-1", "ok"), Verdict::Violated(_)));
    }

    #[test]
    fn a_check_that_the_end_of_the_session_overtakes_is_answered_by_nobody() {
        let begin = [("call", 1_u64.into()), ("method", METHOD.into()), ("arguments", json!({}).into())];
        let end = [("call", 1_u64.into()), ("outcome", "threw".into()), ("error", "destroyed".into())];
        let kept = [("user", "account-1".into()), ("organization", "organization-1".into())];
        let trace = Builder::default().state(1, "s1", "meta.kept", &kept).history(10, "s1", "call.begin", &begin);
        let trace = trace.history(20, "s1", "call.end", &end);
        assert_eq!(judged(INVARIANT, trace.clone().platform(15, "s1", "storage.wiped", &[])), Verdict::Held);
        assert!(matches!(judged(INVARIANT, trace), Verdict::Violated(_)));
    }

    #[test]
    fn whoever_adopts_a_session_is_judged_by_its_opener() {
        let adopts = |organization: &str, status: u64| {
            let mut plan = plan();
            let other = plan.clients[0].clone();
            plan.clients.push(crate::plan::ClientPlan {
                name: "s2".into(),
                organization: organization.into(),
                ..other
            });
            let number = ("request", 90_u64.into());
            let begin = [number.clone(), ("step", 2_u64.into()), ("op", "call".into())];
            let end = [number, ("outcome", "answered".into()), ("status", status.into())];
            let adopted = story().history(5_100, "s2", "session.adopted", &[("of", "s1".into())]);
            let called =
                adopted.history(5_200, "s2", "request.begin", &begin).history(5_210, "s2", "request.end", &end);
            INVARIANT.judge(&plan, &called.build())
        };
        let own = plan().clients[0].organization.clone();
        assert_eq!(adopts(&own, 200), Verdict::Held);
        assert!(matches!(adopts(&own, 403), Verdict::Violated(_)));
        assert_eq!(adopts("another", 403), Verdict::Held);
        assert!(matches!(adopts("another", 200), Verdict::Violated(_)));
    }

    #[test]
    fn a_stranger_that_is_served_is_named() {
        let mut strange = plan();
        strange.clients[0].steps.insert(2, Step { at_ms: 0, action: Action::Present { token: Token::OtherAccount } });
        let Verdict::Violated(found) = INVARIANT.judge(&strange, &story().build()) else { panic!("it is served") };
        assert!(found[0].what.starts_with("a stranger was served"), "{}", found[0].what);
    }
}
