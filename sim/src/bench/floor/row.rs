//! The row of the floor: instructions and time of runs over those of their exchanges alone.

use super::{Script, play, record};
use crate::bench::part::Part;
use crate::bench::row::{Outcome, Taken};
use crate::bench::speed::{Kind, one_run};
use crate::bench::{Bench, check_interrupt, instructions, is_swarm, median, now, ratio};
use crate::error::Error;
use scenarios::plan::Plan;
use std::sync::Arc;

/// Rounds over all plans, host and floor in turn, for the ratio of times.
const ROUNDS: usize = 9;
/// Repetitions under callgrind; what is done once for each process cancels between them.
const REPETITIONS: [u32; 2] = [1, 3];

/// What the host costs over the floor.
///
/// # Errors
/// A harness error when a run or its floor fails; an interruption.
pub fn row(bench: &mut Bench) -> Result<Taken, Error> {
    let seeds = bench.counts.floor_seeds;
    let plans = bench.plans(seeds, |scenario| !is_swarm(scenario))?;
    let scripts: Result<Vec<Arc<Script>>, Error> = plans.iter().map(|plan| record(plan).map(Arc::new)).collect();
    let scripts = scripts?;
    let (over_floor, played_timers) = times(&plans, &scripts)?;
    let scenarios: Vec<String> =
        bench.scenarios.iter().filter(|scenario| !is_swarm(scenario)).map(|scenario| scenario.id.to_owned()).collect();
    let host = |repeat| Part::Host { scenarios: scenarios.clone(), seeds, repeat };
    let floor = |repeat| Part::Floor { scenarios: scenarios.clone(), seeds, repeat };
    (bench.progress)("bench: floor: counting instructions");
    let counted = match instructions::of_one_repetition(host, REPETITIONS, &bench.change_arguments)? {
        Ok(above) => instructions::of_one_repetition(floor, REPETITIONS, &bench.change_arguments)?
            .map(|below| (ratio(above, below), above / plans.len() as f64)),
        Err(why) => Err(why),
    };
    let exchanges: usize = scripts.iter().map(|script| script.exchange_count()).sum();
    let timers: u64 = scripts.iter().map(|script| script.timer_count()).sum();
    let mut how = format!(
        "{} runs, only digested, with {exchanges} exchanges and {timers} timers, and on the floor the same exchanges and {played_timers} timers",
        plans.len()
    );
    let instructions = match counted {
        Ok((times, per_run)) => {
            how.push_str(&format!("; callgrind counts {:.2} million instructions a run", per_run / 1e6));
            Outcome::Measured(times)
        }
        Err(why) => Outcome::NotAvailable(why),
    };
    Ok(Taken { outcomes: vec![instructions, Outcome::Measured(over_floor)], more: Vec::new(), how })
}

/// The median over some rounds of the time of all runs over that of all floors, and the timers of one round.
fn times(plans: &[Plan], scripts: &[Arc<Script>]) -> Result<(f64, u64), Error> {
    let mut ratios = Vec::new();
    let mut timers = 0;
    for _ in 0..ROUNDS {
        check_interrupt()?;
        let began = now();
        for (plan, script) in plans.iter().zip(scripts) {
            if one_run(plan, Kind::Digested)?.trace.run_digest != script.run_digest {
                return Err(Error::harness("a run was another one while it was listened to, so it has no floor"));
            }
        }
        let between = now();
        timers = 0;
        for script in scripts {
            timers += play(script)?.timer_count;
        }
        let host = between.duration_since(began).as_secs_f64();
        ratios.push(ratio(host, now().duration_since(between).as_secs_f64()));
    }
    Ok((median(&ratios), timers))
}
