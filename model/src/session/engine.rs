//! The execution engine: runs code in a detached task that outlives its caller, raced against the next pause.
//!
//! The code is of a small language, see [`code`]. A question of the code is a pause: it has an id of its own, waits in
//! the engine until somebody resumes it, and the caller gets it instead of a result. A resume delivers the response and
//! races again. What became of a pause is kept for a while, so that a resume that is repeated gives the same outcome,
//! and one that meets another joins it.
//!
//! Nobody shuts an engine of a session down, though it can be: a disposal drops it, and the tasks it started run on.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::config::HostConfig;
use crate::defect::defect;
use crate::fx::{Cause, within};
use crate::js::{EventLoop, Promise, call, timer};
use crate::platform::{JsError, LocalFuture, io, join, module_scope, sleep};
use crate::rt;
use crate::session::interaction::{Interaction, Response};
use crate::telemetry::Span;

pub mod code;
mod kept;
mod pauses;
#[cfg(test)]
mod tests;

pub use code::ExecuteResult;
pub use pauses::Pause;
use pauses::{Run, Settled};

crate::operations! {
    ENGINE_FORK = "engine · fork", Fiber, 0; "the dispatcher: sandbox, then watcher, each on a later turn, while the caller races"
    ENGINE_SANDBOX = "engine · sandbox.run", Io, 0, assumed; "user code"
    ENGINE_RACE = "engine · race", Io, 0; "completion or next pause, which comes on a later turn"
    ENGINE_PAUSE = "engine · pause", Io, 0; "the response, in the sandbox"
    RESUME_JOIN = "resume · join", Io, 0; "the resume of the same pause that is in flight"
    RESUME_RACE = "resume · race", Io, 0; "completion or next pause; the sandbox has run nested to its next suspension"
}

/// What running code comes to for its caller.
#[derive(Clone)]
pub enum Outcome {
    /// It ended.
    Completed(ExecuteResult),
    /// It waits for a person.
    Paused(Rc<Pause>),
}

/// A pause with the run that it interrupts.
type Waiting = (Rc<Pause>, Rc<Run>);

type Flight = Promise<Result<Outcome, JsError>>;

/// Puts the questions of code that runs inline.
pub type Elicit = Rc<dyn Fn(Interaction) -> LocalFuture<Result<Response, JsError>>>;

/// Engines that were made in this isolate, to number them in traces.
#[derive(Default)]
struct Made(Cell<u64>);

/// The engine of a runtime.
pub struct Engine {
    /// Its number in traces: what an older engine of the session still runs pauses there, and not here.
    pub number: u64,
    who: Arc<str>,
    config: Rc<HostConfig>,
    paused: RefCell<BTreeMap<Arc<str>, Waiting>>,
    resuming: RefCell<BTreeMap<Arc<str>, Flight>>,
    live: RefCell<Vec<Rc<Run>>>,
    settled: Settled,
    pause_count: Cell<u64>,
}

impl Engine {
    /// An engine of the session `who`.
    pub fn new(who: Arc<str>, config: Rc<HostConfig>) -> Rc<Self> {
        let made = module_scope::<Made>();
        made.0.set(made.0.get() + 1);
        let engine = Rc::new(Engine {
            number: made.0.get(),
            who,
            config,
            paused: RefCell::default(),
            resuming: RefCell::default(),
            live: RefCell::default(),
            settled: Settled::default(),
            pause_count: Cell::new(0),
        });
        engine.take_up_kept_pauses();
        engine
    }

    /// Executions that wait for somebody's answer. Synchronous: whether a session can be evicted depends on it.
    pub fn paused_execution_count(&self) -> usize {
        self.paused.borrow().len()
    }

    /// The pause of an id, while it waits.
    pub fn paused(&self, id: &str) -> Option<Rc<Pause>> {
        self.paused.borrow().get(id).map(|(pause, _)| Rc::clone(pause))
    }

    /// Whether a pause is known to be over.
    pub fn is_execution_settled(&self, id: &str) -> bool {
        self.settled.has(id)
    }

    /// Interrupts every sandbox task that lives, waits for its end and drops its pauses. A session never calls this: what
    /// it started outlives a disposal, and answers a server that is closed.
    #[cfg_attr(not(test), expect(dead_code, reason = "part of the engine that a session makes no use of"))]
    pub async fn shutdown(&self) {
        let live = self.live.borrow().clone();
        live.iter().for_each(|run| run.fiber.interrupt());
        for run in live {
            drop(run.completion.wait_hops(0).await);
            self.paused.borrow_mut().retain(|_, (_, of)| !Rc::ptr_eq(of, &run));
        }
    }

    /// Runs code until it completes or pauses. The task is detached: it goes on whatever becomes of the caller.
    ///
    /// # Errors
    /// When the sandbox itself fails; code that fails is a result.
    pub async fn execute_with_pause(self: &Rc<Self>, code: &str, parent: &Span) -> Result<Outcome, JsError> {
        let span = execute_span(parent, "pausable", code);
        let run = self.fork_sandbox(code, span.clone());
        self.fork_watcher(&run);
        end_span(&span, run.race(&ENGINE_RACE).await)
    }

    /// Runs code to its end, questions and all, in its caller's own time.
    ///
    /// # Errors
    /// When the sandbox fails or a question cannot be put.
    pub async fn execute_inline(&self, code: &str, elicit: Elicit, parent: &Span) -> Result<ExecuteResult, JsError> {
        let span = execute_span(parent, "inline", code);
        let code = Arc::<str>::from(code);
        let running = async move {
            let ask = |interaction| {
                let answered = elicit(interaction);
                async move { answered.await.map(Some) }
            };
            code::run(&code, ask).await
        };
        end_span(&span, sandbox(Arc::clone(&self.who), Box::pin(running), &span).await)
    }

    /// Delivers a response to a pause and runs on until completion or the next pause. None for a pause this engine does
    /// not have. A pause that is over gives its outcome again, one that is being resumed joins.
    ///
    /// # Errors
    /// When the sandbox itself fails, each time the same.
    pub async fn resume(
        self: &Rc<Self>,
        id: &str,
        response: Response,
        parent: impl Into<Option<&Span>>,
    ) -> Result<Option<Outcome>, JsError> {
        let span = Span::under(parent.into(), "mcp.execute.resume");
        span.set("mcp.execute.resume.action", response.action.word());
        let outcome = match self.known(id, &span).await {
            Some(known) => known.map(Some),
            None => self.resume_pause(id, response).await,
        };
        end_span(&span, outcome)
    }

    /// What is known of the resume of a pause: its outcome, or that of the one in flight.
    async fn known(&self, id: &str, span: &Span) -> Option<Result<Outcome, JsError>> {
        if defect!(self.config, ResumeNotIdempotent) || self.delivers_again() {
            return None;
        }
        if let Some(outcome) = self.settled.outcome(id) {
            span.set("mcp.execute.resume.replayed", true);
            return Some(outcome);
        }
        let flight = self.resuming.borrow().get(id).cloned()?;
        span.set("mcp.execute.resume.joined_inflight", true);
        Some(join(&RESUME_JOIN, &flight).await.and_then(|outcome| outcome))
    }

    async fn resume_pause(&self, id: &str, response: Response) -> Result<Option<Outcome>, JsError> {
        let waiting = self.paused.borrow().get(id).cloned();
        let Some((pause, run)) = waiting else { return Ok(None) };
        if !self.delivers_again() {
            self.paused.borrow_mut().remove(id);
        }
        let flight = Flight::new();
        self.resuming.borrow_mut().insert(Arc::clone(&pause.id), flight.clone());
        state_event!("execution.resumed", self.who, execution = &*pause.id, action = response.action.word());
        // The sandbox goes on nested, up to its next suspension.
        pause.response.settle(response);
        let outcome = run.race(&RESUME_RACE).await;
        self.settle(&pause.id, &outcome);
        self.resuming.borrow_mut().remove(id);
        flight.settle(outcome.clone());
        outcome.map(Some)
    }

    /// Whether a decision leaves its pause open for the next one: only with the defect.
    fn delivers_again(&self) -> bool {
        defect!(self.config, DecisionDeliveredTwice)
    }

    fn settle(&self, id: &Arc<str>, outcome: &Result<Outcome, JsError>) {
        let word = match outcome {
            Ok(Outcome::Completed(_)) => "completed",
            Ok(Outcome::Paused(_)) => "paused",
            Err(_) => "failed",
        };
        state_event!("execution.settled", self.who, execution = &**id, outcome = word);
        self.settled.record(id, outcome.clone());
    }

    fn fork_sandbox(self: &Rc<Self>, code: &str, span: Span) -> Rc<Run> {
        let run = Rc::new(Run::default());
        self.live.borrow_mut().push(Rc::clone(&run));
        let (engine, running, code) = (Rc::clone(self), Rc::clone(&run), Arc::<str>::from(code));
        drop(call(async move {
            let outcome = match sleep(&ENGINE_FORK, 0).await {
                Ok(()) => {
                    let (who, owner, asking) = (Arc::clone(&engine.who), Rc::clone(&engine), Rc::clone(&running));
                    let code = async move {
                        let run = code::run(&code, |interaction| pause_here(&owner, &asking, interaction));
                        asking.fiber.or_die(run).await.map_err(Cause::into_error)
                    };
                    sandbox(who, Box::pin(code), &span).await
                }
                Err(error) => Err(error),
            };
            engine.live.borrow_mut().retain(|run| !Rc::ptr_eq(run, &running));
            running.completion.settle(outcome.map(|result| engine.told(result)));
        }));
        run
    }

    /// The result that callers get: all of it, unless a defect loses what the code has shown.
    fn told(&self, result: ExecuteResult) -> ExecuteResult {
        if defect!(self.config, EmittedTextLost) { ExecuteResult { emitted: Vec::new(), ..result } } else { result }
    }

    /// The second fork sees the sandbox end by itself: that is when its pauses leave the engine.
    fn fork_watcher(self: &Rc<Self>, run: &Rc<Run>) {
        let (engine, run) = (Rc::clone(self), Rc::clone(run));
        drop(call(async move {
            if sleep(&ENGINE_FORK, 0).await.is_ok() {
                let ended = run.completion.wait_hops(0).await;
                engine.forget_pauses(&run, &ended.map(Outcome::Completed));
            }
        }));
    }

    fn forget_pauses(&self, run: &Rc<Run>, outcome: &Result<Outcome, JsError>) {
        let mut left = Vec::new();
        self.paused.borrow_mut().retain(|id, (_, of)| {
            let is_over = Rc::ptr_eq(of, run);
            left.extend(is_over.then(|| Arc::clone(id)));
            !is_over
        });
        left.iter().for_each(|id| self.settle(id, outcome));
    }

    /// `exec_<uuid>`: never the same again, in this engine or any other. Two draws would do for that in production;
    /// here they may all be 0, so that session, clock and a count go in as well.
    fn new_id(&self) -> Arc<str> {
        self.pause_count.set(self.pause_count.get() + 1);
        let count = self.pause_count.get();
        if defect!(self.config, CountedExecutionIds) {
            return format!("exec_{count}").into();
        }
        let drawn = rt::decide(&self.who, "execution-id", u64::MAX) ^ fingerprint(&self.who);
        let (high, low) = (drawn >> 32, drawn & 0xffff_ffff);
        let (count, now_ms) = (count & 0xfff, EventLoop::current().now_ms() & 0xffff_ffff_ffff);
        format!("exec_{high:08x}-{:04x}-4{:03x}-8{count:03x}-{now_ms:012x}", low >> 16, low & 0xfff).into()
    }
}

/// FNV-1a: tells sessions apart where nothing is drawn.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A question of running code: a pause in the engine, until a response comes or the code gives up.
async fn pause_here(engine: &Engine, run: &Rc<Run>, interaction: Interaction) -> Result<Option<Response>, JsError> {
    let within_ms = interaction.within_ms;
    let pause = Pause::new(engine.new_id(), interaction);
    let (id, response) = (Arc::clone(&pause.id), pause.response.clone());
    engine.paused.borrow_mut().insert(Arc::clone(&id), (Rc::clone(&pause), Rc::clone(run)));
    state_event!("execution.paused", engine.who, execution = &*id, engine = engine.number);
    run.pauses.offer(pause);
    let Some(within_ms) = within_ms else { return join(&ENGINE_PAUSE, &response).await.map(Some) };
    let answered = within(within_ms, |fiber| async move { fiber.or_die(join(&ENGINE_PAUSE, &response)).await });
    answered.await.map_err(Cause::into_error)
}

fn execute_span(parent: &Span, mode: &'static str, code: &str) -> Span {
    let span = parent.child("mcp.execute");
    span.set("mcp.execute.mode", mode);
    span.set("mcp.execute.code_length", code_length(code));
    span
}

fn end_span<T>(span: &Span, outcome: Result<T, JsError>) -> Result<T, JsError> {
    if let Err(error) = &outcome {
        span.fail(error);
    }
    span.end();
    outcome
}

/// The length of code as JavaScript counts it.
pub fn code_length(code: &str) -> usize {
    code.encode_utf16().count()
}

/// Runs code in a sandbox, which takes a drawn time to come up.
async fn sandbox(
    who: Arc<str>,
    code: impl Future<Output = Result<ExecuteResult, JsError>> + 'static,
    parent: &Span,
) -> Result<ExecuteResult, JsError> {
    let span = parent.child("executor.code.exec");
    let running = async move {
        let ms = rt::decide_delay(&who, "latency.sandbox");
        if ms > 0 {
            timer(ms).wait_hops(0).await;
        }
        code.await
    };
    end_span(&span, io(&ENGINE_SANDBOX, || call(running)).await)
}
