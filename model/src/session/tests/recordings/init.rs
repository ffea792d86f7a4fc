//! Replays F1-F5: an `init` whose bookkeeping or identity cannot be written.

use std::rc::Rc;

use super::super::script::{Rule, look_at_ends};
use super::super::world::{Setup, World};
use super::restore::validate;
use super::stage::{ONE, Stage, begin, described, init_of, step};
use super::{Replay, replay};
use crate::js::{call, hops};
use crate::platform::JsError;

const META: &str = "meta · storage.put session-meta";
const CLOCK: &str = "clock · storage.put last-activity-ms";
const ALARM: &str = "clock · storage.setAlarm idle";

pub(super) fn replays() -> Vec<Replay> {
    vec![
        replay("F1", failing(CLOCK, JsError::code_updated()), |world| init(world, Ok(()))),
        replay("F2", failing(ALARM, JsError::code_updated()), |world| init(world, Ok(()))),
        replay("F3", failing(ALARM, JsError::code_updated()), init_and_validation),
        replay("F4", failing(CLOCK, JsError::new(QUOTA)), |world| init(world, Err(QUOTA))),
        replay("F5", failing(META, JsError::code_updated()), |world| init(world, Err(UPDATED))),
    ]
}

const QUOTA: &str = "quota exceeded for namespace";
const UPDATED: &str = "Durable Object reset because its code was updated.";

fn failing(operation: &'static str, error: JsError) -> Setup {
    Setup { rules: vec![Rule::fail(operation, error)], ..described() }
}

/// The fakes of these tests show what is so when a write of theirs has landed.
fn after_write(operation: &'static str) {
    let (n, what) = match operation {
        META | CLOCK => (8, "await"),
        ALARM => (9, "setAlarm"),
        _ => return,
    };
    drop(call(async move {
        hops(1).await;
        step(n, what);
    }));
}

async fn init(world: Rc<World>, expected: Result<(), &'static str>) {
    let stage = Stage(world);
    stage.make(&[ONE]).await;
    stage
        .run(ONE, move |session| async move {
            begin();
            look_at_ends(after_write);
            let outcome = init_of(session, "org-1").await;
            step(1, "session.init");
            assert_eq!(outcome.map_err(|error| error.message.to_string()), expected.map_err(str::to_owned));
        })
        .await;
}

async fn init_and_validation(world: Rc<World>) {
    init(Rc::clone(&world), Ok(())).await;
    let stage = Stage(world);
    stage
        .run(ONE, |session| async move {
            assert_eq!(session.ctx().storage().peek().1, None, "there is no alarm");
            validate(Rc::clone(&session)).await;
            step(2, "session.validateMcpSessionOwner");
            assert!(session.ctx().storage().peek().1.is_some(), "there is one again");
        })
        .await;
}
