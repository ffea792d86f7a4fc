//! The only door to time, tasks, sleeping, randomness and nodes.
//!
//! Under `--cfg madsim` everything here is simulated; without it the same functions stand on real tokio (one
//! current-thread runtime with a `LocalSet`), so that the model can serve real clients.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::operation::{Intervention, OperationPoint};

mod alarm;
mod node;
pub use alarm::Alarm;
pub use node::Node;

/// Virtual instant zero of a run in milliseconds since the Unix epoch (2026-01-01T00:00:00Z).
///
/// The host treats a time of 0 as "unknown", so a run must not start there.
pub const EPOCH_MS: u64 = 1_767_225_600_000;

/// What the harness may decide about a world from outside: draws and interventions. Absent in production.
pub trait Director {
    /// A named draw in `0..below`; `who` is a session id, an isolate or `edge`, `what` a dotted name.
    fn decide(&self, who: &str, what: &str, below: u64) -> u64;
    /// A named delay in whole milliseconds above the base of that kind of delay.
    fn delay_ms(&self, who: &str, what: &str) -> u64;
    /// Something that a calm platform never does, by a dotted name; 0 for not.
    fn stray(&self, _who: &str, _what: &str) -> u64 {
        0
    }
    /// Lifts a due time to the grid on which this world's events meet (identity when the world has none).
    fn round_up_ms(&self, at_ms: u64) -> u64;
    /// Asked at the begin and the end of every operation; nothing lets it be, as nearly always.
    fn at_operation(&self, point: &OperationPoint<'_>) -> Option<Box<Intervention>>;
}

thread_local! {
    static ORIGIN: Cell<Option<Instant>> = const { Cell::new(None) };
    /// What the clock reads as long as it is held, in microseconds since the run began.
    static HELD_US: Cell<Option<u64>> = const { Cell::new(None) };
    static DIRECTOR: RefCell<Option<Rc<dyn Director>>> = const { RefCell::new(None) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static STEP_LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
    static TIMERS: Cell<u64> = const { Cell::new(0) };
}

/// Starts a run on this thread: its clock reads [`EPOCH_MS`] now, no step is counted yet.
pub fn begin_run(director: Option<Rc<dyn Director>>, step_limit: u64) {
    ORIGIN.set(Some(instant_now()));
    STEPS.set(0);
    TIMERS.set(0);
    STEP_LIMIT.set(step_limit);
    DIRECTOR.with_borrow_mut(|slot| *slot = director);
}

/// Ends the run on this thread; the director is dropped.
pub fn end_run() {
    DIRECTOR.with_borrow_mut(|slot| *slot = None);
    ORIGIN.set(None);
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn instant_now() -> Instant {
    // The same as below, but not through the system call that the simulation replaces.
    #[cfg(madsim)]
    if let Some(time) = madsim::time::TimeHandle::try_current() {
        return time.now_instant();
    }
    Instant::now()
}

fn origin() -> Instant {
    ORIGIN.get().unwrap_or_else(|| {
        let now = instant_now();
        ORIGIN.set(Some(now));
        now
    })
}

/// Microseconds since the run began.
pub fn run_us() -> u64 {
    HELD_US.get().unwrap_or_else(read_us)
}

fn read_us() -> u64 {
    u64::try_from((instant_now() - origin()).as_micros()).unwrap_or(u64::MAX)
}

/// The clock, read once for as long as this lives: see [`hold_clock`].
#[must_use = "the clock is held no longer than this lives"]
pub struct HeldClock(());

/// Reads the clock for a poll that will ask for it often. The simulated clock stands still within a poll, and reading
/// it is not free; a real one goes on and is not held.
pub fn hold_clock() -> HeldClock {
    if cfg!(madsim) {
        HELD_US.set(Some(read_us()));
    }
    HeldClock(())
}

impl Drop for HeldClock {
    fn drop(&mut self) {
        HELD_US.set(None);
    }
}

/// Whether a world runs on this thread: without one there is no clock to sleep by, as while a world that broke off is
/// taken apart.
pub fn is_running() -> bool {
    HELD_US.get().is_some() || has_clock()
}

#[cfg(madsim)]
fn has_clock() -> bool {
    madsim::time::TimeHandle::try_current().is_some()
}

#[cfg(not(madsim))]
fn has_clock() -> bool {
    tokio::runtime::Handle::try_current().is_ok()
}

/// Whole milliseconds since the run began.
pub fn run_ms() -> u64 {
    run_us() / 1000
}

/// The wall clock of the modelled world: whole milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    EPOCH_MS + run_ms()
}

/// A future that ends when the clock reads `at_ms` (epoch milliseconds), at once if it does already.
pub fn sleep_until_ms(at_ms: u64) -> impl Future<Output = ()> + Send + 'static {
    sleep_until(origin() + Duration::from_millis(at_ms.saturating_sub(EPOCH_MS)))
}

/// A future that ends half a millisecond past the clock's reading, at once if it is later than that: whatever happens
/// on the grid of whole milliseconds has happened by then, in whichever order its tasks ran.
pub fn sleep_until_half_past_ms() -> impl Future<Output = ()> + 'static {
    sleep_until(origin() + Duration::from_micros(run_ms() * 1000 + 500))
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
async fn sleep_until(deadline: Instant) {
    TIMERS.set(TIMERS.get() + 1);
    // A loop that only sleeps makes no other step.
    count_step();
    let mut sleep = std::pin::pin!(tokio::time::sleep_until(deadline));
    // The simulator stretches a sleep to a millisecond when it is made, but not when it is set again; without
    // this, chains of short sleeps drift away from whole milliseconds.
    sleep.as_mut().reset(deadline);
    sleep.await;
}

/// A future that ends `ms` milliseconds from now; the simulated clock needs at least one.
pub fn sleep_ms(ms: u64) -> impl Future<Output = ()> + 'static {
    sleep_until_ms(now_ms() + ms)
}

/// Starts a task on the current node. Nobody stops it by dropping a handle.
pub fn spawn(_name: &'static str, future: impl Future<Output = ()> + 'static) {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    drop(tokio::task::spawn_local(future));
}

/// A named draw in `0..below`; 0 when nobody directs the world or `below` is 0.
pub fn decide(who: &str, what: &str, below: u64) -> u64 {
    if below <= 1 {
        return 0;
    }
    with_director(0, |director| director.decide(who, what, below))
}

/// A named delay in whole milliseconds above the base; 0 when nobody directs the world.
pub fn decide_delay(who: &str, what: &str) -> u64 {
    with_director(0, |director| director.delay_ms(who, what))
}

/// Something that a calm platform never does: how much of it, or how late, and 0 for not, as always when nobody directs.
pub fn stray(who: &str, what: &str) -> u64 {
    with_director(0, |director| director.stray(who, what))
}

/// Lifts a due time to the world's grid.
pub fn round_up_ms(at_ms: u64) -> u64 {
    with_director(at_ms, |director| director.round_up_ms(at_ms))
}

/// Asks the director about one edge of an operation; nothing when nobody directs.
pub fn at_operation(point: &OperationPoint<'_>) -> Option<Box<Intervention>> {
    with_director(None, |director| director.at_operation(point))
}

fn with_director<T>(absent: T, ask: impl FnOnce(&dyn Director) -> T) -> T {
    DIRECTOR.with_borrow(|director| match director {
        Some(director) => ask(&**director),
        None => absent,
    })
}

/// Counts one step of work and panics when the run's budget is spent: a livelock must not hang the harness.
pub fn count_step() {
    let steps = STEPS.get() + 1;
    STEPS.set(steps);
    assert!(steps <= STEP_LIMIT.get(), "step budget of {} exceeded", STEP_LIMIT.get());
}

/// Timers armed since the run began.
pub fn timers() -> u64 {
    TIMERS.get()
}

/// Steps counted since the run began.
pub fn steps() -> u64 {
    STEPS.get()
}
