//! The cloud's build of a runtime: a handle on the database, a permit, imports, execution stack, tool description, server.

use std::rc::Rc;

use crate::agents::mcp_server::McpServer;
use crate::fx::{Exit, Fiber};
use crate::js::{call, hops, try_all};
use crate::operation::Operation;
use crate::platform::{JsError, micro, operate};
use crate::session::build_queue::Permit;
use crate::session::engine::Engine;
use crate::session::host::{Runtime, SessionDb};
use crate::session::init::{BUILD_DESCRIBE, BUILD_IMPORT, BUILD_SERVER, BUILD_STACK, INIT_DB_OPEN};
use crate::session::meta::SessionMeta;
use crate::session::tools::{SessionTools, ToolsConfig};
use crate::session::upstream::{self, DbHandle};
use crate::session::{SessionObject, apps};
use crate::telemetry::Span;

/// `openSessionDb()`: the handle is made at the call, and dials at its first query.
pub(super) async fn open_session_db(session: Rc<SessionObject>) -> Result<Rc<dyn SessionDb>, JsError> {
    operate::begin(&INIT_DB_OPEN).await?;
    let db: Rc<dyn SessionDb> = DbHandle::open(session.label());
    hops(INIT_DB_OPEN.hops).await;
    operate::end(&INIT_DB_OPEN).await?;
    Ok(db)
}

/// `buildMcpServer`: imports, execution stack, tool description, server object.
pub(super) async fn build_runtime(
    session: &Rc<SessionObject>,
    meta: &Rc<SessionMeta>,
    db: &Rc<dyn SessionDb>,
    fiber: &Fiber,
    parent: &Span,
) -> Exit<Runtime> {
    let span = parent.child("McpSessionDOSqlite.buildMcpServer");
    let permit = Permit::new(session);
    let exit = build_with(&permit, session, meta, db, fiber, &span).await;
    // The finaliser: a permit goes back once, a waiter leaves the queue, its timer is cleared.
    permit.cancel();
    span.end_with(&exit);
    exit
}

/// Waits for a permit and builds; after a full wait in the queue it builds without one.
async fn build_with(
    permit: &Permit,
    session: &Rc<SessionObject>,
    meta: &Rc<SessionMeta>,
    db: &Rc<dyn SessionDb>,
    fiber: &Fiber,
    span: &Span,
) -> Exit<Runtime> {
    let turn = fiber.or_die(permit.acquire()).await?;
    span.set("mcp.init.build_queue_ms", turn.wait_ms);
    if turn.is_timed_out {
        span.set("mcp.init.build_queue_timeout", true);
    }
    build_steps(session, meta, db, fiber, span).await
}

async fn build_steps(
    session: &Rc<SessionObject>,
    meta: &Rc<SessionMeta>,
    db: &Rc<dyn SessionDb>,
    fiber: &Fiber,
    span: &Span,
) -> Exit<Runtime> {
    let imports = try_all(vec![load(session, &BUILD_IMPORT), load(session, &BUILD_IMPORT)]);
    fiber.or_die(imports.wait()).await?;
    let stack = span.child("McpSessionDOSqlite.makeExecutionStack");
    let made = fiber.or_die(load(session, &BUILD_STACK).wait_hops(0)).await;
    stack.end_with(&made);
    made?;
    let description = span.child("mcp.execute.description.build");
    let (handle, who) = (Rc::clone(db), Rc::clone(session));
    let query = call(async move { handle.query(&BUILD_DESCRIBE, who.label()).await });
    let described = fiber.or_die(query.wait_hops(0)).await;
    description.end_with(&described);
    described?;
    let create = span.child("McpSessionDOSqlite.createExecutorMcpServer");
    let created = fiber.or_die(micro(&BUILD_SERVER)).await;
    create.end_with(&created);
    created?;
    let engine = Engine::new(std::sync::Arc::clone(session.label()), Rc::clone(&session.config));
    let tools = SessionTools::new(session, Rc::clone(&engine), ToolsConfig::of(meta), Some(span.clone()));
    let server = McpServer::new("executor", "1.0.0", tools);
    apps::watch(session, &server, meta.apps_enabled(), create);
    Ok(Runtime { server, engine })
}

fn load(session: &Rc<SessionObject>, operation: &'static Operation) -> crate::js::Promise<Result<(), JsError>> {
    let session = Rc::clone(session);
    call(async move { upstream::answer_after(operation, session.label(), "latency.build").await })
}
