//! What an isolate counts of its sessions' runtimes, and which of them it could ask to give one back.
//!
//! Module-scope state: it dies with the isolate, is shared by all objects in it, and survives a reset of one of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::registry::{Registry, Resident};
use super::{SessionObject, cap, holding};
use crate::config::HostConfig;
use crate::defect::defect;
use crate::js::EventLoop;
use crate::platform::module_scope;
use crate::telemetry::Span;

#[derive(Default)]
struct Residency {
    resident_runtime_count: Cell<u64>,
    peak_resident_runtime_count: Cell<u64>,
    in_flight_cold_builds: RefCell<Vec<Reservation>>,
    resident_sessions: RefCell<Registry<Rc<SessionObject>>>,
}

/// A cold build on its way to a runtime.
struct Reservation {
    session: Rc<SessionObject>,
    since_ms: u64,
}

impl Resident for Rc<SessionObject> {
    fn can_evict(&self) -> Result<(), &'static str> {
        cap::can_evict(self)
    }

    fn config(&self) -> &HostConfig {
        &self.config
    }
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
    give_back(|reservation| Rc::ptr_eq(&reservation.session, session), false);
}

/// Gives back the first reservation that is `wanted`, which may be taken from who holds it; false when there is none.
fn give_back(wanted: impl Fn(&Reservation) -> bool, is_taken_back: bool) -> bool {
    let residency = module_scope::<Residency>();
    let index = residency.in_flight_cold_builds.borrow().iter().position(wanted);
    let Some(index) = index else { return false };
    let reservation = residency.in_flight_cold_builds.borrow_mut().remove(index);
    let count = residency.in_flight_cold_builds.borrow().len();
    state_event!(
        "reservation.returned",
        reservation.session.label(),
        isolate = &*isolate(),
        in_flight = count,
        taken_back = is_taken_back.then_some(true)
    );
    true
}

/// Resident runtimes and cold builds in flight.
pub(super) fn load() -> (u64, u64) {
    while give_back(|reservation| holding::is_expired(&reservation.session.config, reservation.since_ms), true) {}
    let residency = module_scope::<Residency>();
    let in_flight = residency.in_flight_cold_builds.borrow().len();
    (residency.resident_runtime_count.get(), in_flight as u64)
}

/// Key of the session's entry: the session's id, or the object's where it does not know its name. It stays what it is for
/// as long as the entry does.
///
/// Found here: by the name as it is known at the moment, a session that learns its name between build and teardown is
/// looked for where it does not stand, and those without a name stand in each other's place.
fn registry_key(session: &SessionObject) -> Arc<str> {
    if defect!(session.config, RegisteredByPassingName) {
        return session.session_id_for_telemetry();
    }
    let registered_as = session.registered_as.borrow().clone();
    registered_as.unwrap_or_else(|| match session.session_name_or_undefined() {
        Some(_) => session.session_id_for_telemetry(),
        None => Arc::clone(&session.ctx().key().name),
    })
}

/// `registerResidentSession`: by its key, which is kept.
pub(super) fn register_resident_session(session: &Rc<SessionObject>) {
    let (id, residency) = (registry_key(session), module_scope::<Residency>());
    *session.registered_as.borrow_mut() = Some(Arc::clone(&id));
    let now_ms = EventLoop::current().now_ms();
    // The replaced entry may be the last to hold on to its object: it goes when the borrow is over.
    let replaced = residency.resident_sessions.borrow_mut().register(&id, Rc::clone(session), now_ms);
    drop(replaced);
    state_event!("registry.added", session.label(), isolate = &*isolate(), id = &*id);
}

/// `releaseResidentSession` of the session's own entry.
pub(super) fn release_own_entry(session: &SessionObject) {
    release_resident_session(&registry_key(session));
    *session.registered_as.borrow_mut() = None;
}

/// `releaseResidentSession`: idempotent.
pub(super) fn release_resident_session(id: &str) {
    let released = module_scope::<Residency>().resident_sessions.borrow_mut().release(id);
    let Some(session) = released else { return };
    state_event!("registry.removed", session.label(), isolate = &*isolate(), id = id);
}

/// Gives back the entry and the place of an instance of the same object that is not this one: it is gone, and could not.
pub(super) fn release_predecessor(session: &Rc<SessionObject>) {
    let is_predecessor = |(_, held): &(&Arc<str>, &Rc<SessionObject>)| {
        held.ctx().key() == session.ctx().key() && !Rc::ptr_eq(held, session)
    };
    let residency = module_scope::<Residency>();
    let predecessor = residency.resident_sessions.borrow().all().find(is_predecessor).map(|(id, _)| Arc::clone(id));
    if let Some(id) = predecessor {
        release(session.label());
        release_resident_session(&id);
    }
}

/// `touchResidentSession` of the session's own entry.
pub(super) fn touch_own_entry(session: &SessionObject, now_ms: u64) {
    touch_resident_session(&registry_key(session), now_ms);
}

/// `touchResidentSession`: nothing when it has no entry.
pub(super) fn touch_resident_session(id: &str, now_ms: u64) {
    module_scope::<Residency>().resident_sessions.borrow_mut().touch(id, now_ms);
}

/// `markEvictionRequested`: nothing when it has no entry.
pub(super) fn mark_eviction_requested(id: &str, now_ms: u64) {
    module_scope::<Residency>().resident_sessions.borrow_mut().mark_eviction_requested(id, now_ms);
}

/// A session that could give its runtime back.
pub(super) struct Candidate {
    /// Key of its entry.
    pub id: Arc<str>,
    /// The object.
    pub session: Rc<SessionObject>,
}

/// `pickEvictionCandidate`.
pub(super) fn pick_eviction_candidate(now_ms: u64) -> Option<Candidate> {
    // A copy: whether a session can be asked is for its own code to say, which may use the registry.
    let sessions = module_scope::<Residency>().resident_sessions.borrow().clone();
    let picked = sessions.pick_eviction_candidate(now_ms, |session, reason| {
        state_event!("eviction.passed-over", session.label(), isolate = &*isolate(), reason = reason);
    });
    picked.map(|(id, session)| Candidate { id, session })
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
    module_scope::<Residency>().resident_sessions.borrow().all().map(|(id, _)| Arc::clone(id)).collect()
}

/// Peak of the residents, and each registered session with its last activity and when it was asked.
#[expect(clippy::type_complexity, reason = "three facts of an entry, read in one place")]
pub(super) fn books() -> (u64, Vec<(Arc<str>, u64, Option<u64>)>) {
    let residency = module_scope::<Residency>();
    let entries = residency.resident_sessions.borrow();
    (residency.peak_resident_runtime_count.get(), entries.times().collect())
}

fn isolate() -> Arc<str> {
    Arc::clone(&EventLoop::current().name)
}
