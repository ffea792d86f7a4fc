//! Every single thing that can be done to make a plan less: removals first, then simplifications.

use super::code::{self, Spot};
use super::element::{Element, elements, without};
use super::json::{self, Path as JsonPath, Root};
use super::kind::{self, Kind};
use super::number::{self, Place};
use super::owner::{self, Owners};
use super::setting::{self, Setting};
use super::weight::Weight;
use super::{action, name, timeline};
use crate::draw;
use crate::error::Error;
use scenarios::plan::{Action, Plan};
use std::collections::BTreeSet;
use std::path::Path;

/// To how many of the nearest earlier times something is moved: more are only found in a plan that is far from least.
const EARLIER_COUNT: usize = 8;

/// One thing that can be done to a plan; indexes are those of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Something is taken out.
    Remove(Element),
    /// A setting is made plain.
    Set(Setting),
    /// A number is made simpler.
    Number(Place, u64),
    /// A word of a list is a simpler one.
    Kind(Kind),
    /// A step does something simpler.
    Action(usize, usize, Action),
    /// Code is simpler.
    Code(Spot, String),
    /// A text, truth or number of a stored value or of a call's arguments is the plainest of its kind.
    Plain(Root, JsonPath),
    /// A stored object is woken by its alarm, where callers called it.
    Alarm(usize),
    /// Each code calls what it says by its number.
    Mark,
    /// The session timeout becomes that, and the gap of the time line that waits for it goes along.
    Timeout(u64, usize, u64),
    /// All steps of a client come at the start, one after the other.
    Gather(usize),
    /// What one client does is done by another, after what that does.
    Merge(usize, usize),
    /// What happens at one time, of that rank among it, happens at another.
    Move(u64, usize, u64),
    /// A client gets the account of that number.
    Account(usize, usize),
    /// A step of a client and the next change places.
    SwapSteps(usize, usize),
    /// Two neighbours of the callers change places.
    SwapCallers(usize),
    /// Two neighbours of the clients change places.
    SwapClients(usize),
    /// Two neighbours of the stored objects change places.
    SwapStored(usize),
    /// Two neighbours of the faults change places.
    SwapFaults(usize),
    /// All that one account or organisation has belongs to the first one.
    MergeOwners(Owners, usize),
    /// Accounts and organisations are called by where they come first.
    RenameOwners,
    /// One of them is.
    RenameOwner(Owners, usize),
    /// Everything is called by its place.
    Rename,
    /// A session is called by its place.
    RenameSession(usize),
}

/// Every edit of a plan, removals first.
pub fn edits(plan: &Plan) -> Vec<Edit> {
    let mut list: Vec<Edit> = elements(plan).into_iter().rev().map(Edit::Remove).collect();
    list.extend(setting::settings(plan).into_iter().map(Edit::Set));
    list.extend(kind::simpler(plan).into_iter().map(Edit::Kind));
    list.extend(step_edits(plan));
    list.extend(code_edits(plan));
    list.extend(json::rough(plan).into_iter().map(|(root, path)| Edit::Plain(root, path)));
    list.extend((0..plan.storage.len()).map(Edit::Alarm));
    list.extend((0..plan.clients.len()).map(Edit::Gather));
    let clients = 0..plan.clients.len();
    list.extend(clients.clone().flat_map(|from| clients.clone().map(move |to| Edit::Merge(from, to))));
    list.extend(move_edits(plan));
    for (place, value) in number::numbers(plan) {
        let simpler = number::simpler(&place, value).into_iter();
        list.extend(simpler.map(|number| Edit::Number(place.clone(), number)));
    }
    list.extend(timeout_edits(plan));
    for client in 0..plan.clients.len() {
        list.extend([1, 2].map(|number| Edit::Account(client, number)));
    }
    for of in [Owners::Accounts, Owners::Organizations] {
        let count = owner::owners(plan, of).len();
        list.extend((1..count).map(|other| Edit::MergeOwners(of, other)));
        list.extend((0..count).map(|one| Edit::RenameOwner(of, one)));
    }
    list.push(Edit::RenameOwners);
    for (at, client) in plan.clients.iter().enumerate() {
        list.extend((1..client.steps.len()).map(|second| Edit::SwapSteps(at, second - 1)));
    }
    list.extend((1..plan.clients.len()).map(|second| Edit::SwapClients(second - 1)));
    list.extend((1..plan.storage.len()).map(|second| Edit::SwapStored(second - 1)));
    list.extend((1..plan.callers.len()).map(|second| Edit::SwapCallers(second - 1)));
    list.extend((1..plan.faults.len()).map(|second| Edit::SwapFaults(second - 1)));
    list.push(Edit::Rename);
    list.extend((0..plan.clients.len() + plan.storage.len()).map(Edit::RenameSession));
    list
}

/// Each simpler action in place of what a step does.
fn step_edits(plan: &Plan) -> Vec<Edit> {
    let mut list = Vec::new();
    for (at, client) in plan.clients.iter().enumerate() {
        for (step, each) in client.steps.iter().enumerate() {
            list.extend(action::simpler(&each.action).into_iter().map(|simpler| Edit::Action(at, step, simpler)));
        }
    }
    list
}

/// Each simpler session timeout with each gap of the time line, which may be there to wait for it: moved by the same
/// amount, or in the same ratio.
fn timeout_edits(plan: &Plan) -> Vec<Edit> {
    let before = plan.config.session_timeout_ms;
    let mut list = Vec::new();
    for after in number::simpler(&Place::SessionTimeout, before) {
        for (gap, ms) in timeline::gaps(plan).into_iter().enumerate() {
            let moved = (ms + after).checked_sub(before);
            let ratio = ms.checked_mul(after).and_then(|product| product.checked_div(before));
            let both = moved.into_iter().chain(ratio).filter(|new_ms| *new_ms != ms);
            list.extend(both.map(|new_ms| Edit::Timeout(after, gap, new_ms)));
        }
    }
    list
}

fn code_edits(plan: &Plan) -> Vec<Edit> {
    let mut list = vec![Edit::Mark];
    for (own, spot) in (1..).zip(code::spots(plan)) {
        let simpler = code::of(plan, spot).map(|code| code::simpler(code, own)).unwrap_or_default();
        list.extend(simpler.into_iter().map(|code| Edit::Code(spot, code)));
    }
    list
}

/// Each time of the time line, one thing of it at a time, to the start, to one before it, or to the next.
fn move_edits(plan: &Plan) -> Vec<Edit> {
    let mut list = Vec::new();
    let times = timeline::moments(plan);
    for (at, from_ms) in times.iter().enumerate().skip(1) {
        let earlier = times[..at].iter().take(1).chain(&times[at.saturating_sub(EARLIER_COUNT).max(1)..at]);
        let others: Vec<u64> = earlier.chain(times.get(at + 1)).copied().collect();
        for rank in 0..timeline::count_at(plan, *from_ms) {
            list.extend(others.iter().map(|to_ms| Edit::Move(*from_ms, rank, *to_ms)));
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
            Self::Kind(kind) => kind::with(plan, kind),
            Self::Action(client, step, action) => action::with(plan, *client, *step, action),
            Self::Code(spot, code) => code::with(plan, *spot, code),
            Self::Plain(root, path) => json::with_plain(plan, *root, path),
            Self::Alarm(stored) => woken_by_alarm(plan, *stored),
            Self::Mark => Some(code::marked(plan)),
            Self::Timeout(timeout_ms, gap, ms) => {
                let mut changed = number::with(plan, &Place::SessionTimeout, *timeout_ms)?;
                timeline::set_gap(&mut changed, *gap, *ms);
                Some(changed)
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
            Self::Account(client, number) => owner::with_account(plan, *client, *number),
            Self::MergeOwners(of, other) => owner::merged(plan, *of, *other),
            Self::RenameOwners => Some(owner::renamed(plan)),
            Self::RenameOwner(of, one) => owner::renamed_one(plan, *of, *one),
            Self::SwapSteps(client, first) => action::swapped(plan, *client, *first),
            Self::SwapCallers(first) => Some(name::swapped_callers(plan, *first)),
            Self::SwapClients(first) => Some(name::swapped_clients(plan, *first)),
            Self::SwapStored(first) => Some(name::swapped_stored(plan, *first)),
            Self::SwapFaults(first) => Some(name::swapped_faults(plan, *first)),
            Self::Rename => Some(name::renamed(plan)),
            Self::RenameSession(session) => name::renamed_session(plan, *session),
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

/// The plan in which nobody calls a stored object, and its alarm is due when it was called first.
fn woken_by_alarm(plan: &Plan, stored: usize) -> Option<Plan> {
    let mut changed = plan.clone();
    let object = changed.storage.get_mut(stored)?;
    let calls = changed.callers.iter().flat_map(|caller| &caller.calls).filter(|call| call.session == object.session);
    let first_ms = calls.map(|call| call.at_ms).min()?;
    object.alarm_at_ms = object.alarm_at_ms.or(Some(first_ms));
    for caller in &mut changed.callers {
        caller.calls.retain(|call| call.session != object.session);
    }
    changed.callers.retain(|caller| !caller.calls.is_empty());
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
