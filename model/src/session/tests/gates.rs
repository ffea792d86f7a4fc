//! Every operation behind a gate of its own, as in the recorded programs: held, released with its effect then, or made to
//! fail, one at a time and in any order.

use std::rc::Rc;

use serde_json::{Value, json};

use super::script::{gates, hold_each};
use super::world::{Setup, World, log, play, props};
use crate::defect::Defect;
use crate::operation::{Kind, OperationPoint};
use crate::platform::{GATELESS, JsError};
use crate::rt;
use crate::session::clock::LAST_ACTIVITY_KEY;
use crate::session::start::on_start;

/// The gates of the recorded programs, as far as a start passes them.
fn is_gated(point: &OperationPoint<'_>) -> bool {
    let name = point.operation.name;
    let is_framework = ["start ·", "body · storage.get initializeRequest"].iter().any(|its| name.starts_with(its));
    let is_io = ["init · db.open", "build · server"].contains(&name);
    is_io || (point.operation.kind == Kind::Storage && !is_framework)
}

/// A start with props, up to its bookkeeping, whose two writes are open together.
async fn start(world: &World) {
    GATELESS.set(true);
    hold_each(is_gated);
    let started = |session| async move {
        let outcome = on_start(session, Some(props("org-1"))).await;
        log(format_args!("started {:?}", outcome.map_err(|error| error.message)));
    };
    world.inside("start", 20, started).await;
    for number in 0..5 {
        assert_eq!(gates().len(), number + 1, "one gate at a time: {:?}", gates());
        open(world, number as u64, Ok(())).await;
    }
}

async fn open(world: &World, number: u64, passed: Result<(), JsError>) {
    match passed {
        Ok(()) => world.handle().release(number),
        Err(error) => world.handle().fail(number, error),
    }
    rt::sleep_ms(20).await;
}

/// Logs the idle clock as it is stored, and the alarm's distance from it in memory.
async fn look(world: &World, label: &'static str) {
    world
        .inside(label, 20, move |session| async move {
            let (values, alarm) = session.ctx().storage().peek();
            let last_ms = session.last_activity_ms.get();
            let stored = values.get(LAST_ACTIVITY_KEY).map(|stored| **stored == json!(last_ms));
            let shown: Value = json!({"stored": stored, "alarm": alarm.map(|at_ms| at_ms - last_ms)});
            log(format_args!("{label} {shown} initialized {}", session.initialized.get()));
        })
        .await;
}

fn described() -> Setup {
    Setup { defects: Defect::described().collect(), ..Setup::default() }
}

#[test]
fn each_operation_of_a_start_waits_at_its_own_gate() {
    let played = play(described(), |world: Rc<World>| async move {
        start(&world).await;
        let names: Vec<&str> = gates().iter().map(|gate| gate.operation).collect();
        log(names.join(", "));
        open(&world, 6, Ok(())).await;
        look(&world, "alarm first").await;
        open(&world, 5, Ok(())).await;
        look(&world, "then the clock").await;
    });
    let expected = [
        "body · storage.put props, meta · storage.get session-meta, meta · storage.put session-meta, init · db.open, \
         build · server, clock · storage.put last-activity-ms, clock · storage.setAlarm idle",
        r#"alarm first {"alarm":60000,"stored":null} initialized true"#,
        "started Ok(())",
        r#"then the clock {"alarm":60000,"stored":true} initialized true"#,
    ];
    assert_eq!(played.log, expected);
}

#[test]
fn a_held_write_that_is_made_to_fail_has_no_effect_and_the_other_one_still_lands() {
    let played = play(described(), |world: Rc<World>| async move {
        start(&world).await;
        open(&world, 5, Err(JsError::code_updated())).await;
        look(&world, "failed").await;
        open(&world, 6, Ok(())).await;
        look(&world, "landed").await;
    });
    let expected = [
        "started Ok(())",
        r#"failed {"alarm":null,"stored":null} initialized true"#,
        r#"landed {"alarm":60000,"stored":null} initialized true"#,
    ];
    assert_eq!(played.log, expected);
    assert_eq!(played.recorded.values("mcp_session_durable_object_reset", "operation"), ["init.mark_activity"]);
}

#[test]
fn an_unknown_failure_at_a_gate_ends_the_start_and_a_later_effect_belongs_to_nobody() {
    let played = play(described(), |world: Rc<World>| async move {
        start(&world).await;
        open(&world, 6, Err(JsError::new("quota exceeded for namespace"))).await;
        look(&world, "failed").await;
        open(&world, 5, Ok(())).await;
        look(&world, "landed").await;
    });
    let expected = [
        r#"started Err("quota exceeded for namespace")"#,
        r#"failed {"alarm":null,"stored":null} initialized false"#,
        r#"landed {"alarm":null,"stored":true} initialized false"#,
    ];
    assert_eq!(played.log, expected);
}
