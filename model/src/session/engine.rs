//! The execution engine: runs code in a detached task that outlives its caller, raced against the next pause.
//!
//! The code is of a small language, statements separated by `;` (outside of strings), run in order:
//!
//! | statement | effect |
//! |---|---|
//! | `return <json>` | completes with the value; what follows is not looked at |
//! | `wait <ms>` | takes that many whole milliseconds |
//! | `emit <json>` | shows the value to the user |
//! | `fail "<text>"` | fails with the text |
//!
//! Code that ends without `return` completes with null. A statement that is none of these fails when it is reached.
//!
//! Nothing of the language pauses yet, so no execution is ever paused; the race and the watcher are where pauses come
//! in. Nobody shuts an engine down: a disposal drops it, and the tasks it started run on.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::js::{Promise, call, timer};
use crate::platform::{JsError, io, join, sleep};
use crate::rt;
use crate::telemetry::Span;

crate::operations! {
    ENGINE_FORK = "engine · fork", Fiber, 0; "the dispatcher: sandbox, then watcher, each on a later turn, while the caller races"
    ENGINE_SANDBOX = "engine · sandbox.run", Io, 0, assumed; "user code"
    ENGINE_RACE = "engine · race", Io, 0; "completion or next pause"
}

/// How a run of code ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteResult {
    /// Its value, or the text of its failure.
    pub outcome: Result<Value, String>,
    /// What it showed to the user, in order.
    pub emitted: Vec<Value>,
}

type Completion = Promise<Result<ExecuteResult, JsError>>;

/// The engine of a runtime.
pub struct Engine {
    who: Arc<str>,
}

impl Engine {
    /// An engine of the session `who`.
    pub fn new(who: Arc<str>) -> Rc<Self> {
        Rc::new(Engine { who })
    }

    /// Executions that wait for somebody's answer.
    pub fn paused_execution_count(&self) -> usize {
        0
    }

    /// Runs code until it completes. The task is detached: it goes on whatever becomes of the caller.
    ///
    /// # Errors
    /// When the sandbox itself fails; code that fails is a result.
    pub async fn execute_with_pause(&self, code: &str, parent: &Span) -> Result<ExecuteResult, JsError> {
        let span = parent.child("mcp.execute");
        span.set("mcp.execute.mode", "pausable");
        span.set("mcp.execute.code_length", code_length(code));
        let completion = self.fork_sandbox(code, span.clone());
        fork_watcher(completion.clone());
        let outcome = join(&ENGINE_RACE, &completion).await.and_then(|completed| completed);
        if let Err(error) = &outcome {
            span.fail(error);
        }
        span.end();
        outcome
    }

    fn fork_sandbox(&self, code: &str, parent: Span) -> Completion {
        let completion = Completion::new();
        let (settled, who, code) = (completion.clone(), Arc::clone(&self.who), Arc::<str>::from(code));
        drop(call(async move {
            let outcome = match sleep(&ENGINE_FORK, 0).await {
                Ok(()) => sandbox(who, code, &parent).await,
                Err(error) => Err(error),
            };
            settled.settle(outcome);
        }));
        completion
    }
}

/// The second fork sees the sandbox end by itself: that is when its pauses leave the engine.
fn fork_watcher(completion: Completion) {
    drop(call(async move {
        if sleep(&ENGINE_FORK, 0).await.is_ok() {
            drop(completion.wait_hops(0).await);
        }
    }));
}

/// The length of code as JavaScript counts it.
pub fn code_length(code: &str) -> usize {
    code.encode_utf16().count()
}

/// The sandbox takes a drawn time to come up.
async fn sandbox(who: Arc<str>, code: Arc<str>, parent: &Span) -> Result<ExecuteResult, JsError> {
    let span = parent.child("executor.code.exec");
    let run = async move {
        take(rt::decide_delay(&who, "latency.sandbox")).await;
        Ok(run(&code).await)
    };
    let outcome = io(&ENGINE_SANDBOX, || call(run)).await;
    if let Err(error) = &outcome {
        span.fail(error);
    }
    span.end();
    outcome
}

async fn take(ms: u64) {
    if ms > 0 {
        timer(ms).wait_hops(0).await;
    }
}

async fn run(code: &str) -> ExecuteResult {
    let mut emitted = Vec::new();
    let mut outcome = Ok(Value::Null);
    for text in statements(code).map(str::trim).filter(|text| !text.is_empty()) {
        match Statement::parse(text) {
            Ok(Statement::Wait(ms)) => timer(ms).wait_hops(0).await,
            Ok(Statement::Emit(value)) => emitted.push(value),
            Ok(Statement::End(end)) => {
                outcome = end;
                break;
            }
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    ExecuteResult { outcome, emitted }
}

#[derive(Debug, PartialEq)]
enum Statement {
    Wait(u64),
    Emit(Value),
    End(Result<Value, String>),
}

impl Statement {
    fn parse(text: &str) -> Result<Statement, String> {
        let refused = || format!("SyntaxError: Unexpected statement: {text}");
        let (word, operand) = text.split_once(char::is_whitespace).ok_or_else(refused)?;
        let value: Value = serde_json::from_str(operand).map_err(|_| refused())?;
        match (word, value) {
            ("return", value) => Ok(Statement::End(Ok(value))),
            ("emit", value) => Ok(Statement::Emit(value)),
            ("fail", Value::String(text)) => Ok(Statement::End(Err(text))),
            ("wait", value) => value.as_u64().map(Statement::Wait).ok_or_else(refused),
            _ => Err(refused()),
        }
    }
}

/// Splits at each `;` outside of strings.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    code.split(move |each| {
        if is_quoted {
            is_quoted = is_escaped || each != '"';
            is_escaped = each == '\\' && !is_escaped;
            return false;
        }
        is_quoted = each == '"';
        each == ';'
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agents::transport::testing::in_session;
    use crate::net::testkit::log;
    use crate::platform::{LocalFuture, ObjectContext};

    #[test]
    fn strings_hide_semicolons_and_what_is_no_statement_is_refused() {
        let code = r#"emit {"a":"x;\";y"} ; wait 5;return "b;1""#;
        let parsed: Vec<_> = statements(code).map(|text| Statement::parse(text.trim())).collect();
        assert_eq!(
            parsed,
            [Ok(Statement::Emit(json!({"a": "x;\";y"}))), Ok(Statement::Wait(5)), Ok(Statement::End(Ok(json!("b;1")))),]
        );
        for text in ["return", "return 1 2", "wait x", "wait -1", "fail 1", "jump 1", "return {"] {
            assert_eq!(Statement::parse(text), Err(format!("SyntaxError: Unexpected statement: {text}")));
        }
    }

    fn outcomes(ctx: ObjectContext) -> LocalFuture<Value> {
        Box::pin(async move {
            let engine = Engine::new(Arc::clone(ctx.label()));
            for code in
                [r#"emit 1; emit "two"; return {"a":1}; jump"#, r#"wait 1; fail "boom"; return 1"#, "", "jump 1"]
            {
                let span = Span::unexported("test");
                log(format_args!("{:?}", engine.execute_with_pause(code, &span).await));
            }
            Value::Null
        })
    }

    #[test]
    fn code_runs_in_order_up_to_its_return_or_failure() {
        let log = in_session(&[], Some(outcomes), |world| async move { world.rpc("run", Value::Null, 50).await });
        assert_eq!(
            log,
            [
                r#"Ok(ExecuteResult { outcome: Ok(Object {"a": Number(1)}), emitted: [Number(1), String("two")] })"#,
                r#"Ok(ExecuteResult { outcome: Err("boom"), emitted: [] })"#,
                r#"Ok(ExecuteResult { outcome: Ok(Null), emitted: [] })"#,
                r#"Ok(ExecuteResult { outcome: Err("SyntaxError: Unexpected statement: jump 1"), emitted: [] })"#,
                "run null",
            ]
        );
    }

    #[test]
    fn a_failing_sandbox_is_no_result() {
        let log = in_session(&["engine · sandbox.run"], Some(outcomes), |world| async move {
            world.rpc("run", Value::Null, 50).await;
        });
        assert!(log[0].starts_with("Err(") && log[0].contains("no storage"), "{log:?}");
    }

    #[test]
    fn user_code_starts_on_a_later_turn_and_outlives_its_caller() {
        fn abandon(ctx: ObjectContext) -> LocalFuture<Value> {
            Box::pin(async move {
                let engine = Engine::new(Arc::clone(ctx.label()));
                let completion = engine.fork_sandbox("wait 5; return 1", Span::unexported("test"));
                fork_watcher(completion.clone());
                drop(engine);
                for turn in 0..8 {
                    log(format_args!("turn {turn} {}", completion.is_settled()));
                    timer(1).wait().await;
                }
                Value::Null
            })
        }
        let log = in_session(&[], Some(abandon), |world| async move { world.rpc("run", Value::Null, 50).await });
        assert_eq!(log[0], "turn 0 false");
        assert_eq!(log[7], "turn 7 true");
    }
}
