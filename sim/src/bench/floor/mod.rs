//! The floor: the same HTTP exchanges and timers in a world without a host, to know what everything above it costs.
//!
//! A run is listened to at its clients' ends; then the same connections are made at the same times, the same requests are
//! sent over them by the same adapter and hyper, and an echo gives the answers back that came then: the same head, the
//! same pieces after the same time. What the run had more timers is armed beside it. There are no clients that think, no
//! decisions and no recorder: the floor is as low as it can honestly be.

mod play;
mod row;

use crate::capture;
use crate::error::Error;
use crate::recorder::{self, Keep};
use crate::run::{Budget, WorldOptions, WorldResult};
use crate::{text, world};
use model::net::tap::{self, HeardConnection};
use model::rt;
use scenarios::plan::Plan;
use std::sync::Arc;

pub use play::{Played, play};
pub use row::row;

/// How often the floor's timers are set right at most.
const MATCHING_ROUNDS: usize = 6;

/// What was heard of one run.
#[derive(Clone, Debug)]
pub struct Script {
    /// The clients' connections.
    connections: Vec<HeardConnection>,
    /// Timers that were armed, those of the connections included.
    timer_count: u64,
    /// How many of them are armed for nobody: what the connections alone do not arm.
    spare_timer_count: u64,
    /// When it ended, in virtual ms since its start.
    ends_at_ms: u64,
    /// Digest of the whole run, which nobody's listening changes.
    run_digest: u64,
}

impl Script {
    /// Requests that the clients sent.
    pub fn exchange_count(&self) -> usize {
        self.connections.iter().map(|connection| connection.exchanges.len()).sum()
    }

    /// Timers that were armed.
    pub fn timer_count(&self) -> u64 {
        self.timer_count
    }

    /// Answers whose body was read to its end.
    fn answer_count(&self) -> usize {
        let exchanges = self.connections.iter().flat_map(|connection| &connection.exchanges);
        exchanges.filter(|exchange| exchange.head.is_some() && exchange.ended_at_ms.is_some()).count()
    }

    /// Bytes of the bodies that came with those answers.
    fn answer_bytes(&self) -> usize {
        let exchanges = self.connections.iter().flat_map(|connection| &connection.exchanges);
        exchanges
            .filter(|exchange| exchange.head.is_some() && exchange.ended_at_ms.is_some())
            .flat_map(|exchange| &exchange.pieces)
            .map(|piece| piece.byte_count)
            .sum()
    }
}

/// Runs a plan as it is run, and listens.
///
/// # Errors
/// A harness error when the run does not come to its end.
pub fn record(plan: &Plan) -> Result<Script, Error> {
    recorder::install()?;
    let plan = plan.clone();
    let shown = format!("{} seed {}", text::printable(&plan.scenario), plan.seed);
    let failed = move |what: &str| Error::harness(format!("{shown}: no floor: {}", text::shortened(what, 200)));
    let mut script = on_fresh_thread(move || {
        let budget = Budget::for_plan(&plan);
        recorder::begin(Keep::DigestOnly, budget.event_max);
        tap::listen();
        let options = WorldOptions { budget, scheduler_seed: 0, leak: None, are_pins_optional: false };
        let ended = capture::guarded(|| world::run_world(&plan, &options));
        let (connections, timer_count) = (tap::finish(), rt::timers());
        let run_digest = recorder::finish().run_digest;
        match ended {
            Ok(WorldResult { stopped: Some(why), .. }) => Err(failed(&why)),
            Ok(WorldResult { ends_at_ms, .. }) => {
                Ok(Script { connections, timer_count, spare_timer_count: 0, ends_at_ms, run_digest })
            }
            Err(caught) => Err(failed(&caught.message)),
        }
    })?;
    // A timer beside the connections may save or cost them one, when both fall into a millisecond.
    for _ in 0..MATCHING_ROUNDS {
        let played = play(&Arc::new(script.clone()))?;
        if played.timer_count == script.timer_count {
            break;
        }
        let spare = script.spare_timer_count + script.timer_count;
        script.spare_timer_count = spare.saturating_sub(played.timer_count);
    }
    Ok(script)
}

/// Does something on a thread whose thread-locals nobody touched, with the stack of a run.
fn on_fresh_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    let thread = std::thread::Builder::new().name("floor".to_owned()).stack_size(crate::run::STACK_BYTES);
    let thread = thread.spawn(work).map_err(|error| Error::harness(format!("no thread for the floor: {error}")))?;
    thread.join().unwrap_or_else(|_| Err(Error::harness("the thread of the floor panicked")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::speed::{Kind, one_run};
    use scenarios::seed::Seed;
    use scenarios::trace::Stream;

    fn plan(seed: u64) -> Plan {
        let scenario = crate::draw::scenario("idle/stream-stays-open").expect("it is in the catalog");
        (scenario.plan)(Seed(seed))
    }

    #[test]
    fn the_floor_has_the_exchanges_and_the_timers_of_the_run() {
        for seed in 0..6 {
            let plan = plan(seed);
            let trace = one_run(&plan, Kind::Kept).expect("it runs").trace;
            let script = record(&plan).expect("it is heard");
            let asked = trace.named(Stream::History, "request.begin").count();
            assert_eq!(script.exchange_count(), asked, "seed {seed}");
            assert_eq!(script.ends_at_ms, trace.ends_at_ms, "seed {seed}");
            let played = play(&Arc::new(script.clone())).expect("it is played");
            assert_eq!(played.answer_count, script.answer_count(), "seed {seed}");
            assert!(played.answer_bytes > 0, "seed {seed}");
            // One more or less comes of a timer that falls into a millisecond with a connection.
            assert!(played.timer_count.abs_diff(script.timer_count()) <= 1, "seed {seed}: {}", played.timer_count);
        }
    }

    #[test]
    fn a_floor_that_misses_an_answer_is_no_floor() {
        let mut script = record(&plan(1)).expect("it is heard");
        let exchanges = script.connections.iter_mut().flat_map(|connection| &mut connection.exchanges);
        for exchange in exchanges.take(1) {
            exchange.ended_at_ms = Some(script.ends_at_ms * 2);
        }
        let refusal = play(&Arc::new(script)).expect_err("the first answer does not end in time").to_string();
        assert!(refusal.starts_with("the floor was not played: "), "{refusal}");
    }

    #[test]
    fn listening_does_not_change_a_run() {
        for seed in 0..6 {
            let plan = plan(seed);
            let alone = one_run(&plan, Kind::Digested).expect("it runs").trace.run_digest;
            assert_eq!(record(&plan).expect("it is heard").run_digest, alone, "seed {seed}");
        }
    }
}
