//! `alarm()`: one slot for the idle deadline, the leases, the framework's needs and the destroy marker.

use std::rc::Rc;

use super::alarm_policy::{AlarmDecision, AlarmFacts, decide};
use super::teardown::{Disposal, dispose_idle_runtime, tear_down};
use super::{SessionObject, clock, destroy, signed};
use crate::agents::transport::UNDELIVERED_PREFIX;
use crate::agents::{DESTROY_PENDING_KEY, PROPS_KEY, STREAM_REQUESTS_PREFIX, Status};
use crate::config::LIST_LIMIT;
use crate::defect::defect;
use crate::js::{EventLoop, hops, js};
use crate::operation::Operation;
use crate::platform::{JsError, ListRange};
use crate::telemetry::log_event;

crate::operations! {
    ALARM_ACTIVITY = "alarm · storage.get last-activity-ms", Storage, 4; "storage; in memory one trip"
    ALARM_ROWS = "alarm · storage.list stream-reqs", Storage, 4; "storage"
    ALARM_MARKER = "alarm · storage.get destroy-pending", Storage, 4; "storage; not in the described version, see the defect `condemned-session-kept`"
    ALARM_PROPS = "alarm · storage.get props", Storage, 4; "storage; only before the first start; not in the described version, see the defect `wiped-session-woken`"
    ALARM_PAUSED_LEASE = "alarm · storage.setAlarm paused-lease", Storage, 3; "storage"
    ALARM_RUNNING_LEASE = "alarm · storage.setAlarm running-lease", Storage, 3; "storage"
    NAMELESS_TEARDOWN = "alarm.nameless · teardown", Io, 2; "teardown of an object that no name leads to"
    NAMELESS_ALARM = "alarm.nameless · storage.deleteAlarm", Storage, 3; "storage"
    NAMELESS_ACTIVITY = "alarm.nameless · storage.delete last-activity-ms", Storage, 5; "storage, at the end of an effect run"
}

/// Trips of the paused count: an effect run with an engine, nothing without.
const PAUSED_COUNT_HOPS: u32 = 3;

/// `alarm()`.
///
/// # Errors
/// Storage failures of its reads and of the lease writes, and those of the framework's alarm: the platform tries again.
pub(super) async fn alarm(session: Rc<SessionObject>) -> Result<(), JsError> {
    let name = if defect!(session.config, DurableNameIgnored) {
        session.session_name_or_undefined()
    } else {
        session.resolve_session_name().await?
    };
    if name.is_none() {
        js(unaddressable(&session)).await;
        return if defect!(session.config, UnaddressableAlarmThrows) { Err(nobody()) } else { Ok(()) };
    }
    // Fact: 171. A class whose alarm acts before the framework's acts before any start. [RA:EV, RA:EV2]
    let last_ms = clock::last_activity(&session, &ALARM_ACTIVITY).await?;
    let now_ms = EventLoop::current().now_ms();
    let idle_ms = if last_ms == 0 { 0 } else { now_ms.saturating_sub(last_ms) };
    let paused = paused_execution_count(&session).await;
    let mut running = running_execution_count(&session, &ALARM_ROWS).await?;
    if defect!(session.config, UndeliveredCountsAsRunning) {
        running += undelivered_count(&session).await?;
    }
    let facts = AlarmFacts {
        idle_ms,
        paused,
        running,
        streams: session.active_stream_count(),
        timeout_ms: session.config.session_timeout_ms,
        max_paused_ms: session.config.max_paused_session_idle_ms,
    };
    act(session, facts).await
}

async fn act(session: Rc<SessionObject>, facts: AlarmFacts) -> Result<(), JsError> {
    match decide(considered(&session, facts)) {
        AlarmDecision::IdleWithinTimeout if is_wiped(&session).await? => Ok(()),
        AlarmDecision::IdleWithinTimeout => js(framework_alarm(session)).await,
        _ if !defect!(session.config, CondemnedSessionKept) && is_condemned(&session, &ALARM_MARKER).await? => {
            js(framework_alarm(session)).await
        }
        AlarmDecision::ExtendPaused(lease_ms) => {
            if defect!(session.config, LeaseLogThrows) {
                session.base.name(&session.agent)?;
            }
            log_paused_lease(&session, facts, lease_ms);
            let at_ms = EventLoop::current().now_ms() + lease_ms;
            session.ctx().storage().set_alarm(&ALARM_PAUSED_LEASE, signed(at_ms)).await
        }
        AlarmDecision::ExtendRunning(lease_ms) => {
            log_running_lease(&session, facts, lease_ms);
            let at_ms = EventLoop::current().now_ms() + lease_ms;
            session.ctx().storage().set_alarm(&ALARM_RUNNING_LEASE, signed(at_ms)).await
        }
        AlarmDecision::DestroyIdleSession if defect!(session.config, IdleAlarmDestroys) => {
            destroy::destroy(session).await
        }
        AlarmDecision::DestroyIdleSession => {
            let disposal = Disposal {
                reason: "idle",
                idle_ms: facts.idle_ms,
                paused_execution_count: facts.paused,
                active_stream_count: facts.streams,
            };
            dispose_idle_runtime(session, disposal).await
        }
    }
}

/// `super.alarm()`.
async fn framework_alarm(session: Rc<SessionObject>) -> Result<(), JsError> {
    Rc::clone(&session.base).alarm(session).await
}

/// What is decided upon: as it is, unless the historical defect lets a pause past its ceiling count as running work.
fn considered(session: &SessionObject, facts: AlarmFacts) -> AlarmFacts {
    if facts.idle_ms >= facts.max_paused_ms && defect!(session.config, PauseRunsOn) {
        return AlarmFacts { paused: 0, running: facts.running + facts.paused, ..facts };
    }
    facts
}

/// Found here: a lease or a disposal takes the alarm slot that was to wipe a condemned session, which then stays for
/// ever. So the marker is looked at before the slot is used for anything else.
pub(super) async fn is_condemned(session: &SessionObject, operation: &'static Operation) -> Result<bool, JsError> {
    let marker = session.ctx().storage().get(operation, DESTROY_PENDING_KEY).await?;
    Ok(marker.is_some_and(|marker| marker.as_bool() == Some(true)))
}

/// Found here: an alarm is delivered at least once (platform fact 70), so the one that wiped its session may come again.
/// A start has nothing to start with then, and would fail at each of the platform's tries.
async fn is_wiped(session: &SessionObject) -> Result<bool, JsError> {
    let agent = &session.agent;
    let may_start = agent.status.get() == Status::Started || agent.given_props.borrow().is_some();
    if may_start || defect!(session.config, WipedSessionWoken) {
        return Ok(false);
    }
    let props = session.ctx().storage().get(&ALARM_PROPS, PROPS_KEY).await?;
    Ok(props.is_none() && !is_condemned(session, &ALARM_MARKER).await?)
}

pub(super) async fn paused_execution_count(session: &SessionObject) -> usize {
    let engine = session.engine.borrow().clone();
    match engine {
        Some(engine) => {
            let count = engine.paused_execution_count();
            hops(PAUSED_COUNT_HOPS).await;
            count
        }
        None => {
            hops(1).await;
            0
        }
    }
}

/// Requests that were accepted and have no answer: the ids of all rows.
pub(super) async fn running_execution_count(
    session: &SessionObject,
    operation: &'static Operation,
) -> Result<usize, JsError> {
    let range = ListRange::prefix(STREAM_REQUESTS_PREFIX).limit(LIST_LIMIT);
    let rows = session.ctx().storage().list(operation, range).await?;
    Ok(rows.iter().filter_map(|(_, ids)| ids.as_array()).map(Vec::len).sum())
}

fn log_paused_lease(session: &SessionObject, facts: AlarmFacts, lease_ms: u64) {
    log_event!(
        info,
        "mcp_session_paused_lease_extension",
        session.label(),
        sessionId = &*session.session_id_for_telemetry(),
        pausedExecutionCount = facts.paused,
        idleMs = facts.idle_ms,
        leaseMs = lease_ms,
    );
}

fn log_running_lease(session: &SessionObject, facts: AlarmFacts, lease_ms: u64) {
    log_event!(
        info,
        "mcp_session_running_lease_extension",
        session.label(),
        sessionId = &*session.session_id_for_telemetry(),
        runningExecutionCount = facts.running,
        activeStreamCount = facts.streams,
        idleMs = facts.idle_ms,
        leaseMs = lease_ms,
    );
}

/// What the historical defect throws for an object without any name.
fn nobody() -> JsError {
    JsError::new("McpSessionDO: the session of this alarm has no name")
}

/// What the historical defect counts beside unanswered requests: answers that nobody acknowledged.
async fn undelivered_count(session: &SessionObject) -> Result<usize, JsError> {
    let range = ListRange::prefix(UNDELIVERED_PREFIX).limit(LIST_LIMIT);
    Ok(session.ctx().storage().list(&defective::ALARM_UNDELIVERED, range).await?.len())
}

pub(crate) use defective::TABLE as DEFECT_TABLE;

mod defective {
    //! Operations that exist only while a historical defect is switched on.

    crate::operations! {
        ALARM_UNDELIVERED = "alarm · storage.list undelivered", Storage, 4; "storage; only with `undelivered-counts-as-running`"
    }
}

/// An alarm of an object without any name: cleaned up, and ended normally, or the platform would retry for ever.
async fn unaddressable(session: &Rc<SessionObject>) {
    let session_id = session.session_id_for_telemetry();
    log_event!(warn, "mcp_session_unaddressable_alarm_cleanup", session.label(), sessionId = &*session_id);
    tear_down(Rc::clone(session), &NAMELESS_TEARDOWN, true).await;
    let storage = session.ctx().storage();
    drop(storage.delete_alarm(&NAMELESS_ALARM).await);
    drop(storage.delete(&NAMELESS_ACTIVITY, clock::LAST_ACTIVITY_KEY).await);
}
