//! Memory of processes: what many runs leave behind in one, and what a resident session takes.

use super::crowd::Crowd;
use super::part::{Part, in_process};
use super::row::{Outcome, Taken};
use super::{Bench, is_swarm, ratio};
use crate::error::Error;

/// Runs that the bound is about; fewer are scaled up to them.
const RUNS_OF_BOUND: f64 = 100_000.0;
/// What may be gained over them, in MiB.
pub const GAINED_MIB_MAX: f64 = 20.0;
/// Seeds that are run in turn.
const GROWTH_SEEDS: u32 = 200;

const UNTOLD: &str = "this system does not tell how much memory a process has: measure on Linux";

/// What one worker gains over many runs.
///
/// # Errors
/// As [`in_process`].
pub fn growth(bench: &mut Bench) -> Result<Taken, Error> {
    let runs = bench.counts.memory_runs;
    let seeds = bench.counts.seeds.min(GROWTH_SEEDS);
    let mix = bench.scenarios.iter().filter(|scenario| !is_swarm(scenario));
    let scenarios = mix.map(|scenario| scenario.id.to_owned()).collect();
    let answer = in_process(&Part::Growth { scenarios, seeds, runs }, &bench.change_arguments)?;
    let (Some(before), Some(after)) = (answer.before_kib, answer.after_kib) else {
        return Ok(Taken::all(&Outcome::NotAvailable(UNTOLD.to_owned()), 1));
    };
    let gained_mib = (after as f64 - before as f64) / 1024.0;
    let how = format!("{runs} runs, only digested, after a tenth as many: {before} KiB before, {after} KiB after");
    Ok(Taken { outcomes: vec![over_runs_of_bound(gained_mib, runs)], how })
}

/// What a gain says of as many runs as the bound is about. Fewer are scaled up to them; but what a process gains while
/// it warms up would then look like a leak, so a gain that is too large only then says nothing.
fn over_runs_of_bound(gained_mib: f64, runs: u32) -> Outcome {
    let scaled = gained_mib * (RUNS_OF_BOUND / f64::from(runs)).max(1.0);
    if gained_mib <= GAINED_MIB_MAX && scaled > GAINED_MIB_MAX {
        return Outcome::NotAvailable(format!(
            "{runs} runs are too few to tell a leak from a start: ask for more with `--memory-runs {RUNS_OF_BOUND}`"
        ));
    }
    Outcome::Measured(scaled)
}

/// What one more resident session takes, with clients that speak HTTP to it and with callers of its methods.
///
/// # Errors
/// As [`in_process`].
pub fn resident(bench: &mut Bench) -> Result<Taken, Error> {
    let sessions = bench.counts.resident_sessions;
    let mut outcomes = Vec::new();
    for is_direct in [false, true] {
        let peak = |sessions: u32| -> Result<Option<u64>, Error> {
            let crowd = Crowd { sessions, calls: 1, is_direct };
            Ok(in_process(&Part::Crowd { crowd, repeat: 1 }, &[])?.peak_kib)
        };
        outcomes.push(match (peak(sessions)?, peak(2 * sessions)?) {
            (Some(one), Some(two)) => Outcome::Measured(ratio(two as f64 - one as f64, f64::from(sessions))),
            _ => Outcome::NotAvailable(UNTOLD.to_owned()),
        });
    }
    let how = format!(
        "peak memory of a process whose world has {} resident sessions less that of one with {sessions}, clients and harness included; each session is opened and called once, its connection stays",
        2 * sessions
    );
    Ok(Taken { outcomes, how })
}

/// Resident memory of this process in KiB, where `/proc` tells it.
pub fn resident_kib() -> Option<u64> {
    status_kib("VmRSS")
}

/// The most resident memory that this process ever had, in KiB, where `/proc` tells it.
pub fn peak_kib() -> Option<u64> {
    status_kib("VmHWM")
}

fn status_kib(field: &str) -> Option<u64> {
    kib_of(&std::fs::read_to_string("/proc/self/status").ok()?, field)
}

/// The value of a field such as `VmRSS: 5320 kB`.
pub fn kib_of(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_process_are_read() {
        let status = "Name:\tsim\nVmHWM:\t   10520 kB\nVmRSS:\t    9876 kB\nThreads:\t1\n";
        assert_eq!((kib_of(status, "VmRSS"), kib_of(status, "VmHWM")), (Some(9_876), Some(10_520)));
        assert_eq!((kib_of(status, "Vm"), kib_of(status, "Threads")), (None, None));
    }

    #[test]
    fn a_gain_over_fewer_runs_is_scaled_unless_that_says_nothing() {
        assert_eq!(over_runs_of_bound(3.0, 100_000), Outcome::Measured(3.0));
        assert_eq!(over_runs_of_bound(21.0, 100_000), Outcome::Measured(21.0));
        assert_eq!(over_runs_of_bound(3.0, 200_000), Outcome::Measured(3.0));
        assert_eq!(over_runs_of_bound(3.0, 50_000), Outcome::Measured(6.0));
        assert_eq!(over_runs_of_bound(-2.0, 10_000), Outcome::Measured(-20.0));
        assert_eq!(over_runs_of_bound(21.0, 50_000), Outcome::Measured(42.0));
        assert!(matches!(over_runs_of_bound(2.0, 1_000), Outcome::NotAvailable(_)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_memory() {
        let (now, peak) = (resident_kib().expect("Linux tells it"), peak_kib().expect("Linux tells it"));
        assert!(0 < now && now <= peak, "{now} {peak}");
    }
}
