//! The hooks of the host on a stand.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::gates::{Shared, next};
use super::runtime::{StandDb, StandEngine, StandServer};
use super::{context_of, now_ms};
use crate::fx::{Cause, Exit, Fiber};
use crate::iso_time::from_iso;
use crate::js::{EventLoop, Promise};
use crate::operation::Operation;
use crate::platform::{JsError, LocalFuture};
use crate::session::host::{HookFuture, Runtime, SessionDb, SessionHost};
use crate::session::interaction::Response;
use crate::session::meta::SessionMeta;
use crate::session::owner_object::OwnerRecord;
use crate::session::{SessionObject, cap, model_resume};
use crate::telemetry::Span;

/// The hooks of one session.
pub(super) struct StandHost {
    shared: Rc<Shared>,
    index: usize,
}

/// What the connect carries into the record as it is.
const FROM_TOKEN: [&str; 4] = ["organizationId", "userId", "elicitationMode", "resource"];

impl StandHost {
    pub fn new(shared: &Rc<Shared>, index: usize) -> Self {
        StandHost { shared: Rc::clone(shared), index }
    }

    /// The name is that of the token, else of the record that is offered, else there is none.
    fn resolve(&self, token: &Map<String, Value>, offered: Option<&SessionMeta>) -> Exit<Map<String, Value>> {
        let organization = offered.map(|meta| &*meta.organization_id);
        (self.shared.tell)(json!(["resolveMeta", self.index, organization]));
        let mut record = Map::new();
        for key in FROM_TOKEN {
            record.extend(token.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        for key in ["organizationName", "organizationSlug"] {
            let known = token.get(key).or_else(|| offered.and_then(|meta| meta.record.get(key)));
            record.extend(known.map(|value| (key.to_owned(), value.clone())));
        }
        if record.contains_key("organizationName") {
            return Ok(record);
        }
        Err(Cause::Die(JsError::new("organization directory unavailable")))
    }

    fn build(&self, meta: &SessionMeta, db: &Rc<dyn SessionDb>) -> Promise<Result<Rc<Made>, JsError>> {
        let handle: Rc<dyn std::any::Any> = Rc::clone(db) as _;
        let handle = handle.downcast::<StandDb>().map(|db| db.number).ok();
        let of = |key: &str| meta.record.get(key).cloned().unwrap_or_default();
        let (slug, origin, apps) = (of("organizationSlug"), of("webOrigin"), of("appsEnabled"));
        let argument = json!({"h": handle, "slug": slug, "origin": origin, "apps": apps});
        let (shared, session) = (Rc::clone(&self.shared), self.index);
        self.shared.gate(session, "build", argument, move |_| {
            let number = next(&shared.runtimes);
            (shared.tell)(json!(["built", session, number, number]));
            let attached = Rc::new(Cell::new(false));
            let server = Rc::new(StandServer { shared: Rc::clone(&shared), session, number, attached });
            let (paused, settled) = (RefCell::default(), RefCell::default());
            Rc::new(Made { server, engine: Rc::new(StandEngine { shared, session, number, paused, settled }) })
        })
    }

    fn directory_put(&self, id: &Arc<str>, record: &Value) -> Promise<Result<Value, JsError>> {
        let record = OwnerRecord::from_json(record);
        let Some(record) = record else { return Promise::settled(Ok(Value::Null)) };
        let expires = from_iso(&record.expires_at).map(|at_ms| format!("T+{}", super::relative(at_ms)));
        let argument = json!([&**id, &*record.session_id, expires]);
        let (shared, id) = (Rc::clone(&self.shared), Arc::clone(id));
        self.shared.gate(self.index, "dir.put", argument, move |_| {
            let mut directory = shared.directory.borrow_mut();
            match directory.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = record,
                None => directory.push((id, record)),
            }
            Value::Null
        })
    }

    fn directory_get(&self, id: &Arc<str>) -> Promise<Result<Value, JsError>> {
        let (shared, argument, id) = (Rc::clone(&self.shared), json!(&**id), Arc::clone(id));
        self.shared.gate(self.index, "dir.get", argument, move |_| {
            let mut directory = shared.directory.borrow_mut();
            let is_over = |record: &OwnerRecord| from_iso(&record.expires_at).is_none_or(|at_ms| at_ms <= now_ms());
            directory.retain(|(known, record)| *known != id || !is_over(record));
            let found = directory.iter().find(|(known, _)| *known == id);
            found.map_or(Value::Null, |(_, record)| record.to_json())
        })
    }

    fn directory_delete(&self, id: &Arc<str>) -> Promise<Result<Value, JsError>> {
        let (shared, argument, id) = (Rc::clone(&self.shared), json!(&**id), Arc::clone(id));
        self.shared.gate(self.index, "dir.delete", argument, move |_| {
            shared.directory.borrow_mut().retain(|(known, _)| *known != id);
            Value::Null
        })
    }
}

/// What a build makes.
struct Made {
    server: Rc<StandServer>,
    engine: Rc<StandEngine>,
}

/// Runs `work` in a session's own context, and settles `answered` in the context that runs now, as an answer comes.
fn answer_from<T: Clone + 'static>(
    session: &SessionObject,
    work: impl Future<Output = Result<T, JsError>> + 'static,
    answered: Promise<Result<T, JsError>>,
) {
    let event_loop = EventLoop::current();
    let asking = event_loop.ctx();
    event_loop.start_in(
        context_of(session),
        Box::pin(async move {
            let outcome = work.await;
            let event_loop = EventLoop::current();
            event_loop.run_later(event_loop.now_ms(), asking, Box::new(move || answered.settle(outcome)));
        }),
    );
}

impl SessionHost for StandHost {
    fn resolve_session_meta<'a>(
        &'a self,
        _: &'a Rc<SessionObject>,
        token: &'a Map<String, Value>,
        reusable: Option<Rc<SessionMeta>>,
        _: &'a Fiber,
        _: &'a Span,
    ) -> HookFuture<'a, Exit<Map<String, Value>>> {
        Box::pin(async move { self.resolve(token, reusable.as_deref()) })
    }

    fn open_session_db(&self, _: Rc<SessionObject>) -> LocalFuture<Result<Rc<dyn SessionDb>, JsError>> {
        let (shared, session) = (Rc::clone(&self.shared), self.index);
        let opened = self.shared.gate(session, "openSessionDb", Value::Null, move |_| {
            let number = next(&shared.handles);
            (shared.tell)(json!(["opened", session, number]));
            Rc::new(StandDb { shared, session, number }) as Rc<dyn SessionDb>
        });
        Box::pin(async move { opened.wait().await })
    }

    fn build_runtime<'a>(
        &'a self,
        _: &'a Rc<SessionObject>,
        meta: &'a Rc<SessionMeta>,
        db: &'a Rc<dyn SessionDb>,
        fiber: &'a Fiber,
        _: &'a Span,
    ) -> HookFuture<'a, Exit<Runtime>> {
        Box::pin(async move {
            let built = fiber.or_die(self.build(meta, db).wait()).await?;
            Ok(Runtime { server: Rc::clone(&built.server) as _, engine: Rc::clone(&built.engine) as _ })
        })
    }

    fn footprint(&self, _: &SessionObject, span: &Span) {
        span.set("mcp.session.integration_count", self.index + 1);
    }

    fn owner_directory(
        &self,
        _: &SessionObject,
        _: &'static Operation,
        id: &Arc<str>,
        method: &'static str,
        arguments: Value,
    ) -> LocalFuture<Result<Value, JsError>> {
        let answered = match method {
            "put" => self.directory_put(id, &arguments["record"]),
            "get" => self.directory_get(id),
            _ => self.directory_delete(id),
        };
        Box::pin(async move { answered.wait().await })
    }

    fn forward_model_resume(
        &self,
        _: &SessionObject,
        record: &OwnerRecord,
        response: &Response,
    ) -> LocalFuture<Result<Value, JsError>> {
        let argument = json!([&*record.session_id, &*record.execution_id, response.action.word()]);
        let arguments = json!({
            "executionId": &*record.execution_id,
            "accountId": &*record.account_id,
            "organizationId": &*record.organization_id,
            "response": response.to_json(),
        });
        let owner = self.shared.session(&record.session_id);
        let forwarded =
            self.shared.gate_with(self.index, "forward", argument, move |passed, answered| match (passed, owner) {
                (Ok(_), Some(owner)) => {
                    let resumed = model_resume::resume_for_model(Rc::clone(&owner), arguments);
                    answer_from(&owner, resumed, answered);
                }
                (Ok(_), None) => answered.settle(Err(JsError::new("no such session"))),
                (Err(error), _) => answered.settle(Err(error)),
            });
        Box::pin(async move { forwarded.wait().await })
    }

    fn request_self_eviction<'a>(&'a self, candidate: &'a Rc<SessionObject>) -> HookFuture<'a, Result<(), JsError>> {
        let asked = Rc::clone(candidate);
        let evicted =
            self.shared.gate_with(self.index, "self-evict", Value::Null, move |passed, answered| match passed {
                Ok(_) => answer_from(&asked, cap::request_cap_eviction(Rc::clone(&asked)), answered),
                Err(error) => answered.settle(Err(error)),
            });
        Box::pin(async move { evicted.wait().await })
    }

    fn capture(&self, _: &SessionObject, error: &JsError) {
        (self.shared.tell)(json!(["capture", self.index, error.to_string()]));
    }

    fn claim(&self, _: &SessionObject, _: &JsError) {
        (self.shared.tell)(json!(["claim", self.index]));
    }
}
