//! Names and order of what a plan lists: the first session is `s1`, and what could stand in either order stands in one.

use super::{action, json};
use scenarios::decision::DecisionName;
use scenarios::plan::{Effect, Plan, When, client_of};
use std::collections::BTreeMap;

/// Names to new names.
type Names = BTreeMap<String, String>;

/// The name of a session by its place in the list of all: clients first, then stored objects.
fn session_name(index: usize) -> String {
    format!("s{}", index + 1)
}

/// All sessions by name, clients first.
fn sessions(plan: &Plan) -> impl Iterator<Item = &String> {
    plan.clients.iter().map(|client| &client.name).chain(plan.storage.iter().map(|stored| &stored.session))
}

fn session_names(plan: &Plan) -> Names {
    sessions(plan).enumerate().map(|(at, name)| (name.clone(), session_name(at))).collect()
}

fn caller_names(plan: &Plan) -> Names {
    plan.callers.iter().enumerate().map(|(at, caller)| (caller.name.clone(), format!("c{}", at + 1))).collect()
}

/// Executions by the order in which engines keep them: several engines may keep one of the same id.
fn execution_names(plan: &Plan) -> Names {
    let mut names = Names::new();
    for paused in plan.storage.iter().flat_map(|stored| &stored.paused) {
        let number = names.len() + 1;
        names.entry(paused.execution.clone()).or_insert_with(|| format!("exec-{number}"));
    }
    names
}

/// Sessions, callers and kept executions that are not called by their place.
pub fn misnamed(plan: &Plan) -> u64 {
    let all = [session_names(plan), caller_names(plan), execution_names(plan)];
    all.iter().flatten().filter(|(old, new)| old != new).count() as u64
}

/// The plan with everything called by its place, wherever its name stands.
pub fn renamed(plan: &Plan) -> Plan {
    let stored: Names = session_names(plan).into_iter().filter(|(old, _)| is_stored(plan, old)).collect();
    let executions = execution_names(plan);
    let words = stored.into_iter().chain(executions.clone()).collect();
    let mut changed = rename(plan, &session_names(plan), &caller_names(plan));
    for paused in changed.storage.iter_mut().flat_map(|stored| &mut stored.paused) {
        if let Some(new) = executions.get(&paused.execution) {
            paused.execution.clone_from(new);
        }
    }
    with_words(&changed, &words)
}

/// What a client is called stands in no stored value: its sessions have ids that nobody knows beforehand.
fn is_stored(plan: &Plan, name: &str) -> bool {
    plan.storage.iter().any(|stored| stored.session == name)
}

/// The plan with one session called by its place; none when another is called so.
pub fn renamed_session(plan: &Plan, session: usize) -> Option<Plan> {
    let name = session_name(session);
    let old = sessions(plan).nth(session)?.clone();
    if sessions(plan).any(|each| *each == name) {
        return None;
    }
    let names = Names::from([(old.clone(), name)]);
    let changed = rename(plan, &names, &Names::new());
    Some(if is_stored(plan, &old) { with_words(&changed, &names) } else { changed })
}

/// The plan with these words in place of others in all stored values and arguments of calls.
pub fn with_words(plan: &Plan, names: &Names) -> Plan {
    let mut changed = plan.clone();
    let renamed = |text: &str| words_replaced(text, names);
    for stored in &mut changed.storage {
        let values = std::mem::take(&mut stored.values).into_iter().map(|(key, mut value)| {
            json::each_text(&mut value, &renamed);
            (renamed(&key), value)
        });
        stored.values = values.collect();
    }
    for call in changed.callers.iter_mut().flat_map(|caller| &mut caller.calls) {
        json::each_text(&mut call.arguments, &renamed);
    }
    changed
}

/// A text with each whole word in it that is one of the names by its new name: `-` and `_` are of words.
fn words_replaced(text: &str, names: &Names) -> String {
    let is_of_word = |each: char| each.is_alphanumeric() || matches!(each, '-' | '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = &rest[..rest.find(|each| !is_of_word(each)).unwrap_or(rest.len())];
        out.push_str(names.get(word).map_or(word, String::as_str));
        rest = &rest[word.len()..];
        let gap = &rest[..rest.find(is_of_word).unwrap_or(rest.len())];
        out.push_str(gap);
        rest = &rest[gap.len()..];
    }
    out
}

fn rename(plan: &Plan, sessions: &Names, callers: &Names) -> Plan {
    let mut changed = plan.clone();
    let session = |alias: &mut String| {
        if let Some(new) = sessions.get(client_of(alias)) {
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
    changed.storage.iter_mut().for_each(|stored| session(&mut stored.session));
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

fn renamed_pin(text: &str, session: impl Fn(&mut String), callers: &Names) -> String {
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

/// What stored objects are ordered by: what is stored, whatever they are called.
fn stored_key(plan: &Plan, stored: usize) -> String {
    let mut stored = plan.storage[stored].clone();
    let nameless = Names::from([(std::mem::take(&mut stored.session), String::new())]);
    words_replaced(&serde_json::to_string(&stored).unwrap_or_default(), &nameless)
}

fn fault_key(plan: &Plan, fault: usize) -> String {
    serde_json::to_string(&plan.faults[fault]).unwrap_or_default()
}

fn caller_key(plan: &Plan, caller: usize) -> String {
    serde_json::to_string(&plan.callers[caller].calls).unwrap_or_default()
}

/// Pairs of clients, of stored objects, of callers, and of faults, that stand in the wrong order.
pub fn disorder(plan: &Plan) -> u64 {
    let clients = (0..plan.clients.len()).map(|at| client_key(plan, at));
    let callers = (0..plan.callers.len()).map(|at| caller_key(plan, at));
    let faults = (0..plan.faults.len()).map(|at| fault_key(plan, at));
    let stored = (0..plan.storage.len()).map(|at| stored_key(plan, at));
    inversions(clients) + inversions(stored) + inversions(callers) + inversions(faults)
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

/// The plan with two neighbours of the stored objects swapped.
pub fn swapped_stored(plan: &Plan, first: usize) -> Plan {
    let mut changed = plan.clone();
    changed.storage.swap(first, first + 1);
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
    use scenarios::plan::{Action, CallPlan, CallerPlan, FaultPlan, PausedPlan, ResetKind, Response, Step};
    use scenarios::seed::Seed;
    use serde_json::json;

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

    #[test]
    fn a_stored_session_is_renamed_in_its_values_and_in_arguments_too() {
        let mut plan = (catalog::find("alarm/unnamed-while-paused").expect("it exists").plan)(Seed(7));
        plan.clients.clear();
        plan.storage.truncate(1);
        let paused = |execution: &str| PausedPlan { execution: execution.to_owned(), code: "return 1".to_owned() };
        plan.storage[0].session = "old2".to_owned();
        plan.storage[0].paused = vec![paused("exec-2-1"), paused("exec-2-2"), paused("exec-2-1")];
        let values =
            [("__ps_name", json!("streamable-http:old2")), ("held:exec-2-2", json!({"by": ["old2", "old21"]}))];
        plan.storage[0].values = values.map(|(key, value)| (key.to_owned(), value)).into();
        let arguments = json!({"executionId": "exec-2-1"});
        let call = CallPlan { at_ms: 0, session: "old2".into(), method: "init".into(), arguments, overlap: false };
        plan.callers = vec![CallerPlan { name: "person-2".to_owned(), calls: vec![call] }];
        plan.pins = [("old2/commit@0#0".to_owned(), 1)].into();
        assert_eq!(misnamed(&plan), 4);
        let renamed = renamed(&plan);
        renamed.validate().expect("it is a plan");
        let text = renamed.to_json();
        assert!(!text.contains("old2\"") && !text.contains("exec-2-") && text.contains("old21"), "{text}");
        assert_eq!((misnamed(&renamed), renamed.storage[0].session.as_str()), (0, "s1"));
        assert_eq!(renamed.storage[0].values["__ps_name"], json!("streamable-http:s1"));
        assert_eq!(renamed.callers[0].calls[0].arguments, json!({"executionId": "exec-1"}));
        assert_eq!(renamed.pins.keys().collect::<Vec<_>>(), ["s1/commit@0#0"]);
    }

    #[test]
    fn only_whole_words_are_names() {
        let names = Names::from([("a-1".to_owned(), "x".to_owned())]);
        assert_eq!(words_replaced("a-1:a-12 (a-1), b-a-1é a-1_", &names), "x:a-12 (x), b-a-1é a-1_");
    }
}
