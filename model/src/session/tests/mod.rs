//! Tests of the session object as a whole, in a world of its own: hops, starts, teardowns, alarms, lost writes, reports.

pub(crate) mod events;
pub(crate) mod script;
pub(crate) mod world;

mod alarms;
mod approval_hops;
mod approvals;
mod bookkeeping;
mod calls;
mod directory;
mod elicitation;
mod hops;
mod leases;
mod meta;
mod reports;
mod resumes;
mod starts;
mod teardowns;
