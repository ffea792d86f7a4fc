//! How much there is to a plan: the order in which every accepted step of shrinking goes down, so that shrinking ends.

use super::element::elements_without_pins;
use super::number::{cost, numbers};
use super::{action, code, json, name, owner, setting, timeline};
use scenarios::plan::Plan;

/// Natural numbers, compared one after the other, so that there is no endless way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    /// What can be taken out, pins not counted.
    elements: u64,
    /// Pinned decisions.
    pins: u64,
    /// How far what clients do is from the simplest.
    actions: u64,
    /// Settings that stand otherwise than in the plainest plan.
    settings: u64,
    /// How far code is from the plainest.
    code: u64,
    /// Texts and truths of structured values that are not the plainest.
    values: u64,
    /// Different times.
    moments: u64,
    /// How rough the numbers are.
    roughness: u64,
    /// How large the numbers are.
    size: u128,
    /// Sum of all times, in ms.
    times: u128,
    /// How many accounts and organisations there are, and how many are not called by where they come first.
    owners: (u64, u64),
    /// Pairs of steps of one client that stand in the wrong order.
    step_disorder: u64,
    /// Pairs of clients, stored objects, callers or faults that do.
    disorder: u64,
    /// Things not called by their place.
    misnamed: u64,
}

impl Weight {
    /// Things not called by their place.
    #[cfg(test)]
    pub fn misnamed(&self) -> u64 {
        self.misnamed
    }

    /// The weight of a plan without entropy.
    pub fn of(plan: &Plan) -> Self {
        let costs = numbers(plan).into_iter().map(|(place, number)| cost(&place, number));
        let (roughness, size) =
            costs.fold((0, 0), |(roughness, size), (more, number)| (roughness + more, size + u128::from(number)));
        Self {
            elements: elements_without_pins(plan).len() as u64,
            pins: plan.pins.len() as u64,
            actions: action::cost(plan),
            settings: setting::count(plan),
            code: code::plan_cost(plan),
            values: json::rough(plan).len() as u64,
            moments: timeline::moments(plan).len() as u64,
            roughness,
            size,
            times: timeline::total_ms(plan),
            owners: owner::cost(plan),
            step_disorder: name::step_disorder(plan),
            disorder: name::disorder(plan),
            misnamed: name::misnamed(plan),
        }
    }
}
