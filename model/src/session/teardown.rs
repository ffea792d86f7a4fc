//! Giving the runtime back: one shared teardown, uninterruptible, in a fixed order; and the disposal around it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::owner_directory::strict_session_id;
use super::{SessionObject, clock, leases, meta, residency};
use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber, or_die};
use crate::js::{Promise, hops, rooted};
use crate::operation::Operation;
use crate::platform::{JsError, join, micro, operate};
use crate::telemetry::{self, Span, log_event};

crate::operations! {
    TEARDOWN_JOIN = "teardown · join", Io, 1; "the teardown in progress"
    DISPOSE_TEARDOWN = "dispose · teardown", Io, 0; "the teardown, masked; who joins one goes on a trip later"
    DISPOSE_ALARM = "dispose · storage.deleteAlarm", Storage, 3; "storage"
    DISPOSE_ACTIVITY = "dispose · storage.delete last-activity-ms", Storage, 3; "storage"
    DISPOSE_FLUSH = "dispose · flush", Micro, 1; "nothing: the exporter's flush is handed to waitUntil"
}

/// Trips from the end of a root effect until its abort handle is let go of, and from there to the awaiting caller of the
/// async function around it: `init` and the disposal.
const HANDLE_DROPPED_AFTER: u32 = 2;
const CALLER_AFTER: u32 = 4;
/// Close code and reason of a session's streams.
const CLOSE_STREAM: (u16, &str) = (1000, "Session closed");

/// A teardown that was claimed at the call of [`close_runtime`] and runs when its effect does.
pub(super) struct Teardown {
    session: Rc<SessionObject>,
    shared: Promise<()>,
    owned: bool,
    close_streams: bool,
}

/// `closeRuntime(closeStreams)`: joins the teardown in progress, or claims one. The claim is made now.
pub(super) fn close_runtime(session: &Rc<SessionObject>, close_streams: bool) -> Teardown {
    let in_progress = session.disposing_runtime.borrow().clone();
    let in_progress = in_progress.filter(|_| !defect!(session.config, DisposalNotShared));
    let owned = in_progress.is_none();
    let shared = in_progress.unwrap_or_default();
    if owned {
        *session.disposing_runtime.borrow_mut() = Some(shared.clone());
    }
    Teardown { session: Rc::clone(session), shared, owned, close_streams }
}

impl Teardown {
    /// Runs it to completion; it cannot fail and cannot be interrupted.
    pub(super) async fn run(self) {
        if !self.owned {
            drop(join(&TEARDOWN_JOIN, &self.shared).await);
            return;
        }
        drop(self.body().await);
        self.finish();
    }

    /// The same inside a root fiber: joining can be interrupted, the teardown itself cannot.
    pub(super) async fn run_in(self, fiber: &Fiber) -> Exit<()> {
        if !self.owned {
            return or_die(fiber.at(join(&TEARDOWN_JOIN, &self.shared)).await?);
        }
        if defect!(self.session.config, TeardownInterruptible) {
            let exit = fiber.at(self.body()).await;
            self.finish();
            return exit?;
        }
        let masked = fiber.masked(async {
            let exit = self.body().await;
            self.finish();
            exit
        });
        masked.await?
    }

    /// It has no failures: only the defect of a rejected close makes one.
    async fn body(&self) -> Exit<()> {
        let session = &self.session;
        let runtime = session.runtime.get();
        state_event!("teardown.begin", session.label());
        let is_cleared_late = defect!(session.config, InitializedClearedLate);
        if !is_cleared_late {
            session.initialized.set(false);
        }
        leases::release_all(session).await;
        if self.close_streams {
            close_streams(session);
        }
        if defect!(session.config, EngineDroppedEarly) {
            drop_engine(session);
        }
        let server = session.server.take();
        if keeps_server(session) {
            session.server.borrow_mut().clone_from(&server);
        }
        let transport = session.agent.transport.borrow().clone();
        // The late clearing is of a host that let go of its transport late, too: only there it shows.
        if !is_cleared_late && !defect!(session.config, TransportOutlivesServer) {
            // Found here: a request that comes while the server closes would be handed to it and never be answered.
            *session.agent.transport.borrow_mut() = None;
        }
        if let Some(server) = server {
            state_event!("server.closed", session.label(), runtime = runtime);
            // A rejected close is an ordinary error and ignored.
            let closed = server.close().await;
            if defect!(session.config, CloseRejectionFatal) {
                or_die(closed)?;
            }
        }
        *session.agent.transport.borrow_mut() = None;
        drop(transport);
        drop_engine(session);
        let db = session.db.borrow_mut().take();
        if let Some(db) = db {
            state_event!("db.ended", session.label(), runtime = runtime);
            if !defect!(session.config, HandleLeftOpen) {
                drop(db.end().await);
            }
        }
        if is_cleared_late {
            session.initialized.set(false);
        }
        if session.counted_as_resident.replace(false) {
            residency::release(session.label());
            if !defect!(session.config, EntryLeftBehind) {
                residency::release_own_entry(session);
            }
            state_event!("runtime.released", session.label(), runtime = runtime);
        }
        state_event!("teardown.end", session.label());
        Ok(())
    }

    fn finish(&self) {
        let mut slot = self.session.disposing_runtime.borrow_mut();
        if slot.as_ref().is_some_and(|held| held.same(&self.shared)) {
            *slot = None;
        }
        drop(slot);
        if !defect!(self.session.config, TeardownWakesNobody) {
            self.shared.settle(());
        }
    }
}

/// A teardown as an operation of whoever needs it; it cannot fail. `operation.hops` follow its end for whoever does not
/// run it inline.
pub(super) async fn tear_down(session: Rc<SessionObject>, operation: &'static Operation, close_streams: bool) {
    drop(operate::begin(operation).await);
    close_runtime(&session, close_streams).run().await;
    hops(operation.hops).await;
    drop(operate::end(operation).await);
}

/// Whether a session goes on with the server object that it closed: only with the historical defect.
pub(super) fn keeps_server(session: &SessionObject) -> bool {
    defect!(session.config, ServerOutlivesTeardown)
}

/// The engine stays reachable until the server's close has returned. Nobody shuts it down.
fn drop_engine(session: &SessionObject) {
    if session.engine.borrow_mut().take().is_some() {
        state_event!("engine.dropped", session.label(), runtime = session.runtime.get());
    }
}

fn close_streams(session: &SessionObject) {
    session.base.close_connections(&session.agent, CLOSE_STREAM.0, CLOSE_STREAM.1);
}

/// Why a runtime is disposed, and what was live when that was decided.
pub(super) struct Disposal {
    pub reason: &'static str,
    pub idle_ms: u64,
    pub paused_execution_count: usize,
    pub active_stream_count: usize,
}

/// `disposeIdleRuntime`: log, teardown, bookkeeping, span with the gauge after the release, flush.
pub(super) async fn dispose_idle_runtime(session: Rc<SessionObject>, disposal: Disposal) -> Result<(), JsError> {
    let session_id = session.session_id_for_telemetry();
    log_event!(
        info,
        "mcp_session_idle_runtime_dispose",
        session.label(),
        sessionId = &*session_id,
        idleMs = disposal.idle_ms,
        pausedExecutionCount = disposal.paused_execution_count,
        activeStreamCount = disposal.active_stream_count,
        reason = disposal.reason,
    );
    // Found here: the id that the span was described with throws where there is no name, and the session is not disposed
    // after its disposal was told.
    let session_id =
        if defect!(session.config, DisposalNeedsAName) { strict_session_id(&session)? } else { session_id };
    state_event!(
        "disposal.begin",
        session.label(),
        reason = disposal.reason,
        idle_ms = disposal.idle_ms,
        paused = disposal.paused_execution_count,
        streams = disposal.active_stream_count,
    );
    let fiber = Fiber::new();
    *session.dispose_abort.borrow_mut() = Some(fiber.clone());
    let exit = rooted("dispose", dispose(&session, &disposal, session_id, &fiber)).await;
    let outcome = match &exit {
        Ok(()) => "ok",
        Err(Cause::Interrupt) => "interrupted",
        Err(_) => "failed",
    };
    state_event!("disposal.end", session.label(), outcome = outcome);
    let_go_of_handle(&session.dispose_abort, &fiber).await;
    exit.map_err(Cause::into_error)
}

/// What follows the end of a root effect that has an abort handle: the handle is emptied if it is still this one's, then
/// the awaiting caller goes on.
pub(super) async fn let_go_of_handle(handle: &RefCell<Option<Fiber>>, fiber: &Fiber) {
    fiber.end();
    hops(HANDLE_DROPPED_AFTER).await;
    handle.borrow_mut().take_if(|held| held.same(fiber));
    hops(CALLER_AFTER).await;
}

/// The root effect of a disposal; the flush is its finaliser.
async fn dispose(session: &Rc<SessionObject>, disposal: &Disposal, session_id: Arc<str>, fiber: &Fiber) -> Exit<()> {
    let span = Span::root("mcp.session.idle_runtime_dispose");
    span.set("mcp.session.id", &*session_id);
    span.set("mcp.session.idle_ms", disposal.idle_ms);
    span.set("mcp.session.paused_execution_count", disposal.paused_execution_count);
    span.set("mcp.session.active_stream_count", disposal.active_stream_count);
    let is_told_as_idle = defect!(session.config, DisposalToldAsIdle);
    span.set("mcp.session.dispose_reason", if is_told_as_idle { "idle" } else { disposal.reason });
    let exit = bookkeeping(session, disposal, &span, fiber).await;
    span.end_with(&exit);
    fiber
        .finally(async {
            telemetry::flush();
            drop(micro(&DISPOSE_FLUSH).await);
        })
        .await;
    exit
}

async fn bookkeeping(session: &Rc<SessionObject>, disposal: &Disposal, span: &Span, fiber: &Fiber) -> Exit<()> {
    let is_gauge_early = defect!(session.config, GaugeReadBeforeRelease);
    if is_gauge_early {
        residency::annotate(span);
    }
    let was_condemned = session.condemned.get();
    dispose_teardown(session, fiber).await?;
    // Found here: who condemns the session meanwhile sets the one alarm there is, and it would never be wiped.
    let is_condemned_since = session.condemned.get() && !was_condemned;
    let storage = session.ctx().storage();
    // Failures of both are ignored; an interrupt at the first means that the second is never issued.
    if !is_condemned_since || defect!(session.config, CondemnedWhileDisposed) {
        drop(fiber.at(storage.delete_alarm(&DISPOSE_ALARM).into_future()).await?);
    }
    drop(fiber.at(storage.delete(&DISPOSE_ACTIVITY, clock::LAST_ACTIVITY_KEY).into_future()).await?);
    if disposal.reason == "idle" && defect!(session.config, IdleAlarmDeletesMeta) {
        meta::forget(session).await;
    }
    if defect!(session.config, DisposalForgetsStreams) {
        defective::forget_streams(session).await;
    }
    if !is_gauge_early {
        residency::annotate(span);
    }
    Ok(())
}

/// The teardown of a disposal, nested in its effect. It has no end of its own: nothing comes between the end of the
/// teardown and the bookkeeping, or that would take the alarm of the next runtime.
async fn dispose_teardown(session: &Rc<SessionObject>, fiber: &Fiber) -> Exit<()> {
    let teardown = close_runtime(session, true);
    drop(operate::begin(&DISPOSE_TEARDOWN).await);
    teardown.run_in(fiber).await
}

pub(crate) use defective::TABLE as DEFECT_TABLE;

mod defective {
    //! Operations that exist only while a defect is switched on.

    use std::sync::Arc;

    use super::SessionObject;
    use crate::agents::event_store::EVENT_PREFIX;
    use crate::agents::transport::UNDELIVERED_PREFIX;
    use crate::platform::ListRange;

    crate::operations! {
        STREAMS_LIST = "dispose · storage.list streams", Storage, 3; "storage; only with `disposal-forgets-streams`"
        STREAMS_DELETE = "dispose · storage.delete streams", Storage, 3; "storage; only with `disposal-forgets-streams`"
    }

    /// What the defect deletes with a runtime: stored events, and the marks of streams that were not delivered.
    pub(super) async fn forget_streams(session: &SessionObject) {
        let storage = session.ctx().storage();
        for prefix in [EVENT_PREFIX, UNDELIVERED_PREFIX] {
            let Ok(rows) = storage.list(&STREAMS_LIST, ListRange::prefix(prefix).limit(128)).await else { return };
            let keys: Vec<Arc<str>> = rows.iter().map(|(key, _)| Arc::clone(key)).collect();
            if !keys.is_empty() {
                drop(storage.delete_many(&STREAMS_DELETE, keys).await);
            }
        }
    }
}
