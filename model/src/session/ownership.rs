//! The owner check, which is also what touches a session and restores a cold one.

use std::rc::Rc;
use std::sync::Arc;

use super::init::mark_activity_span;
use super::{SessionObject, meta};
use crate::agents::{DESTROY_PENDING_KEY, party_server};
use crate::fx::{Cause, Fiber};
use crate::js::{call, rooted};
use crate::platform::JsError;
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
pub(super) async fn validate_mcp_session_owner(
    session: Rc<SessionObject>,
    identity: Identity,
) -> Result<Ownership, JsError> {
    let span = Span::unexported("McpSessionDO.validateMcpSessionOwner");
    let marker = session.ctx().storage().get(&VALIDATE_MARKER, DESTROY_PENDING_KEY).await?;
    if marker.is_some_and(|marker| marker.as_bool() == Some(true)) {
        return Ok(Ownership::Terminated);
    }
    let Some(meta) = meta::load(&session, &span).await? else { return Ok(Ownership::NotFound) };
    if session.initialized.get() {
        let touched = mark_activity_span(&session, "validate_owner.mark_activity", &Fiber::new(), &span).await;
        touched.map_err(Cause::into_error)?;
    } else {
        let restore = span.child("McpSessionDO.restore_transport_runtime");
        let start = call(rooted("start", party_server::wrapped_on_start(Rc::clone(&session), None)));
        let restored = crate::platform::join(&VALIDATE_START, &start).await?;
        restore.end();
        restored?;
    }
    let owns = identity.account_id == meta.user_id && identity.organization_id == meta.organization_id;
    Ok(if owns { Ownership::Ok } else { Ownership::Forbidden })
}
