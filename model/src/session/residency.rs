//! What an isolate counts of its sessions' runtimes, and which of them it could ask to give one back.
//!
//! Module-scope state: it dies with the isolate, is shared by all objects in it, and survives a reset of one of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::{SessionObject, cap, holding};
use crate::defect::defect;
use crate::js::EventLoop;
use crate::platform::module_scope;
use crate::telemetry::Span;

/// A session that was asked to give its runtime back is not asked again for so long, in milliseconds.
const EVICTION_REQUEST_GRACE_MS: u64 = 15_000;

#[derive(Default)]
struct Residency {
    resident_runtime_count: Cell<u64>,
    peak_resident_runtime_count: Cell<u64>,
    in_flight_cold_builds: RefCell<Vec<Reservation>>,
    /// By session id, in the order of first registration.
    resident_sessions: RefCell<Vec<(Arc<str>, Entry)>>,
}

/// A cold build on its way to a runtime.
struct Reservation {
    session: Rc<SessionObject>,
    since_ms: u64,
}

/// A registered session: how old its use is, and how it is asked.
#[derive(Clone)]
struct Entry {
    session: Rc<SessionObject>,
    last_activity_ms: u64,
    eviction_requested_at_ms: Option<u64>,
}

/// `acquireResidentRuntime`: one more.
pub(super) fn acquire(label: &Arc<str>) {
    let residency = module_scope::<Residency>();
    let count = residency.resident_runtime_count.get() + 1;
    residency.resident_runtime_count.set(count);
    residency.peak_resident_runtime_count.set(residency.peak_resident_runtime_count.get().max(count));
    state_event!("gauge", label, isolate = &*isolate(), residents = count);
}

/// `releaseResidentRuntime`: one less, never below zero.
pub(super) fn release(label: &Arc<str>) {
    let residency = module_scope::<Residency>();
    let count = residency.resident_runtime_count.get().saturating_sub(1);
    residency.resident_runtime_count.set(count);
    state_event!("gauge", label, isolate = &*isolate(), residents = count);
}

/// `reserveColdBuildSlot`: one more build on its way to a runtime.
pub(super) fn reserve_cold_build_slot(session: &Rc<SessionObject>) {
    let residency = module_scope::<Residency>();
    let reservation = Reservation { session: Rc::clone(session), since_ms: EventLoop::current().now_ms() };
    residency.in_flight_cold_builds.borrow_mut().push(reservation);
    let count = residency.in_flight_cold_builds.borrow().len();
    state_event!("reservation.taken", session.label(), isolate = &*isolate(), in_flight = count);
}

/// `releaseColdBuildSlot`: one less; nothing if it was taken back already.
pub(super) fn release_cold_build_slot(session: &Rc<SessionObject>) {
    give_back(|reservation| Rc::ptr_eq(&reservation.session, session));
}

/// Gives back the first reservation that is `wanted`; false when there is none.
fn give_back(wanted: impl Fn(&Reservation) -> bool) -> bool {
    let residency = module_scope::<Residency>();
    let index = residency.in_flight_cold_builds.borrow().iter().position(wanted);
    let Some(index) = index else { return false };
    let reservation = residency.in_flight_cold_builds.borrow_mut().remove(index);
    let count = residency.in_flight_cold_builds.borrow().len();
    state_event!("reservation.returned", reservation.session.label(), isolate = &*isolate(), in_flight = count);
    true
}

/// Resident runtimes and cold builds in flight.
pub(super) fn load() -> (u64, u64) {
    while give_back(|reservation| holding::is_expired(&reservation.session.config, reservation.since_ms)) {}
    let residency = module_scope::<Residency>();
    let in_flight = residency.in_flight_cold_builds.borrow().len();
    (residency.resident_runtime_count.get(), in_flight as u64)
}

/// `registerResidentSession`: by the session's id. A replaced entry keeps its place in the order, and nothing else.
pub(super) fn register_resident_session(session: &Rc<SessionObject>) {
    let (id, residency) = (session.session_id_for_telemetry(), module_scope::<Residency>());
    let entry = Entry {
        session: Rc::clone(session),
        last_activity_ms: EventLoop::current().now_ms(),
        eviction_requested_at_ms: None,
    };
    // The replaced entry may be the last to hold on to its object: it goes when the borrow is over.
    let replaced = {
        let mut sessions = residency.resident_sessions.borrow_mut();
        match sessions.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => Some(std::mem::replace(known, entry)),
            None => {
                sessions.push((Arc::clone(&id), entry));
                None
            }
        }
    };
    drop(replaced);
    state_event!("registry.added", session.label(), isolate = &*isolate(), id = &*id);
}

/// `releaseResidentSession`: idempotent.
pub(super) fn release_resident_session(id: &str) {
    let residency = module_scope::<Residency>();
    let index = residency.resident_sessions.borrow().iter().position(|(known, _)| &**known == id);
    let Some(index) = index else { return };
    let (_, entry) = residency.resident_sessions.borrow_mut().remove(index);
    state_event!("registry.removed", entry.session.label(), isolate = &*isolate(), id = id);
}

/// Gives back the entry and the place of an object of the same id that is not this one: it is gone, and could not.
pub(super) fn release_predecessor(session: &Rc<SessionObject>) {
    let id = session.session_id_for_telemetry();
    let sessions = module_scope::<Residency>().resident_sessions.borrow().clone();
    let is_predecessor = |(known, entry): &(Arc<str>, Entry)| *known == id && !Rc::ptr_eq(&entry.session, session);
    if sessions.iter().any(is_predecessor) {
        release(session.label());
        release_resident_session(&id);
    }
}

/// `touchResidentSession`: nothing when it has no entry.
pub(super) fn touch_resident_session(id: &str, now_ms: u64) {
    change(id, |entry| entry.last_activity_ms = now_ms);
}

/// `markEvictionRequested`: nothing when it has no entry.
pub(super) fn mark_eviction_requested(id: &str, now_ms: u64) {
    change(id, |entry| {
        if !defect!(entry.session.config, EvictionNotMarked) {
            entry.eviction_requested_at_ms = Some(now_ms);
        }
    });
}

fn change(id: &str, change: impl FnOnce(&mut Entry)) {
    let residency = module_scope::<Residency>();
    let mut sessions = residency.resident_sessions.borrow_mut();
    if let Some((_, entry)) = sessions.iter_mut().find(|(known, _)| &**known == id) {
        change(entry);
    }
}

/// A session that could give its runtime back.
pub(super) struct Candidate {
    /// Key of its entry.
    pub id: Arc<str>,
    /// The object.
    pub session: Rc<SessionObject>,
}

/// `pickEvictionCandidate`: the entry that was used least recently, the first of equals; those that are live or were
/// asked within the grace are passed over. Changes nothing.
pub(super) fn pick_eviction_candidate(now_ms: u64) -> Option<Candidate> {
    let sessions = module_scope::<Residency>().resident_sessions.borrow().clone();
    let mut picked: Option<(u64, Candidate)> = None;
    for (id, entry) in sessions {
        if let Err(reason) = may_be_asked(&entry, now_ms) {
            state_event!("eviction.passed-over", entry.session.label(), isolate = &*isolate(), reason = reason);
            continue;
        }
        let used_at_ms = entry.last_activity_ms;
        let is_better = |best: u64| {
            if defect!(entry.session.config, MostRecentEvicted) { used_at_ms > best } else { used_at_ms < best }
        };
        if picked.as_ref().is_none_or(|(best, _)| is_better(*best)) {
            picked = Some((used_at_ms, Candidate { id, session: entry.session }));
        }
    }
    picked.map(|(_, candidate)| candidate)
}

/// Why an entry is passed over, if it is.
fn may_be_asked(entry: &Entry, now_ms: u64) -> Result<(), &'static str> {
    cap::can_evict(&entry.session)?;
    let Some(asked_at_ms) = entry.eviction_requested_at_ms else { return Ok(()) };
    let is_over = now_ms - asked_at_ms >= EVICTION_REQUEST_GRACE_MS && !defect!(entry.session.config, GraceWithoutEnd);
    if is_over { Ok(()) } else { Err("requested") }
}

/// Puts the residency attributes on a span. The runtime of this host exposes no heap figures.
pub(super) fn annotate(span: &Span) {
    let residency = module_scope::<Residency>();
    span.set("mcp.isolate.resident_runtimes", residency.resident_runtime_count.get());
    span.set("mcp.isolate.peak_resident_runtimes", residency.peak_resident_runtime_count.get());
}

/// Ids of the registered sessions, in order; what the host's own tests look at.
#[cfg(test)]
pub(super) fn registered() -> Vec<Arc<str>> {
    module_scope::<Residency>().resident_sessions.borrow().iter().map(|(id, _)| Arc::clone(id)).collect()
}

/// Peak of the residents, and each registered session with its last activity and when it was asked; for the tests.
#[cfg(test)]
#[expect(clippy::type_complexity, reason = "three facts of an entry, read in one place")]
pub(super) fn books() -> (u64, Vec<(Arc<str>, u64, Option<u64>)>) {
    let residency = module_scope::<Residency>();
    let entries = residency.resident_sessions.borrow();
    let shown =
        entries.iter().map(|(id, entry)| (Arc::clone(id), entry.last_activity_ms, entry.eviction_requested_at_ms));
    (residency.peak_resident_runtime_count.get(), shown.collect())
}

fn isolate() -> Arc<str> {
    Arc::clone(&EventLoop::current().name)
}
