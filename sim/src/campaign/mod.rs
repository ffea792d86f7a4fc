//! Campaigns: many seeds in worker processes, folded in their order, so that what is known after some of them does not
//! depend on time, on the number of jobs, or on how often it was stopped and taken up again.

pub mod baseline;
pub mod fleet;
pub mod fold;
pub mod folder;
pub mod outcome;
pub mod output;
pub mod reach;
pub mod record;
pub mod search;
pub mod settle;
