//! The soft cap on resident runtimes: an init that finds its isolate full asks the session that was used least recently
//! to give its runtime back, and that session decides for itself, in its own context.

use std::rc::Rc;

use super::residency::{self, Candidate};
use super::rpc::RPC_HOPS;
use super::teardown::{Disposal, dispose_idle_runtime};
use super::{SessionObject, alarm};
use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber};
use crate::js::{EventLoop, Promise, call, hops, try_all};
use crate::platform::{JsError, operate};
use crate::telemetry::{Span, console_error, log_event};

crate::operations! {
    CAP_REQUEST = "init · stub.request-cap-eviction", Io, 0, assumed; "the candidate's own stub; in waitUntil, issued within admission"
    EVICT_COUNTS = "evict · counts", Storage, 3; "storage, the request rows; together with the paused count, which is asked first: five trips for both"
    EVICT_MARKER = "evict · storage.get destroy-pending", Storage, 4; "storage; not in the described version, see the defect `condemned-session-evicted`"
    EVICT_DISPOSE = "evict · dispose", Io, 6; "the disposal"
}

/// The RPC method of the candidate.
pub(super) const REQUEST: &str = "requestCapEviction";
/// Trips from the slower of the two counts to the check: those of `Promise.all`.
const COUNTED_AFTER: u32 = 1;

/// Cap admission of an init: the check, the reservation and the request are one stretch, and nothing of it suspends.
///
/// The cap is soft: an init is neither refused nor delayed. An overflow is told on the init's span.
///
/// # Errors
/// None but those of the defects, and an interrupt at their suspension points.
pub(super) async fn admit(session: &Rc<SessionObject>, fiber: &Fiber, span: &Span) -> Exit<()> {
    // Before the check, or a session that comes after a dead incarnation of its own would ask itself.
    bury_predecessor(session);
    let is_over_cap = is_over_cap(session);
    if defect!(session.config, AdmissionSuspends) {
        fiber.or_die(defective::pause()).await?;
    }
    session.reserved_cold_build_slot.set(true);
    residency::reserve_cold_build_slot(session);
    if !is_over_cap {
        return Ok(());
    }
    let now_ms = EventLoop::current().now_ms();
    let Some(candidate) = residency::pick_eviction_candidate(now_ms) else {
        state_event!("cap.overflow", session.label(), isolate = &*EventLoop::current().name);
        if !defect!(session.config, OverflowNotTold) {
            span.set("mcp.isolate.cap_overflow", true);
        }
        return Ok(());
    };
    let isolate = EventLoop::current();
    state_event!("eviction.requested", candidate.session.label(), isolate = &*isolate.name);
    residency::mark_eviction_requested(&candidate.id, now_ms);
    let (request, answered) = ask(session, candidate);
    session.ctx().wait_until(request);
    if defect!(session.config, EvictionAwaited) {
        fiber.or_die(answered.wait_hops(0)).await?;
    }
    state_event!("admission.ended", session.label());
    Ok(())
}

fn is_over_cap(session: &SessionObject) -> bool {
    let (resident, in_flight) = residency::load();
    let in_flight_counted = if defect!(session.config, CapOnResidentsOnly) { 0 } else { in_flight };
    let cap = u64::from(session.config.resident_runtime_soft_cap);
    let is_over = resident + in_flight_counted >= cap;
    let isolate = EventLoop::current();
    state_event!(
        "cap.checked",
        session.label(),
        isolate = &*isolate.name,
        residents = resident,
        in_flight = in_flight,
        cap = cap,
        over = is_over,
    );
    is_over
}

/// The finaliser around all of init: the reservation goes back exactly once, however the init ends.
pub(super) fn give_reservation_back(session: &Rc<SessionObject>, place: Place, is_ok: bool) {
    let wanted = if defect!(session.config, ReservationReturnedAtBuild) { Place::Build } else { Place::Init };
    if place != wanted || (is_ok && defect!(session.config, ReservationReturnedOnFailure)) {
        return;
    }
    if session.reserved_cold_build_slot.replace(false) {
        residency::release_cold_build_slot(session);
    }
}

/// Around what the reservation is given back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The whole init.
    Init,
    /// The build of the runtime alone.
    Build,
}

/// Calls the candidate's `dispose("cap")`; a failure is logged, and its entry stays as it is. The work, which cannot fail,
/// and the answer.
fn ask(session: &Rc<SessionObject>, candidate: Candidate) -> (Promise<()>, Promise<Result<(), JsError>>) {
    let (session, answered) = (Rc::clone(session), Promise::new());
    let answer = answered.clone();
    let work = call(async move {
        let asked = request_self_eviction(&candidate.session).await;
        if let Err(error) = &asked {
            log_event!(warn, "mcp_session_cap_eviction_request_failed", session.label(), sessionId = &*candidate.id);
            console_error(session.label(), "[mcp-session] cap eviction request failed:", error);
            if defect!(session.config, EntryRemovedOnFailure) {
                residency::release_resident_session(&candidate.id);
            }
        }
        answer.settle(asked);
    });
    (work, answered)
}

/// `requestSelfEviction` of a candidate; a host without cap eviction has none.
async fn request_self_eviction(candidate: &Rc<SessionObject>) -> Result<(), JsError> {
    if !candidate.config.supports_cap_eviction {
        return Ok(());
    }
    if defect!(candidate.config, EvictedInForeignContext) {
        return evict_resident_runtime_for_cap(candidate).await;
    }
    candidate.host.request_self_eviction(candidate).await
}

/// The filter of a candidate, as another session's init sees it: conservative, and free of I/O. Running requests are
/// not looked at.
///
/// # Errors
/// Why it may not be asked.
pub(super) fn can_evict(session: &SessionObject) -> Result<(), &'static str> {
    if live_stream_count(session) > 0 {
        return Err("stream");
    }
    let engine = session.engine.borrow().clone();
    let is_paused = engine.is_some_and(|engine| engine.paused_execution_count() > 0);
    if is_paused { Err("paused") } else { Ok(()) }
}

fn live_stream_count(session: &SessionObject) -> usize {
    if defect!(session.config, StreamsIgnoredByEviction) { 0 } else { session.active_stream_count() }
}

/// `requestCapEviction()`. No telemetry layer here: its span is not exported.
///
/// # Errors
/// Those of the reads and of the disposal; the runtime is untouched then, or given back.
pub(super) async fn request_cap_eviction(session: Rc<SessionObject>) -> Result<(), JsError> {
    let span = Span::unexported("McpSessionDO.requestCapEviction");
    let is_heeded = !defect!(session.config, EvictionRequestUnheeded);
    let evicted = if is_heeded { evict_resident_runtime_for_cap(&session).await } else { Ok(()) };
    span.end_with(&evicted.as_ref().map_err(|error| Cause::Die(error.clone())));
    hops(RPC_HOPS).await;
    evicted
}

/// `evictResidentRuntimeForCap()`: looks again, and disposes what has nothing live. It does not ask how long the session
/// has been idle; as described, not even whether anything is resident.
async fn evict_resident_runtime_for_cap(session: &Rc<SessionObject>) -> Result<(), JsError> {
    let (paused, running) = counts(session).await?;
    let streams = live_stream_count(session);
    if paused > 0 || running > 0 || streams > 0 {
        return Ok(());
    }
    if !session.has_in_memory_runtime() && bury_predecessor(session) {
        return Ok(());
    }
    // Found here: the disposal would take the alarm that is to wipe the session, which then stays for ever.
    if !defect!(session.config, CondemnedSessionEvicted) && alarm::is_condemned(session, &EVICT_MARKER).await? {
        return Ok(());
    }
    let last_ms = session.last_activity_ms.get();
    let idle_ms = if last_ms == 0 { 0 } else { EventLoop::current().now_ms().saturating_sub(last_ms) };
    let disposal = Disposal { reason: "cap", idle_ms, paused_execution_count: paused, active_stream_count: streams };
    operate::begin(&EVICT_DISPOSE).await?;
    dispose_idle_runtime(Rc::clone(session), disposal).await?;
    operate::end(&EVICT_DISPOSE).await
}

/// Found here: an incarnation that was reset leaves its entry and its place in the isolate's books (platform fact 132).
/// Its entry is never used again, so it is the first choice of every eviction, and each disposes nothing. So whoever
/// comes after it under its name gives both back, at its own admission or when it is asked.
///
/// False as described, where nobody looks.
pub(super) fn bury_predecessor(session: &Rc<SessionObject>) -> bool {
    if defect!(session.config, DeadSessionRegistered) {
        return false;
    }
    residency::release_predecessor(session);
    true
}

/// Paused executions and unanswered requests, counted together.
async fn counts(session: &Rc<SessionObject>) -> Result<(usize, usize), JsError> {
    let (pausing, running) = (Rc::clone(session), Rc::clone(session));
    let paused = call(async move { Ok(alarm::paused_execution_count(&pausing).await) });
    let running = call(async move { alarm::running_execution_count(&running, &EVICT_COUNTS).await });
    let counted = try_all(vec![paused, running]).wait_hops(COUNTED_AFTER).await?;
    match counted[..] {
        [paused, running] => Ok((paused, running)),
        _ => unreachable!("two counts were asked for"),
    }
}

pub(crate) use defective::TABLE as DEFECT_TABLE;

mod defective {
    //! Operations that exist only while a historical defect is switched on.

    use crate::platform::{JsError, sleep};

    crate::operations! {
        ADMISSION_PAUSE = "init · admission", Io, 1; "a millisecond between check and reservation; only with `admission-suspends`"
    }

    /// What the historical defect waits for.
    pub(super) async fn pause() -> Result<(), JsError> {
        sleep(&ADMISSION_PAUSE, 1).await
    }
}
