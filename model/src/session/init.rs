//! `init`: joins a disposal, then builds the runtime in one interruptible effect with its exits and finalisers.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::cap::Place;
use super::failure::{best_effort, classify, record_reset};
use super::host::{Runtime, SessionDb};
use super::{SessionObject, cap, clock, meta, report, residency, teardown};
use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber};
use crate::js::{EventLoop, call, hops};
use crate::platform::{JsError, join, micro};
use crate::telemetry::{self, Span};

crate::operations! {
    INIT_JOIN = "init · join-disposal", Io, 1; "the teardown in progress, once"
    INIT_DB_OPEN = "init · db.open", Micro, 1; "nothing: the handle is made synchronously"
    BUILD_IMPORT = "build · import", Io, 0, assumed; "two module loads, together"
    BUILD_STACK = "build · stack", Io, 0, assumed; "executor and engine"
    BUILD_DESCRIBE = "build · describe", Io, 0, assumed; "the connection list, from the database"
    BUILD_SERVER = "build · server", Micro, 1, assumed; "nothing known to suspend"
    INIT_TEARDOWN = "init · teardown failed", Io, 3; "what the failed init left behind"
    INIT_FLUSH = "init · flush", Micro, 1; "nothing: the exporter's flush is handed to waitUntil"
}

/// `init()`. From the end of its effect to the awaiting caller it takes six trips; an early return costs one.
///
/// # Errors
/// No props; whatever the build fails with; an interrupt.
pub(super) async fn init(session: Rc<SessionObject>) -> Result<(), JsError> {
    let disposing = session.disposing_runtime.borrow().clone();
    if let Some(disposing) = disposing {
        join(&INIT_JOIN, &disposing).await?;
    }
    if session.initialized.get() {
        hops(1).await;
        return Ok(());
    }
    let props = session.agent.props.borrow().clone();
    let Some(token) = props.as_ref().and_then(|props| props.get("session")).and_then(Value::as_object).cloned() else {
        hops(1).await;
        return Err(JsError::new("MCP session props are required"));
    };
    let fiber = Fiber::new();
    *session.init_abort.borrow_mut() = Some(fiber.clone());
    state_event!("init.begin", session.label());
    let traceparent = props.as_ref().and_then(|props| props.pointer("/propagation/traceparent")?.as_str());
    let span = Span::remote("McpSessionDO.init", traceparent);
    let organization_id = token.get("organizationId").and_then(Value::as_str).unwrap_or_default();
    span.set("mcp.auth.organization_id", organization_id);
    let exit = root(&session, &token, &fiber, &span).await;
    let outcome = match &exit {
        Ok(()) => "ok",
        Err(Cause::Interrupt) => "interrupted",
        Err(_) => "failed",
    };
    state_event!("init.end", session.label(), outcome = outcome);
    teardown::let_go_of_handle(&session.init_abort, &fiber).await;
    exit.map_err(Cause::into_error)
}

/// The root effect: the build, then cause handling and clean-up for failures and defects (an interrupt skips both),
/// and the flush always.
async fn root(session: &Rc<SessionObject>, token: &Map<String, Value>, fiber: &Fiber, span: &Span) -> Exit<()> {
    let mut exit = build(session, token, fiber, span).await;
    cap::give_reservation_back(session, Place::Init, exit.is_ok());
    if let Err(Cause::Fail(error) | Cause::Die(error)) = &exit {
        handle_cause(session, error, span);
        let done = call(teardown::tear_down(Rc::clone(session), &INIT_TEARDOWN, true));
        // An interrupt ends this wait only: the teardown runs on, detached.
        if let Err(interrupt) = fiber.at(done.wait_hops(0)).await {
            exit = Err(interrupt);
        }
    }
    span.end_with(&exit);
    fiber
        .finally(async {
            telemetry::flush();
            drop(micro(&INIT_FLUSH).await);
        })
        .await;
    exit
}

/// Recognised: recorded, not captured. Unrecognised: an error line and exactly one capture. Claimed in both cases, so
/// that the host's reporter drops its copy.
fn handle_cause(session: &SessionObject, error: &JsError, span: &Span) {
    match classify(error) {
        Some(reset) => {
            record_reset(session, "init", error, reset, span);
            if defect!(session.config, ResetsCaptured) {
                session.host.capture(session, error);
            }
        }
        None => {
            telemetry::console_error(session.label(), "[mcp-session] init failed:", error);
            session.host.capture(session, error);
        }
    }
    report::record_cause(span, error);
    if !defect!(session.config, InitFailureUnclaimed) {
        session.host.claim(session, error);
    }
}

async fn build(session: &Rc<SessionObject>, token: &Map<String, Value>, fiber: &Fiber, span: &Span) -> Exit<()> {
    let meta = meta::resolve_and_store(session, token, fiber, Some(span)).await?;
    cap::admit(session, fiber, span).await?;
    // Runs on if the fiber is interrupted: the handle then belongs to nobody.
    let opening = call(session.host.open_session_db(Rc::clone(session)));
    let db = fiber.or_die(opening.wait_hops(0)).await?;
    let built = session.host.build_runtime(session, &meta, &db, fiber, span).await;
    cap::give_reservation_back(session, Place::Build, built.is_ok());
    let runtime = built?;
    install(session, db, runtime);
    residency::annotate(span);
    session.host.footprint(session, span);
    mark_activity_span(session, "init.mark_activity", fiber, span).await
}

/// Best effort `markActivity` in its own span; used wherever a fiber touches the session.
pub(super) async fn mark_activity_span(
    session: &Rc<SessionObject>,
    operation: &'static str,
    fiber: &Fiber,
    parent: &Span,
) -> Exit<()> {
    let span = parent.child("McpSessionDO.markActivity");
    let marking = Rc::clone(session);
    let written = call(async move { clock::mark_activity(&marking).await });
    let exit = fiber.or_die(written.wait_hops(0)).await;
    let exit = best_effort(session, operation, exit, &span);
    span.end_with(&exit);
    exit
}

/// The synchronous install: from here on the session is resident, and counted once.
fn install(session: &Rc<SessionObject>, db: Rc<dyn SessionDb>, runtime: Runtime) {
    *session.db.borrow_mut() = Some(db);
    let kept = session.server.take().filter(|_| teardown::keeps_server(session));
    *session.server.borrow_mut() = Some(kept.unwrap_or(runtime.server));
    let engine = runtime.engine.number();
    *session.engine.borrow_mut() = Some(runtime.engine);
    session.initialized.set(true);
    session.runtime.set(EventLoop::current().next_number());
    if !session.counted_as_resident.replace(true) {
        residency::acquire(session.label());
        if session.config.supports_cap_eviction {
            residency::register_resident_session(session);
        }
    }
    state_event!("runtime.installed", session.label(), runtime = session.runtime.get(), engine = engine);
}
