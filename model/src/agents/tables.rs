//! The framework's SQL tables.

use super::AgentState;
use crate::platform::JsError;

/// Rows of what is to be called later.
pub const SCHEDULES: &str = "cf_agents_schedules";
/// Servers that the object is a client of.
pub const MCP_SERVERS: &str = "cf_agents_mcp_servers";

/// All of them, in the order of their names. Only the schedules ever have rows here.
const ALL: &[&str] = &[
    "cf_agent_tool_runs",
    "cf_agents_facet_runs",
    "cf_agents_fibers",
    MCP_SERVERS,
    "cf_agents_queues",
    "cf_agents_runs",
    SCHEDULES,
    "cf_agents_state",
    "cf_agents_workflows",
];

/// The tables that are there: all, or none once the object was destroyed.
pub fn names(agent: &AgentState) -> &'static [&'static str] {
    // Fact: 188. The constructor makes the framework's tables. [RA:AG1]
    if agent.has_tables.get() { ALL } else { &[] }
}

/// A synchronous read of a table; a wiped object has none.
///
/// # Errors
/// When the table is missing.
pub fn read(agent: &AgentState, table: &str) -> Result<(), JsError> {
    if names(agent).contains(&table) {
        return Ok(());
    }
    Err(JsError::new(format!("no such table: {table}: SQLITE_ERROR")))
}
