//! The numbers of a plan: where they stand, how simple each is, and which simpler ones there are.

use super::code::{self, Spot};
use super::json::{self, Path, Root};
use super::timeline;
use scenarios::plan::{Action, Cut, Effect, HostConfig, Plan, When};

/// Where a number stands; indexes are those of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `config.session_timeout_ms`
    SessionTimeout,
    /// `config.max_paused_session_idle_ms`
    PausedIdle,
    /// `config.resident_runtime_soft_cap`
    Cap,
    /// `world.isolate_count`
    Isolates,
    /// `request_timeout_ms` of a client.
    RequestTimeout(usize),
    /// `settle.quiet_ms`
    Quiet,
    /// `settle.quiet_after_ms`
    QuietAfter,
    /// A gap of the time line.
    Gap(usize),
    /// Which match triggers a fault.
    Nth(usize),
    /// Which match releases a hold.
    ReleaseNth(usize),
    /// How long a fault holds or delays.
    FaultMs(usize),
    /// A number of a code, by its place among them: how long it waits, how large an answer is, or a value.
    Code(Spot, usize),
    /// How many calls stand in a client's POST: client, step.
    Copies(usize, usize),
    /// After how many events a client drops a connection: client, step.
    CutEvents(usize, usize),
    /// How long after that: client, step.
    CutMs(usize, usize),
    /// How long a client reads nothing: client, step.
    StallMs(usize, usize),
    /// A whole number in a stored value or in the arguments of a call.
    Json(Root, Path),
    /// The value of a pin.
    Pin(String),
}

/// Shorter timeouts than this are no simpler, in ms.
const TIMEOUT_LEAST_MS: u64 = 1_000;
/// What a client that says nothing of it waits, in ms.
const REQUEST_TIMEOUT_MS: u64 = 60_000;

/// Every number of a plan that can be another, what others depend on first.
pub fn places(plan: &Plan) -> Vec<Place> {
    let mut list = vec![Place::SessionTimeout, Place::PausedIdle, Place::Cap, Place::Isolates];
    list.extend((0..plan.clients.len()).map(Place::RequestTimeout));
    list.extend((0..timeline::gaps(plan).len()).map(Place::Gap));
    for (at, client) in plan.clients.iter().enumerate() {
        for step in 0..client.steps.len() {
            let numbers =
                [Place::Copies(at, step), Place::CutEvents(at, step), Place::CutMs(at, step), Place::StallMs(at, step)];
            list.extend(numbers.into_iter().filter(|place| value(plan, place).is_some()));
        }
    }
    for at in 0..plan.faults.len() {
        let numbers = [Place::Nth(at), Place::ReleaseNth(at), Place::FaultMs(at)];
        list.extend(numbers.into_iter().filter(|place| value(plan, place).is_some()));
    }
    for spot in code::spots(plan) {
        let count = code::of(plan, spot).map_or(0, |code| code::numbers(code).len());
        list.extend((0..count).map(|place| Place::Code(spot, place)));
    }
    let is_number = |(root, path): &(Root, Path)| json::at(plan, *root, path).is_some_and(serde_json::Value::is_u64);
    let numbers = json::places(plan).into_iter().filter(is_number);
    list.extend(numbers.map(|(root, path)| Place::Json(root, path)));
    list.extend([Place::Quiet, Place::QuietAfter]);
    list.extend(plan.pins.keys().cloned().map(Place::Pin));
    list
}

fn fault_ms(effect: &Effect) -> Option<u64> {
    match effect {
        Effect::Delay { ms } | Effect::Hold { for_ms: Some(ms), .. } => Some(*ms),
        _ => None,
    }
}

fn nth(when: &When) -> Option<u64> {
    match when {
        When::Operation { n, .. } => Some(u64::from(*n)),
        When::At { .. } => None,
    }
}

/// Every place with its number; the time line is read once for all gaps.
pub fn numbers(plan: &Plan) -> Vec<(Place, u64)> {
    let gaps = timeline::gaps(plan);
    let number_at = |place: &Place| match place {
        Place::Gap(gap) => gaps.get(*gap).copied(),
        other => value(plan, other),
    };
    places(plan).into_iter().filter_map(|place| number_at(&place).map(|number| (place, number))).collect()
}

/// The number at a place; none when there is none.
pub fn value(plan: &Plan, place: &Place) -> Option<u64> {
    match place {
        Place::SessionTimeout => Some(plan.config.session_timeout_ms),
        Place::PausedIdle => Some(plan.config.max_paused_session_idle_ms),
        Place::Cap => Some(u64::from(plan.config.resident_runtime_soft_cap)),
        Place::Isolates => Some(u64::from(plan.world.isolate_count)),
        Place::RequestTimeout(client) => plan.clients.get(*client).map(|client| client.request_timeout_ms),
        Place::Quiet => Some(plan.settle.quiet_ms),
        Place::QuietAfter => Some(plan.settle.quiet_after_ms),
        Place::Gap(gap) => timeline::gaps(plan).get(*gap).copied(),
        Place::Nth(fault) => plan.faults.get(*fault).and_then(|fault| nth(&fault.when)),
        Place::ReleaseNth(fault) => match &plan.faults.get(*fault)?.effect {
            Effect::Hold { release: Some(when), .. } => nth(when),
            _ => None,
        },
        Place::FaultMs(fault) => plan.faults.get(*fault).and_then(|fault| fault_ms(&fault.effect)),
        Place::Code(spot, place) => code::numbers(code::of(plan, *spot)?).get(*place).copied(),
        Place::Copies(client, step) => match action(plan, *client, *step)? {
            Action::Post { copies, .. } => Some(u64::from(*copies)),
            _ => None,
        },
        Place::CutEvents(client, step) => cut_of(plan, *client, *step).map(|cut| u64::from(cut.after_events)),
        Place::CutMs(client, step) => cut_of(plan, *client, *step).map(|cut| cut.ms),
        Place::StallMs(client, step) => match action(plan, *client, *step)? {
            Action::Stall { ms } => Some(*ms),
            _ => None,
        },
        Place::Json(root, path) => json::at(plan, *root, path)?.as_u64(),
        Place::Pin(name) => plan.pins.get(name).copied(),
    }
}

fn action(plan: &Plan, client: usize, step: usize) -> Option<&Action> {
    Some(&plan.clients.get(client)?.steps.get(step)?.action)
}

fn cut_of(plan: &Plan, client: usize, step: usize) -> Option<Cut> {
    match action(plan, client, step)? {
        Action::Post { cut, .. } | Action::Recover { cut, .. } => *cut,
        _ => None,
    }
}

/// The plan with another number at a place; none when it cannot be put there.
pub fn with(plan: &Plan, place: &Place, number: u64) -> Option<Plan> {
    let small = u32::try_from(number).ok();
    let mut changed = plan.clone();
    match place {
        Place::SessionTimeout => changed.config.session_timeout_ms = number,
        Place::PausedIdle => changed.config.max_paused_session_idle_ms = number,
        Place::Cap => changed.config.resident_runtime_soft_cap = small?,
        Place::Isolates => changed.world.isolate_count = small?,
        Place::RequestTimeout(client) => changed.clients.get_mut(*client)?.request_timeout_ms = number,
        Place::Quiet => changed.settle.quiet_ms = number,
        Place::QuietAfter => changed.settle.quiet_after_ms = number,
        Place::Gap(gap) => timeline::set_gap(&mut changed, *gap, number),
        Place::Nth(fault) => match &mut changed.faults.get_mut(*fault)?.when {
            When::Operation { n, .. } => *n = small?,
            When::At { .. } => return None,
        },
        Place::ReleaseNth(fault) => match &mut changed.faults.get_mut(*fault)?.effect {
            Effect::Hold { release: Some(When::Operation { n, .. }), .. } => *n = small?,
            _ => return None,
        },
        Place::FaultMs(fault) => match &mut changed.faults.get_mut(*fault)?.effect {
            Effect::Delay { ms } | Effect::Hold { for_ms: Some(ms), .. } => *ms = number,
            _ => return None,
        },
        Place::Code(spot, place) => {
            let code = code::with_number(code::of(plan, *spot)?, *place, number);
            changed = code::with(plan, *spot, &code)?;
        }
        Place::Copies(client, step) => match &mut changed.clients.get_mut(*client)?.steps.get_mut(*step)?.action {
            Action::Post { copies, .. } => *copies = small?,
            _ => return None,
        },
        Place::StallMs(client, step) => match &mut changed.clients.get_mut(*client)?.steps.get_mut(*step)?.action {
            Action::Stall { ms } => *ms = number,
            _ => return None,
        },
        Place::CutEvents(client, step) | Place::CutMs(client, step) => {
            let action = &mut changed.clients.get_mut(*client)?.steps.get_mut(*step)?.action;
            let cut = action.cut_mut()?.as_mut()?;
            match place {
                Place::CutMs(..) => cut.ms = number,
                _ => cut.after_events = small?,
            }
        }
        Place::Json(root, path) => *json::at_mut(&mut changed, *root, path)? = number.into(),
        Place::Pin(name) => *changed.pins.get_mut(name)? = number,
    }
    Some(changed)
}

/// What needs no explanation at a place: production's own, or what a plan that says nothing gets.
fn ordinary(place: &Place) -> Option<u64> {
    match place {
        Place::PausedIdle => Some(HostConfig::default().max_paused_session_idle_ms),
        Place::Cap => Some(u64::from(HostConfig::default().resident_runtime_soft_cap)),
        Place::RequestTimeout(_) => Some(REQUEST_TIMEOUT_MS),
        _ => None,
    }
}

fn least(place: &Place) -> u64 {
    match place {
        Place::SessionTimeout | Place::PausedIdle | Place::RequestTimeout(_) => TIMEOUT_LEAST_MS,
        Place::Gap(_) | Place::Quiet | Place::QuietAfter | Place::CutEvents(..) | Place::CutMs(..) => 0,
        Place::Json(..) => 0,
        _ => 1,
    }
}

/// How far a number at a place is from simple: what is ordinary there first, then how it is written, then its size.
pub fn cost(place: &Place, number: u64) -> (u64, u64) {
    match ordinary(place) {
        Some(ordinary) if ordinary == number => (0, 0),
        Some(_) => (1 + roughness(number), number),
        None => (roughness(number), number),
    }
}

/// Every number that is simpler at that place and worth a try, the simplest first.
pub fn simpler(place: &Place, number: u64) -> Vec<u64> {
    let before = cost(place, number);
    let mut list: Vec<u64> = ordinary(place).into_iter().collect();
    list.extend(round_numbers(number));
    for digits in 1..digits_of(number) {
        let unit = 10_u64.pow(digits_of(number) - digits);
        let floor = number / unit * unit;
        list.extend([Some(floor), floor.checked_add(unit)].into_iter().flatten());
    }
    list.retain(|each| cost(place, *each) < before && (*each >= least(place) || Some(*each) == ordinary(place)));
    list.sort_by_key(|each| cost(place, *each));
    list.dedup();
    list
}

/// 0, and 1, 2, 5 times each power of ten, up to the second one above.
fn round_numbers(number: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
    let rounds = powers.flat_map(|power| [1, 2, 5].map(|digit| power.checked_mul(digit))).flatten();
    let mut above = 0;
    let upto = rounds.take_while(|round| {
        above += u32::from(*round > number);
        above <= 2
    });
    std::iter::once(0).chain(upto).collect()
}

fn digits_of(number: u64) -> u32 {
    number.checked_ilog10().map_or(1, |most| most + 1)
}

/// 0 for a round number, else how many digits stand before its last zeros.
fn roughness(number: u64) -> u64 {
    let mut rest = number;
    while rest >= 10 && rest.is_multiple_of(10) {
        rest /= 10;
    }
    if matches!(rest, 0 | 1 | 2 | 5) { 0 } else { u64::from(digits_of(rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simpler_numbers_are_round_or_shorter_and_come_simplest_first() {
        assert_eq!(simpler(&Place::Gap(0), 0), [] as [u64; 0]);
        assert_eq!(simpler(&Place::Gap(0), 7), [0, 1, 2, 5, 10, 20]);
        let of_1203 = simpler(&Place::Gap(0), 1203);
        assert_eq!(of_1203[..5], [0, 1, 2, 5, 10]);
        assert_eq!(of_1203[10..], [1_000, 2_000, 5_000, 1_200, 1_300, 1_210][..of_1203.len() - 10]);
        assert_eq!(simpler(&Place::SessionTimeout, 3_000), [1_000, 2_000, 5_000, 10_000]);
        assert_eq!(simpler(&Place::Cap, 3), [32, 1, 2, 5, 10]);
        assert_eq!(simpler(&Place::Cap, 32), [] as [u64; 0]);
    }

    #[test]
    fn the_largest_numbers_have_simpler_ones() {
        let list = simpler(&Place::Pin("s1/order.rpc@0#0".to_owned()), u64::MAX);
        assert!(list.contains(&1) && list.iter().all(|each| *each > 0));
    }
}
