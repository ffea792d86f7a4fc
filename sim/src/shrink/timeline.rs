//! The one time line of a plan: every time that stands in it, and the gaps between them.

use scenarios::plan::{Effect, Plan, When};
use std::collections::BTreeSet;

/// Every time of a plan, in ms since the start of the run, the start included.
pub fn moments(plan: &Plan) -> Vec<u64> {
    let mut times = BTreeSet::from([0]);
    for client in &plan.clients {
        times.extend(client.steps.iter().map(|step| step.at_ms));
    }
    for caller in &plan.callers {
        times.extend(caller.calls.iter().map(|call| call.at_ms));
    }
    times.extend(plan.storage.iter().filter_map(|stored| stored.alarm_at_ms));
    for fault in &plan.faults {
        times.extend(time_of(&fault.when));
        if let Effect::Hold { release: Some(when), .. } = &fault.effect {
            times.extend(time_of(when));
        }
    }
    times.into_iter().collect()
}

fn time_of(when: &When) -> Option<u64> {
    match when {
        When::At { at_ms, .. } => Some(*at_ms),
        When::Operation { .. } => None,
    }
}

/// Lengths of the gaps between neighbouring times, in ms.
pub fn gaps(plan: &Plan) -> Vec<u64> {
    moments(plan).windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Makes a gap longer or shorter: everything after it moves.
pub fn set_gap(plan: &mut Plan, gap: usize, ms: u64) {
    let times = moments(plan);
    let Some((from, to)) = times.get(gap).zip(times.get(gap + 1)).map(|(from, to)| (*from, *to)) else { return };
    each_time(plan, &mut |at_ms| {
        if *at_ms >= to {
            *at_ms = (*at_ms - to).saturating_add(from).saturating_add(ms);
        }
    });
}

/// Moves what happens at one time, and is of this rank among what happens then, to another.
pub fn move_one(plan: &mut Plan, from_ms: u64, rank: usize, to_ms: u64) {
    let mut seen = 0;
    each_time(plan, &mut |at_ms| {
        if *at_ms == from_ms {
            if seen == rank {
                *at_ms = to_ms;
            }
            seen += 1;
        }
    });
}

/// How many things happen at that time.
pub fn count_at(plan: &Plan, time_ms: u64) -> usize {
    let mut count = 0;
    each_time(&mut plan.clone(), &mut |at_ms| count += usize::from(*at_ms == time_ms));
    count
}

/// The sum of all times, in ms: of two plans with the same moments that one is simpler in which more happens earlier.
pub fn total_ms(plan: &Plan) -> u128 {
    let mut total = 0;
    each_time(&mut plan.clone(), &mut |at_ms| total += u128::from(*at_ms));
    total
}

fn each_time(plan: &mut Plan, change: &mut dyn FnMut(&mut u64)) {
    for client in &mut plan.clients {
        client.steps.iter_mut().for_each(|step| change(&mut step.at_ms));
    }
    for caller in &mut plan.callers {
        caller.calls.iter_mut().for_each(|call| change(&mut call.at_ms));
    }
    for stored in &mut plan.storage {
        stored.alarm_at_ms.iter_mut().for_each(&mut *change);
    }
    for fault in &mut plan.faults {
        change_when(&mut fault.when, change);
        if let Effect::Hold { release: Some(when), .. } = &mut fault.effect {
            change_when(when, change);
        }
    }
}

fn change_when(when: &mut When, change: &mut dyn FnMut(&mut u64)) {
    if let When::At { at_ms, .. } = when {
        change(at_ms);
    }
}
