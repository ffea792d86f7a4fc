//! What a request costs in worlds of ten to ten thousand sessions, all resident.

use super::crowd::Crowd;
use super::part::{Part, in_process};
use super::row::{Outcome, Taken};
use super::{Bench, instructions, ratio};
use crate::error::Error;

/// Sizes of the worlds; the ratio is that of the largest to the smallest.
const SIZES: [u32; 4] = [10, 100, 1_000, SIZE_MAX];
const SIZE_MAX: u32 = 10_000;
/// What the ratio of instructions may be.
pub const INSTRUCTIONS_MAX: f64 = 1.2;
/// What the ratio of times may be.
pub const TIME_MAX: f64 = 3.0;
/// Calls of each session beside the two requests that open it.
const CALLS: u32 = 2;
/// A small world is run so often that about as many requests are measured, at most this many times.
const REPETITIONS_MAX: u32 = 50;
/// Requests that are timed in one process at least, for each try: who tries more often also times longer.
const TIMED_REQUESTS: u64 = 800;

/// Instructions and time of a request in the largest world over those in the smallest.
///
/// # Errors
/// A harness error when a world fails; an interruption.
pub fn row(bench: &mut Bench) -> Result<Taken, Error> {
    let timed = timed(bench)?;
    let counted = counted(bench)?;
    let told = |costs: &[(u32, f64)], unit: &str| -> String {
        let each = costs.iter().map(|(sessions, cost)| format!("{cost:.1} {unit} with {sessions}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let mut how = format!("a request takes {}", told(&timed, "µs"));
    let instructions = match &counted {
        Ok(counted) => {
            how.push_str(&format!("; {}", told(counted, "thousand instructions")));
            growth(counted, INSTRUCTIONS_MAX, "--counted-sessions-max")
        }
        Err(why) => Outcome::NotAvailable(why.clone()),
    };
    how.push_str(" resident sessions; an empty world is taken off");
    Ok(Taken { outcomes: vec![instructions, growth(&timed, TIME_MAX, "--sessions-max")], more: Vec::new(), how })
}

/// The cost in the largest world over that in the smallest. What must be reached is about the largest size of all: with
/// smaller ones alone it can be missed, and not reached.
fn growth(costs: &[(u32, f64)], most: f64, option: &str) -> Outcome {
    let [(smallest, first), .., (largest, last)] = costs else {
        return Outcome::NotAvailable(format!("one size alone has no ratio: allow more sessions with `{option}`"));
    };
    let times = ratio(*last, *first);
    if *largest < SIZE_MAX && times <= most {
        return Outcome::NotAvailable(format!(
            "{times:.2}× from {smallest} to {largest} sessions, which says nothing of {SIZE_MAX}: allow them with `{option} {SIZE_MAX}`"
        ));
    }
    Outcome::Measured(times)
}

fn sizes(most: u32) -> impl Iterator<Item = u32> {
    SIZES.into_iter().filter(move |size| *size <= most)
}

fn crowd(sessions: u32) -> Crowd {
    Crowd { sessions, calls: CALLS, is_direct: false }
}

/// Microseconds of a request in each size of world: the least of some tries.
fn timed(bench: &Bench) -> Result<Vec<(u32, f64)>, Error> {
    let seconds = |sessions: u32| -> Result<f64, Error> {
        let requests = crowd(sessions.max(SIZES[0])).request_count();
        let repeat = u32::try_from((TIMED_REQUESTS * u64::from(bench.counts.tries)).div_ceil(requests))
            .unwrap_or(1)
            .clamp(1, REPETITIONS_MAX);
        let part = Part::Crowd { crowd: crowd(sessions), repeat };
        Ok(in_process(&part, &[])?.seconds / f64::from(repeat))
    };
    let mut costs = Vec::new();
    for sessions in sizes(bench.counts.sessions_max) {
        (bench.progress)(&format!("bench: sessions: timing {sessions}"));
        // The largest worlds take so long that a disturbance hardly shows.
        let tries = if sessions >= 10_000 { 1 } else { bench.counts.tries };
        let mut least = f64::INFINITY;
        for _ in 0..tries {
            least = least.min(seconds(sessions)? - seconds(0)?);
        }
        costs.push((sessions, least * 1e6 / crowd(sessions).request_count() as f64));
    }
    Ok(costs)
}

/// Thousands of instructions of a request in each size of world.
fn counted(bench: &Bench) -> Result<Result<Vec<(u32, f64)>, String>, Error> {
    let of_world = |sessions: u32| {
        // A large world outweighs the start of its process, which is no part of it all the same.
        let repetitions = if sessions >= 1_000 { [0, 1] } else { [1, 3] };
        let make = |repeat| Part::Crowd { crowd: crowd(sessions), repeat };
        instructions::of_one_repetition(make, repetitions, &[])
    };
    (bench.progress)("bench: sessions: counting instructions of an empty world");
    let empty = match of_world(0)? {
        Ok(empty) => empty,
        Err(why) => return Ok(Err(why)),
    };
    let mut costs = Vec::new();
    for sessions in sizes(bench.counts.counted_sessions_max.min(bench.counts.sessions_max)) {
        (bench.progress)(&format!("bench: sessions: counting instructions of {sessions}"));
        match of_world(sessions)? {
            Ok(count) => costs.push((sessions, (count - empty) / 1e3 / crowd(sessions).request_count() as f64)),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok(costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_from_the_smallest_to_the_largest_world_of_all() {
        let growth = |costs: &[(u32, f64)]| growth(costs, 1.2, "--most");
        assert_eq!(growth(&[(10, 200.0), (100, 900.0), (10_000, 220.0)]), Outcome::Measured(1.1));
        assert_eq!(growth(&[(10, 200.0), (10_000, 500.0)]), Outcome::Measured(2.5));
        assert_eq!(growth(&[(10, 200.0), (100, 500.0)]), Outcome::Measured(2.5), "missed already");
        let told = "1.10× from 10 to 100 sessions, which says nothing of 10000: allow them with `--most 10000`";
        assert_eq!(growth(&[(10, 200.0), (100, 220.0)]), Outcome::NotAvailable(told.to_owned()));
        assert!(matches!(growth(&[(10, 200.0)]), Outcome::NotAvailable(_)));
        assert!(matches!(growth(&[]), Outcome::NotAvailable(_)));
    }

    #[test]
    fn no_world_is_larger_than_is_allowed() {
        assert_eq!(sizes(1_000).collect::<Vec<_>>(), [10, 100, 1_000]);
        assert_eq!(sizes(9).count(), 0);
    }
}
