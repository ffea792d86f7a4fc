//! Where the cloud has a session's identity from: the props, the stored record, or the database.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::defect::defect;
use crate::fx::{Cause, Exit, Fiber};
use crate::platform::{JsError, micro, sleep};
use crate::session::meta::{META_LOOKUP, META_RETRY, META_SCRATCH, SessionMeta, text};
use crate::session::{SessionObject, upstream};
use crate::telemetry::Span;

/// Tries of the organisation lookup after the first, and the first pause between tries.
const LOOKUP_RETRIES: u32 = 2;
const LOOKUP_RETRY_BASE_MS: u64 = 200;

/// The cloud's `resolveSessionMeta`: from the props without I/O, else from the stored record, else from the database.
pub(super) async fn resolve(
    session: &Rc<SessionObject>,
    token: &Map<String, Value>,
    reusable: Option<Rc<SessionMeta>>,
    fiber: &Fiber,
    parent: &Span,
) -> Exit<Map<String, Value>> {
    let span = parent.child("McpSessionDOSqlite.resolveSessionMeta");
    let mut record = token.clone();
    record.remove("webOrigin");
    let asks_always = defect!(session.config, MetaAlwaysFromDatabase);
    let exit = if text(token, "organizationName").is_some() && !asks_always {
        span.set("mcp.session.meta_source", "props");
        Ok(())
    } else if let Some(stored) = reusable.as_ref().filter(|_| !asks_always) {
        span.set("mcp.session.meta_source", "stored");
        for key in ["organizationName", "organizationSlug"] {
            if let Some(value) = stored.record.get(key) {
                record.insert(key.to_owned(), value.clone());
            }
        }
        Ok(())
    } else {
        span.set("mcp.session.meta_source", "database");
        let lookup = span.child("mcp.session.resolve_organization");
        let is_named = text(token, "organizationName").is_some();
        let known_by = if is_named { "token" } else { reusable.map_or("nothing", |_| "record") };
        state_event!("meta.looked-up", session.label(), known_by = known_by);
        let found = look_up(session, token, fiber).await;
        lookup.end_with(&found);
        found.map(|name| drop(record.insert("organizationName".into(), Value::from(&*name))))
    };
    span.end_with(&exit);
    // The scratch handle is closed on all three paths; its rejection is swallowed by the handle.
    fiber.finally(async { drop(micro(&META_SCRATCH).await) }).await;
    exit.map(|()| record)
}

async fn look_up(session: &SessionObject, token: &Map<String, Value>, fiber: &Fiber) -> Exit<Arc<str>> {
    let id = text(token, "organizationId").unwrap_or_default();
    let mut pause_ms = LOOKUP_RETRY_BASE_MS;
    let mut tries = 0;
    loop {
        tries += 1;
        let found = fiber.at(upstream::organization_name(&META_LOOKUP, session.label(), id)).await?;
        match found {
            Ok(name) => return Ok(name),
            Err(error) if tries > LOOKUP_RETRIES => {
                let text = format!(
                    "mcp_session_meta_unavailable: organization directory unavailable ({}) after {tries} attempts",
                    error.message
                );
                return Err(Cause::Die(JsError::new(text)));
            }
            Err(_) => {
                drop(fiber.at(sleep(&META_RETRY, pause_ms)).await?);
                pause_ms *= 2;
            }
        }
    }
}
