//! What the recorded tests put in the place of the framework's start body: it takes or makes a server, connects it and
//! installs an engine, without any `init`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::stage::step;
use crate::agents::mcp_server::{McpServer, Tools};
use crate::agents::transport::{RequestExtra, Transport};
use crate::js::{call, hops};
use crate::operation::{Kind, Operation};
use crate::platform::{JsError, LocalFuture, micro};
use crate::session::SessionObject;
use crate::session::engine::Engine;
use crate::session::execution::ExecutionEngine;

pub(super) static GATE: Operation =
    Operation { name: "test · start gate", kind: Kind::Micro, hops: 1, assumed: false, waits_on: "the test" };

/// What a replaced start body does.
#[derive(Clone)]
pub(super) struct StartBody {
    /// The engine it installs, if any.
    pub engine: Option<Rc<Engine>>,
    /// Whether it waits at [`GATE`], and shows what is so behind it as the recorded tests do.
    pub is_gated: bool,
}

thread_local! {
    static BODY: RefCell<Option<StartBody>> = const { RefCell::new(None) };
}

/// Replaces the start body from now on, or puts the framework's back.
pub(super) fn replace(body: Option<StartBody>) {
    BODY.set(body);
}

/// The body in the framework's place, if a recorded test is replayed.
pub(crate) fn replaced(session: &Rc<SessionObject>) -> Option<LocalFuture<Result<(), JsError>>> {
    let body = BODY.with_borrow(Clone::clone)?;
    Some(Box::pin(run(Rc::clone(session), body)))
}

async fn run(session: Rc<SessionObject>, body: StartBody) -> Result<(), JsError> {
    let known = session.server.borrow().clone();
    let server = known.unwrap_or_else(|| server());
    *session.server.borrow_mut() = Some(Rc::clone(&server));
    let transport = Transport::new(session.ctx().clone(), Rc::default());
    *session.agent.transport.borrow_mut() = Some(Rc::clone(&transport));
    if body.is_gated {
        look_on();
        micro(&GATE).await?;
        step(2, "promise");
    }
    server.connect(transport).await?;
    if body.is_gated {
        step(3, "await");
    }
    *session.engine.borrow_mut() = body.engine.map(|engine| engine as Rc<dyn ExecutionEngine>);
    session.initialized.set(true);
    Ok(())
}

/// The recorded tests learn that the start has come to its gate, and then let one more tick pass.
fn look_on() {
    drop(call(async {
        for n in [5, 6] {
            hops(1).await;
            step(n, "promise");
        }
    }));
}

/// A server without tools.
pub(super) fn server() -> Rc<McpServer> {
    McpServer::new("recorded", "1", Rc::new(NoTools))
}

/// An engine of a session.
pub(super) fn engine(session: &SessionObject) -> Rc<Engine> {
    Engine::new(Arc::clone(session.label()), Rc::clone(&session.config))
}

struct NoTools;

impl Tools for NoTools {
    fn list(&self) -> Value {
        json!([])
    }

    fn call(self: Rc<Self>, _: &str, _: Value, _: RequestExtra) -> Option<LocalFuture<Result<Value, JsError>>> {
        None
    }
}
