//! Tests of the session object as a whole, in a world of its own: hops, starts, teardowns, alarms, lost writes, reports.

pub(crate) mod events;
pub(crate) mod script;
pub(crate) mod world;

mod alarms;
mod bookkeeping;
mod builds;
mod hops;
mod interrupts;
mod meta;
mod reports;
mod residency;
mod starts;
mod teardowns;
