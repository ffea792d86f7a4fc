//! The workers of a campaign: blocks of seeds are dealt to threads with a worker each, a bad run costs one run, and results
//! come back in the order of the seeds.

use super::fold::SeedResult;
use crate::error::Error;
use crate::supervisor::{Job, Known, LostBy, Worker, WorkerSpec};
use crate::trial::{Answer, TrialOptions};
use scenarios::catalog::{self, Scenario};
use scenarios::seed::Seed;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Of this many seeds one is run twice.
const TWICE_OF: u64 = 16;

/// What each thread of a fleet does.
#[derive(Clone)]
pub struct Orders {
    /// The scenarios that seeds pick from.
    pub scenarios: Vec<&'static Scenario>,
    /// Whether every run is repeated.
    pub is_twice: bool,
    /// How the worker that runs seeds is started, and the one that repeats some: in other circumstances.
    pub specs: [WorkerSpec; 2],
}

/// A block of seeds that was dealt: its place in the order, and its seeds.
pub type Block = (u64, RangeInclusive<u64>);

/// What became of a block: results of its first seeds, all of them unless it was cut short, and why if it failed.
pub struct BlockResult {
    /// Place in the order.
    pub index: u64,
    /// Results in the order of the seeds.
    pub results: Vec<SeedResult>,
    /// Why the rest is missing; nothing where everybody was told to stop.
    pub error: Option<Error>,
    /// What a person should know and the record does not say.
    pub notes: Vec<String>,
}

/// Takes blocks and answers them until there are no more, or everybody is told to stop.
pub fn work(orders: &Orders, blocks: &Mutex<Receiver<Block>>, results: &Sender<BlockResult>, stop: &Arc<AtomicBool>) {
    let mut hand = Hand::new(orders, stop);
    loop {
        let next = blocks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, seeds)) = next else { return };
        if results.send(hand.block(index, seeds)).is_err() {
            return;
        }
    }
}

/// Whether a seed is among those that are always run twice.
pub fn is_repeated(seed: Seed) -> bool {
    xxh3_64(&seed.0.to_le_bytes()).is_multiple_of(TWICE_OF)
}

/// One thread's pair of workers.
struct Hand<'a> {
    orders: &'a Orders,
    stop: &'a AtomicBool,
    runner: Worker,
    repeater: Worker,
}

impl<'a> Hand<'a> {
    fn new(orders: &'a Orders, stop: &'a AtomicBool) -> Self {
        let [runner, repeater] = &orders.specs;
        Self { orders, stop, runner: Worker::new(runner.clone()), repeater: Worker::new(repeater.clone()) }
    }

    /// Runs a block, then repeats some of it from its end: a run must not hang on those before it, and that shows only
    /// when it has others before it the second time.
    fn block(&mut self, index: u64, seeds: RangeInclusive<u64>) -> BlockResult {
        let mut block = BlockResult { index, results: Vec::new(), error: None, notes: Vec::new() };
        for seed in seeds.clone() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            match self.run(Seed(seed), &mut block.notes) {
                Ok(result) => block.results.push(result),
                Err(error) => {
                    block.error = Some(error);
                    break;
                }
            }
        }
        let ran = seeds.zip(&block.results).map(|(seed, _)| Seed(seed)).enumerate();
        let repeated: Vec<_> = ran.filter(|(_, seed)| self.orders.is_twice || is_repeated(*seed)).collect();
        for (at, seed) in repeated.iter().rev() {
            let result = &mut block.results[*at];
            let again = match self.stop.load(Ordering::Relaxed) {
                true => Err(Error::Interrupted),
                false => self.repeat(*seed, result, &mut block.notes),
            };
            if let Err(error) = again {
                // Without its repetition a run cannot be folded, nor what comes after it.
                block.results.truncate(repeated.first().map_or(0, |(first, _)| *first));
                block.error = block.error.or(Some(error));
                break;
            }
        }
        block
    }

    fn run(&mut self, seed: Seed, notes: &mut Vec<String>) -> Result<SeedResult, Error> {
        let scenario = catalog::pick(seed, &self.orders.scenarios)
            .ok_or_else(|| Error::harness("a campaign without scenarios has nothing to run"))?;
        let (answer, lost) = ask(&mut self.runner, &job(scenario, seed), notes)?;
        Ok(SeedResult { scenario, answer, again: lost })
    }

    fn repeat(&mut self, seed: Seed, result: &mut SeedResult, notes: &mut Vec<String>) -> Result<(), Error> {
        let (again, lost) = ask(&mut self.repeater, &job(result.scenario, seed), notes)?;
        // A worker that ended by itself, and then did not, is the gravest way not to repeat.
        result.again = result.again.take().or(lost).or(Some(again));
        Ok(())
    }
}

fn job(scenario: &Scenario, seed: Seed) -> Job {
    Job::of_seed(scenario.id, seed, TrialOptions { is_judged: true, counts_reach: true, ..TrialOptions::default() })
}

/// Asks for a run until it is known how it ends. Returns the answer, and a loss if the run ended a worker by itself and then
/// did not. What ended a worker from outside leaves no mark on what the campaign knows.
fn ask(worker: &mut Worker, job: &Job, notes: &mut Vec<String>) -> Result<(Answer, Option<Answer>), Error> {
    let Known { answer, losses } = worker.ask_surely(job)?;
    let answer = match answer {
        Ok(answer) => answer,
        Err(lost) => return Ok((Answer::lost(&lost.how), None)),
    };
    for lost in &losses {
        notes.push(format!("{} seed {}: {}; run again, it ended as usual", job.scenario, job.seed, lost.how));
    }
    let unrepeated = losses.iter().find(|lost| lost.by == LostBy::Itself);
    Ok((answer, unrepeated.map(|lost| Answer::lost(&lost.how))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_in_sixteen_is_repeated() {
        let repeated = (0..16_000).filter(|seed| is_repeated(Seed(*seed))).count();
        assert!((900..1_100).contains(&repeated), "{repeated}");
    }
}
