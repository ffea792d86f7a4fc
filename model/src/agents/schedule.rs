//! The framework's one alarm: recomputed from its own needs, and deleted when it has none.
//!
//! It never looks at the alarm that is set (platform fact 174). That is why the product wraps it.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use super::{AgentHost, AgentState, DESTROY_PENDING_KEY};
use crate::js::{EventLoop, call, js, rooted, timer};
use crate::platform::JsError;
use crate::rt;
use crate::telemetry::console_error;

mod rows;

pub(super) use rows::run_due;
pub use rows::{cancel, schedule, scheduled};

crate::operations! {
    SCHED_MARKER = "sched · storage.get destroy-pending", Storage, 4; "storage"
    SCHED_NOW = "sched · storage.setAlarm now", Storage, 4; "storage"
    SCHED_HEARTBEAT = "sched · storage.setAlarm heartbeat", Storage, 4; "storage; the time of a schedule row if that comes first"
    SCHED_DELETE = "sched · storage.deleteAlarm", Storage, 4; "storage"
}

/// The framework's own `_scheduleNextAlarm`: the marker's alarm now, else the earliest schedule row or the heartbeat while
/// a reference is held, else no alarm at all. There are no fibers or facets in this host.
///
/// # Errors
/// A storage failure; missing tables once the object is wiped.
pub async fn schedule_next_alarm(agent: &AgentState) -> Result<(), JsError> {
    // Fact: 174. The scheduler recomputes the one alarm from its own needs, deletes it without any, and never looks
    // at it. [S:agents index.js]
    let storage = agent.ctx.storage();
    let marker = storage.get(&SCHED_MARKER, DESTROY_PENDING_KEY).await?;
    let now_ms = EventLoop::current().now_ms();
    if marker.is_some_and(|marker| marker.as_bool() == Some(true)) {
        // Fact: 186. An own alarm in that second postpones the destruction until the scheduler, seeing the marker,
        // sets it to now. [RA:AG14b]
        return storage.set_alarm(&SCHED_NOW, signed(now_ms)).await;
    }
    let due_ms = rows::next_due_ms(agent, now_ms)?;
    // Fact: 176. During a keep-alive the alarm is the 30 s heartbeat, and gone right after: an own alarm does not
    // survive. [RA:AG3]
    let beat_ms = (agent.keep_alive_refs.get() > 0).then(|| now_ms + agent.keep_alive_interval_ms);
    match due_ms.into_iter().chain(beat_ms).min() {
        Some(at_ms) => storage.set_alarm(&SCHED_HEARTBEAT, signed(at_ms)).await,
        None => storage.delete_alarm(&SCHED_DELETE).await,
    }
}

/// A time in epoch milliseconds as `setAlarm` takes it.
pub fn signed(at_ms: u64) -> i64 {
    i64::try_from(at_ms).unwrap_or(i64::MAX)
}

/// A keep-alive reference; giving it back again is a no-op. The host may hold it, so it does not hold the host.
pub struct KeepAlive<H: AgentHost> {
    host: Weak<H>,
    given_back: Cell<bool>,
}

/// `keepAlive()`: one reference more; the first one recomputes the alarm.
///
/// # Errors
/// When the alarm cannot be recomputed; the reference stays taken.
pub async fn keep_alive<H: AgentHost>(host: Rc<H>) -> Result<KeepAlive<H>, JsError> {
    // Fact: 180. References are a count in memory; a disposer is idempotent; a lost object leaves its heartbeat
    // armed. [RA:AG5, RA:AG16, RA:EV3]
    let refs = &host.agent().keep_alive_refs;
    refs.set(refs.get() + 1);
    state_event!("keep-alive.taken", host.agent().ctx.label(), refs = refs.get());
    // Fact: 175. It runs at the first reference and after the last, at the end of the framework's alarm, and not at a
    // start. [S:agents index.js, RA:AG2, RA:AG4, RA:AG16]
    if refs.get() == 1 {
        js(Rc::clone(&host).schedule_next_alarm()).await?;
    }
    Ok(KeepAlive { host: Rc::downgrade(&host), given_back: Cell::new(false) })
}

impl<H: AgentHost> KeepAlive<H> {
    /// Gives the reference back; the last one recomputes the alarm in `waitUntil`, beside what the caller does next.
    pub fn give_back(&self) {
        let Some(host) = self.host.upgrade().filter(|_| !self.given_back.replace(true)) else { return };
        // Fact: 177. An own alarm set under a reference outlives a second reference and dies with the last. [RA:AG4]
        // Fact: 182. After the last reference no further heartbeat is armed. [RA:AG15]
        let agent = host.agent();
        agent.keep_alive_refs.set(agent.keep_alive_refs.get().saturating_sub(1));
        state_event!("keep-alive.returned", agent.ctx.label(), refs = agent.keep_alive_refs.get());
        if agent.keep_alive_refs.get() > 0 {
            return;
        }
        // Fact: 177a. An own alarm set within two microtasks of a keep-alive's end is deleted by its tail; after a
        // timer it survives. [RA:AG17, RN:AG17]
        let host = Rc::clone(&host);
        // Fact: 226. A waitUntil tail runs before, after or among what the next request does. [fact 176]
        let tail = call(rooted("keep-alive released", async move {
            let late_ms = rt::stray(host.agent().ctx.label(), "tail");
            if late_ms > 0 {
                // Nothing says that the tail comes before what the next event does.
                timer(late_ms).wait().await;
            }
            if let Err(error) = Rc::clone(&host).schedule_next_alarm().await {
                let label = host.agent().ctx.label();
                console_error(label, "[Agent] Failed to reschedule alarm after keepAlive dispose:", &error);
            }
        }));
        agent.ctx.wait_until(tail);
    }
}

/// `keepAliveWhile(work)`: a reference for as long as it takes.
///
/// # Errors
/// When the alarm cannot be recomputed: the work is not begun then.
pub async fn keep_alive_while<H: AgentHost, T>(host: Rc<H>, work: impl Future<Output = T>) -> Result<T, JsError> {
    let keep = js(keep_alive(host)).await?;
    let done = js(work).await;
    keep.give_back();
    Ok(done)
}

#[cfg(test)]
mod rows_tests;
#[cfg(test)]
mod tests;
