//! I27: the owner of a session passes its owner check, and nobody else does.

use super::faults::FaultLog;
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

/// Who owns a session: account and organisation.
type Owner = (String, String);

fn judge(case: &Case<'_>) -> Verdict {
    let faults = FaultLog::of(case.plan, case.trace);
    let mut violations = direct_checks(case.plan, case.trace, &faults);
    violations.extend(requests(case, &faults));
    Verdict::of(violations, None)
}

/// Owner checks of workers that call the method directly.
fn direct_checks(plan: &Plan, trace: &Trace, faults: &FaultLog<'_>) -> Vec<Violation> {
    let mut begun: BTreeMap<u64, (&Event, Vec<Owner>)> = BTreeMap::new();
    let mut owners: BTreeMap<String, Owner> = plan.storage.iter().filter_map(stored_owner).collect();
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
            // Whoever asks of a session that cannot be started is told so; why it cannot is not this claim's.
            (Stream::State, "start.end") if event.text("outcome") == Some("failed") => {
                begun.retain(|_, (begin, _)| begin.who() != Some(who));
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

/// Requests of clients: whose token opened the session, and whose comes with its id.
fn requests(case: &Case<'_>, faults: &FaultLog<'_>) -> Vec<Violation> {
    let mut opened: BTreeMap<&str, Token> = BTreeMap::new();
    let mut violations = Vec::new();
    for request in case.requests() {
        let (Some(end), token) = (request.end, request.token(case.plan)) else { continue };
        if request.op() == "open" {
            if request.outcome() == Some("answered") {
                opened.insert(request.client(), token);
            }
            continue;
        }
        if request.op() == "discover" {
            continue;
        }
        let Some(owner) = opened.get(request.client()).copied() else { continue };
        let is_stranger = matches!(token, Token::OtherAccount | Token::OtherOrganization) && token != owner;
        let is_served = request.status().is_some_and(|status| status / 100 == 2);
        let what = match request.status() {
            _ if matches!(request.op(), "look" | "decide") => continue,
            _ if is_stranger && is_served => "a stranger was served",
            Some(403) if token == owner && !faults.is_disturbed(&request.session, 0, end.at_ms) => {
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
        let arguments = json!({"accountId": account, "organizationId": "organization-1"});
        let begin = [("call", 1_u64.into()), ("method", METHOD.into()), ("arguments", arguments.into())];
        let end = [("call", 1_u64.into()), ("outcome", "returned".into()), ("value", json!(value).into())];
        let trace = Builder::default().state(1, "s1", "meta.kept", &kept);
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
    fn a_stranger_that_is_served_is_named() {
        let mut strange = plan();
        strange.clients[0].steps.insert(2, Step { at_ms: 0, action: Action::Present { token: Token::OtherAccount } });
        let Verdict::Violated(found) = INVARIANT.judge(&strange, &story().build()) else { panic!("it is served") };
        assert!(found[0].what.starts_with("a stranger was served"), "{}", found[0].what);
    }
}
