//! Schedule rows: what the class is to be called with later. They share the one alarm with everything else.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{AgentHost, AgentState, tables};
use crate::js::{EventLoop, js, timer};
use crate::platform::{JsError, Table};
use crate::rt;
use crate::telemetry::console_error;

/// How often a callback is tried in one alarm.
const TRIES: u32 = 3;
/// Pause before the second try, at most; it doubles, up to the cap.
const RETRY_BASE_MS: u64 = 200;
const RETRY_CAP_MS: u64 = 3_000;
/// How many ids of rows there are to draw from.
const IDS: u64 = 1 << 36;

/// A row: run once, then deleted.
#[derive(Serialize, Deserialize)]
struct Row {
    callback: String,
    payload: Value,
    /// When it is due, in whole seconds since the epoch.
    time: u64,
    #[serde(rename = "type")]
    kind: String,
}

fn table(agent: &AgentState) -> Result<Table, JsError> {
    tables::read(agent, tables::SCHEDULES)?;
    Ok(agent.ctx.storage().table(tables::SCHEDULES))
}

/// The rows with their ids, the earliest first.
fn rows(agent: &AgentState) -> Result<Vec<(String, Row)>, JsError> {
    let read = |row: &Value| serde_json::from_value(row.clone()).expect("rows are written here only");
    let mut rows: Vec<(String, Row)> =
        table(agent)?.rows().iter().map(|(id, row)| (id.to_string(), read(row))).collect();
    rows.sort_by_key(|(_, row)| row.time);
    Ok(rows)
}

/// Callback and type of every row, the earliest first.
///
/// # Errors
/// When the table is missing.
pub fn scheduled(agent: &AgentState) -> Result<Vec<(String, String)>, JsError> {
    Ok(rows(agent)?.into_iter().map(|(_, row)| (row.callback, row.kind)).collect())
}

/// `schedule(seconds, callback, payload)`: the id of the new row.
///
/// # Errors
/// When the row cannot be written or the alarm not be recomputed.
pub async fn schedule<H: AgentHost>(
    host: Rc<H>,
    after_s: u64,
    callback: &str,
    payload: Value,
) -> Result<String, JsError> {
    let agent = host.agent();
    let time = EventLoop::current().now_ms() / 1_000 + after_s;
    let taken = rows(agent)?;
    let drawn = rt::decide(agent.ctx.label(), "schedule.id", IDS);
    let ids = (drawn..).map(|number| format!("{number:09x}"));
    let id = ids.into_iter().find(|id| taken.iter().all(|(other, _)| other != id)).expect("there are many ids");
    let row = Row { callback: callback.to_owned(), payload, time, kind: "delayed".to_owned() };
    table(agent)?.insert(&id, serde_json::to_value(row).expect("a row is plain JSON"))?;
    // Fact: 178. Schedule rows overwrite, delete and hide an own alarm. [RA:AG2, RA:AG8]
    js(Rc::clone(&host).schedule_next_alarm()).await?;
    Ok(id)
}

/// `cancelSchedule(id)`: false, and nothing else happens, when there is no such row.
///
/// # Errors
/// As [`schedule`].
pub async fn cancel<H: AgentHost>(host: Rc<H>, id: &str) -> Result<bool, JsError> {
    let agent = host.agent();
    if rows(agent)?.iter().all(|(known, _)| known != id) {
        return Ok(false);
    }
    table(agent)?.delete(id)?;
    js(Rc::clone(&host).schedule_next_alarm()).await?;
    Ok(true)
}

/// When the earliest row is due, in epoch milliseconds; an overdue one in the next millisecond.
pub(super) fn next_due_ms(agent: &AgentState, now_ms: u64) -> Result<Option<u64>, JsError> {
    Ok(rows(agent)?.first().map(|(_, row)| (row.time * 1_000).max(now_ms + 1)))
}

/// Runs what is due, one row after the other, and deletes each.
///
/// # Errors
/// When the table is missing, and what a callback failed with that another invocation may not: its row stays then.
pub(in super::super) async fn run_due<H: AgentHost>(host: &Rc<H>) -> Result<(), JsError> {
    let agent = host.agent();
    let now_s = EventLoop::current().now_ms() / 1_000;
    for (id, row) in rows(agent)?.into_iter().filter(|(_, row)| row.time <= now_s) {
        execute(host, &row).await?;
        if !agent.has_tables.get() {
            // The callback destroyed the object.
            break;
        }
        table(agent)?.delete(&id)?;
    }
    Ok(())
}

/// Calls a row's callback, up to three times; what it fails with in the end is printed.
async fn execute<H: AgentHost>(host: &Rc<H>, row: &Row) -> Result<(), JsError> {
    let label = host.agent().ctx.label();
    let mut tried = 0;
    loop {
        let Some(running) = Rc::clone(host).scheduled(&row.callback, row.payload.clone()) else {
            console_error(label, "schedule:", &JsError::new(format!("callback {} not found", row.callback)));
            return Ok(());
        };
        let Err(error) = running.await else { return Ok(()) };
        if is_superseded(&error) {
            return Err(error);
        }
        tried += 1;
        if tried < TRIES {
            let most_ms = RETRY_CAP_MS.min(RETRY_BASE_MS << (tried - 1));
            timer(rt::decide(label, "schedule.jitter", most_ms)).wait().await;
            continue;
        }
        // Fact: 183. A failing schedule callback is tried three times and swallowed. [RA:AG12, S:agents index.js,
        // S:agents retries.js]
        if is_transient(&error) {
            return Err(error);
        }
        console_error(label, &format!("error executing callback \"{}\"", row.callback), &error);
        return Ok(());
    }
}

/// The isolate runs code that was replaced: the same invocation cannot do better.
fn is_superseded(error: &JsError) -> bool {
    error.message.contains("code was updated") || error.message.contains("code has been updated")
}

/// The platform failed, not the callback.
fn is_transient(error: &JsError) -> bool {
    (error.retryable && !error.overloaded) || error.message.contains("Network connection lost")
}
