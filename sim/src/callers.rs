//! Performs the calls of a plan's callers, and writes the history of what they called and got.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use model::deployment::Caller;
use model::net::timer::with_deadline;
use model::platform::JsError;
use model::rt;
use scenarios::plan::{CallPlan, CallerPlan, Plan};
use scenarios::trace::{Name, Stream, Value};
use serde_json::Value as Json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::objects::Objects;
use crate::recorder;

/// How long a caller waits for an answer, in ms.
pub const CALL_TIMEOUT_MS: u64 = 60_000;

/// The callers of a run.
pub struct Calling {
    shared: Rc<Shared>,
    count: usize,
    /// One message for each caller that has called everything.
    done: UnboundedReceiver<()>,
}

struct Shared {
    caller: Caller,
    objects: Rc<Objects>,
    calls: Cell<u64>,
    done: UnboundedSender<()>,
}

impl Calling {
    /// Starts them.
    pub fn start(plans: &[CallerPlan], caller: Caller, objects: &Rc<Objects>) -> Calling {
        let (send, done) = unbounded_channel();
        let shared = Rc::new(Shared { caller, objects: Rc::clone(objects), calls: Cell::new(0), done: send });
        for plan in plans.iter().cloned() {
            rt::spawn("caller", run_caller(plan, Rc::clone(&shared)));
        }
        Calling { shared, count: plans.len(), done }
    }

    /// Waits for the last answer of all, and ends their worker.
    pub async fn all_done(mut self) {
        for _ in 0..self.count {
            self.done.recv().await;
        }
        self.shared.caller.stop();
    }
}

async fn run_caller(plan: CallerPlan, shared: Rc<Shared>) {
    let (send, mut overlapping) = unbounded_channel();
    let mut open = 0;
    let who: Arc<str> = plan.name.as_str().into();
    for call in plan.calls {
        rt::sleep_until_ms(rt::EPOCH_MS + call.at_ms.max(1)).await;
        // What else happens in this millisecond comes before it, as with clients.
        rt::sleep_until_half_past_ms().await;
        let (is_awaited, calling) = (!call.overlap, perform(Rc::clone(&shared), Arc::clone(&who), call));
        if is_awaited {
            calling.await;
            continue;
        }
        open += 1;
        let ended = send.clone();
        rt::spawn("caller.call", async move {
            calling.await;
            // Its caller waits for all of them.
            let _ = ended.send(());
        });
    }
    for _ in 0..open {
        overlapping.recv().await;
    }
    // The run may be over already; then nobody waits.
    let _ = shared.done.send(());
}

/// One call, to its answer or until the caller gives up.
async fn perform(shared: Rc<Shared>, caller: Arc<str>, call: CallPlan) {
    let number = shared.calls.get() + 1;
    shared.calls.set(number);
    let mut fields = vec![
        ("caller".into(), Value::Text(Arc::clone(&caller))),
        ("method".into(), Value::Text(call.method.as_str().into())),
    ];
    if !call.arguments.is_null() {
        fields.push(("arguments".into(), Value::Json(call.arguments.clone())));
    }
    record("call.begin", &call.session, number, fields);
    let ended = match (shared.objects.key(&call.session), method_named(&call.method)) {
        (Some(key), Some(method)) => {
            let (send, answer) = oneshot::channel();
            let ended = move |answer: Result<Json, JsError>| {
                // Nobody listens any more to an answer that came too late.
                let _ = send.send(answer);
            };
            shared.caller.call(&caller, key, method, call.arguments, ended);
            with_deadline(rt::now_ms() + CALL_TIMEOUT_MS, answer).await
        }
        _ => None,
    };
    let fields = match ended {
        Some(Ok(Ok(value))) => vec![outcome("returned"), ("value".into(), Value::from(value))],
        Some(Ok(Err(error))) => vec![outcome("threw"), ("error".into(), Value::from(&*error.message))],
        // The session was not opened yet, or its answer did not come.
        _ => vec![outcome("gave-up")],
    };
    record("call.end", &call.session, number, fields);
}

fn outcome(word: &'static str) -> (Name, Value) {
    ("outcome".into(), Value::from(word))
}

fn record(name: &'static str, session: &str, call: u64, more: Vec<(Name, Value)>) {
    let mut fields: Vec<(Name, Value)> = vec![("call".into(), Value::Uint(call))];
    fields.extend(more);
    recorder::record(Stream::History, name, Some(session), fields);
}

fn method_named(name: &str) -> Option<&'static str> {
    model::METHODS.iter().copied().find(|method| *method == name)
}

/// The first method that a plan calls and a session does not have.
pub fn unknown_method(plan: &Plan) -> Option<&str> {
    let mut called = plan.callers.iter().flat_map(|caller| &caller.calls).map(|call| call.method.as_str());
    called.find(|method| method_named(method).is_none())
}
