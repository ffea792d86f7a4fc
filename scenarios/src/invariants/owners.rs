//! Whose each session is, by the tokens that clients present: who opened it, and who comes with its id.

use super::Case;
use super::in_use::InUse;
use super::requests::Request;
use crate::plan::{Plan, Token};
use std::collections::BTreeMap;

/// Account and organisation.
pub type Owner = (String, String);

/// Who opened each session, by its alias, with the ordinal of the answer.
pub fn openers(case: &Case<'_>) -> BTreeMap<String, (u32, Owner)> {
    let ends: BTreeMap<u32, &Request> = case
        .requests()
        .iter()
        .filter(|request| request.op() == "open" && request.outcome() == Some("answered"))
        .filter_map(|request| Some((request.end?.ordinal, request)))
        .collect();
    let (mut openers, mut in_use) = (BTreeMap::new(), InUse::default());
    for event in &case.trace.events {
        let Some((_, alias)) = in_use.apply(event) else { continue };
        let opener = ends.get(&event.ordinal).and_then(|request| whose(case.plan, request));
        if let Some(opener) = opener {
            openers.entry(alias.to_string()).or_insert((event.ordinal, opener));
        }
    }
    openers
}

/// Whether a request comes with the identity of somebody else than who opened its session; false where one of them is not
/// known.
pub fn is_stranger(openers: &BTreeMap<String, (u32, Owner)>, plan: &Plan, request: &Request<'_>) -> bool {
    let opener = openers.get(&request.session).map(|(_, opener)| opener);
    opener.zip(whose(plan, request)).is_some_and(|(opener, caller)| *opener != caller)
}

/// As whom a request comes; nothing for a client that the plan does not know.
pub fn whose(plan: &Plan, request: &Request<'_>) -> Option<Owner> {
    let client = plan.clients.iter().find(|client| client.name == request.client())?;
    let (account, organization) = (client.account.clone(), client.organization.clone());
    Some(match request.token(plan) {
        Token::OtherAccount => (format!("other-{account}"), organization),
        Token::OtherOrganization => (account, format!("other-{organization}")),
        Token::Own | Token::Expired | Token::Revoked | Token::Suspended => (account, organization),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{plan, story};
    use super::*;

    #[test]
    fn a_session_is_whose_client_was_given_it() {
        let (plan, trace) = (plan(), story().build());
        let openers = openers(&Case::new(&plan, &trace));
        let owner = (plan.clients[0].account.clone(), plan.clients[0].organization.clone());
        assert_eq!(openers.get("s1").map(|(_, opener)| opener), Some(&owner));
        assert_eq!(openers.len(), 1);
    }
}
