//! Runs of code: completion, pauses in a row, resumes that are repeated, joined, late or of nobody.

use std::rc::Rc;

use serde_json::{Value, json};

use super::*;
use crate::agents::transport::testing::{Failing, in_session};
use crate::net::testkit::log;
use crate::platform::{LocalFuture, ObjectContext};
use crate::session::interaction::Action;

fn engine(ctx: &ObjectContext) -> Rc<Engine> {
    Engine::new(Arc::clone(ctx.label()), Rc::new(HostConfig::default()))
}

fn run(failing: Failing, work: fn(ObjectContext) -> LocalFuture<Value>) -> Vec<String> {
    let mut log = in_session(failing, Some(work), |world| async move { world.rpc("run", Value::Null, 500).await });
    assert_eq!(log.pop().as_deref(), Some("run null"));
    log
}

fn shown(outcome: &Result<Outcome, JsError>) -> String {
    match outcome {
        Ok(Outcome::Completed(ExecuteResult { outcome: Ok(value), emitted })) => format!("{value} after {emitted:?}"),
        Ok(Outcome::Completed(ExecuteResult { outcome: Err(error), .. })) => format!("failed {error}"),
        Ok(Outcome::Paused(pause)) => format!("paused {}", pause.interaction.message),
        Err(error) => error.to_string(),
    }
}

fn accept() -> Response {
    Response { action: Action::Accept, content: Some(serde_json::Map::from_iter([("a".to_owned(), json!(1))])) }
}

async fn execute(engine: &Rc<Engine>, code: &str) -> Result<Outcome, JsError> {
    engine.execute_with_pause(code, &Span::unexported("test")).await
}

async fn resume(engine: &Rc<Engine>, id: &str, response: Response) -> String {
    match engine.resume(id, response, &Span::unexported("test")).await {
        Ok(None) => "unknown".to_owned(),
        Ok(Some(outcome)) => shown(&Ok(outcome)),
        Err(error) => shown(&Err(error)),
    }
}

/// Executes code that pauses and gives the id.
async fn pause_of(engine: &Rc<Engine>, code: &str) -> Arc<str> {
    match execute(engine, code).await {
        Ok(Outcome::Paused(pause)) => Arc::clone(&pause.id),
        other => panic!("it pauses, and not {}", shown(&other)),
    }
}

fn ask(message: &str) -> String {
    format!(r#"ask {{"kind":"form","message":"{message}"}}"#)
}

fn outcomes(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let engine = engine(&ctx);
        for code in [r#"emit 1; emit "two"; return {"a":1}; jump"#, r#"wait 1; fail "boom"; return 1"#, "", "jump 1"] {
            log(shown(&execute(&engine, code).await));
        }
        Value::Null
    })
}

#[test]
fn code_runs_in_order_up_to_its_return_or_failure() {
    let expected = [
        r#"{"a":1} after [Number(1), String("two")]"#,
        "failed boom",
        "null after []",
        "failed SyntaxError: Unexpected statement: jump 1",
    ];
    assert_eq!(run(&[], outcomes), expected);
}

#[test]
fn a_failing_sandbox_is_no_result() {
    assert_eq!(run(&["engine · sandbox.run"], outcomes)[0], "Error: no storage");
}

#[test]
fn user_code_starts_on_a_later_turn_and_outlives_its_caller() {
    fn abandon(ctx: ObjectContext) -> LocalFuture<Value> {
        Box::pin(async move {
            let engine = engine(&ctx);
            let run = engine.fork_sandbox("wait 5; return 1", Span::unexported("test"));
            engine.fork_watcher(&run);
            drop(engine);
            for turn in 0..8 {
                log(format_args!("turn {turn} {}", run.completion.is_settled()));
                timer(1).wait().await;
            }
            Value::Null
        })
    }
    let log = run(&[], abandon);
    assert_eq!((&*log[0], &*log[7]), ("turn 0 false", "turn 7 true"));
}

fn pauses_in_a_row(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let engine = engine(&ctx);
        let first = pause_of(&engine, &format!("{}; emit answer; {}; wait 3; return answer", ask("a"), ask("b"))).await;
        log(format_args!("{} paused", engine.paused_execution_count()));
        log(resume(&engine, &first, accept()).await);
        let second = Rc::clone(engine.paused.borrow().values().next().map(|(pause, _)| pause).expect("paused again"));
        log(first != second.id);
        log(resume(&engine, &second.id, Response { action: Action::Accept, content: None }).await);
        // Told again, each as it was, whatever is decided now.
        log(resume(&engine, &first, Response::timed_out()).await);
        log(resume(&engine, &second.id, Response::timed_out()).await);
        log(format_args!("{} paused {}", engine.paused_execution_count(), engine.is_execution_settled(&first)));
        log(resume(&engine, "exec_unknown", accept()).await);
        Value::Null
    })
}

#[test]
fn code_that_asks_twice_pauses_twice_and_each_resume_can_be_repeated() {
    let emitted = r#"[Object {"action": String("accept"), "content": Object {"a": Number(1)}}]"#;
    let done = format!(r#"{{"action":"accept"}} after {emitted}"#);
    let expected = ["1 paused", "paused b", "true", &done, "paused b", &done, "0 paused true", "unknown"];
    assert_eq!(run(&[], pauses_in_a_row), expected);
}

fn refusals(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let engine = engine(&ctx);
        let asked = pause_of(&engine, &format!("{}; return 1", ask("a"))).await;
        log(resume(&engine, &asked, Response::timed_out()).await);
        let offer = r#"offer {"kind":"url","message":"u","url":"https://a"}; return answer"#;
        let offered = pause_of(&engine, offer).await;
        log(resume(&engine, &offered, Response { action: Action::Cancel, content: None }).await);
        let late = pause_of(&engine, r#"ask {"kind":"form","message":"a","withinMs":5}; return 1"#).await;
        timer(10).wait().await;
        log(format_args!("{} paused", engine.paused_execution_count()));
        log(resume(&engine, &late, accept()).await);
        Value::Null
    })
}

#[test]
fn what_is_asked_fails_unless_accepted_what_is_offered_goes_on_and_who_gives_up_is_forgotten() {
    let expected = [
        "failed InteractionRefused: decline",
        r#"{"action":"cancel"} after []"#,
        "0 paused",
        "failed InteractionTimeout",
    ];
    assert_eq!(run(&[], refusals), expected);
}

fn two_at_once(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let engine = engine(&ctx);
        let id = pause_of(&engine, &format!("{}; wait 5; return 1", ask("a"))).await;
        let both = ["first", "second"].map(|name| {
            let (engine, id) = (Rc::clone(&engine), Arc::clone(&id));
            call(async move { log(format_args!("{name} {}", resume(&engine, &id, accept()).await)) })
        });
        for each in both {
            each.wait().await;
        }
        Value::Null
    })
}

#[test]
fn a_resume_that_meets_another_joins_it() {
    assert_eq!(run(&[], two_at_once), ["second 1 after []", "first 1 after []"]);
}

#[test]
fn a_failing_resume_fails_each_time_the_same() {
    assert_eq!(run(&["resume · race"], two_at_once), ["second Error: no storage", "first Error: no storage"]);
}

fn shut_down(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let engine = engine(&ctx);
        let paused = pause_of(&engine, &ask("a")).await;
        let (running, code) = (Rc::clone(&engine), "wait 1000; emit 1");
        let executed = call(async move { log(shown(&execute(&running, code).await)) });
        timer(5).wait().await;
        engine.shutdown().await;
        executed.wait().await;
        log(format_args!("{} paused", engine.paused_execution_count()));
        // The outcome of what was stopped is kept as that of its pause.
        log(resume(&engine, &paused, accept()).await);
        log(shown(&execute(&engine, "return 1").await));
        Value::Null
    })
}

#[test]
fn a_shutdown_interrupts_what_runs_and_what_waits() {
    let interrupted = "Error: All fibers interrupted without error";
    assert_eq!(run(&[], shut_down), [interrupted, "0 paused", interrupted, "1 after []"]);
}

fn inline(ctx: ObjectContext) -> LocalFuture<Value> {
    Box::pin(async move {
        let engine = engine(&ctx);
        let elicit: Elicit = Rc::new(|interaction| {
            log(format_args!("asked {}", interaction.message));
            Box::pin(std::future::ready(Ok(accept())))
        });
        let code = format!("{}; return answer", ask("a"));
        let result = engine.execute_inline(&code, elicit, &Span::unexported("test")).await;
        log(shown(&result.map(Outcome::Completed)));
        log(format_args!("{} paused", engine.paused_execution_count()));
        Value::Null
    })
}

#[test]
fn inline_code_asks_its_caller_and_never_pauses() {
    let done = r#"{"action":"accept","content":{"a":1}} after []"#;
    assert_eq!(run(&[], inline), ["asked a", done, "0 paused"]);
}
