//! Tests of the session object as a whole, in a world of its own: hops, starts, teardowns, alarms, lost writes, reports.

pub(crate) mod events;
pub(crate) mod world;

pub(crate) use crate::script;

mod alarms;
mod bookkeeping;
mod builds;
mod handlers;
mod hops;
mod interrupts;
mod meta;
mod reports;
mod residency;
mod starts;
mod teardowns;
