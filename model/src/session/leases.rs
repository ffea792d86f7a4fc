//! Leases of pending approvals: each paused execution keeps its session awake and findable for as long as it can be
//! approved, and no longer.
//!
//! A lease holds a keep-alive reference, a timer and an entry in the directory of owners. It ends by a resume, by the
//! timer, which declines for the person, or with the runtime.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::init::mark_activity_span;
use super::interaction::Response;
use super::{SessionObject, approvals, meta, owner_directory};
use crate::agents::schedule::{KeepAlive, keep_alive};
use crate::config::PAUSED_APPROVAL_TIMEOUT_MS;
use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber, or_die};
use crate::iso_time::to_iso;
use crate::js::{EventLoop, TimerHandle, call, js, rooted};
use crate::operation::Operation;
use crate::platform::io;
use crate::telemetry::{self, Span, log_event};

crate::operations! {
    LEASE_DIR_PUT = "lease.start · dir.put", Io, 0, assumed; "the directory's RPC; the lease is taken already"
    LEASE_FINISH_DELETE = "lease.finish · dir.delete", Io, 0, assumed; "the directory's RPC; the keep-alive is given back before"
    LEASE_EXPIRE_ENGINE = "lease.expire · engine.resume", Io, 0, assumed; "the engine's resume, when no tool call waits"
    LEASE_EXPIRE_DELETE = "lease.expire · dir.delete", Io, 0, assumed; "the directory's RPC, as finaliser"
    TEARDOWN_DIR_DELETE = "teardown · dir.delete", Io, 0, assumed; "the directory's RPC, each lease in turn, after all of them were given back"
}

/// How long a pause can be approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// Milliseconds from when it was computed.
    pub ttl_ms: u64,
    /// The same as a time, ISO 8601.
    pub expires_at: String,
}

impl Deadline {
    /// The deadline of a pause that is reported now.
    pub fn from_now() -> Deadline {
        let expires_at_ms = EventLoop::current().now_ms() + PAUSED_APPROVAL_TIMEOUT_MS;
        Deadline { ttl_ms: PAUSED_APPROVAL_TIMEOUT_MS, expires_at: to_iso(expires_at_ms) }
    }
}

struct Lease {
    id: Arc<str>,
    keep: KeepAlive<SessionObject>,
    timer: RefCell<Option<TimerHandle>>,
    expiring: Cell<bool>,
}

impl Lease {
    fn clear_timer(&self) {
        self.timer.borrow_mut().take().iter().for_each(TimerHandle::clear);
    }
}

/// The leases of a session, oldest first.
#[derive(Default)]
pub(crate) struct Leases(RefCell<Vec<Rc<Lease>>>);

impl Leases {
    fn get(&self, id: &str) -> Option<Rc<Lease>> {
        self.0.borrow().iter().find(|lease| *lease.id == *id).cloned()
    }

    /// Ids of the executions that hold one.
    #[cfg(test)]
    pub fn ids(&self) -> Vec<Arc<str>> {
        self.0.borrow().iter().map(|lease| Arc::clone(&lease.id)).collect()
    }

    /// Each with the execution that holds it, whether its timer is set, and whether it is expiring.
    pub(super) fn all(&self) -> Vec<(Arc<str>, bool, bool)> {
        let shown = |lease: &Rc<Lease>| (Arc::clone(&lease.id), lease.timer.borrow().is_some(), lease.expiring.get());
        self.0.borrow().iter().map(shown).collect()
    }

    fn remove(&self, id: &str) -> Option<Rc<Lease>> {
        let mut leases = self.0.borrow_mut();
        let index = leases.iter().position(|lease| *lease.id == *id)?;
        Some(leases.remove(index))
    }
}

/// Starts a lease in `waitUntil`: the tool call that paused does not wait for it, and nobody sees it fail.
pub(super) fn queue_start(session: &Rc<SessionObject>, id: &Arc<str>, deadline: Deadline) {
    let (starting, id) = (Rc::clone(session), Arc::clone(id));
    let work =
        call(rooted("lease", async move { start(&starting, &id, &deadline, None).await.map_err(Cause::into_error) }));
    session.ctx().wait_until(work);
}

/// `startPendingApprovalLease`. Its failures are told once and passed on; those of the directory are not its own.
///
/// # Errors
/// A reference or a clock that cannot be written, a stored identity that cannot be read.
pub(super) async fn start(
    session: &Rc<SessionObject>,
    id: &Arc<str>,
    deadline: &Deadline,
    parent: Option<&Span>,
) -> Exit<()> {
    let span = span_of("McpSessionDO.pending_approval_lease.start", id, parent);
    let exit = take(session, id, deadline, &span).await;
    span.end_with(&exit);
    tell(session, "[mcp-session] pending approval lease start failed:", &exit);
    exit
}

/// The reference comes before the clock: the first one makes the framework write its heartbeat into the alarm slot, over
/// the idle alarm, and the clock writes that again. Nothing gives the reference back when a later step fails.
async fn take(session: &Rc<SessionObject>, id: &Arc<str>, deadline: &Deadline, span: &Span) -> Exit<()> {
    if session.leases.get(id).is_some() || is_over(session, id) {
        return Ok(());
    }
    let fiber = Fiber::new();
    let touch_first = defect!(session.config, KeepAliveAfterClock);
    if touch_first {
        mark_activity_span(session, "approval_lease.mark_activity", &fiber, span).await?;
    }
    let keep = or_die(js(keep_alive(Rc::clone(session))).await)?;
    if !touch_first {
        mark_activity_span(session, "approval_lease.mark_activity", &fiber, span).await?;
    }
    if is_over(session, id) {
        keep.give_back();
        return Ok(());
    }
    let timer = arm(session, id);
    let lease = Lease { id: Arc::clone(id), keep, timer: RefCell::new(Some(timer)), expiring: Cell::new(false) };
    session.leases.0.borrow_mut().push(Rc::new(lease));
    state_event!("lease.taken", session.label(), execution = &**id);
    if !session.config.execution_owner_bound {
        return Ok(());
    }
    let Some(meta) = meta::load(session, &fiber, span).await? else { return Ok(()) };
    or_die(owner_directory::put(session, &LEASE_DIR_PUT, id, &meta, deadline, span).await)
}

/// Whether nobody waits for the execution any more: it was resumed before its lease was taken, or what its resume came to
/// is told once more. Nothing would give such a lease back before its window ends.
fn is_over(session: &SessionObject, id: &str) -> bool {
    if defect!(session.config, LeaseOfWhatIsOver) {
        return false;
    }
    let engine = session.engine.borrow().clone();
    engine.is_none_or(|engine| engine.paused(id).is_none())
}

/// The timer that expires the lease, in `waitUntil` of the session. It does not keep the session.
fn arm(session: &Rc<SessionObject>, id: &Arc<str>) -> TimerHandle {
    let (session, id) = (Rc::downgrade(session), Arc::clone(id));
    let fire = move || {
        let Some(session) = Weak::upgrade(&session) else { return };
        let expiring = Rc::clone(&session);
        let work = call(rooted("expire", async move { expire(&expiring, &id).await.map_err(Cause::into_error) }));
        session.ctx().wait_until(work);
    };
    EventLoop::current().set_timer(PAUSED_APPROVAL_TIMEOUT_MS, Box::new(fire))
}

/// What both background runs say of a failure: a line and one capture, also when it is a recognised reset. Found here:
/// inline the same failure goes on to the guard of the entry point, which captures what nobody claimed.
fn tell(session: &SessionObject, text: &str, exit: &Exit<()>) {
    if let Some(error) = exit.as_ref().err().and_then(Cause::error) {
        telemetry::console_error(session.label(), text, error);
        session.host.capture(session, error);
        if !defect!(session.config, LeaseFailureCapturedTwice) {
            session.host.claim(session, error);
        }
    }
}

/// A resume begins: the timer must not decline under its hands.
pub(super) fn begin_resume(session: &SessionObject, id: &Arc<str>, parent: Option<&Span>) {
    let span = span_of("McpSessionDO.pending_approval_lease.begin_resume", id, parent);
    if let Some(lease) = session.leases.get(id).filter(|lease| !lease.expiring.get()) {
        lease.clear_timer();
    }
    span.end();
}

/// A resume is over, whatever came of it: the lease is released.
pub(super) async fn finish(session: &SessionObject, id: &Arc<str>, parent: Option<&Span>) {
    let span = span_of("McpSessionDO.pending_approval_lease.finish", id, parent);
    release(session, &LEASE_FINISH_DELETE, "resume", id, &span).await;
    span.end();
}

/// Gives a lease back; nothing at all when this session has none, as the entry is another session's then.
async fn release(session: &SessionObject, operation: &'static Operation, by: &'static str, id: &Arc<str>, span: &Span) {
    let lease = session.leases.remove(id);
    if lease.is_none() && !defect!(session.config, ForeignEntryDeleted) {
        return;
    }
    if let Some(lease) = lease {
        give_back(session, &lease, by);
    }
    owner_directory::delete(session, operation, id, Some(span)).await;
}

fn give_back(session: &SessionObject, lease: &Lease, by: &'static str) {
    lease.clear_timer();
    if !defect!(session.config, LeaseKeepsAwake) {
        lease.keep.give_back();
    }
    state_event!("lease.returned", session.label(), execution = &*lease.id, by = by);
}

/// Gives all leases back with the runtime: timers and references first, then the directory entries one by one.
pub(super) async fn release_all(session: &SessionObject) {
    let leases = std::mem::take(&mut *session.leases.0.borrow_mut());
    leases.iter().for_each(|lease| give_back(session, lease, "teardown"));
    for lease in leases {
        owner_directory::delete(session, &TEARDOWN_DIR_DELETE, &lease.id, None).await;
    }
}

/// The approval window is over: declines for the person, and resumes if no tool call waits to do so. The lease is
/// released on every way out, also by an expiry that finds another one at work.
async fn expire(session: &Rc<SessionObject>, id: &Arc<str>) -> Exit<()> {
    let span = span_of("McpSessionDO.pending_approval_lease.expire", id, None);
    let exit = decline(session, id, &span).await;
    release(session, &LEASE_EXPIRE_DELETE, "expiry", id, &span).await;
    span.end_with(&exit);
    tell(session, "[mcp-session] pending approval lease expiration failed:", &exit);
    exit
}

async fn decline(session: &Rc<SessionObject>, id: &Arc<str>, span: &Span) -> Exit<()> {
    let Some(lease) = session.leases.get(id).filter(|lease| !lease.expiring.replace(true)) else { return Ok(()) };
    lease.clear_timer();
    if session.approvals.is_decided(id) {
        return Ok(());
    }
    log_event!(info, "mcp_pending_approval_lease_expire", session.label(), executionId = &**id);
    or_die(approvals::record(session, id, Response::timed_out()).await)?;
    // A waiter that the record woke has taken itself away by now, so that both resume: the engine lets them meet.
    let has_waiter = session.approvals.has_waiter(id) && !defect!(session.config, ExpiryIgnoresWaiter);
    let engine = session.engine.borrow().clone();
    if let Some(engine) = engine.filter(|_| !has_waiter) {
        let resume = engine.resume(Arc::clone(id), Response::timed_out(), Some(span.clone()));
        drop(io(&LEASE_EXPIRE_ENGINE, || call(resume)).await);
    }
    Ok(())
}

fn span_of(name: &'static str, id: &str, parent: Option<&Span>) -> Span {
    let span = parent.map_or_else(|| Span::root(name), |parent| parent.child(name));
    span.set("mcp.execution.id", id);
    span
}
