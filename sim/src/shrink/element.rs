//! What a plan can do without: one list of everything that can be taken out of it, and the plan without some of it.

use super::json::{self, Path, Segment};
use scenarios::decision::DecisionName;
use scenarios::plan::{Effect, Plan, When, client_of};
use std::collections::BTreeSet;

/// Something that can be taken out of a plan; numbers are indexes in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A defect that is switched on.
    Defect(usize),
    /// A client, with everything that names it.
    Client(usize),
    /// A stored object, with everything that names it.
    Stored(usize),
    /// A caller, with its calls.
    Caller(usize),
    /// A fault.
    Fault(usize),
    /// A step of a client.
    Step(usize, usize),
    /// A call of a caller.
    Call(usize, usize),
    /// A value of a stored object, by its key.
    Value(usize, String),
    /// A field or list element within a value of a stored object: the key of the value, then the way down to it.
    Field(usize, Path),
    /// A field or list element of the arguments of a call, or all of them.
    Argument(usize, usize, Path),
    /// The alarm of a stored object.
    Alarm(usize),
    /// A paused execution of a stored object.
    Paused(usize, usize),
    /// A pinned decision, by its name.
    Pin(String),
}

/// Everything that can be taken out, what is whole before its parts, and pins last.
pub fn elements(plan: &Plan) -> Vec<Element> {
    let mut list = elements_without_pins(plan);
    list.extend(plan.pins.keys().cloned().map(Element::Pin));
    list
}

/// The same without the pins, of which there can be thousands.
pub fn elements_without_pins(plan: &Plan) -> Vec<Element> {
    let mut list: Vec<Element> = (0..plan.defects.len()).map(Element::Defect).collect();
    list.extend((0..plan.clients.len()).map(Element::Client));
    list.extend((0..plan.storage.len()).map(Element::Stored));
    list.extend((0..plan.callers.len()).map(Element::Caller));
    list.extend((0..plan.faults.len()).map(Element::Fault));
    for (at, client) in plan.clients.iter().enumerate() {
        list.extend((0..client.steps.len()).map(|step| Element::Step(at, step)));
    }
    for (at, caller) in plan.callers.iter().enumerate() {
        list.extend((0..caller.calls.len()).map(|call| Element::Call(at, call)));
        for (call, each) in caller.calls.iter().enumerate() {
            let all = (!each.arguments.is_null()).then(Vec::new).into_iter().chain(json::parts(&each.arguments));
            list.extend(all.map(|path| Element::Argument(at, call, path)));
        }
    }
    for (at, stored) in plan.storage.iter().enumerate() {
        list.extend(stored.values.keys().map(|key| Element::Value(at, key.clone())));
        for (key, value) in &stored.values {
            let of_key = |path: Path| std::iter::once(Segment::Name(key.clone())).chain(path).collect();
            list.extend(json::parts(value).into_iter().map(|path| Element::Field(at, of_key(path))));
        }
        list.extend(stored.alarm_at_ms.map(|_| Element::Alarm(at)));
        list.extend((0..stored.paused.len()).map(|paused| Element::Paused(at, paused)));
    }
    list
}

/// Parts of a plan that often go together: all pins, those of one question or actor, a client, all faults.
pub fn groups(plan: &Plan) -> Vec<BTreeSet<Element>> {
    let pin = |name: &String| Element::Pin(name.clone());
    let mut groups: Vec<BTreeSet<Element>> = vec![plan.pins.keys().map(pin).collect()];
    groups.push((0..plan.faults.len()).map(Element::Fault).collect());
    let wholes = elements(plan).into_iter();
    let is_whole = |each: &Element| !is_part(each);
    groups.extend(wholes.filter(is_whole).map(|each| BTreeSet::from([each])).rev());
    let names: Vec<(&String, DecisionName)> =
        plan.pins.keys().filter_map(|text| Some((text, DecisionName::parse(text)?))).collect();
    let questions: BTreeSet<&str> = names.iter().map(|(_, name)| first_segment(&name.what)).collect();
    for question in questions {
        let of_it = names.iter().filter(|(_, name)| first_segment(&name.what) == question);
        groups.push(of_it.map(|(text, _)| pin(text)).collect());
    }
    let actors: BTreeSet<&str> = names.iter().map(|(_, name)| client_of(&name.who)).collect();
    for actor in actors {
        groups
            .push(names.iter().filter(|(_, name)| client_of(&name.who) == actor).map(|(text, _)| pin(text)).collect());
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// What is tried one by one only.
fn is_part(element: &Element) -> bool {
    matches!(element, Element::Pin(_) | Element::Value(..) | Element::Field(..) | Element::Argument(..))
}

fn first_segment(what: &str) -> &str {
    what.split('.').next().unwrap_or(what)
}

/// The plan without these, and without what makes no sense any more: faults and calls of sessions that nobody opens,
/// resumes of clients that are gone, pins of steps and clients that are. Pins of later steps follow their steps.
pub fn without(plan: &Plan, gone: &BTreeSet<Element>) -> Plan {
    let gone = with_dependents(plan, gone);
    let has = |element: Element| !gone.contains(&element);
    let mut cut = plan.clone();
    cut.pins.retain(|name, _| has(Element::Pin(name.clone())));
    cut.pins = renamed_pins(&cut, &gone);
    cut.defects = kept(&plan.defects, |at| has(Element::Defect(at)));
    cut.faults = kept(&plan.faults, |at| has(Element::Fault(at)));
    for (at, client) in cut.clients.iter_mut().enumerate() {
        client.steps = kept(&client.steps, |step| has(Element::Step(at, step)));
    }
    cut.clients = kept(&cut.clients, |at| has(Element::Client(at)));
    cut_fields(&mut cut, &gone);
    for (at, caller) in cut.callers.iter_mut().enumerate() {
        caller.calls = kept(&caller.calls, |call| has(Element::Call(at, call)));
    }
    cut.callers = kept(&cut.callers, |at| has(Element::Caller(at)));
    for (at, stored) in cut.storage.iter_mut().enumerate() {
        stored.values.retain(|key, _| has(Element::Value(at, key.clone())));
        stored.alarm_at_ms = stored.alarm_at_ms.filter(|_| has(Element::Alarm(at)));
        stored.paused = kept(&stored.paused, |paused| has(Element::Paused(at, paused)));
    }
    cut.storage = kept(&cut.storage, |at| has(Element::Stored(at)));
    drop_nameless(&mut cut);
    cut
}

/// Takes parts of structured values out, while everything stands where the elements say: the last of a list first.
fn cut_fields(plan: &mut Plan, gone: &BTreeSet<Element>) {
    for element in gone.iter().rev() {
        match element {
            Element::Field(stored, path) => {
                let Some((key, within)) = path.split_first() else { continue };
                let value = json::at_mut(plan, json::Root::Values(*stored), std::slice::from_ref(key));
                value.into_iter().for_each(|value| json::remove(value, within));
            }
            Element::Argument(caller, call, path) => {
                let call = plan.callers.get_mut(*caller).and_then(|caller| caller.calls.get_mut(*call));
                call.into_iter().for_each(|call| json::remove(&mut call.arguments, path));
            }
            _ => {}
        }
    }
}

fn kept<T: Clone>(list: &[T], is_kept: impl Fn(usize) -> bool) -> Vec<T> {
    list.iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, each)| each.clone()).collect()
}

/// With the steps that name clients which are gone.
fn with_dependents(plan: &Plan, gone: &BTreeSet<Element>) -> BTreeSet<Element> {
    let mut all = gone.clone();
    let gone_names: BTreeSet<&str> = plan
        .clients
        .iter()
        .enumerate()
        .filter(|(at, _)| gone.contains(&Element::Client(*at)))
        .map(|(_, client)| client.name.as_str())
        .collect();
    for (at, client) in plan.clients.iter().enumerate() {
        for (step, each) in client.steps.iter().enumerate() {
            if each.action.other().is_some_and(|name| gone_names.contains(name.as_str())) {
                all.insert(Element::Step(at, step));
            }
        }
    }
    all
}

/// The pins, named by what their clients' steps are called once some are gone.
fn renamed_pins(plan: &Plan, gone: &BTreeSet<Element>) -> std::collections::BTreeMap<String, u64> {
    let renamed = |(text, value): (&String, &u64)| {
        let mut name = DecisionName::parse(text)?;
        let client = plan.clients.iter().position(|client| client.name == client_of(&name.who));
        if let Some(client) = client {
            let step = name.step as usize;
            if gone.contains(&Element::Client(client)) || gone.contains(&Element::Step(client, step)) {
                return None;
            }
            let before = (0..step).filter(|before| gone.contains(&Element::Step(client, *before))).count();
            name.step -= u32::try_from(before).ok()?;
        }
        Some((name.to_string(), *value))
    };
    plan.pins.iter().filter_map(renamed).collect()
}

/// Drops faults and calls that name sessions which nobody opens.
fn drop_nameless(plan: &mut Plan) {
    let known = plan.clone();
    let is_known = |when: &When| {
        let (When::At { session, .. } | When::Operation { session, .. }) = when;
        session.as_ref().is_none_or(|session| known.has_session(session))
    };
    plan.faults.retain(|fault| {
        let is_released = match &fault.effect {
            Effect::Hold { release: Some(when), .. } => is_known(when),
            _ => true,
        };
        is_known(&fault.when) && is_released
    });
    for caller in &mut plan.callers {
        caller.calls.retain(|call| known.has_session(&call.session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::catalog;
    use scenarios::plan::{Action, FaultPlan, ResetKind, Response, Step};
    use scenarios::seed::Seed;
    use std::collections::BTreeMap;

    /// Two clients; a fault and a resume name the first, pins are about steps of both.
    fn plan() -> Plan {
        let mut plan = (catalog::all().next().expect("a scenario").plan)(Seed(7));
        plan.clients.truncate(2);
        let step = |action| Step { at_ms: 0, action };
        plan.clients[0].steps = vec![step(Action::Open {}), step(Action::Ping {}), step(Action::Open {})];
        let resume = Action::Resume { response: Response::Accept, of: Some("s1".into()), overlap: false };
        plan.clients[1].steps = vec![step(Action::Open {}), step(resume)];
        let when = When::At { at_ms: 5, session: Some("s1.2".into()) };
        plan.faults = vec![FaultPlan::new(when, Effect::Reset { kind: ResetKind::Moved })];
        let pins = [("s1/commit@1#0", 1), ("s1.2/commit@2#0", 2), ("s1/commit@3#0", 3), ("s2/commit@0#0", 4)];
        plan.pins = pins.map(|(name, value)| (name.to_owned(), value)).into();
        plan.validate().expect("it is a plan");
        plan
    }

    fn cut(element: Element) -> Plan {
        let cut = without(&plan(), &BTreeSet::from([element]));
        cut.validate().expect("it is a plan");
        cut
    }

    fn pins(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
        list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn a_client_goes_with_everything_that_names_it() {
        let cut = cut(Element::Client(0));
        assert_eq!((cut.clients.len(), cut.clients[0].steps.len(), cut.faults.len()), (1, 1, 0));
        assert_eq!(cut.pins, pins(&[("s2/commit@0#0", 4)]));
    }

    #[test]
    fn pins_of_later_steps_follow_their_steps() {
        let cut = cut(Element::Step(0, 1));
        assert_eq!(cut.pins, pins(&[("s1.2/commit@1#0", 2), ("s1/commit@2#0", 3), ("s2/commit@0#0", 4)]));
        assert_eq!(cut.faults.len(), 1);
    }

    #[test]
    fn a_fault_goes_with_the_step_that_opens_its_session() {
        assert_eq!(cut(Element::Step(0, 2)).faults.len(), 0);
    }

    #[test]
    fn every_element_is_in_the_list_once_and_can_be_taken_out() {
        let plan = plan();
        let list = elements(&plan);
        assert_eq!(list.len(), 2 + 1 + 5 + 4);
        assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len());
        for element in list {
            let cut = without(&plan, &BTreeSet::from([element.clone()]));
            assert!(elements(&cut).len() < elements(&plan).len(), "{element:?}");
        }
    }
}
