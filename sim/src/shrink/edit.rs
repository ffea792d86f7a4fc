//! Every single thing that can be done to make a plan less: removals first, then simplifications.

use super::element::{Element, elements, without};
use super::number::{self, Place};
use super::setting::{self, Setting};
use super::weight::Weight;
use super::{code, name, timeline};
use crate::draw;
use crate::error::Error;
use scenarios::plan::{Action, Plan};
use std::collections::BTreeSet;
use std::path::Path;

/// One thing that can be done to a plan; indexes are those of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Something is taken out.
    Remove(Element),
    /// A setting is made plain.
    Set(Setting),
    /// A number is made simpler.
    Number(Place, u64),
    /// A call returns that number and does nothing else.
    Plain(usize, usize, usize),
    /// A statement of a call goes.
    DropStatement(usize, usize, usize),
    /// What a statement says is made short.
    ShortenStatement(usize, usize, usize),
    /// All steps of a client come at the start, one after the other.
    Gather(usize),
    /// What one client does is done by another, after what that does.
    Merge(usize, usize),
    /// What happens at one time, of that rank among it, happens at another.
    Move(u64, usize, u64),
    /// A client gets the account of that number.
    Account(usize, usize),
    /// Two neighbours of the clients change places.
    SwapClients(usize),
    /// Two neighbours of the faults change places.
    SwapFaults(usize),
    /// Everything is called by its place.
    Rename,
    /// A client is called by its place.
    RenameClient(usize),
}

/// Every edit of a plan, removals first.
pub fn edits(plan: &Plan) -> Vec<Edit> {
    let mut list: Vec<Edit> = elements(plan).into_iter().rev().map(Edit::Remove).collect();
    list.extend(setting::settings(plan).into_iter().map(Edit::Set));
    list.extend(code_edits(plan));
    list.extend((0..plan.clients.len()).map(Edit::Gather));
    let clients = 0..plan.clients.len();
    list.extend(clients.clone().flat_map(|from| clients.clone().map(move |to| Edit::Merge(from, to))));
    let times = timeline::moments(plan);
    for (at, from_ms) in times.iter().enumerate().skip(1) {
        for rank in 0..timeline::count_at(plan, *from_ms) {
            let neighbours = [Some(0), times.get(at - 1).copied(), times.get(at + 1).copied()];
            list.extend(neighbours.into_iter().flatten().map(|to_ms| Edit::Move(*from_ms, rank, to_ms)));
        }
    }
    for (place, value) in number::numbers(plan) {
        let simpler = number::simpler(&place, value).into_iter();
        list.extend(simpler.map(|number| Edit::Number(place.clone(), number)));
    }
    for client in 0..plan.clients.len() {
        list.extend([Edit::Account(client, 1), Edit::Account(client, client + 1)]);
    }
    list.extend((1..plan.clients.len()).map(|second| Edit::SwapClients(second - 1)));
    list.extend((1..plan.faults.len()).map(|second| Edit::SwapFaults(second - 1)));
    list.push(Edit::Rename);
    list.extend((0..plan.clients.len()).map(Edit::RenameClient));
    list
}

/// Edits of the code of calls. A call that must be told from the others returns its number.
fn code_edits(plan: &Plan) -> Vec<Edit> {
    let mut list = Vec::new();
    let mut number = 0;
    for (at, client) in plan.clients.iter().enumerate() {
        for (step, each) in client.steps.iter().enumerate() {
            if !matches!(each.action, Action::Call { .. }) {
                continue;
            }
            number += 1;
            list.extend([Edit::Plain(at, step, 1), Edit::Plain(at, step, number)]);
            let count = code::count(&each.action);
            list.extend((0..count).map(|statement| Edit::DropStatement(at, step, statement)));
            list.extend((0..count).map(|statement| Edit::ShortenStatement(at, step, statement)));
        }
    }
    list
}

impl Edit {
    /// The plan after it; none when it cannot be done.
    fn of(&self, plan: &Plan) -> Option<Plan> {
        match self {
            Self::Remove(element) => Some(without(plan, &BTreeSet::from([element.clone()]))),
            Self::Set(setting) => setting::plain(plan, setting),
            Self::Number(place, number) => number::with(plan, place, *number),
            Self::Plain(client, step, number) => {
                with_action(plan, *client, *step, |action| code::make_plain(action, *number))
            }
            Self::DropStatement(client, step, statement) => {
                with_action(plan, *client, *step, |action| code::drop_statement(action, *statement))
            }
            Self::ShortenStatement(client, step, statement) => {
                with_action(plan, *client, *step, |action| code::shorten_statement(action, *statement))
            }
            Self::Gather(client) => {
                let mut changed = plan.clone();
                changed.clients.get_mut(*client)?.steps.iter_mut().for_each(|step| step.at_ms = 0);
                Some(changed)
            }
            Self::Merge(from, to) => merged(plan, *from, *to),
            Self::Move(from_ms, rank, to_ms) => {
                let mut changed = plan.clone();
                timeline::move_one(&mut changed, *from_ms, *rank, *to_ms);
                Some(changed)
            }
            Self::Account(client, number) => name::with_account(plan, *client, *number),
            Self::SwapClients(first) => Some(name::swapped_clients(plan, *first)),
            Self::SwapFaults(first) => Some(name::swapped_faults(plan, *first)),
            Self::Rename => Some(name::renamed(plan)),
            Self::RenameClient(client) => name::renamed_client(plan, *client),
        }
    }

    /// The plan after it, if that is a valid plan and less than the one before.
    pub fn applied(&self, plan: &Plan, weight: &Weight) -> Option<Plan> {
        self.of(plan).filter(|changed| Weight::of(changed) < *weight && is_valid(changed))
    }
}

/// The plan with one client's steps at the end of another's; what was said of its sessions goes with it.
fn merged(plan: &Plan, from: usize, to: usize) -> Option<Plan> {
    if from == to {
        return None;
    }
    let steps = plan.clients.get(from)?.steps.clone();
    let mut changed = without(plan, &BTreeSet::from([Element::Client(from)]));
    let to = if from < to { to - 1 } else { to };
    changed.clients.get_mut(to)?.steps.extend(steps);
    Some(changed)
}

fn with_action(
    plan: &Plan,
    client: usize,
    step: usize,
    change: impl FnOnce(&mut Action) -> Option<()>,
) -> Option<Plan> {
    let mut changed = plan.clone();
    change(&mut changed.clients.get_mut(client)?.steps.get_mut(step)?.action)?;
    Some(changed)
}

/// Whether this build would run the plan.
pub fn is_valid(plan: &Plan) -> bool {
    checked(plan).is_ok()
}

/// Why this build would refuse the plan, if it would.
pub(super) fn checked(plan: &Plan) -> Result<(), Error> {
    plan.validate().map_err(|refusal| Error::usage(refusal.to_string()))?;
    draw::check_names(plan, Path::new("candidate"))
}

/// Every valid plan that one removal or one simplification makes of a plan without entropy: a shrunk plan is minimal
/// when none of them still shows the failure.
pub fn candidates(plan: &Plan) -> impl Iterator<Item = Plan> + '_ {
    let weight = Weight::of(plan);
    edits(plan).into_iter().filter_map(move |edit| edit.applied(plan, &weight))
}
