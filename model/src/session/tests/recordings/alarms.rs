//! Replays G1-G4: alarms of a session whose name nobody but its storage knows, if anybody.

use std::rc::Rc;

use serde_json::json;

use super::super::world::{Setup, World};
use super::restore::idle;
use super::stage::{ONE, Stage, TEST_ALARM, begin, get, put, resident, step};
use super::start_body;
use super::{Replay, replay};
use crate::agents::NAME_KEY;
use crate::js::EventLoop;
use crate::session::SessionObject;
use crate::session::alarm::alarm;
use crate::session::clock::LAST_ACTIVITY_KEY;
use crate::session::signed;
use crate::telemetry::Span;

pub(super) fn replays() -> Vec<Replay> {
    let paused = Setup { max_paused_ms: 1_000_000, ..nameless() };
    vec![
        replay("G1", nameless(), stored_name),
        replay("G2", paused, paused_lease),
        replay("G3", nameless(), no_name),
        replay("G4", nameless(), unresolved),
    ]
}

fn nameless() -> Setup {
    Setup { named: false, ..idle() }
}

/// Makes a resident session, with a record of its name if `is_stored`.
async fn begin_with(session: &SessionObject, is_stored: bool) {
    resident(session).await;
    begin();
    if is_stored {
        put(session, NAME_KEY, json!("streamable-http:session-stale-alarm")).await;
    }
    step(1, "await");
}

async fn stored_name(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, |session| async move {
            begin_with(&session, true).await;
            alarm(Rc::clone(&session)).await.expect("it disposes");
            step(2, "session.alarm");
            assert_eq!(get(&session, LAST_ACTIVITY_KEY).await, None);
        })
        .await;
}

async fn paused_lease(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, |session| async move {
            let paused = start_body::engine(&session);
            let code = r#"ask {"kind": "form", "message": "may I?"}"#;
            drop(paused.execute_with_pause(code, &Span::unexported("test")).await);
            begin_with(&session, true).await;
            *session.engine.borrow_mut() = Some(paused);
            alarm(Rc::clone(&session)).await.expect("it extends");
            step(2, "session.alarm");
        })
        .await;
}

async fn no_name(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, |session| async move {
            begin_with(&session, false).await;
            let now_ms = EventLoop::current().now_ms();
            session.ctx().storage().set_alarm(&TEST_ALARM, signed(now_ms)).await.expect("storage works");
            step(2, "storage.setAlarm");
            alarm(Rc::clone(&session)).await.expect("it cleans up");
            step(3, "session.alarm");
        })
        .await;
}

async fn unresolved(world: Rc<World>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, |session| async move {
            begin_with(&session, false).await;
            assert_eq!(&*session.session_id_for_telemetry(), "unresolved");
        })
        .await;
}
