//! Whether a session's client can render MCP apps: negotiated once at `initialize`, kept in the stored meta for restores.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;

use super::{SessionObject, meta};
use crate::agents::mcp_server::McpServer;
use crate::fx::{Exit, Fiber};
use crate::js::call;
use crate::telemetry::Span;

/// The client's extension, and the type of document in its list that stands for support.
const UI_EXTENSION: &str = "/extensions/io.modelcontextprotocol~1ui/mimeTypes";
const APP_MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Persists what the client negotiates, if it differs from what the session was restored with. Not awaited by anyone.
///
/// The handshake of a restored session is not repeated: without capabilities nothing was negotiated.
pub(super) fn watch(session: &Rc<SessionObject>, server: &Rc<McpServer>, restored: bool, parent: Span) {
    let (session, negotiating) = (Rc::downgrade(session), Rc::downgrade(server));
    let enabled = Cell::new(restored);
    server.set_on_initialized(Rc::new(move || {
        let (Some(session), Some(server)) = (session.upgrade(), negotiating.upgrade()) else { return };
        let capabilities = server.client_capabilities();
        if !capabilities.is_object() {
            return;
        }
        let negotiated = can_render(&capabilities);
        if enabled.replace(negotiated) != negotiated {
            let parent = parent.clone();
            drop(call(async move { persist_apps_enabled(&session, negotiated, Some(&parent)).await }));
        }
    }));
}

fn can_render(capabilities: &Value) -> bool {
    let types = capabilities.pointer(UI_EXTENSION).and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|each| each == APP_MIME_TYPE))
}

/// `persistAppsEnabled(v)`: no meta is ever made, and a failure is for nobody to act on (I26).
///
/// # Errors
/// Of the read and of the write, which its callers ignore.
pub(super) async fn persist_apps_enabled(
    session: &Rc<SessionObject>,
    enabled: bool,
    parent: Option<&Span>,
) -> Exit<()> {
    let span = Span::under(parent, "mcp.session.persist_apps_enabled");
    span.set("mcp.artifact.apps_enabled", enabled);
    let kept = save_if_changed(session, enabled, &span).await;
    span.end_with(&kept);
    kept
}

async fn save_if_changed(session: &Rc<SessionObject>, enabled: bool, span: &Span) -> Exit<()> {
    let fiber = Fiber::new();
    let stored = meta::load(session, &fiber, span).await?;
    let Some(stored) = stored.filter(|stored| stored.record.get("appsEnabled") != Some(&Value::Bool(enabled))) else {
        return Ok(());
    };
    let mut meta = (*stored).clone();
    meta.record.insert("appsEnabled".to_owned(), Value::Bool(enabled));
    meta::put(session, &Rc::new(meta), &fiber).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_app_document_type_stands_for_support() {
        let capable = |types: Value| json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": types}}});
        assert!(can_render(&capable(json!(["text/plain", "text/html;profile=mcp-app"]))));
        for other in [capable(json!(["text/html"])), capable(json!("text/html;profile=mcp-app")), json!({})] {
            assert!(!can_render(&other), "{other}");
        }
    }
}
