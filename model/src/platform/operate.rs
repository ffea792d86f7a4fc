//! Running an operation: both of its edges are shown to the director, who may disturb it.

use std::future::Future;
use std::rc::Rc;

use super::error::JsError;
use super::fate;
use super::isolate::Isolate;
use crate::fx::Fiber;
use crate::js::{Ctx, EventLoop, IoContext, Promise, hops, timer};
use crate::operation::{Disturbance, Edge, Operation, OperationPoint};
use crate::rt;

/// What an edge of an operation comes to.
pub(crate) enum Outcome {
    /// Go on.
    Go,
    /// The call fails.
    Fail(JsError),
    /// Wait for this first, and fail if it does.
    Wait(Promise<Result<(), JsError>>),
    /// The object was reset here: nothing of it goes on.
    Gone,
}

/// Shows one edge to the director and carries out what he wants. What had to wait comes back through the gate, as any
/// answer does.
fn edge(operation: &'static Operation, edge: Edge) -> Outcome {
    show(operation, edge, false)
}

/// The same for storage and for the platform's own work, which a shut gate does not keep waiting.
pub(super) fn edge_past_gate(operation: &'static Operation, edge: Edge) -> Outcome {
    show(operation, edge, true)
}

fn show(operation: &'static Operation, edge: Edge, past_gate: bool) -> Outcome {
    let event_loop = EventLoop::current();
    let ctx = event_loop.ctx();
    if ctx.context.is_dead() {
        return Outcome::Gone;
    }
    if edge == Edge::Begin && ctx.context.burns_out() {
        let error = fate::draw_reset(&ctx.context.label);
        if !Isolate::current(|isolate| isolate.reset_from_outside(&event_loop, &ctx.context, error)) {
            return Outcome::Gone;
        }
    }
    let point =
        OperationPoint { operation, root: ctx.root, edge, who: &ctx.context.label, now_ms: event_loop.now_ms() };
    let Some(intervention) = rt::at_operation(&point) else { return Outcome::Go };
    if let Some(what) = intervention.interrupt {
        let fiber = Isolate::current(|isolate| isolate.running(&ctx.context, what));
        fiber.iter().for_each(Fiber::interrupt);
    }
    if let Some(error) = intervention.reset {
        if !Isolate::current(|isolate| isolate.reset_from_outside(&event_loop, &ctx.context, error)) {
            return Outcome::Gone;
        }
    }
    match intervention.disturbance {
        Disturbance::None => Outcome::Go,
        Disturbance::Fail(error) => Outcome::Fail(error),
        Disturbance::Delay(ms) => {
            let hold = Hold::new(ctx, past_gate);
            let promise = hold.promise.clone();
            hold.end_at(&event_loop, event_loop.now_ms() + ms, Ok(()));
            Outcome::Wait(promise)
        }
        Disturbance::Hold(number) => {
            let hold = Hold::new(ctx, past_gate);
            let promise = hold.promise.clone();
            Isolate::current(|isolate| isolate.hold(number, hold));
            Outcome::Wait(promise)
        }
    }
}

/// An edge that was made to wait.
pub(super) struct Hold {
    ctx: Ctx,
    past_gate: bool,
    promise: Promise<Result<(), JsError>>,
}

impl Hold {
    fn new(ctx: Ctx, past_gate: bool) -> Self {
        Hold { ctx, past_gate, promise: Promise::new() }
    }

    /// Lets it go on or fail at `due_ms`, past the gate or when that lets it in.
    pub fn end_at(self, event_loop: &EventLoop, due_ms: u64, passed: Result<(), JsError>) {
        let Hold { ctx, past_gate, promise } = self;
        let settle = Box::new(move || promise.settle(passed));
        if past_gate {
            event_loop.run_past_gate(due_ms, ctx, settle);
        } else {
            event_loop.run_later(due_ms, ctx, settle);
        }
    }
}

/// The begin of an operation: `Err` when it is to fail before it has any effect. Nobody sees a rejection in the stretch
/// that made the call: it takes the trip of a settled promise.
pub(crate) async fn begin(operation: &'static Operation) -> Result<(), JsError> {
    let passed = pass(edge(operation, Edge::Begin)).await;
    if passed.is_err() {
        hops(1).await;
    }
    passed
}

/// The end of an operation: `Err` when its answer is lost although it took effect.
pub(crate) async fn end(operation: &'static Operation) -> Result<(), JsError> {
    pass(edge(operation, Edge::End)).await
}

async fn pass(outcome: Outcome) -> Result<(), JsError> {
    match outcome {
        Outcome::Go => Ok(()),
        Outcome::Fail(error) => Err(error),
        Outcome::Wait(promise) => promise.wait_hops(0).await,
        Outcome::Gone => std::future::pending().await,
    }
}

/// A wait that never leaves the turn: `operation.hops` trips through the queue.
pub async fn micro(operation: &'static Operation) -> Result<(), JsError> {
    // Fact: 29. Awaiting a fetch, a timer or another object lets requests, timers and alarms in. [R:G2, R:G3, R:G4,
    // R:A11]
    begin(operation).await?;
    hops(operation.hops).await;
    end(operation).await
}

/// A wait with the gate open for what `start` returns: a call, a dependency, a socket.
pub async fn io<T, F>(operation: &'static Operation, start: F) -> Result<T, JsError>
where
    T: Clone + 'static,
    F: FnOnce() -> Promise<Result<T, JsError>>,
{
    begin(operation).await?;
    let answer = start().wait_hops(operation.hops).await;
    end(operation).await?;
    answer
}

/// A wait with the gate open for a promise that cannot fail.
pub async fn join<T: Clone + 'static>(operation: &'static Operation, promise: &Promise<T>) -> Result<T, JsError> {
    begin(operation).await?;
    let value = promise.wait_hops(operation.hops).await;
    end(operation).await?;
    Ok(value)
}

/// A timer of the running context as an operation.
pub async fn sleep(operation: &'static Operation, ms: u64) -> Result<(), JsError> {
    begin(operation).await?;
    timer(ms).wait_hops(operation.hops).await;
    end(operation).await
}

/// `blockConcurrencyWhile` as an operation.
pub async fn section<F, T>(operation: &'static Operation, callback: impl FnOnce() -> F + 'static) -> Result<T, JsError>
where
    F: Future<Output = T> + 'static,
    T: Clone + 'static,
{
    begin(operation).await?;
    // Fact: 120. What does no I/O is allowed across objects; another object's waitUntil and section act on the
    // caller's. [R:X1, R:X2, R:X5]
    let value = EventLoop::current().section(callback).wait_hops(operation.hops).await;
    end(operation).await?;
    Ok(value)
}

/// True when the running code belongs to `owner`; else the use is recorded and the text for it given
/// (platform facts 116, 117).
pub(crate) fn owned_by(owner: &Rc<IoContext>, kind: &str) -> Result<(), JsError> {
    let ctx = EventLoop::current().ctx();
    if ctx.context.number == owner.number {
        return Ok(());
    }
    // Fact: 116. An I/O object of another object throws a text of its own. [R:X1, R:X2, R:X3, R:X4, R:X5, R:X11]
    // Fact: 117. An I/O object of another request throws a text of its own. [R:X10]
    let error = match owner.owner {
        crate::js::Owner::Object => JsError::cross_object_io(kind),
        crate::js::Owner::Request => JsError::cross_request_io(kind),
    };
    platform_event!("io.cross-context", ctx.context.label, text = &*error.message);
    Err(error)
}
