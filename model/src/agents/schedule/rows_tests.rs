//! Schedule rows beside an alarm of the object's own, callbacks that fail, and where rows lie.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{cancel, schedule, scheduled, signed};
use crate::agents::mcp_server::Server;
use crate::agents::{AgentHost, AgentState, mcp_agent};
use crate::config::HostConfig;
use crate::js::EventLoop;
use crate::operation::{Kind, Operation};
use crate::platform::test_world::{TestWorld, mark, marks, run};
use crate::platform::{
    FetchRequest, JsError, ListRange, LocalFuture, ObjectContext, ObjectKey, RuntimeBuild, Socket, Stub,
};

const fn operation(name: &'static str, kind: Kind, hops: u32) -> Operation {
    Operation { name, kind, hops, assumed: false, waits_on: "" }
}

static CALL: Operation = operation("rows · call", Kind::Io, 1);
static SET_ALARM: Operation = operation("rows · setAlarm", Kind::Storage, 3);
static GET_ALARM: Operation = operation("rows · getAlarm", Kind::Storage, 3);
static LIST: Operation = operation("rows · list", Kind::Storage, 3);
static WIPE: Operation = operation("rows · deleteAll", Kind::Storage, 3);

/// A class with two callbacks that fail, each in its way, and one that does not.
struct Host(AgentState);

thread_local! {
    static HOST: RefCell<Option<Rc<Host>>> = const { RefCell::new(None) };
}

impl AgentHost for Host {
    fn agent(&self) -> &AgentState {
        &self.0
    }

    fn config(&self) -> &Rc<HostConfig> {
        unreachable!("an agent without a transport has none")
    }

    fn on_start(self: Rc<Self>, _: Option<Value>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn init(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn server(&self) -> Option<Rc<dyn Server>> {
        None
    }

    fn on_connect(self: Rc<Self>, _: Socket, _: FetchRequest) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn scheduled(self: Rc<Self>, callback: &str, _: Value) -> Option<LocalFuture<Result<(), JsError>>> {
        mark(callback);
        let outcome = match callback {
            "tick" => Ok(()),
            "boom" => Err(JsError::new("boom")),
            "lost" => Err(JsError::connection_lost()),
            _ => return None,
        };
        Some(Box::pin(std::future::ready(outcome)))
    }
}

async fn method(host: Rc<Host>, method: &'static str, argument: Value) -> Result<Value, JsError> {
    let (state, now_ms) = (host.agent(), EventLoop::current().now_ms());
    let storage = state.ctx.storage();
    match method {
        "schedule" => {
            let callback = argument[1].as_str().unwrap_or_default();
            let after_s = argument[0].as_u64().unwrap_or(0);
            schedule(Rc::clone(&host), after_s, callback, Value::Null).await.map(Value::from)
        }
        "cancel" => cancel(Rc::clone(&host), argument.as_str().unwrap_or_default()).await.map(Value::from),
        "set" => {
            let at_ms = now_ms + argument.as_u64().unwrap_or(0);
            storage.set_alarm(&SET_ALARM, signed(at_ms)).await.map(|()| Value::Null)
        }
        "alarm" => mcp_agent::alarm(Rc::clone(&host)).await.map(|()| Value::Null),
        "wipe" => storage.delete_all(&WIPE).await.map(|()| Value::Null),
        _ => {
            let seconds = |at_ms: u64| at_ms.saturating_sub(now_ms).div_ceil(1_000);
            let alarm = storage.get_alarm(&GET_ALARM).await?.map(seconds);
            let keys = storage.list(&LIST, ListRange::default()).await?.len();
            Ok(json!([alarm, keys, scheduled(state)?.len()]))
        }
    }
}

/// A method, its arguments as they follow from the answers so far, and the ms that pass after it.
type Call = (&'static str, fn(&[Value]) -> Value, u64);

/// Calls methods one after the other, each with so many ms after it; their answers, and which callbacks ran.
fn play(steps: &'static [Call]) -> (Vec<Value>, String) {
    let (tell, told) = std::sync::mpsc::channel();
    run(move || async move {
        let handler = |ctx: ObjectContext, name: &'static str, argument: Value| -> LocalFuture<_> {
            let host =
                HOST.with_borrow_mut(|host| Rc::clone(host.get_or_insert_with(|| Rc::new(Host(AgentState::new(ctx))))));
            Box::pin(method(host, name, argument))
        };
        let world = TestWorld::new(RuntimeBuild::May2026, Arc::new(handler));
        let answers = Arc::new(std::sync::Mutex::new(Vec::new()));
        for (name, argument, ms) in steps {
            let answers = Arc::clone(&answers);
            world
                .request(*ms, move || {
                    Box::pin(async move {
                        let argument = argument(&answers.lock().expect("one thread"));
                        let answer = Stub::new(ObjectKey::named("Probe", "a")).rpc(&CALL, name, argument).await;
                        answers.lock().expect("one thread").push(answer.expect("it answers"));
                    })
                })
                .await;
        }
        world.stop().await;
        HOST.take();
        let answers = answers.lock().expect("one thread").clone();
        tell.send((answers, marks())).expect("the test waits");
    });
    told.recv().expect("the world ran")
}

fn nothing(_: &[Value]) -> Value {
    Value::Null
}

#[test]
fn fact_178_rows_overwrite_delete_and_hide_an_own_alarm() {
    let (answers, ran) = play(&[
        ("set", |_| json!(60_000), 10),
        ("schedule", |_| json!([120, "tick"]), 10),
        ("look", nothing, 10),
        ("cancel", |answers| answers[1].clone(), 10),
        ("look", nothing, 10),
        ("set", |_| json!(60_000), 10),
        ("cancel", |_| json!("no such row"), 10),
        ("look", nothing, 10),
        ("schedule", |_| json!([2, "tick"]), 10),
        ("set", |_| json!(300_000), 4_000),
        ("look", nothing, 10),
    ]);
    assert_eq!(answers[2], json!([120, 0, 1]));
    assert_eq!([&answers[3], &answers[4]], [&json!(true), &json!([null, 0, 0])]);
    assert_eq!([&answers[6], &answers[7]], [&json!(false), &json!([60, 0, 0])]);
    assert_eq!((&answers[10], ran.as_str()), (&json!([296, 0, 1]), ""));
}

#[test]
fn fact_183_a_failing_callback_is_tried_three_times_and_swallowed_and_a_lost_one_comes_again() {
    let (answers, ran) = play(&[("schedule", |_| json!([1, "boom"]), 4_000), ("look", nothing, 10)]);
    assert_eq!((&answers[1][0], &answers[1][2], ran.as_str()), (&json!(null), &json!(0), "boom boom boom"));
    let (answers, ran) = play(&[("schedule", |_| json!([1, "lost"]), 2_000), ("look", nothing, 2_500)]);
    assert_eq!((&answers[1][2], ran.as_str()), (&json!(1), "lost lost lost lost lost lost"));
}

#[test]
fn a_due_row_runs_once_and_one_without_its_callback_is_dropped() {
    let steps: &[Call] =
        &[("schedule", |_| json!([1, "tick"]), 10), ("schedule", |_| json!([1, "gone"]), 3_000), ("look", nothing, 10)];
    let (answers, ran) = play(steps);
    assert_eq!((&answers[2][2], ran.as_str()), (&json!(0), "tick gone"));
}

#[test]
fn rows_are_not_among_the_values_and_go_with_them() {
    let steps: &[Call] = &[
        ("schedule", |_| json!([100, "tick"]), 10),
        ("look", nothing, 10),
        ("wipe", nothing, 10),
        ("look", nothing, 10),
    ];
    let (answers, _) = play(steps);
    assert_eq!([&answers[1], &answers[3]], [&json!([100, 0, 1]), &json!([100, 0, 0])]);
}
