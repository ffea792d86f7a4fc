//! The production system, modelled: platform, agents framework, session core, edge and clients.
//!
//! Reading order: [`rt`] is the only door to time, tasks, randomness and nodes; [`js`] is the isolate's event loop;
//! [`fx`] the effect library's fibers; [`operation`] the named suspension points; [`platform`] what a Durable Object
//! sees. On that stand the agents framework ([`agents`]), the session core (`session`), the edge worker (`front`) and the
//! clients ([`client`]) with their network ([`net`]); [`deployment`] puts them together.

#[macro_use]
mod events;

pub mod agents;
pub mod client;
pub mod config;
pub mod defect;
pub mod deployment;
mod front;
pub mod fx;
pub mod iso_time;
pub mod js;
pub mod mcp;
pub mod net;
#[cfg(test)]
mod observed;
pub mod operation;
pub mod operations;
pub mod platform;
pub mod rt;
#[cfg(test)]
mod script;
mod session;
pub mod telemetry;

pub use front::serve;
pub use session::registry;
pub use session::rpc::METHODS;
pub use session::stand;
pub use session::telemetry_id;
