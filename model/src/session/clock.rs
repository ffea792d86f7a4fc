//! The idle clock and the alarm slot that must follow it, whatever the framework's scheduler did.

use std::rc::Rc;

use serde_json::Value;

use super::{SessionObject, residency, signed};
use crate::agents::schedule;
use crate::defect::defect;
use crate::js::{EventLoop, hops, js, try_all};
use crate::platform::JsError;

/// Storage key of the idle clock.
pub const LAST_ACTIVITY_KEY: &str = "last-activity-ms";

crate::operations! {
    CLOCK_PUT = "clock · storage.put last-activity-ms", Storage, 3; "storage; together with the alarm, put first: five trips for both"
    CLOCK_ALARM = "clock · storage.setAlarm idle", Storage, 3; "storage; together with the put"
    REARM_ACTIVITY = "rearm · storage.get last-activity-ms", Storage, 4; "storage; in memory one trip"
    REARM_GET = "rearm · storage.getAlarm", Storage, 3; "storage; two trips on the newer build"
    REARM_SET = "rearm · storage.setAlarm idle", Storage, 3; "storage"
}

/// `markActivity()`: memory first, then both writes together; memory is ahead when they fail. The first rejection
/// decides, the other write goes on.
pub(super) async fn mark_activity(session: &Rc<SessionObject>) -> Result<(), JsError> {
    let now_ms = EventLoop::current().now_ms();
    session.last_activity_ms.set(now_ms);
    state_event!("activity", session.label());
    residency::touch_own_entry(session, now_ms);
    let storage = session.ctx().storage();
    let put = storage.put(&CLOCK_PUT, LAST_ACTIVITY_KEY, Value::from(now_ms)).promise();
    let deadline_ms = now_ms + session.config.session_timeout_ms;
    let alarm = storage.set_alarm(&CLOCK_ALARM, signed(deadline_ms)).promise();
    try_all(vec![put, alarm]).wait_hops(2).await.map(drop)
}

/// The last activity: memory, else the stored one, which is remembered, else 0 (unknown).
pub(super) async fn last_activity(
    session: &SessionObject,
    operation: &'static crate::operation::Operation,
) -> Result<u64, JsError> {
    if session.last_activity_ms.get() > 0 {
        hops(1).await;
        return Ok(session.last_activity_ms.get());
    }
    let stored = session.ctx().storage().get(operation, LAST_ACTIVITY_KEY).await?;
    session.last_activity_ms.set(stored.and_then(|value| value.as_u64()).unwrap_or(0));
    Ok(session.last_activity_ms.get())
}

/// The scheduler as installed on the class: the framework's own, then the idle alarm armed again.
pub(super) async fn schedule_next_alarm(session: Rc<SessionObject>) -> Result<(), JsError> {
    schedule::schedule_next_alarm(&session.agent).await?;
    if defect!(session.config, IdleAlarmNotRearmed) {
        return Ok(());
    }
    js(ensure_idle_alarm_armed(&session)).await
}

/// A resident runtime has an alarm at or before its idle deadline.
async fn ensure_idle_alarm_armed(session: &SessionObject) -> Result<(), JsError> {
    if !session.has_resident_runtime() {
        return Ok(());
    }
    let last_ms = last_activity(session, &REARM_ACTIVITY).await?;
    if last_ms == 0 {
        return Ok(());
    }
    let deadline_ms = last_ms + session.config.session_timeout_ms;
    let storage = session.ctx().storage();
    let armed = storage.get_alarm(&REARM_GET).await?;
    if armed.is_some_and(|armed| armed <= deadline_ms) {
        return Ok(());
    }
    let at_ms = deadline_ms.max(EventLoop::current().now_ms() + 1);
    storage.set_alarm(&REARM_SET, signed(at_ms)).await
}
