//! How the experiment is run: a seed to a plan, a plan to a trace, a trace to findings a person can read.
//!
//! [`draw`] makes the plan, [`world`] obeys it under the eyes of the [`recorder`], [`run`] bounds that and tells the
//! ways to fail apart, [`check`] judges the trace, [`report`] says what was found, [`cli`] is the surface.
//! [`determinism`] compares runs of the same plan in processes that [`supervisor`] keeps alive.

#![expect(
    clippy::disallowed_macros,
    reason = "`planted` needs an unbiased select, and clippy reports that macro for a whole crate; a tidy test looks at the rest"
)]

#[cfg(not(madsim))]
compile_error!(
    "`sim` needs the simulation switched on: unset RUSTFLAGS, which replaces the list in .cargo/config.toml, or add `--cfg madsim` to it"
);

pub mod assumptions;
pub mod bench;
pub mod callers;
pub mod campaign;
pub mod capture;
pub mod check;
pub mod cli;
pub mod conform;
pub mod contract;
pub mod corpus;
pub mod determinism;
pub mod director;
pub mod draw;
pub mod driver;
pub mod error;
pub mod exit_code;
pub mod faults;
pub mod files;
mod habits;
pub mod interrupt;
pub mod markers;
pub mod objects;
pub mod planted;
pub mod progress;
pub mod questions;
pub mod recorder;
pub mod report;
pub mod run;
pub mod shrink;
pub mod signature;
pub mod strength;
pub mod supervisor;
pub mod text;
pub mod trial;
pub mod world;
