//! The agents framework of the model under the probes of the agents packages: their classes, their client, their probes.

mod agent;
mod behaviours;
mod caller;
mod client;
pub mod destroy;
pub mod idle;
pub mod keep_alive;
mod mcp;
pub mod naming;
pub mod resident;
pub mod schedules;
pub mod streams;
mod tidy;

use model::platform::{Class, DurableObject, ObjectContext};
use std::rc::Rc;
use std::sync::Arc;

pub use client::{Call, Client};

/// The class whose heartbeat is 30 s ahead.
pub const AGENT: &str = "Ag";
/// The same with one second.
pub const FAST: &str = "Fast";
/// The class that serves MCP.
pub const MCP: &str = "Mcp";

/// The classes by name.
pub fn classes() -> Vec<(&'static str, Class)> {
    let class = |make: fn(ObjectContext) -> Rc<dyn DurableObject>| -> Class { Arc::new(make) };
    vec![
        (AGENT, class(|ctx| agent::Agent::construct(ctx, None))),
        (FAST, class(|ctx| agent::Agent::construct(ctx, Some(1_000)))),
        (MCP, class(|ctx| mcp::Mcp::construct(ctx))),
    ]
}
