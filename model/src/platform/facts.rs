//! Platform facts as tests: each is named by its number in the list of facts and by what it says.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::test_world::{TestWorld, mark, marks, run};
use super::*;
use crate::js::timer;
use crate::operation::{Disturbance, Edge, Intervention, Operation, OperationPoint};
use crate::rt;

mod alarm;
mod alarm_cold;
mod alarm_retry;
mod background;
mod commit;
mod context;
mod ends;
mod errors;
mod eviction;
mod gate;
mod habits;
mod held;
mod idleness;
mod life;
mod names;
mod order;
mod random;
mod section;
mod storage;
mod storage_api;
mod strays;
mod switches;
mod witness;

crate::operations! {
    CALL = "fact · stub.call", Io, 1; "another object"
    GET = "fact · storage.get", Storage, 3; "storage"
    PUT = "fact · storage.put", Storage, 3; "storage"
    DELETE = "fact · storage.delete", Storage, 3; "storage"
    LIST = "fact · storage.list", Storage, 3; "storage"
    WIPE = "fact · storage.deleteAll", Storage, 3; "storage"
    SET_ALARM = "fact · storage.setAlarm", Storage, 3; "storage"
    GET_ALARM = "fact · storage.getAlarm", Storage, 3; "storage"
    DELETE_ALARM = "fact · storage.deleteAlarm", Storage, 3; "storage"
    SYNC = "fact · storage.sync", Section, 1; "storage"
    SECTION = "fact · blockConcurrencyWhile", Section, 1; "its callback"
    TRANSACTION = "fact · storage.transaction", Section, 1; "its callback"
}

type Answer = Result<Value, JsError>;
type AtOperation = Box<dyn Fn(&OperationPoint<'_>) -> Disturbance>;
type DrawDelay = Box<dyn Fn(&str, &str) -> u64>;
type Stray = Box<dyn Fn(&str) -> u64>;
type Decide = Box<dyn Fn(&str, &str, u64) -> u64>;

/// A director made of closures; what is absent leaves the world calm.
#[derive(Default)]
struct Script {
    at: Option<AtOperation>,
    reset: Option<(&'static str, JsError)>,
    delay: Option<DrawDelay>,
    decide: Option<Decide>,
    stray: Option<Stray>,
}

impl rt::Director for Script {
    fn decide(&self, who: &str, what: &str, below: u64) -> u64 {
        self.decide.as_ref().map_or(0, |decide| decide(who, what, below))
    }

    fn delay_ms(&self, who: &str, what: &str) -> u64 {
        self.delay.as_ref().map_or(0, |delay| delay(who, what))
    }

    fn stray(&self, _who: &str, what: &str) -> u64 {
        self.stray.as_ref().map_or(0, |stray| stray(what))
    }

    fn round_up_ms(&self, at_ms: u64) -> u64 {
        at_ms
    }

    fn at_operation(&self, point: &OperationPoint<'_>) -> Option<Box<Intervention>> {
        let disturbance = self.at.as_ref().map_or(Disturbance::None, |at| at(point));
        let here = |(name, _): &&(&'static str, JsError)| *name == point.operation.name && point.edge == Edge::Begin;
        let reset = self.reset.as_ref().filter(here).map(|(_, error)| error.clone());
        Intervention { disturbance, interrupt: None, reset }.said()
    }
}

/// Puts the world under `script`; called before anything has run.
fn direct(script: Script) {
    rt::begin_run(Some(Rc::new(script)), 10_000_000);
}

/// A platform that strays so much in one thing.
fn straying(what: &'static str, value: u64) -> Script {
    Script { stray: Some(Box::new(move |asked| if asked == what { value } else { 0 })), ..Script::default() }
}

/// Disturbs the `n`-th begin (from 1) of the operation `name`.
fn nth(name: &'static str, n: u32, disturbance: Disturbance) -> Script {
    let seen = RefCell::new(0);
    let at = move |point: &OperationPoint<'_>| {
        if point.operation.name != name || point.edge != Edge::Begin {
            return Disturbance::None;
        }
        *seen.borrow_mut() += 1;
        if *seen.borrow() == n { disturbance.clone() } else { Disturbance::None }
    };
    Script { at: Some(Box::new(at)), ..Script::default() }
}

/// Plays `script` against a world whose probe object does what `handler` says, on the older runtime build.
fn play<H, Fut, S, Run>(handler: H, script: S)
where
    H: Fn(ObjectContext, &'static str, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + 'static,
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    play_on(RuntimeBuild::May2026, handler, script);
}

/// The same on a given build.
fn play_on<H, Fut, S, Run>(build: RuntimeBuild, handler: H, script: S)
where
    H: Fn(ObjectContext, &'static str, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + 'static,
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    play_in(1, build, handler, script);
}

/// The same on the older build with other habits.
fn play_with<H, Fut, S, Run>(switches: Switches, handler: H, script: S)
where
    H: Fn(ObjectContext, &'static str, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + 'static,
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    run(move || async move {
        let handler: super::test_world::Handler =
            Arc::new(move |ctx, method, argument| Box::pin(handler(ctx, method, argument)));
        let world = Rc::new(TestWorld::with(1, RuntimeBuild::May2026, switches, handler));
        script(Rc::clone(&world)).await;
        world.stop().await;
        drop(marks());
    });
}

/// The same in a world of several isolates.
fn play_in<H, Fut, S, Run>(isolates: u32, build: RuntimeBuild, handler: H, script: S)
where
    H: Fn(ObjectContext, &'static str, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + 'static,
    S: FnOnce(Rc<TestWorld>) -> Run + Send + 'static,
    Run: Future<Output = ()> + 'static,
{
    run(move || async move {
        let handler: super::test_world::Handler =
            Arc::new(move |ctx, method, argument| Box::pin(handler(ctx, method, argument)));
        let world = Rc::new(TestWorld::with_isolates(isolates, build, handler));
        script(Rc::clone(&world)).await;
        world.stop().await;
        drop(marks());
    });
}

fn key(name: &'static str) -> ObjectKey {
    ObjectKey::named("Probe", name)
}

/// A request that calls a method through a stub of its own; a failure is marked as `method!message`.
fn send(world: &TestWorld, name: &'static str, method: &'static str) {
    world.post(move || {
        Box::pin(async move {
            if let Err(error) = Stub::new(key(name)).rpc(&CALL, method, Value::Null).await {
                mark(format!("{method}!{}", error.message));
            }
        })
    });
}

/// Calls a method through a stub of its own and waits for the answer.
async fn ask(world: &TestWorld, name: &'static str, method: &'static str) -> Answer {
    ask_at(world, key(name), method).await
}

/// The same for any key.
async fn ask_at(world: &TestWorld, key: ObjectKey, method: &'static str) -> Answer {
    let (answer, answered) = tokio::sync::oneshot::channel();
    world.post(move || {
        Box::pin(async move {
            drop(answer.send(Stub::new(key).rpc(&CALL, method, Value::Null).await));
        })
    });
    answered.await.expect("a call is answered")
}

/// Calls another object from inside an object or a request.
async fn call_other(name: &'static str, method: &'static str) -> Answer {
    Stub::new(key(name)).rpc(&CALL, method, Value::Null).await
}

/// `ctx.abort(reason)`: nothing follows.
async fn abort(ctx: &ObjectContext, reason: &str) -> Answer {
    ctx.abort(reason)?;
    std::future::pending().await
}

/// `await ctx.blockConcurrencyWhile(callback)` whose callback may throw, which nothing survives.
async fn section<F>(ctx: &ObjectContext, callback: impl FnOnce() -> F + 'static) -> Answer
where
    F: Future<Output = Answer> + 'static,
{
    match ctx.block_concurrency_while(&SECTION, callback).await? {
        Ok(value) => Ok(value),
        Err(error) => {
            ctx.reset_by_section(error);
            std::future::pending().await
        }
    }
}

/// What every probe can do besides.
async fn common(ctx: ObjectContext, method: &'static str) -> Answer {
    let storage = ctx.storage();
    match method {
        "mark" => mark("mark"),
        "put" => storage.put(&PUT, "x", Value::from(1)).await?,
        "sleep300" => timer(300).wait().await,
        "abort" => return abort(&ctx, "aborted").await,
        "incarnation" => return Ok(Value::from(ctx.io().number)),
        "alarm?" => return Ok(Value::from(storage.get_alarm(&GET_ALARM).await?)),
        "keys" => {
            let all = storage.list(&LIST, ListRange::default()).await?;
            let keys: Vec<&str> = all.iter().map(|(key, _)| &**key).collect();
            return Ok(Value::from(keys.join(" ")));
        }
        _ => {}
    }
    Ok(Value::Null)
}

/// Sleeps.
async fn pause(ms: u64) {
    rt::sleep_ms(ms).await;
}

/// Milliseconds since the run began, as the running code reads its clock.
fn clock() -> u64 {
    crate::js::EventLoop::current().now_ms() - rt::EPOCH_MS
}

/// Waits for both, started at the same time.
async fn both<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> [T; 2] {
    let (one, other) = tokio::join!(one, other);
    [one, other]
}
