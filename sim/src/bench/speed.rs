//! Runs a second of the catalog's plans, one run after the other, so on one core; and virtual over wall-clock time.

use super::row::{Better, Outcome, Taken, Unit};
use super::rows::told;
use super::{Bench, check_interrupt, is_idle_heavy, is_swarm, median, now, ratio};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::recorder::Keep;
use crate::run::{self, RunOptions, RunResult};
use crate::signature::Signature;
use scenarios::plan::Plan;
use std::time::Duration;

/// Runs are timed in this many alternating blocks, so that a busy machine disturbs all kinds alike.
const BLOCKS: usize = 8;

/// The part of the seeds that each single scenario runs.
const SCENARIO_SHARE: u32 = 20;

/// What some plans cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speed {
    /// Runs of each kind.
    pub run_count: usize,
    /// Recorded events, on average over the runs.
    pub events_per_run: f64,
    /// Runs a second that were only digested.
    pub digested_per_s: f64,
    /// Runs a second with a kept trace that nobody judged.
    pub kept_per_s: f64,
    /// Runs a second with a kept and judged trace, as a campaign makes them.
    pub judged_per_s: f64,
    /// Time of runs with a kept trace over that of the same runs only digested: the median of the blocks.
    pub kept_over_digested: f64,
    /// Virtual over wall-clock time of the idle-heavy runs among them, only digested.
    pub virtual_over_wall: Option<f64>,
}

/// The three kinds of runs that are timed.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Digests only.
    Digested,
    /// With a kept trace.
    Kept,
    /// With a kept trace, all claims and all rows of reach.
    Judged,
}

#[derive(Default)]
struct Tally {
    spent: [Duration; 3],
    event_count: u64,
    idle_virtual_ms: u64,
    idle_spent: Duration,
}

/// Runs a second of the mix, each run judged.
///
/// # Errors
/// As [`speed`].
pub fn catalog(bench: &mut Bench) -> Result<Taken, Error> {
    let (speed, how) = of_catalog(bench)?;
    let values = [speed.judged_per_s, speed.kept_per_s, speed.digested_per_s, speed.events_per_run];
    Ok(Taken::measured(&values, format!("{how}; a run that counts is kept and judged, as a campaign does it")))
}

/// What keeping a trace costs.
///
/// # Errors
/// As [`speed`].
pub fn kept(bench: &mut Bench) -> Result<Taken, Error> {
    let (speed, how) = of_catalog(bench)?;
    Ok(Taken::measured(&[speed.kept_over_digested], format!("{how}, the median of their ratios")))
}

/// How much faster than the clock on the wall idle sessions live.
///
/// # Errors
/// As [`speed`].
pub fn virtual_time(bench: &mut Bench) -> Result<Taken, Error> {
    let (speed, how) = of_catalog(bench)?;
    let missing = || Outcome::NotBuilt("no scenario of the group idle was run".to_owned());
    let outcome = speed.virtual_over_wall.map_or_else(missing, Outcome::Measured);
    Ok(Taken {
        outcomes: vec![outcome],
        more: Vec::new(),
        how: format!("{how}; those of the group idle, only digested"),
    })
}

/// Runs a second of swarm worlds.
///
/// # Errors
/// As [`speed`].
pub fn swarm(bench: &mut Bench) -> Result<Taken, Error> {
    let plans = bench.plans(bench.counts.seeds, is_swarm)?;
    if plans.is_empty() {
        return Ok(Taken::all(&Outcome::NotBuilt("the catalog has no scenario of the group swarm".to_owned()), 2));
    }
    let speed = speed(&plans)?;
    let how = format!("{} runs in {BLOCKS} alternating blocks, kept and judged", speed.run_count);
    Ok(Taken::measured(&[speed.judged_per_s, speed.events_per_run], how))
}

/// Runs a second of each scenario, each run judged; the first figure is that of the slowest.
///
/// # Errors
/// As [`speed`].
pub fn scenarios(bench: &mut Bench) -> Result<Taken, Error> {
    let mut more = Vec::new();
    let mut slowest = f64::INFINITY;
    let seeds = bench.counts.seeds.div_ceil(SCENARIO_SHARE);
    for scenario in bench.scenarios.clone() {
        let plans = bench.plans(seeds, |other| other.id == scenario.id)?;
        let mut tally = Tally::default();
        plans.iter().try_for_each(|plan| timed(plan, Kind::Judged, &mut tally))?;
        let per_s = ratio(plans.len() as f64, tally.spent[Kind::Judged as usize].as_secs_f64());
        slowest = slowest.min(per_s);
        more.push(told(scenario.id, scenario.id, Unit::RunsPerSecond, Better::More).with(Outcome::Measured(per_s)));
    }
    let how = format!("{seeds} runs of each, kept and judged, one scenario after the other");
    Ok(Taken { outcomes: vec![Outcome::Measured(slowest)], more, how })
}

/// The catalog without its swarms, timed once for all rows that are about it.
fn of_catalog(bench: &mut Bench) -> Result<(Speed, String), Error> {
    let speed = match bench.speed.take() {
        Some(speed) => speed,
        None => speed(&bench.plans(bench.counts.seeds, |scenario| !is_swarm(scenario))?)?,
    };
    bench.speed = Some(speed.clone());
    Ok((speed.clone(), format!("{} runs of each kind in {BLOCKS} alternating blocks", speed.run_count)))
}

/// Times every plan once for each kind of run.
///
/// # Errors
/// A harness error when a run cannot be started, or did not come to its end; an interruption.
pub fn speed(plans: &[Plan]) -> Result<Speed, Error> {
    let Some(first) = plans.first() else { return Ok(Speed::default()) };
    let mut tally = Tally::default();
    // Once, so that what a process does only once is not counted.
    timed(first, Kind::Judged, &mut Tally::default())?;
    let mut kept_over_digested = Vec::new();
    for block in plans.chunks(plans.len().div_ceil(BLOCKS)) {
        let before = tally.spent;
        for kind in [Kind::Digested, Kind::Kept, Kind::Judged] {
            for plan in block {
                timed(plan, kind, &mut tally)?;
            }
        }
        let seconds = |kind: Kind| (tally.spent[kind as usize] - before[kind as usize]).as_secs_f64();
        kept_over_digested.push(ratio(seconds(Kind::Kept), seconds(Kind::Digested)));
    }
    let count = plans.len() as f64;
    let per_s = |kind: Kind| ratio(count, tally.spent[kind as usize].as_secs_f64());
    let virtual_over_wall = ratio(tally.idle_virtual_ms as f64 / 1000.0, tally.idle_spent.as_secs_f64());
    Ok(Speed {
        run_count: plans.len(),
        events_per_run: tally.event_count as f64 / count,
        digested_per_s: per_s(Kind::Digested),
        kept_per_s: per_s(Kind::Kept),
        judged_per_s: per_s(Kind::Judged),
        kept_over_digested: median(&kept_over_digested),
        virtual_over_wall: Some(virtual_over_wall).filter(|_| !tally.idle_spent.is_zero()),
    })
}

fn timed(plan: &Plan, kind: Kind, tally: &mut Tally) -> Result<(), Error> {
    check_interrupt()?;
    let began = now();
    let result = one_run(plan, kind)?;
    let spent = now().duration_since(began);
    tally.spent[kind as usize] += spent;
    if matches!(kind, Kind::Digested) {
        tally.event_count += result.event_count;
        if is_idle_heavy(&plan.scenario) {
            tally.idle_virtual_ms += result.trace.ends_at_ms;
            tally.idle_spent += spent;
        }
    }
    Ok(())
}

/// One run of that kind, to its end: what the product does wrong in it is nothing to a measurement.
///
/// # Errors
/// A harness error when it cannot be started, or did not come to its end.
pub fn one_run(plan: &Plan, kind: Kind) -> Result<RunResult, Error> {
    let keep = if matches!(kind, Kind::Digested) { Keep::DigestOnly } else { Keep::Trace };
    let is_judged = matches!(kind, Kind::Judged);
    // A crowd of ten thousand takes a while; whoever waits can interrupt it.
    let options = RunOptions {
        keep,
        is_judged,
        counts_reach: is_judged,
        wall_limit: Duration::from_secs(3_600),
        ..RunOptions::default()
    };
    let result = run::run_plan(plan, &options)?;
    let failed = result.findings.iter().find(|finding| finding.exit_code() == ExitCode::Harness);
    match failed {
        Some(finding) => Err(Error::harness(format!(
            "{} seed {}: {}",
            crate::text::printable(&plan.scenario),
            plan.seed,
            Signature::of(finding, plan)
        ))),
        None => Ok(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::seed::Seed;

    #[test]
    fn every_kind_of_run_is_counted() {
        let scenario = crate::draw::scenario("idle/stream-stays-open").expect("it is in the catalog");
        let plans: Vec<Plan> = (0..3).map(|seed| (scenario.plan)(Seed(seed))).collect();
        let speed = speed(&plans).expect("the plans run");
        assert_eq!(speed.run_count, 3);
        for figure in [speed.digested_per_s, speed.kept_per_s, speed.judged_per_s, speed.kept_over_digested] {
            assert!(figure.is_finite() && figure > 0.0, "{speed:?}");
        }
        assert!(speed.events_per_run > 100.0 && speed.virtual_over_wall.is_some_and(|times| times > 100.0));
    }

    #[test]
    fn nothing_to_run_gives_no_figure() {
        assert_eq!(speed(&[]), Ok(Speed::default()));
    }
}
