//! The isolate's event loop: JavaScript's order of continuations on Rust futures.
//!
//! Ready continuations run first-in first-out until none is left, and every await costs its measured number of trips
//! ("hops") through that queue. Only then is the turn over and the next event taken. How the pieces map:
//!
//! | JavaScript | here |
//! |---|---|
//! | `await f()` of an async function | [`js`]`(f()).await` (polled at once, one hop after it is done) |
//! | `await promise` | `promise.wait().await` (one hop, also when settled) |
//! | `f()` without await | [`call`]`(f())`, a [`Promise`]; runs to its first suspension at once |
//! | `Promise.all`, `Promise.race` | [`all`], [`race`] |
//! | nested effects of the effect library | plain `.await` (no hop) |
//! | a timer, `setImmediate` | [`timer`], [`immediate`] (leave the turn) |
//!
//! Hops measured on the real runtime: settled promise 1, async function = what it awaits last + 1, storage call 3.

mod combine;
mod context;
mod event_loop;
mod inbox;
mod promise;

pub use combine::{all, call, hops, immediate, js, race, rooted, timer, try_all};
pub use context::{Ctx, IoContext, Owner, SectionId};
pub use event_loop::{EventLoop, Host, Lane, LoopByHand, TaskId, TimerHandle};
pub use inbox::{Inbox, Letter};
pub use promise::{Promise, Wait};
