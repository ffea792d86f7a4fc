//! The session's stored identity and capabilities: read once, kept in memory, reused on a cold restore.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::SessionObject;
use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber};
use crate::js::{call, hops};
use crate::platform::JsError;
use crate::telemetry::Span;

/// Storage key of the record.
pub const META_KEY: &str = "session-meta";

crate::operations! {
    META_GET = "meta · storage.get session-meta", Storage, 4; "storage; in memory one trip"
    META_PUT = "meta · storage.put session-meta", Storage, 4; "storage; memory is set before"
    META_LOOKUP = "meta · db.organization", Io, 0, assumed; "the organisation database, up to three tries"
    META_RETRY = "meta · retry.sleep", Io, 1; "a timer of 200, then 400 ms"
    META_SCRATCH = "meta · db.end scratch", Micro, 13; "close of the scratch handle on all three paths, never dialled"
}

/// The record under `session-meta`.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionMeta {
    /// Owning organisation.
    pub organization_id: Arc<str>,
    /// Owning account.
    pub user_id: Arc<str>,
    /// The whole record as stored.
    pub record: Map<String, Value>,
}

impl SessionMeta {
    fn from_record(value: &Value) -> Option<SessionMeta> {
        let mut record = value.as_object()?.clone();
        if record.get("resource").is_none_or(Value::is_null) {
            record.insert("resource".to_owned(), json!({"kind": "default"}));
        }
        let text = |key: &str| record.get(key).and_then(Value::as_str).map(Arc::<str>::from);
        let (organization_id, user_id) = (text("organizationId")?, text("userId")?);
        Some(SessionMeta { organization_id, user_id, record })
    }

    /// Whether the client was known to render MCP apps when the record was written.
    pub(super) fn apps_enabled(&self) -> bool {
        self.record.get("appsEnabled").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// `loadSessionMeta`: memory, else storage; a missing resource is filled in; none is not remembered as known.
pub(super) async fn load(
    session: &Rc<SessionObject>,
    fiber: &Fiber,
    parent: impl Into<Option<&Span>>,
) -> Exit<Option<Rc<SessionMeta>>> {
    let span = Span::under(parent.into(), "mcp.session.load_meta");
    // Runs on if the fiber is interrupted: the read still fills the cache.
    let reading = call(read(Rc::clone(session)));
    let exit = fiber.or_die(reading.wait_hops(0)).await;
    span.end_with(&exit);
    exit
}

async fn read(session: Rc<SessionObject>) -> Result<Option<Rc<SessionMeta>>, JsError> {
    let known = session.session_meta.borrow().clone();
    if known.is_some() {
        hops(1).await;
        return Ok(known);
    }
    let stored = session.ctx().storage().get(&META_GET, META_KEY).await?;
    if defect!(session.config, ResourceNotDefaulted) && stored.as_ref().is_some_and(|meta| meta["resource"].is_null()) {
        return Err(JsError::type_error("Cannot read properties of undefined (reading 'kind')"));
    }
    let meta = stored.and_then(|value| SessionMeta::from_record(&value)).map(Rc::new);
    session.session_meta.borrow_mut().clone_from(&meta);
    Ok(meta)
}

/// `resolveAndStoreSessionMeta(token)`: what the connect carries, completed from the stored record or the database.
pub(super) async fn resolve_and_store(
    session: &Rc<SessionObject>,
    token: &Map<String, Value>,
    fiber: &Fiber,
    parent: Option<&Span>,
) -> Exit<Rc<SessionMeta>> {
    let span = Span::under(parent, "mcp.session.resolve_and_store_meta");
    let exit = resolve(session, token, fiber, &span).await;
    span.end_with(&exit);
    exit
}

async fn resolve(
    session: &Rc<SessionObject>,
    token: &Map<String, Value>,
    fiber: &Fiber,
    span: &Span,
) -> Exit<Rc<SessionMeta>> {
    let stored = load(session, fiber, span).await?;
    let is_own = |meta: &Rc<SessionMeta>| Some(&*meta.organization_id) == text(token, "organizationId");
    if let Some(foreign) = stored.as_ref().filter(|meta| !is_own(meta)) {
        let (organization, token) = (&*foreign.organization_id, text(token, "organizationId"));
        state_event!("meta.foreign", session.label(), organization = organization, token = token);
    }
    let reusable = stored.clone().filter(|meta| is_own(meta) || defect!(session.config, ForeignMetaOffered));
    let mut record = session.host.resolve_session_meta(session, token, reusable, fiber, span).await?;
    if let Some(origin) = text(token, "webOrigin").filter(|origin| !origin.is_empty()) {
        record.insert("webOrigin".into(), origin.into());
    }
    // Carried even when the stored record is another organisation's.
    if let Some(apps) = stored.as_ref().and_then(|meta| meta.record.get("appsEnabled"))
        && !defect!(session.config, AppsCapabilityForgotten)
    {
        record.insert("appsEnabled".into(), apps.clone());
    }
    let meta = SessionMeta::from_record(&Value::Object(record));
    let meta = Rc::new(meta.ok_or_else(|| Cause::Die(JsError::type_error("session meta is incomplete")))?);
    let saving = span.child("mcp.session.save_meta");
    let saved = put(session, &meta, fiber).await;
    saving.end_with(&saved);
    saved.map(|()| meta)
}

/// `saveSessionMeta`: memory, then storage; a failed put leaves memory ahead.
pub(super) async fn put(session: &Rc<SessionObject>, meta: &Rc<SessionMeta>, fiber: &Fiber) -> Exit<()> {
    *session.session_meta.borrow_mut() = Some(Rc::clone(meta));
    state_event!(
        "meta.kept",
        session.label(),
        organization = &*meta.organization_id,
        user = &*meta.user_id,
        name = text(&meta.record, "organizationName"),
        apps = meta.record.get("appsEnabled").and_then(|apps| apps.as_bool()),
    );
    let put = session.ctx().storage().put(&META_PUT, META_KEY, Value::Object(meta.record.clone()));
    fiber.or_die(put.into_future()).await
}

pub(crate) use defective::TABLE as DEFECT_TABLE;

mod defective {
    //! Operations that exist only while a historical defect is switched on.

    crate::operations! {
        META_DELETE = "dispose · storage.delete session-meta", Storage, 3; "storage; only with `idle-alarm-deletes-meta`"
    }
}

/// What the historical defect does after an idle disposal: the identity is gone, in memory and in storage.
pub(super) async fn forget(session: &SessionObject) {
    *session.session_meta.borrow_mut() = None;
    drop(session.ctx().storage().delete(&defective::META_DELETE, META_KEY).await);
}

pub(super) fn text<'a>(record: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str)
}
