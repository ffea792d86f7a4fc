//! The search of a campaign: blocks are dealt to a fleet, results are folded in the order of the seeds, and whatever ends it
//! leaves a record of the first seeds without a gap.

use super::fleet::{self, Block, BlockResult, Orders};
use super::record::{End, Record};
use crate::error::Error;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Seeds that are dealt at once: few enough that a cut block costs little, many enough that dealing costs nothing.
const BLOCK_SEEDS: u64 = 16;
/// Blocks that are dealt for each thread ahead of what is folded.
const BLOCKS_AHEAD: u64 = 4;
/// How often whoever waits looks up.
const LOOK_UP_EVERY: Duration = Duration::from_millis(100);

/// Whoever watches a search.
pub trait Watcher {
    /// Called many times a second, with the record as it is; `Some` ends the search.
    ///
    /// # Errors
    /// A harness error when what is known cannot be kept.
    fn look(&mut self, record: &Record) -> Result<Option<End>, Error>;

    /// Something that a person should know and the record does not say.
    fn note(&mut self, note: &str);
}

/// Folds seeds into the record until it ends, or until the watcher ends it.
///
/// # Errors
/// A harness error when no worker can be started, or what is known cannot be kept.
pub fn search(
    record: &mut Record,
    orders: &Orders,
    jobs: NonZeroUsize,
    watcher: &mut dyn Watcher,
) -> Result<(), Error> {
    record.ended = if record.next_seed().is_none() { Some(End::AllSeeds) } else { None };
    if record.has_enough() {
        record.ended = Some(End::StopAfter);
    }
    if record.ended.is_some() {
        return Ok(());
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (deal, dealt) = mpsc::channel();
    let (send, receive) = mpsc::channel();
    let dealt = Mutex::new(dealt);
    std::thread::scope(|scope| {
        for _ in 0..jobs.get() {
            let (send, stop, dealt) = (send.clone(), Arc::clone(&stop), &dealt);
            scope.spawn(move || fleet::work(orders, dealt, &send, &stop));
        }
        let mut dealer = Dealer::new(record, deal, jobs.get() as u64 * BLOCKS_AHEAD);
        let outcome = dealer.run(record, &receive, watcher);
        stop.store(true, Ordering::Relaxed);
        let ended = outcome?;
        // What was under way is cut after the seed that runs; the first seeds of the next block in line still count.
        dealer.close();
        drop(send);
        for block in receive {
            dealer.keep(block);
        }
        dealer.fold(record, watcher)?;
        record.ended = record.ended.or(ended);
        Ok(())
    })
}

/// Deals blocks and folds what comes back.
struct Dealer {
    deal: Option<Sender<Block>>,
    /// The first that was not dealt yet; none when all were.
    next_seed: Option<u64>,
    last_seed: u64,
    dealt: u64,
    folded: u64,
    ahead: u64,
    waiting: BTreeMap<u64, BlockResult>,
    /// Whether the block in line was cut short: nothing after it can be folded.
    is_cut: bool,
}

impl Dealer {
    fn new(record: &Record, deal: Sender<Block>, ahead: u64) -> Self {
        let next_seed = record.next_seed().map(|seed| seed.0);
        let last_seed = record.last_seed().map_or(0, |seed| seed.0);
        let waiting = BTreeMap::new();
        Self { deal: Some(deal), next_seed, last_seed, dealt: 0, folded: 0, ahead, waiting, is_cut: false }
    }

    fn run(
        &mut self,
        record: &mut Record,
        results: &Receiver<BlockResult>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<End>, Error> {
        loop {
            self.deal_ahead();
            if let Some(block) = wait(results)? {
                self.keep(block);
                self.fold(record, watcher)?;
            }
            if record.ended.is_some() {
                return Ok(record.ended);
            }
            if let Some(end) = watcher.look(record)? {
                return Ok(Some(end));
            }
        }
    }

    fn deal_ahead(&mut self) {
        while let Some(first) = self.next_seed
            && self.dealt < self.folded + self.ahead
            && first <= self.last_seed
        {
            let last = first.saturating_add(BLOCK_SEEDS - 1).min(self.last_seed);
            let block = (self.dealt, first..=last);
            if self.deal.as_ref().is_none_or(|deal| deal.send(block).is_err()) {
                return;
            }
            self.next_seed = last.checked_add(1);
            self.dealt += 1;
        }
    }

    fn close(&mut self) {
        self.deal = None;
    }

    fn keep(&mut self, block: BlockResult) {
        self.waiting.insert(block.index, block);
    }

    /// Folds every block that is next in line.
    fn fold(&mut self, record: &mut Record, watcher: &mut dyn Watcher) -> Result<(), Error> {
        while let Some(block) = self.waiting.remove(&self.folded) {
            self.folded += 1;
            for note in &block.notes {
                watcher.note(note);
            }
            let is_whole = block.results.len() as u64 == BLOCK_SEEDS;
            for result in &block.results {
                if record.ended.is_some() || self.is_cut {
                    return Ok(());
                }
                record.fold(result);
            }
            self.is_cut = !is_whole;
            match block.error {
                Some(Error::Interrupted) | None => {}
                Some(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "this process is outside the simulation and its clock is the real one")]
fn wait(results: &Receiver<BlockResult>) -> Result<Option<BlockResult>, Error> {
    match results.recv_timeout(LOOK_UP_EVERY) {
        Ok(block) => Ok(Some(block)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(Error::harness("every thread of the campaign ended")),
    }
}
