//! The owner check, which is also what touches a session and restores a cold one.

use std::rc::Rc;
use std::sync::Arc;

use super::init::mark_activity_span;
use super::{SessionObject, meta};
use crate::agents::{DESTROY_PENDING_KEY, party_server};
use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber, or_die};
use crate::js::call;
use crate::operation::Operation;
use crate::platform::{JsError, join};
use crate::telemetry::Span;

crate::operations! {
    VALIDATE_MARKER = "validate · storage.get destroy-pending", Storage, 3; "storage"
    VALIDATE_START = "validate · start", Io, 0; "the start, outside any section; may join or be joined"
}

/// Who asks.
pub struct Identity {
    /// Account of the bearer.
    pub account_id: Arc<str>,
    /// Organisation of the bearer.
    pub organization_id: Arc<str>,
}

/// What the owner check comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Account and organisation both match.
    Ok,
    /// Another owner's session.
    Forbidden,
    /// No such session.
    NotFound,
    /// Condemned: it will be destroyed.
    Terminated,
}

impl Ownership {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Ownership::Ok => "ok",
            Ownership::Forbidden => "forbidden",
            Ownership::NotFound => "not_found",
            Ownership::Terminated => "terminated",
        }
    }
}

/// `validateMcpSessionOwner(identity)`.
///
/// The comparison is last: a caller who does not own the session still refreshes its clock, or triggers a whole
/// restore, before it is told so. That is what the described version does.
///
/// # Errors
/// A storage failure (of the clock only if it is no recognised reset), and whatever the start fails with.
pub(super) async fn validate_mcp_session_owner(
    session: Rc<SessionObject>,
    identity: Identity,
) -> Result<Ownership, JsError> {
    // No telemetry layer here: this span and those below it are not exported.
    let span = Span::unexported("McpSessionDO.validateMcpSessionOwner");
    let verdict = check(&session, &identity, &span).await;
    span.end_with(&verdict);
    verdict.map_err(Cause::into_error)
}

/// The effect of the check. Nobody can interrupt it.
async fn check(session: &Rc<SessionObject>, identity: &Identity, span: &Span) -> Exit<Ownership> {
    let fiber = Fiber::new();
    // Found here: between the wipe and the abort there is no marker any more, and the meta is still in memory.
    if session.destroying.get() && !defect!(session.config, WipedSessionRestored) {
        return Ok(Ownership::Terminated);
    }
    let marker = fiber.or_die(session.ctx().storage().get(&VALIDATE_MARKER, DESTROY_PENDING_KEY).into_future()).await?;
    let is_condemned = marker.is_some_and(|marker| marker.as_bool() == Some(true));
    if is_condemned && !defect!(session.config, DestroyUngated) {
        return Ok(Ownership::Terminated);
    }
    let Some(meta) = meta::load(session, &fiber, span).await? else { return Ok(Ownership::NotFound) };
    if session.initialized.get() {
        mark_activity_span(session, "validate_owner.mark_activity", &fiber, span).await?;
    } else {
        restore(session, &VALIDATE_START, "McpSessionDO.restore_transport_runtime", span).await?;
    }
    let is_member =
        identity.organization_id == meta.organization_id || defect!(session.config, OrganizationNotCompared);
    let owns = identity.account_id == meta.user_id && is_member;
    Ok(if owns { Ownership::Ok } else { Ownership::Forbidden })
}

/// A start outside of any section and without props, in a span of its own.
pub(super) async fn restore(
    session: &Rc<SessionObject>,
    operation: &'static Operation,
    span_name: &'static str,
    parent: &Span,
) -> Exit<()> {
    let span = parent.child(span_name);
    if !defect!(session.config, NamelessRestoreFails) {
        or_die(hydrate_name(session).await)?;
    }
    let start = call(session.base.restart(Rc::clone(session)));
    let restored = join(operation, &start).await.and_then(|started| started);
    let restored = or_die(restored);
    span.end_with(&restored);
    restored
}

/// Found here: an incarnation that a cold alarm constructed does not know its name (platform facts 7, 10), and a start
/// outside of any section does not read it, so the framework's wrapper throws and every request is a bare 500.
async fn hydrate_name(session: &SessionObject) -> Result<(), JsError> {
    if party_server::name(&session.agent).is_err() {
        let name = session.resolve_session_name().await?;
        *session.agent.name.borrow_mut() = name;
    }
    Ok(())
}
