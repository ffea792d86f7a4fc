//! The session class on a stand against recordings of the real one: programs of operations and gates, compared step by
//! step.
//!
//! `program` reads them (its parts with `setup`, `operation` and `after`), `replay` does to the class here what was done to the recorded one and finds with `compare`
//! where they part, `summary` adds up what came of all. `sim/data/README.md` says where the recordings come from, and
//! `sim/CORE.md` what is compared and what came of it.

mod after;
mod compare;
mod fields;
mod heard;
mod operation;
mod program;
mod replay;
mod setup;
pub mod summary;

use crate::error::Error;
use model::defect::{Defect, DefectSet};

pub use compare::Difference;
pub use program::{Doing, Program, Step, read};
pub use replay::{Played, StepPlayed, play};

/// What was recorded for this project, gzipped.
const RECORDED: &[u8] = include_bytes!("../../../data/core-recordings.jsonl.gz");

/// The programs that were recorded for this project.
///
/// # Errors
/// A harness error when they cannot be read.
pub fn recorded() -> Result<Vec<Program>, Error> {
    read(RECORDED, "the recordings").map_err(|error| Error::harness(error.to_string()))
}

/// How they were recorded: the day, the class, and the versions of the packages around it.
///
/// # Errors
/// As [`recorded`].
pub fn recorded_with() -> Result<std::collections::BTreeMap<String, String>, Error> {
    program::origin(RECORDED, "the recordings").map_err(|error| Error::harness(error.to_string()))
}

/// The defects that the recorded class has.
pub fn described() -> DefectSet {
    DefectSet::of(Defect::described())
}
