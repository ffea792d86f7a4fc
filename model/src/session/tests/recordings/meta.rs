//! Replays C1-C5, D1-D3: the capability that is kept with the stored identity, and how the identity is resolved.

use std::rc::Rc;

use serde_json::{Value, json};

use super::super::script::Rule;
use super::super::world::{Setup, World};
use super::stage::{ONE, Stage, begin, described, get, put, record, step, token};
use super::{Replay, replay};
use crate::fx::Fiber;
use crate::platform::JsError;
use crate::session::meta::{META_KEY, resolve_and_store};
use crate::session::{SessionObject, apps};
use crate::telemetry::Span;

pub(super) fn replays() -> Vec<Replay> {
    vec![
        replay("C1", described(), |world| capability(world, None, true)),
        replay("C2", described(), |world| capability(world, Some(true), false)),
        replay("C3", described(), |world| resolved_again(world, Some(true))),
        replay("C4", described(), |world| resolved_again(world, None)),
        replay("C5", described(), without_identity),
        replay("D1", described(), |world| restored(world, "org-1", "name Org One")),
        replay("D2", unreachable_directory(), |world| restored(world, "org-other", "failed")),
        replay("D3", described(), first_init),
    ]
}

fn unreachable_directory() -> Setup {
    let error = JsError::new("organization lookup: CONNECT_TIMEOUT");
    Setup { rules: vec![Rule::fail("meta · db.organization", error).always()], ..described() }
}

fn with_capability(enabled: Option<bool>) -> Value {
    let mut stored = record("org-1");
    if let Some(enabled) = enabled {
        stored["appsEnabled"] = json!(enabled);
    }
    stored
}

async fn capability(world: Rc<World>, before: Option<bool>, negotiated: bool) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, move |session| async move {
            begin();
            put(&session, META_KEY, with_capability(before)).await;
            step(1, "await");
            drop(apps::persist_apps_enabled(&session, negotiated, Some(&Span::unexported("test"))).await);
            step(2, "session.persistAppsEnabled");
            assert_eq!(get(&session, META_KEY).await, Some(with_capability(Some(negotiated))));
        })
        .await;
}

async fn without_identity(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, |session| async move {
            begin();
            drop(apps::persist_apps_enabled(&session, true, Some(&Span::unexported("test"))).await);
            step(1, "session.persistAppsEnabled");
            assert_eq!(get(&session, META_KEY).await, None);
        })
        .await;
}

/// Resolves with what a connect carries, and says what came of it.
async fn resolve(session: &Rc<SessionObject>, carried: &Value) -> Result<Value, String> {
    let span = Span::unexported("test");
    let resolved = resolve_and_store(session, &token(carried), &Fiber::new(), Some(&span)).await;
    resolved
        .map(|meta| Value::Object(meta.record.clone()))
        .map_err(|cause| cause.error().map_or_else(String::new, ToString::to_string))
}

async fn resolved_again(world: Rc<World>, stored: Option<bool>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, move |session| async move {
            begin();
            put(&session, META_KEY, with_capability(stored)).await;
            step(1, "await");
            assert_eq!(resolve(&session, &record("org-1")).await, Ok(with_capability(stored)));
            step(2, "session.resolveAndStoreSessionMeta");
            assert_eq!(get(&session, META_KEY).await, Some(with_capability(stored)));
        })
        .await;
}

/// What a connect carries when its token does not know the organisation's name.
fn nameless() -> Value {
    json!({"organizationId": "org-1", "userId": "user-1", "resource": {"kind": "default"}})
}

async fn restored(world: Rc<World>, organization: &'static str, expected: &'static str) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, move |session| async move {
            begin();
            let mut stored = record(organization);
            stored["organizationName"] = json!("Org One");
            stored["organizationSlug"] = json!("org-one");
            put(&session, META_KEY, stored).await;
            step(1, "await");
            let resolved = resolve(&session, &nameless()).await;
            step(2, "session.resolveAndStoreSessionMeta");
            let name = |meta: &Value| format!("name {}", meta["organizationName"].as_str().unwrap_or_default());
            assert_eq!(resolved.as_ref().map_or("failed".to_owned(), name), expected);
        })
        .await;
    rest().await;
}

async fn first_init(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, |session| async move {
            begin();
            step(1, "await");
            resolve(&session, &nameless()).await.expect("the directory answers");
            step(2, "session.resolveAndStoreSessionMeta");
        })
        .await;
}

/// Longer than the retries of a lookup.
async fn rest() {
    crate::rt::sleep_ms(1_000).await;
}
