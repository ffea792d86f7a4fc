//! Measures runs: how many a second, with and without a kept trace; memory; and a whole command from start to last line.

use crate::error::Error;
use crate::recorder::Keep;
use crate::run::{self, RunOptions};
use scenarios::plan::Plan;
use std::time::{Duration, Instant};

/// Runs are timed in this many alternating blocks, so that a busy machine disturbs both kinds alike.
const BLOCKS: usize = 8;

/// What the plans of one scenario cost, one run after the other, so on one core.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Speed {
    /// Scenario id.
    pub scenario: String,
    /// Runs of each kind.
    pub run_count: usize,
    /// Recorded events, on average over the runs.
    pub events_per_run: u64,
    /// Runs a second that were only digested.
    pub digested_per_s: f64,
    /// Runs a second with a kept trace that nobody judged.
    pub kept_per_s: f64,
    /// Runs a second with a kept and judged trace.
    pub judged_per_s: f64,
    /// Time of a run with a kept trace over that of the same run only digested.
    pub kept_over_digested: f64,
    /// Virtual time over wall-clock time of runs that were only digested.
    pub virtual_over_wall: f64,
}

/// The three kinds of runs that are timed.
#[derive(Clone, Copy)]
enum Kind {
    Digested,
    Kept,
    Judged,
}

#[derive(Default)]
struct Tally {
    spent: [Duration; 3],
    event_count: u64,
    virtual_ms: u64,
}

/// Times every plan once for each kind of run.
///
/// # Errors
/// A harness error when a run cannot be started, or did not come to its end.
pub fn speed(scenario: &str, plans: &[Plan]) -> Result<Speed, Error> {
    // Once, so that what a process does only once is not counted.
    if let Some(first) = plans.first() {
        timed(first, Kind::Judged, &mut Tally::default())?;
    }
    let mut tally = Tally::default();
    for block in plans.chunks(plans.len().div_ceil(BLOCKS).max(1)) {
        for kind in [Kind::Digested, Kind::Kept, Kind::Judged] {
            for plan in block {
                timed(plan, kind, &mut tally)?;
            }
        }
    }
    let per_s = |kind: Kind| ratio(plans.len() as f64, tally.spent[kind as usize].as_secs_f64());
    let seconds = |kind: Kind| tally.spent[kind as usize].as_secs_f64();
    Ok(Speed {
        scenario: scenario.to_owned(),
        run_count: plans.len(),
        events_per_run: tally.event_count / plans.len().max(1) as u64,
        digested_per_s: per_s(Kind::Digested),
        kept_per_s: per_s(Kind::Kept),
        judged_per_s: per_s(Kind::Judged),
        kept_over_digested: ratio(seconds(Kind::Kept), seconds(Kind::Digested)),
        virtual_over_wall: ratio(tally.virtual_ms as f64 / 1000.0, seconds(Kind::Digested)),
    })
}

fn timed(plan: &Plan, kind: Kind, tally: &mut Tally) -> Result<(), Error> {
    let keep = if matches!(kind, Kind::Digested) { Keep::DigestOnly } else { Keep::Trace };
    let options = RunOptions { keep, is_judged: matches!(kind, Kind::Judged), ..RunOptions::default() };
    let began = now();
    let result = run::run_plan(plan, &options)?;
    tally.spent[kind as usize] += now().duration_since(began);
    if matches!(kind, Kind::Digested) {
        tally.event_count += result.event_count;
        tally.virtual_ms += result.trace.ends_at_ms;
    }
    let failed = result.findings.iter().find(|finding| finding.exit_code() == crate::exit_code::ExitCode::Harness);
    match failed {
        Some(finding) => Err(Error::harness(format!(
            "{} seed {}: {}",
            crate::text::printable(&plan.scenario),
            plan.seed,
            crate::signature::Signature::of(finding, plan)
        ))),
        None => Ok(()),
    }
}

/// Memory that the process gained over many runs.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Memory {
    /// Runs between the two readings.
    pub run_count: usize,
    /// Resident memory at the first reading, in KiB.
    pub before_kib: u64,
    /// Resident memory at the second reading, in KiB.
    pub after_kib: u64,
    /// Bytes gained a run.
    pub bytes_per_run: f64,
}

/// Runs `run_count` plans, taken in turn, only digested; a tenth as many before, so that pools have their size.
///
/// Nothing where the system does not say how much memory a process has.
///
/// # Errors
/// As [`speed`].
pub fn memory(plans: &[Plan], run_count: usize) -> Result<Option<Memory>, Error> {
    let mut ignored = Tally::default();
    for plan in plans.iter().cycle().take(run_count / 10) {
        timed(plan, Kind::Digested, &mut ignored)?;
    }
    let Some(before_kib) = resident_kib() else {
        return Ok(None);
    };
    for plan in plans.iter().cycle().take(run_count) {
        timed(plan, Kind::Digested, &mut ignored)?;
    }
    Ok(resident_kib().map(|after_kib| Memory {
        run_count,
        before_kib,
        after_kib,
        bytes_per_run: ratio((after_kib as f64 - before_kib as f64) * 1024.0, run_count as f64),
    }))
}

/// Resident memory of this process in KiB, where `/proc` tells it.
fn resident_kib() -> Option<u64> {
    // Pages are of 4 KiB on the machines that this is measured on.
    const PAGE_KIB: u64 = 4;
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE_KIB)
}

/// The least wall-clock time, in ms, that `sim` needs from its start to its last line, of five tries.
///
/// # Errors
/// A harness error when it cannot be started.
pub fn start_to_last_line_ms(arguments: &[&str]) -> Result<f64, Error> {
    let cannot = |error: std::io::Error| Error::harness(format!("cannot start sim: {}", crate::files::reason(&error)));
    let program = std::env::current_exe().map_err(cannot)?;
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let began = now();
        // A run that fails leaves a report: not here, where somebody keeps his own.
        let elsewhere = std::env::temp_dir();
        std::process::Command::new(&program).args(arguments).current_dir(elsewhere).output().map_err(cannot)?;
        least = least.min(now().duration_since(began).as_secs_f64() * 1000.0);
    }
    Ok(least)
}

fn ratio(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

#[expect(clippy::disallowed_methods, reason = "wall-clock time is what is measured, outside of any run")]
fn now() -> Instant {
    Instant::now()
}
