//! Starting a runtime: single flight over every kind of starter, teardown before and, after a failure, behind it.

use std::rc::Rc;

use serde_json::Value;

use super::{SessionObject, teardown};
use crate::defect::defect;
use crate::js::{EventLoop, Promise, call, hops};
use crate::operation::Operation;
use crate::platform::JsError;

/// Trips from the settlement of the start in flight until its slot is empty, and until its callers go on: owner first,
/// then joiners in joining order.
const SLOT_CLEARED_AFTER: u32 = 2;
const CALLERS_AFTER: u32 = 7;

crate::operations! {
    START_JOIN = "start · join", Io, 7; "the start in flight"
    START_TEARDOWN = "start · teardown", Io, 0; "the runtime that the start replaces; nothing if there is none"
    START_TEARDOWN_FAILED = "start · teardown failed", Io, 0; "what the failed start left behind; nothing if there is nothing"
}

/// `onStart(props?)`: joins a start in flight (this caller's props are dropped), else owns one.
///
/// # Errors
/// Those of the start, for every joined caller the same.
pub(super) async fn on_start(session: Rc<SessionObject>, props: Option<Value>) -> Result<(), JsError> {
    let in_flight = session.on_start_promise.borrow().clone();
    if let Some(starting) = in_flight.filter(|_| !defect!(session.config, StartWithoutSingleFlight)) {
        state_event!("start.joined", session.label());
        return crate::platform::join(&START_JOIN, &starting).await?;
    }
    let starting = call(start_runtime(Rc::clone(&session), props));
    *session.on_start_promise.borrow_mut() = Some(starting.clone());
    clear_when_settled(&session, &starting);
    starting.wait_hops(CALLERS_AFTER).await
}

/// Empties the slot when the start settles either way, if it still holds this start.
fn clear_when_settled(session: &Rc<SessionObject>, starting: &Promise<Result<(), JsError>>) {
    let (session, starting) = (Rc::clone(session), starting.clone());
    drop(call(async move {
        let started = starting.wait_hops(SLOT_CLEARED_AFTER).await;
        if started.is_err() && defect!(session.config, RejectedStartKept) {
            return;
        }
        let mut slot = session.on_start_promise.borrow_mut();
        if slot.as_ref().is_some_and(|held| held.same(&starting)) {
            *slot = None;
        }
    }));
}

/// The start that a flight consists of. Cold, it leaves re-attached sockets open: they are the very streams that
/// triggered it. Warm, it closes them.
async fn start_runtime(session: Rc<SessionObject>, props: Option<Value>) -> Result<(), JsError> {
    let start = EventLoop::current().next_number();
    state_event!("start.begin", session.label(), start = start);
    let close_streams = session.has_in_memory_runtime() || defect!(session.config, ColdStartClosesStreams);
    tear_down(&session, &START_TEARDOWN, close_streams).await;
    let body = start_body(&session, props).await;
    hops(1).await;
    if body.is_err() {
        tear_down(&session, &START_TEARDOWN_FAILED, true).await;
    }
    let outcome = if body.is_ok() { "ok" } else { "failed" };
    state_event!("start.end", session.label(), start = start, outcome = outcome);
    body
}

/// The framework's part of a start. The recorded tests put their own in its place.
async fn start_body(session: &Rc<SessionObject>, props: Option<Value>) -> Result<(), JsError> {
    #[cfg(test)]
    if let Some(body) = super::tests::recordings::start_body::replaced(session) {
        return body.await;
    }
    session.base.start_body(Rc::clone(session), props).await
}

/// A nested effect of the start: it costs no trip of its own, and with nothing resident it does not suspend at all.
async fn tear_down(session: &Rc<SessionObject>, operation: &'static Operation, close_streams: bool) {
    if session.has_in_memory_runtime() || session.disposing_runtime.borrow().is_some() {
        teardown::tear_down(Rc::clone(session), operation, close_streams).await;
    } else {
        teardown::close_runtime(session, close_streams).run().await;
    }
}
