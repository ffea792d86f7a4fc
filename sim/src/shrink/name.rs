//! Names and order of what a plan lists: the first client is `s1`, and what could stand in either order stands in one.

use super::action;
use scenarios::decision::DecisionName;
use scenarios::plan::{Effect, Plan, When, client_of};
use std::collections::BTreeMap;

/// The name of a client by its place in the list.
fn client_name(index: usize) -> String {
    format!("s{}", index + 1)
}

fn caller_name(index: usize) -> String {
    format!("c{}", index + 1)
}

/// Clients and callers that are not called by their place.
pub fn misnamed(plan: &Plan) -> u64 {
    let clients = plan.clients.iter().enumerate().filter(|(at, client)| client.name != client_name(*at));
    let callers = plan.callers.iter().enumerate().filter(|(at, caller)| caller.name != caller_name(*at));
    clients.count() as u64 + callers.count() as u64
}

/// How far accounts and organisations are from the first one of all.
pub fn account_cost(plan: &Plan) -> u64 {
    let cost = |client: &scenarios::plan::ClientPlan, at: usize| {
        let is = |number: usize| {
            client.account == format!("account-{number}") && client.organization == format!("organization-{number}")
        };
        if is(1) { 0 } else { 1 + u64::from(!is(at + 1)) }
    };
    plan.clients.iter().enumerate().map(|(at, client)| cost(client, at)).sum()
}

/// The plan with a client in the account of that number.
pub fn with_account(plan: &Plan, client: usize, number: usize) -> Option<Plan> {
    let mut changed = plan.clone();
    let client = changed.clients.get_mut(client)?;
    client.account = format!("account-{number}");
    client.organization = format!("organization-{number}");
    Some(changed)
}

/// The plan with every client and caller called by its place, everywhere.
pub fn renamed(plan: &Plan) -> Plan {
    let clients = plan.clients.iter().enumerate().map(|(at, client)| (client.name.clone(), client_name(at)));
    let callers = plan.callers.iter().enumerate().map(|(at, caller)| (caller.name.clone(), caller_name(at)));
    rename(plan, &clients.collect(), &callers.collect())
}

/// The plan with one client called by its place; none when another is called so.
pub fn renamed_client(plan: &Plan, client: usize) -> Option<Plan> {
    let name = client_name(client);
    let is_taken = plan.clients.iter().any(|each| each.name == name);
    let old = plan.clients.get(client)?.name.clone();
    (!is_taken).then(|| rename(plan, &BTreeMap::from([(old, name)]), &BTreeMap::new()))
}

fn rename(plan: &Plan, clients: &BTreeMap<String, String>, callers: &BTreeMap<String, String>) -> Plan {
    let mut changed = plan.clone();
    let session = |alias: &mut String| {
        if let Some(new) = clients.get(client_of(alias)) {
            *alias = format!("{new}{}", &alias[client_of(alias).len()..]);
        }
    };
    for client in &mut changed.clients {
        session(&mut client.name);
        for step in &mut client.steps {
            if let Some(of) = step.action.other_mut() {
                session(of);
            }
        }
    }
    for caller in &mut changed.callers {
        if let Some(new) = callers.get(&caller.name) {
            caller.name.clone_from(new);
        }
        caller.calls.iter_mut().for_each(|call| session(&mut call.session));
    }
    for fault in &mut changed.faults {
        let release = match &mut fault.effect {
            Effect::Hold { release: Some(when), .. } => Some(when),
            _ => None,
        };
        for when in std::iter::once(&mut fault.when).chain(release) {
            let (When::At { session: named, .. } | When::Operation { session: named, .. }) = when;
            named.iter_mut().for_each(session);
        }
    }
    changed.pins = plan.pins.iter().map(|(text, value)| (renamed_pin(text, session, callers), *value)).collect();
    changed
}

fn renamed_pin(text: &str, session: impl Fn(&mut String), callers: &BTreeMap<String, String>) -> String {
    let Some(mut name) = DecisionName::parse(text) else { return text.to_owned() };
    let mut who = name.who.to_string();
    match callers.get(&who) {
        Some(new) => who.clone_from(new),
        None => session(&mut who),
    }
    name.who = who.into();
    name.to_string()
}

/// What clients are ordered by: what they do, whatever they are called.
fn client_key(plan: &Plan, client: usize) -> String {
    let client = &plan.clients[client];
    let first_ms = client.steps.first().map_or(0, |step| step.at_ms);
    let steps = serde_json::to_string(&client.steps).unwrap_or_default();
    format!("{first_ms:020} {steps} {} {:?}", client.reopen_stream, client.elicitation)
}

fn fault_key(plan: &Plan, fault: usize) -> String {
    serde_json::to_string(&plan.faults[fault]).unwrap_or_default()
}

fn caller_key(plan: &Plan, caller: usize) -> String {
    serde_json::to_string(&plan.callers[caller].calls).unwrap_or_default()
}

/// Pairs of clients, of callers, and of faults, that stand in the wrong order.
pub fn disorder(plan: &Plan) -> u64 {
    let clients = (0..plan.clients.len()).map(|at| client_key(plan, at));
    let callers = (0..plan.callers.len()).map(|at| caller_key(plan, at));
    let faults = (0..plan.faults.len()).map(|at| fault_key(plan, at));
    inversions(clients) + inversions(callers) + inversions(faults)
}

/// Pairs of steps that stand in the wrong order, of each client by itself.
pub fn step_disorder(plan: &Plan) -> u64 {
    let of_client =
        |client: &scenarios::plan::ClientPlan| inversions(client.steps.iter().map(|step| action::key(&step.action)));
    plan.clients.iter().map(of_client).sum()
}

/// How many pairs there are of which the later is less.
fn inversions<T: Ord>(keys: impl Iterator<Item = T>) -> u64 {
    let mut sorted: Vec<T> = Vec::new();
    let mut count = 0;
    for key in keys {
        let at = sorted.partition_point(|each| *each <= key);
        count += (sorted.len() - at) as u64;
        sorted.insert(at, key);
    }
    count
}

/// The plan with two neighbours of the clients swapped.
pub fn swapped_clients(plan: &Plan, first: usize) -> Plan {
    let mut changed = plan.clone();
    changed.clients.swap(first, first + 1);
    changed
}

/// The plan with two neighbours of the callers swapped.
pub fn swapped_callers(plan: &Plan, first: usize) -> Plan {
    let mut changed = plan.clone();
    changed.callers.swap(first, first + 1);
    changed
}

/// The plan with two neighbours of the faults swapped.
pub fn swapped_faults(plan: &Plan, first: usize) -> Plan {
    let mut changed = plan.clone();
    changed.faults.swap(first, first + 1);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::catalog;
    use scenarios::plan::{Action, FaultPlan, ResetKind, Response, Step};
    use scenarios::seed::Seed;

    #[test]
    fn a_name_is_changed_wherever_it_stands() {
        let mut plan = (catalog::all().next().expect("a scenario").plan)(Seed(7));
        plan.clients = plan.clients.split_off(3);
        plan.clients.truncate(2);
        assert_eq!((plan.clients[0].name.as_str(), plan.clients[1].name.as_str()), ("s4", "s5"));
        let resume = Action::Resume { response: Response::Accept, of: Some("s4".into()), overlap: false };
        plan.clients[1].steps.push(Step { at_ms: 9, action: resume });
        let when = When::At { at_ms: 5, session: Some("s4".into()) };
        plan.faults = vec![FaultPlan::new(when, Effect::Reset { kind: ResetKind::Moved })];
        plan.pins = [("s4.2/commit@1#0".to_owned(), 1), ("edge/order.own@0#0".to_owned(), 2)].into();
        assert_eq!(misnamed(&plan), 2);
        let renamed = renamed(&plan);
        let text = renamed.to_json();
        assert_eq!((misnamed(&renamed), text.matches("s4.2").count()), (0, 0));
        assert_eq!(renamed.pins.keys().collect::<Vec<_>>(), ["edge/order.own@0#0", "s1.2/commit@1#0"]);
        assert!(text.contains("\"of\": \"s1\"") && text.contains("\"session\": \"s1\""), "{text}");
        renamed.validate().expect("it is a plan");
    }
}
