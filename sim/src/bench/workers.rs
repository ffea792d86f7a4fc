//! Two worker processes over one: the same runs, in alternating blocks.

use super::row::Taken;
use super::{Bench, check_interrupt, is_swarm, median, now, ratio};
use crate::error::Error;
use crate::supervisor::{Job, Worker, WorkerSpec};
use crate::trial::TrialOptions;
use scenarios::catalog::{self, Scenario};
use std::path::PathBuf;
use std::time::Duration;

/// Blocks of one worker and of two.
const ROUNDS: usize = 8;
/// Wall-clock time that one run may take.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// Runs a second of two workers over those of one.
///
/// # Errors
/// A harness error when a worker is lost; an interruption.
pub fn row(bench: &mut Bench) -> Result<Taken, Error> {
    let jobs = jobs(bench);
    let [mut one, mut other] = [worker(bench), worker(bench)];
    // Both are started, and have done once what a process does only once.
    for worker in [&mut one, &mut other] {
        ask(worker, &jobs[..jobs.len().min(4)])?;
    }
    let mut ratios = Vec::new();
    let (mut alone_s, mut together_s) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        check_interrupt()?;
        let alone = seconds(|| ask(&mut one, &jobs))?;
        let together = seconds(|| ask_both(&mut one, &mut other, &jobs))?;
        ratios.push(ratio(alone, together));
        alone_s += alone;
        together_s += together;
    }
    let count = (jobs.len() * ROUNDS) as f64;
    let how = format!(
        "{} runs, only digested, in {ROUNDS} alternating blocks: {:.0} runs/s with one worker, {:.0} with two; the median of the ratios",
        jobs.len() * ROUNDS,
        ratio(count, alone_s),
        ratio(count, together_s),
    );
    Ok(Taken::measured(&[median(&ratios)], how))
}

fn jobs(bench: &Bench) -> Vec<Job> {
    let among: Vec<&Scenario> = bench.scenarios.iter().copied().filter(|scenario| !is_swarm(scenario)).collect();
    let jobs = catalog::mix(bench.counts.seeds, &among);
    jobs.map(|(scenario, seed)| Job::of_seed(scenario.id, seed, TrialOptions::default())).collect()
}

fn worker(bench: &Bench) -> Worker {
    Worker::new(WorkerSpec {
        arguments: bench.change_arguments.clone(),
        directory: PathBuf::from("."),
        is_environment_cleared: false,
        environment: Vec::new(),
        wall_limit: RUN_LIMIT,
    })
}

fn ask(worker: &mut Worker, jobs: &[Job]) -> Result<(), Error> {
    for job in jobs {
        worker.ask(job)?.map_err(|lost| Error::harness(format!("{} seed {}: {}", job.scenario, job.seed, lost.how)))?;
    }
    Ok(())
}

/// Each has the next job as soon as it has done one, so that neither waits for the other's long ones.
fn ask_both(one: &mut Worker, other: &mut Worker, jobs: &[Job]) -> Result<(), Error> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let take = || jobs.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let work = |worker: &mut Worker| -> Result<(), Error> {
        while let Some(job) = take() {
            ask(worker, std::slice::from_ref(job))?;
        }
        Ok(())
    };
    let (of_one, of_other) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| work(other));
        let here = work(one);
        (here, beside.join().unwrap_or_else(|_| Err(Error::harness("the thread of the second worker panicked"))))
    });
    of_one.and(of_other)
}

fn seconds(work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let began = now();
    work()?;
    Ok(now().duration_since(began).as_secs_f64())
}
