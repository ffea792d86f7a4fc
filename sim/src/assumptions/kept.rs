//! What of a plan is kept, while everything else of it is left out, calm, or the other way round.

use super::list::Switch;
use crate::questions::Question;
use scenarios::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// Decisions by name, each with its value.
pub(super) type Decisions = BTreeMap<String, u64>;

/// Assumptions of a plan that hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Faults, by their place in the plan.
    pub faults: BTreeSet<usize>,
    /// Switches that stand as in the plan, by their place in its list.
    pub switches: BTreeSet<usize>,
    /// What the platform decides otherwise than calmly.
    pub decisions: Decisions,
}

/// One assumption, or the decisions of one question.
#[derive(Clone, Copy)]
pub(super) enum Item {
    Fault(usize),
    Switch(usize),
    Question(&'static Question),
}

impl Kept {
    /// The plan with these and nothing else, on top of what is no assumption.
    pub fn in_plan(&self, plan: &Plan, switches: &[Switch], others: &Decisions) -> Plan {
        let mut changed = plan.clone();
        changed.world.switches = plan.world.switches.resolved(plan.world.runtime_build);
        for (_, switch) in switches.iter().enumerate().filter(|(at, _)| !self.switches.contains(at)) {
            changed.world.switches = switch.other.put(changed.world.switches);
        }
        let mut at = 0..;
        changed.faults.retain(|_| at.next().is_some_and(|at| self.faults.contains(&at)));
        changed.pins = others.clone().into_iter().chain(self.decisions.clone()).collect();
        changed
    }

    /// Whether an assumption is among these, or any decision of the question.
    pub fn has(&self, item: Item) -> bool {
        match item {
            Item::Fault(at) => self.faults.contains(&at),
            Item::Switch(at) => self.switches.contains(&at),
            Item::Question(question) => self.decisions.keys().any(|name| question.is_of(name)),
        }
    }

    /// The same without it.
    pub fn without(&self, item: Item) -> Kept {
        let mut less = self.clone();
        match item {
            Item::Fault(at) => drop(less.faults.remove(&at)),
            Item::Switch(at) => drop(less.switches.remove(&at)),
            Item::Question(question) => less.decisions.retain(|name, _| !question.is_of(name)),
        }
        less
    }

    /// The same with it as it is in `all`.
    pub fn with(&self, item: Item, all: &Kept) -> Kept {
        let mut more = self.clone();
        match item {
            Item::Fault(at) => drop(more.faults.insert(at)),
            Item::Switch(at) => drop(more.switches.insert(at)),
            Item::Question(question) => {
                let of_question = all.decisions.iter().filter(|(name, _)| question.is_of(name));
                more.decisions.extend(of_question.map(|(name, value)| (name.clone(), *value)));
            }
        }
        more
    }
}
