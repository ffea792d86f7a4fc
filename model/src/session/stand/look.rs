//! What is shown of a stand: spans as they end, a session's state, the isolate's counters.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::gates::Shared;
use super::relative;
use super::runtime::{StandDb, StandEngine, StandServer};
use super::state::{StandState, shown};
use crate::agents::Status;
use crate::fx::Cause;
use crate::session::{SessionObject, residency};
use crate::telemetry::{Ended, SpanSink};

/// Tells of the spans of a stand.
pub(super) struct Spans(pub Rc<Shared>);

impl SpanSink for Spans {
    fn ended(&self, span: &Ended<'_>) {
        let exit = match &span.exit {
            Ok(()) => "ok".to_owned(),
            Err(Cause::Interrupt) => "interrupt".to_owned(),
            Err(Cause::Fail(error) | Cause::Die(error)) => format!("fail: {error}"),
        };
        (self.0.tell)(json!(["span", span.name, span.parent, span.attributes, exit]));
    }

    fn flushed(&self, who: &str) {
        (self.0.tell)(json!(["flush", self.0.index_of(who)]));
    }
}

/// What a session is like.
pub(super) fn state(session: &SessionObject, state: &StandState) -> Value {
    let engine = session.engine.borrow().clone().and_then(own::<StandEngine>);
    let paused = engine.as_ref().map(|engine| texts(&engine.paused.borrow()));
    let server = session.server.borrow().clone().map(|server| server as Rc<dyn Any>);
    let server = server.and_then(|server| server.downcast::<StandServer>().ok());
    let db = session.db.borrow().clone().map(|db| db as Rc<dyn Any>);
    let db = db.and_then(|db| db.downcast::<StandDb>().ok());
    let last_ms = session.last_activity_ms.get();
    let values = state.values.borrow();
    let kv: Map<String, Value> = values.iter().map(|(key, value)| (key.to_string(), shown(key, value))).collect();
    let lease = |(id, armed, expiring): (Arc<str>, bool, bool)| json!([&*id, u8::from(armed), u8::from(expiring)]);
    json!({
        "init": session.initialized.get(),
        "eng": engine.map(|engine| engine.number),
        "paused": paused.unwrap_or_default(),
        "srv": server.map(|server| server.number),
        "h": db.map(|db| db.number),
        "counted": session.counted_as_resident.get(),
        "reserved": session.reserved_cold_build_slot.get(),
        "disposing": session.disposing_runtime.borrow().is_some(),
        "starting": session.on_start_promise.borrow().is_some(),
        "last": (last_ms > 0).then(|| relative(last_ms)),
        "alarm": state.alarm.get().map(|at_ms| at_ms - super::absolute(0)),
        "kv": kv,
        "leases": session.leases.all().into_iter().map(lease).collect::<Vec<_>>(),
        "responses": texts(&session.approvals.decided()),
        "waiters": texts(&session.approvals.waited_for()),
        "ka": session.agent.keep_alive_refs.get(),
        "conns": state.connections.borrow().len(),
        "named": state.named.get(),
        "resolved": session.resolved_session_name.borrow().is_some(),
        "meta": session.session_meta.borrow().as_ref().map(|meta| meta.record.clone()),
        "start": match session.agent.status.get() {
            Status::Zero => "zero",
            Status::Starting => "starting",
            Status::Started => "started",
        },
        "ia": session.init_abort.borrow().is_some(),
        "da": session.dispose_abort.borrow().is_some(),
    })
}

fn own<T: 'static>(given: Rc<dyn crate::session::execution::ExecutionEngine>) -> Option<Rc<T>> {
    let given: Rc<dyn Any> = given;
    given.downcast().ok()
}

fn texts(ids: &[Arc<str>]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// What the isolate counts: residents and their peak, builds in flight, the registry, the directory.
pub(super) fn counters(shared: &Shared) -> Value {
    let (resident, in_flight) = residency::load();
    let (peak, entries) = residency::books();
    let entry = |(id, last_ms, asked_ms): &(Arc<str>, u64, Option<u64>)| {
        json!([&**id, relative(*last_ms), asked_ms.map(relative)])
    };
    let registry: Vec<Value> = entries.iter().map(entry).collect();
    let owner =
        |(id, record): &(Arc<str>, crate::session::owner_object::OwnerRecord)| json!([&**id, &*record.session_id]);
    let directory: Vec<Value> = shared.directory.borrow().iter().map(owner).collect();
    json!({"r": resident, "p": peak, "f": in_flight, "reg": registry, "dir": directory})
}
