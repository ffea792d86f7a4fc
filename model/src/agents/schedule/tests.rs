//! What the end of a keep-alive does to an alarm of the object's own, on a real session without its repair.

use std::rc::Rc;

use super::keep_alive;
use crate::defect::Defect;
use crate::js::{EventLoop, hops, js, timer};
use crate::operation::{Kind, Operation};
use crate::session::SessionObject;
use crate::session::tests::world::{Setup, log, play};

static OWN: Operation =
    Operation { name: "own · setAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };
static SOME: Operation = Operation { name: "own · get", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };
static LOOK: Operation =
    Operation { name: "own · getAlarm", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };

/// When the object sets an alarm of its own, 300 s ahead.
#[derive(Clone, Copy)]
enum When {
    /// Inside of what is kept alive.
    Inside,
    /// So many microtasks after it returned.
    Microtasks(u32),
    /// After one storage read behind it.
    StorageRead,
    /// After a 0 ms timer behind it.
    Timer,
}

async fn set_own_alarm(session: &SessionObject) {
    let at_ms = EventLoop::current().now_ms() + 300_000;
    session.ctx().storage().set_alarm(&OWN, super::signed(at_ms)).await.expect("set");
}

/// `keepAliveWhile(f)`, as its awaiting caller sees it.
async fn keep_alive_while(session: &Rc<SessionObject>, inside: bool) {
    let keep = js(keep_alive(Rc::clone(session))).await.expect("kept");
    let work = async {
        match inside {
            true => set_own_alarm(session).await,
            false => hops(1).await,
        }
    };
    js(work).await;
    keep.give_back();
}

/// Whether the own alarm is still there when everything is over.
fn survives(when: When) -> bool {
    let setup = Setup { defects: vec![Defect::IdleAlarmNotRearmed], ..Setup::default() };
    let played = play(setup, move |world| async move {
        world
            .inside("keep", 50, move |session| async move {
                js(keep_alive_while(&session, matches!(when, When::Inside))).await;
                match when {
                    When::Inside => return,
                    When::Microtasks(count) => hops(count).await,
                    When::StorageRead => drop(session.ctx().storage().get(&SOME, "x").await),
                    When::Timer => timer(0).wait().await,
                }
                set_own_alarm(&session).await;
            })
            .await;
        world
            .inside("look", 50, |session| async move {
                log(session.ctx().storage().get_alarm(&LOOK).await.expect("read").is_some());
            })
            .await;
    });
    played.log == ["true"]
}

#[test]
fn fact_177a_an_own_alarm_set_inside_a_keep_alive_or_up_to_two_microtasks_after_it_is_deleted_by_its_tail() {
    for when in [When::Inside, When::Microtasks(0), When::Microtasks(1), When::Microtasks(2)] {
        assert!(!survives(when));
    }
}

#[test]
fn fact_177a_226_one_set_three_or_four_microtasks_a_storage_read_or_a_timer_later_survives() {
    for when in [When::Microtasks(3), When::Microtasks(4), When::StorageRead, When::Timer] {
        assert!(survives(when));
    }
}
