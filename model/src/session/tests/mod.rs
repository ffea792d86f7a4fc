//! Tests of the session object as a whole, in a world of its own: hops, starts, teardowns, alarms, lost writes, reports.

pub(crate) mod events;
pub(crate) mod world;

pub(crate) use crate::script;

mod alarms;
mod approval_hops;
mod approvals;
mod bookkeeping;
mod builds;
mod calls;
mod directory;
mod elicitation;
mod facts;
mod gates;
mod handlers;
mod hops;
mod interrupts;
mod leases;
mod meta;
pub(super) mod recordings;
mod reports;
mod residency;
mod resumes;
mod starts;
mod teardowns;
