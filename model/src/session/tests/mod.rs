//! Tests of the session object as a whole, in a world of its own: hops, starts, teardowns, alarms, lost writes, reports.

pub(crate) mod events;
pub(crate) mod world;

pub(crate) use crate::script;

mod alarms;
mod bookkeeping;
mod handlers;
mod hops;
mod meta;
mod reports;
mod starts;
mod teardowns;
