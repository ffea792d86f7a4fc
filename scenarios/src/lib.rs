//! What is done to the modelled system and what must hold: pure functions from seeds to plans and from traces to verdicts.
//!
//! The pipeline, in the words of this crate: a [`seed::Seed`] and a scenario of the catalog make a [`plan::Plan`];
//! a run obeys the plan, taking every choice from a [`decision::DecisionSource`], and leaves a [`trace::Trace`];
//! the invariants judge plan and trace; the story tells a person what happened.
//! Nothing here knows a clock, a file, a thread or the simulator.

pub mod bad_input;
pub mod catalog;
pub mod contract;
pub mod decision;
pub mod document;
pub mod expect;
pub mod invariants;
pub mod ledgers;
pub mod plan;
pub mod reach;
pub mod rng;
pub mod seed;
pub mod story;
pub mod strength;
pub mod strict;
pub mod trace;
