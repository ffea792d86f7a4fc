//! Trips through the microtask queue around paused executions, counted on real objects.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::json;

use super::script::{shared, start_ticking, start_ticking_at, stop_ticking, ticks};
use super::world::{Played, Setup, log, play};
use crate::agents::transport::testing::counted;
use crate::defect::Defect;
use crate::js::{call, hops, timer};
use crate::platform::DurableObject;
use crate::session::engine::{Engine, Outcome};
use crate::session::interaction::{Action, Response};
use crate::session::leases::{self, Deadline};
use crate::session::owner_object::OwnerObject;
use crate::session::{SessionObject, approvals};
use crate::telemetry::Span;

/// Opens the session, then runs `work` inside it.
fn in_open_session<Fut>(work: impl Fn(Rc<SessionObject>) -> Fut + Send + 'static) -> Played
where
    Fut: Future<Output = ()> + 'static,
{
    in_open_session_of(Setup::default(), work)
}

fn in_open_session_of<Fut>(setup: Setup, work: impl Fn(Rc<SessionObject>) -> Fut + Send + 'static) -> Played
where
    Fut: Future<Output = ()> + 'static,
{
    play(setup, |world| async move {
        world.open(50).await;
        world.inside("work", 50, work).await;
    })
}

#[test]
fn a_lease_takes_its_reference_in_15_trips_then_both_clock_writes_in_5_then_asks_the_directory() {
    // Its engine knows nothing of this execution, which then would get no lease.
    let setup = Setup { defects: vec![Defect::LeaseOfWhatIsOver], ..Setup::default() };
    let played = in_open_session_of(setup, |session| async move {
        start_ticking_at("sched · storage.get destroy-pending");
        let starting = Rc::clone(&session);
        let deadline = Deadline::from_now();
        let id: Arc<str> = "exec_1".into();
        drop(call(async move { leases::start(&starting, &id, &deadline, None).await.is_ok() }));
        hops(40).await;
        log(format_args!("{:?}", stop_ticking()));
    });
    let expected = [
        ("sched · storage.get destroy-pending", 0),
        ("sched · storage.setAlarm heartbeat", 4),
        ("rearm · storage.getAlarm", 9),
        ("clock · storage.put last-activity-ms", 15),
        ("clock · storage.setAlarm idle", 15),
        ("lease.start · dir.put", 21),
    ];
    assert_eq!(played.log[1..], [format!("{expected:?}")]);
}

#[test]
fn a_decision_is_recorded_in_3_trips_taken_in_4_and_missed_in_4() {
    let played = in_open_session(|session| async move {
        let id: Arc<str> = "exec_1".into();
        let recording = Rc::clone(&session);
        let recorded_id = Arc::clone(&id);
        let record = async move {
            approvals::record(&recording, &recorded_id, Response::timed_out()).await.expect("recorded");
        };
        log(counted(record).await);
        for _ in 0..2 {
            let (taking, id) = (Rc::clone(&session), Arc::clone(&id));
            let taken = shared::<bool>();
            let told = Rc::clone(&taken);
            let take = async move {
                *told.borrow_mut() = approvals::take(taking, id).await.expect("taken").is_some();
            };
            log(format_args!("{} {}", counted(take).await, taken.borrow()));
        }
    });
    assert_eq!(played.log[1..], ["3", "4 true", "4 false"]);
}

#[test]
fn a_woken_waiter_goes_on_inside_the_record() {
    let played = in_open_session(|session| async move {
        let id: Arc<str> = "exec_1".into();
        let (waiting, waited_id) = (Rc::clone(&session), Arc::clone(&id));
        drop(call(async move {
            let taken = approvals::wait(&waiting, &waited_id, true, &crate::fx::Fiber::new()).await;
            log(format_args!("taken {} at {}", taken.is_ok(), ticks()));
        }));
        hops(6).await;
        start_ticking();
        approvals::record(&session, &id, Response::timed_out()).await.expect("recorded");
        log(format_args!("recorded at {} waits {}", ticks(), session.approvals.has_waiter(&id)));
        hops(8).await;
        stop_ticking();
    });
    assert_eq!(played.log[1..], ["recorded at 3 waits false", "taken true at 7"]);
}

#[test]
fn an_entry_point_answers_3_trips_after_its_flush() {
    let played = in_open_session(|session| async move {
        start_ticking_at("rpc · flush");
        let asked = json!({"executionId": "x", "accountId": "user-2", "organizationId": "org-1"});
        let answer = crate::session::approval_rpc::get_paused(session, asked).await.expect("an answer");
        log(format_args!("{} at {}", answer["status"], ticks()));
        stop_ticking();
    });
    assert_eq!(played.log[1..], [r#""forbidden" at 4"#]);
}

#[test]
fn the_directory_reads_in_3_and_forgets_key_and_alarm_together_in_4() {
    let played = in_open_session(|session| async move {
        let owner = OwnerObject::new(session.ctx().clone(), Rc::clone(&session.config));
        start_ticking();
        owner.rpc("delete", json!({"executionId": "exec_1"})).await.expect("forgotten");
        log(ticks());
        log(format_args!("{:?}", stop_ticking()));
    });
    let expected =
        [("dir · storage.get owner", 0), ("dir · storage.delete owner", 3), ("dir · storage.deleteAlarm", 3)];
    assert_eq!(played.log[1..], ["7".to_owned(), format!("{expected:?}")]);
}

fn engine(session: &SessionObject) -> Rc<Engine> {
    let engine: Rc<dyn std::any::Any> = session.engine.borrow().clone().expect("an open session has an engine");
    engine.downcast().expect("it is the host's own")
}

const ASKING: &str = r#"ask {"kind":"form","message":"Deploy?"}; return 1"#;

#[test]
fn a_pause_reaches_its_caller_on_a_later_turn() {
    let played = in_open_session(|session| async move {
        let engine = engine(&session);
        let running = Rc::clone(&engine);
        let paused = call(async move { running.execute_with_pause(ASKING, &Span::unexported("test")).await.is_ok() });
        let mut seen = Vec::new();
        for _ in 0..8 {
            seen.push((engine.paused_execution_count(), paused.is_settled()));
            timer(0).wait().await;
        }
        seen.dedup();
        log(format_args!("{seen:?}"));
    });
    assert_eq!(played.log[1..], [format!("{:?}", [(0, false), (1, false), (1, true)])]);
}

#[test]
fn a_resume_whose_code_ends_at_once_takes_no_trip_and_neither_does_one_that_is_repeated() {
    let played = in_open_session(|session| async move {
        let (engine, span) = (engine(&session), Span::unexported("test"));
        let Ok(Outcome::Paused(pause)) = engine.execute_with_pause(ASKING, &span).await else { panic!("it asks") };
        let accept = || Response { action: Action::Accept, content: None };
        for _ in 0..2 {
            let resumed = async { drop(engine.resume(&pause.id, accept(), &span).await) };
            log(counted(resumed).await);
        }
    });
    assert_eq!(played.log[1..], ["0", "0"]);
}
