//! How far a fault reaches: which sessions have to do with each other, and which isolate each object was in.

use crate::plan::{Plan, client_of};
use crate::trace::{Stream, Trace};
use std::collections::BTreeMap;

/// Who can be touched by what happens to another.
#[derive(Default)]
pub(super) struct Reach<'a> {
    /// A name for each set of clients, and of stored objects, that use sessions or executions of each other.
    groups: BTreeMap<&'a str, &'a str>,
    /// When an object was constructed, which, and in which isolate; in the order of time.
    placed: Vec<(u64, &'a str, &'a str)>,
}

impl<'a> Reach<'a> {
    /// Reads it from a run.
    pub fn of(plan: &'a Plan, trace: &'a Trace) -> Self {
        let constructed = trace.named(Stream::Platform, "object.constructed");
        let placed = constructed.filter_map(|event| Some((event.at_ms, event.who()?, event.text("isolate")?)));
        Self { groups: groups(plan), placed: placed.collect() }
    }

    /// Whether what happens to the one can be seen in the other. What belongs to no session, such as a directory's object,
    /// can be anybody's.
    pub fn belongs_together(&self, hit: &str, session: &str) -> bool {
        let group = |who: &str| self.groups.get(who).or_else(|| self.groups.get(client_of(who)));
        match (group(hit), group(session)) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        }
    }

    /// Whether two objects were in one isolate at that time.
    pub fn is_beside(&self, hit: &str, session: &str, at_ms: u64) -> bool {
        self.is_in(session, self.isolate_of(hit, at_ms), at_ms)
    }

    /// Whether an object was in that isolate at that time; where nobody knows, it was.
    pub fn is_in(&self, session: &str, isolate: Option<&str>, at_ms: u64) -> bool {
        match (self.isolate_of(session, at_ms), isolate) {
            (Some(own), Some(isolate)) => own == isolate,
            _ => true,
        }
    }

    fn isolate_of(&self, who: &str, at_ms: u64) -> Option<&'a str> {
        let before = &self.placed[..self.placed.partition_point(|(placed_ms, ..)| *placed_ms <= at_ms)];
        before.iter().rfind(|(_, whose, _)| *whose == who).map(|(_, _, isolate)| *isolate)
    }
}

fn groups(plan: &Plan) -> BTreeMap<&str, &str> {
    let stored = plan.storage.iter().map(|object| &*object.session);
    let names = plan.clients.iter().map(|client| &*client.name);
    let mut groups: BTreeMap<&str, &str> = names.chain(stored).map(|name| (name, name)).collect();
    for client in &plan.clients {
        for other in client.steps.iter().filter_map(|step| step.action.other()) {
            let (Some(one), Some(of)) = (groups.get(&*client.name).copied(), groups.get(&**other).copied()) else {
                continue;
            };
            groups.values_mut().filter(|group| **group == of).for_each(|group| *group = one);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{Builder, plan};
    use super::*;
    use crate::plan::{Action, ClientPlan, Step};

    fn three() -> Plan {
        let mut plan = plan();
        let first = plan.clients.remove(0);
        let named = |name: &str| ClientPlan { name: name.into(), ..first.clone() };
        plan.clients = vec![named("s1"), named("s2"), named("s3")];
        plan.clients[2].steps.push(Step { at_ms: 1, action: Action::Adopt { of: "s1".into() } });
        plan
    }

    #[test]
    fn clients_belong_together_that_use_each_others_sessions() {
        let (plan, trace) = (three(), Trace::default());
        let reach = Reach::of(&plan, &trace);
        assert!(reach.belongs_together("s1", "s1.2") && reach.belongs_together("s3.2", "s1"));
        assert!(!reach.belongs_together("s1", "s2") && !reach.belongs_together("s2", "s3"));
        assert!(reach.belongs_together("exec_7", "s2"), "an object of another class");
    }

    #[test]
    fn an_object_is_where_it_was_constructed_last() {
        let placed = |trace: Builder, at_ms, who, isolate: &'static str| {
            trace.platform(at_ms, who, "object.constructed", &[("isolate", isolate.into())])
        };
        let trace = placed(placed(placed(Builder::default(), 1, "s1", "i1"), 2, "s2", "i2"), 9, "s1", "i2").build();
        let plan = three();
        let reach = Reach::of(&plan, &trace);
        assert!(!reach.is_beside("s1", "s2", 5) && reach.is_beside("s1", "s2", 9));
        assert!(reach.is_beside("s1", "s3", 5), "nobody knows");
    }
}
