//! Replays E1-E6: starts, cold and warm, after a disposal, alone and joined.

use std::rc::Rc;

use serde_json::{Value, json};

use super::super::script::Rule;
use super::super::world::{Setup, World};
use super::stage::{ONE, Stage, alias, aliased, begin, clear, described, resident, step};
use super::start_body::{self, StartBody};
use super::{Replay, replay};
use crate::js::call;
use crate::session::SessionObject;
use crate::session::alarm::alarm;
use crate::session::engine::{Engine, Outcome};
use crate::session::model_resume::resume_for_model;
use crate::session::ownership::{Identity, Ownership, validate_mcp_session_owner};
use crate::session::start::on_start;
use crate::telemetry::Span;

const HELD: u64 = 7;

pub(super) fn replays() -> Vec<Replay> {
    vec![
        replay("E1", idle(), cold_start),
        replay("E2", idle(), warm_start),
        replay("E3", idle(), |world| restored(world, Joined::Nobody)),
        replay("E4", gated(), |world| restored(world, Joined::Validation)),
        replay("E5", gated(), |world| restored(world, Joined::Start)),
        replay("E6", gated(), |world| restored(world, Joined::ModelResume)),
    ]
}

/// Idle after a millisecond.
pub(super) fn idle() -> Setup {
    Setup { timeout_ms: 1, max_paused_ms: 1_000, ..described() }
}

fn gated() -> Setup {
    Setup { rules: vec![Rule::hold(start_body::GATE.name, HELD)], ..idle() }
}

/// What meets in a start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Nobody,
    Validation,
    Start,
    ModelResume,
}

/// From now on a start installs a new engine.
fn start_with_engine(session: &SessionObject) {
    start_body::replace(Some(StartBody { engine: Some(start_body::engine(session)), is_gated: false }));
}

async fn cold_start(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage.connect(ONE).await;
    stage
        .run(ONE, |session| async move {
            resident(&session).await;
            begin();
            step(1, "await");
            clear(&session);
            start_with_engine(&session);
            on_start(Rc::clone(&session), None).await.expect("it starts");
            step(2, "session.onStart");
            assert_eq!(session.active_stream_count(), 1);
        })
        .await;
}

async fn warm_start(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage.connect(ONE).await;
    stage
        .run(ONE, |session| async move {
            resident(&session).await;
            begin();
            step(1, "await");
            start_with_engine(&session);
            on_start(Rc::clone(&session), None).await.expect("it starts");
            step(2, "session.onStart");
            assert_eq!(session.active_stream_count(), 0);
        })
        .await;
}

async fn restored(world: Rc<World>, joined: Joined) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, move |session| async move {
            let engine = engine_of(&session, joined).await;
            start_body::replace(Some(StartBody { engine, is_gated: joined != Joined::Nobody }));
            resident(&session).await;
            begin();
            step(1, "await");
            alarm(Rc::clone(&session)).await.expect("it disposes");
            step(if joined == Joined::Nobody { 2 } else { 4 }, "session.alarm");
        })
        .await;
    if joined == Joined::Nobody {
        return stage
            .run(ONE, |session| async move {
                validate(session).await;
                step(3, "session.validateMcpSessionOwner");
            })
            .await;
    }
    stage
        .run(ONE, move |session| async move {
            meet(session, joined).await;
            step(7, "promise");
        })
        .await;
    stage.0.handle().release(HELD);
    crate::rt::sleep_ms(60).await;
}

/// The engine of the start: with a paused execution where the test resumes one, none behind the other gates.
async fn engine_of(session: &Rc<SessionObject>, joined: Joined) -> Option<Rc<Engine>> {
    let engine = start_body::engine(session);
    match joined {
        Joined::Nobody => Some(engine),
        Joined::Validation | Joined::Start => None,
        Joined::ModelResume => {
            let code = r#"ask {"kind": "form", "message": "may I?"}; return "model-result""#;
            let executed = engine.execute_with_pause(code, &Span::unexported("test")).await;
            let Ok(Outcome::Paused(pause)) = executed else { panic!("the code asks") };
            alias(&pause.id, "exec-model");
            Some(engine)
        }
    }
}

/// Calls both parties at once, and waits for both.
async fn meet(session: Rc<SessionObject>, joined: Joined) {
    let first = match joined {
        Joined::ModelResume => call(resume(Rc::clone(&session))),
        _ => call(validate(Rc::clone(&session))),
    };
    let second = match joined {
        Joined::Validation => call(validate(session)),
        _ => call(async move { on_start(session, None).await.expect("it starts") }),
    };
    first.wait_hops(0).await;
    second.wait_hops(0).await;
}

pub(super) async fn validate(session: Rc<SessionObject>) {
    let owner = Identity { account_id: "user-1".into(), organization_id: "org-1".into() };
    let verdict = validate_mcp_session_owner(session, owner).await;
    assert_eq!(verdict, Ok(Ownership::Ok));
}

async fn resume(session: Rc<SessionObject>) {
    let arguments = json!({
        "executionId": &*aliased("exec-model"),
        "accountId": "user-1",
        "organizationId": "org-1",
        "response": {"action": "accept", "content": {"approved": true}},
    });
    let answer = resume_for_model(session, arguments).await.expect("it resumes");
    assert_eq!(answer["status"], "result", "{answer}");
    let structured: &Value = &answer["result"]["structuredContent"];
    assert_eq!((&structured["status"], &structured["result"]), (&json!("completed"), &json!("model-result")));
}
