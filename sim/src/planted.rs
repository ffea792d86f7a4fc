//! Nondeterminism planted on purpose, so that it can be shown that `meta` finds it. Only workers can be told to.

use crate::recorder::record;
use scenarios::seed::Seed;
use scenarios::trace::{Name, Stream, Value};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use xxhash_rust::xxh3::xxh3_64;

/// What is planted in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Leak {
    /// A counter of the process, so that a run depends on the runs before it.
    Counter,
    /// A map ordered by where its keys lie in memory.
    Address,
    /// A clock that is not the run's.
    Clock,
    /// A `select!` that is not biased: its dice are thrown from a counter of the process.
    Select,
    /// No leak but a hang, for one seed in eight: a loop that never lets go of the thread.
    Hang,
    /// No leak but the end of the process, for one seed in eight.
    Abort,
    /// No leak but a loop that awaits and never comes to rest, for one seed in eight.
    Livelock,
    /// No leak but a call without end, for one seed in eight.
    Overflow,
    /// No leak but memory asked for without end, for one seed in eight.
    Memory,
    /// No leak but a panic, for one seed in eight.
    Panic,
}

/// Leaks into the trace of the running world.
pub fn leak(leak: Leak, seed: Seed) {
    match leak {
        Leak::Counter => note(leak, counter()),
        Leak::Address => note(leak, address_order().as_str()),
        Leak::Clock => note(leak, SEEN_NS.get()),
        Leak::Select => note(leak, unbiased_select()),
        fatal if seed.0 % 8 == 3 => end_badly(fatal),
        _ => {}
    }
}

/// The ways in which a run can cost its worker, or itself.
fn end_badly(leak: Leak) {
    match leak {
        Leak::Hang => loop {
            std::hint::spin_loop();
        },
        Leak::Abort => std::process::abort(),
        Leak::Livelock => {
            model::rt::spawn("planted", async {
                loop {
                    model::rt::sleep_ms(0).await;
                }
            });
        }
        Leak::Overflow => note(leak, descend(0)),
        Leak::Memory => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(std::hint::black_box(vec![1; 1 << 20]));
            }
        }
        Leak::Panic => panic!("planted: it must cost this run only"),
        Leak::Counter | Leak::Address | Leak::Clock | Leak::Select => {}
    }
}

#[expect(unconditional_recursion, reason = "planted: it must cost this run only")]
fn descend(depth: u64) -> u64 {
    std::hint::black_box(descend(std::hint::black_box(depth + 1)) + depth)
}

fn note(leak: Leak, value: impl Into<Value>) {
    let fields: Vec<(Name, Value)> = vec![("value".into(), value.into())];
    record(Stream::Phase, format!("planted.{leak:?}").to_lowercase(), None, fields);
}

fn counter() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    RUNS.fetch_add(1, Ordering::Relaxed)
}

/// Eight names in the order of a map that is keyed by address, scattered as a hash table keyed by pointer would.
fn address_order() -> String {
    let boxes: Vec<Box<u64>> = (0..8).map(Box::new).collect();
    let by_address: BTreeMap<u64, u64> = boxes
        .iter()
        .map(|each| {
            let address = std::ptr::from_ref::<u64>(each).addr() as u64;
            (xxh3_64(&address.to_le_bytes()), **each)
        })
        .collect();
    by_address.values().map(ToString::to_string).collect()
}

thread_local! {
    static SEEN_NS: Cell<u64> = const { Cell::new(0) };
}

/// Called on the thread of a run before its world exists: what must be seen with eyes that are not simulated.
pub fn prepare(leak: Leak) {
    if leak == Leak::Clock {
        #[expect(clippy::disallowed_methods, reason = "planted: it must be found")]
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        SEEN_NS.set(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// Which of two ready branches wins, thirty-two times.
fn unbiased_select() -> u64 {
    (0..32).fold(0, |wins, _| wins * 2 + ready_now(first_or_second()).unwrap_or(0))
}

async fn first_or_second() -> u64 {
    tokio::select! {
        () = std::future::ready(()) => 0,
        () = std::future::ready(()) => 1,
    }
}

fn ready_now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
