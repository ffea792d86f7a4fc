//! Engine, server and database handle on a stand.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::gates::{Shared, next};
use crate::agents::mcp_server::Server;
use crate::agents::transport::{RequestExtra, Transport};
use crate::js::hops;
use crate::operation::Operation;
use crate::platform::{JsError, LocalFuture};
use crate::session::engine::{ExecuteResult, Outcome, Pause};
use crate::session::execution::ExecutionEngine;
use crate::session::host::{HookFuture, SessionDb};
use crate::session::interaction::{Interaction, InteractionKind, Response};
use crate::telemetry::Span;

/// An engine that runs nothing: executions pause because somebody says so.
pub(super) struct StandEngine {
    pub shared: Rc<Shared>,
    pub session: usize,
    pub number: u64,
    pub paused: RefCell<Vec<Arc<str>>>,
    pub settled: RefCell<BTreeSet<Arc<str>>>,
}

impl StandEngine {
    /// An execution pauses.
    pub fn pause(&self, id: &Arc<str>) {
        let mut paused = self.paused.borrow_mut();
        if !paused.contains(id) {
            paused.push(Arc::clone(id));
        }
    }

    fn ends(&self, id: &Arc<str>, response: &Response, pauses: bool) -> Outcome {
        if pauses {
            let again: Arc<str> = format!("x{}", next(&self.shared.next_pause)).into();
            self.pause(&again);
            return Outcome::Paused(pause(again));
        }
        self.settled.borrow_mut().insert(Arc::clone(id));
        let result = format!("done-{}", response.action.word());
        Outcome::Completed(ExecuteResult { outcome: Ok(json!(result)), emitted: Vec::new() })
    }
}

/// A pause; nothing is known of its question.
fn pause(id: Arc<str>) -> Rc<Pause> {
    let interaction = Interaction {
        kind: InteractionKind::Form,
        message: String::new(),
        address: String::new(),
        args: Value::Null,
        url: None,
        requested_schema: None,
        within_ms: None,
    };
    Pause::new(id, interaction)
}

impl ExecutionEngine for StandEngine {
    fn number(&self) -> u64 {
        self.number
    }

    fn paused_execution_count(&self) -> usize {
        self.paused.borrow().len()
    }

    fn paused(&self, id: &str) -> Option<Rc<Pause>> {
        self.paused.borrow().iter().find(|paused| ***paused == *id).map(|id| pause(Arc::clone(id)))
    }

    fn is_execution_settled(&self, id: &str) -> bool {
        self.settled.borrow().contains(id)
    }

    /// A pause leaves the engine at the call; one that it does not know is no call at all.
    fn resume(
        self: Rc<Self>,
        id: Arc<str>,
        response: Response,
        _: Option<Span>,
    ) -> LocalFuture<Result<Option<Outcome>, JsError>> {
        let index = self.paused.borrow().iter().position(|paused| *paused == id);
        let Some(index) = index else { return Box::pin(std::future::ready(Ok(None))) };
        self.paused.borrow_mut().remove(index);
        let argument = json!([self.number, &*id, response.action.word()]);
        let engine = Rc::clone(&self);
        let resumed = self
            .shared
            .gate(self.session, "engine.resume", argument, move |then| engine.ends(&id, &response, then.pauses));
        Box::pin(async move { resumed.wait().await.map(Some) })
    }
}

/// A server without a client.
pub(super) struct StandServer {
    pub shared: Rc<Shared>,
    pub session: usize,
    pub number: u64,
    pub attached: Rc<Cell<bool>>,
}

impl Server for StandServer {
    fn connect(self: Rc<Self>, _: Rc<Transport>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move {
            if self.attached.replace(true) {
                return Err(JsError::new("Already connected to a transport"));
            }
            (self.shared.tell)(json!(["connect", self.session, self.number]));
            hops(1).await;
            Ok(())
        })
    }

    fn close(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        let (server, argument) = (Rc::clone(&self), json!(self.number));
        let closed = self.shared.gate(self.session, "server.close", argument, move |_| {
            server.attached.set(false);
            (server.shared.tell)(json!(["closed", server.session, "server", server.number]));
        });
        Box::pin(async move { closed.wait().await })
    }

    fn client_capabilities(&self) -> Value {
        Value::Null
    }

    fn ask(
        self: Rc<Self>,
        _: &'static Operation,
        _: (&'static str, Value),
        _: RequestExtra,
        _: u64,
    ) -> LocalFuture<Result<Value, JsError>> {
        Box::pin(std::future::ready(Err(JsError::new("Not connected"))))
    }
}

/// A database handle.
pub(super) struct StandDb {
    pub shared: Rc<Shared>,
    pub session: usize,
    pub number: u64,
}

impl SessionDb for StandDb {
    fn query<'a>(&'a self, _: &'static Operation, _: &'a Arc<str>) -> HookFuture<'a, Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn end(&self) -> HookFuture<'_, Result<(), JsError>> {
        let (shared, session, number) = (Rc::clone(&self.shared), self.session, self.number);
        let ended = self.shared.gate(session, "handle.end", json!(number), move |_| {
            (shared.tell)(json!(["closed", session, "handle", number]));
        });
        Box::pin(async move { ended.wait().await })
    }
}
