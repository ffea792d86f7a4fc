//! Replays H1-H10 and J2: the cap, reservations of builds, and disposals that meet an init or each other.

use std::rc::Rc;

use super::super::script::Rule;
use super::super::world::{Setup, World};
use super::stage::{Stage, begin, described, init_of};
use super::{Replay, replay};
use crate::fx::{Fiber, INTERRUPTED};
use crate::js::{EventLoop, call};
use crate::platform::JsError;
use crate::rt;
use crate::session::cap::request_cap_eviction;
use crate::session::{SessionObject, residency};

const HELD: u64 = 7;
/// Until a candidate is asked: by then the init that asks has come to its end, as in the recorded tests.
const ASKED_AFTER_MS: u64 = 20;
const REQUEST: &str = "init · stub.request-cap-eviction";

pub(super) fn replays() -> Vec<Replay> {
    let build_fails = Rule::fail("build · server", JsError::new("cold build boundary failure")).nth(2);
    let unreachable = Rule::fail(REQUEST, JsError::new("stub unreachable"));
    let close_held = || vec![Rule::hold("teardown · server.close", HELD)];
    vec![
        replay("H1", capped(2, vec![]), oldest_is_evicted),
        replay("H2", capped(1, vec![]), overflow),
        replay("H3", capped(1, vec![]), restored_after_eviction),
        replay("H4", capped(32, vec![]), asked_twice),
        replay("H5", capped(2, vec![Rule::hold("build · stack", HELD).nth(2)]), reserved_at_admission),
        replay("H6", capped(2, vec![build_fails]), returned_by_failure),
        replay("H7", capped(2, vec![Rule::hold("init · db.open", HELD).nth(2)]), returned_by_interrupt),
        replay("H8", capped(32, close_held()), init_meets_disposal),
        replay("H9", capped(32, close_held()), disposal_interrupted),
        replay("H10", capped(32, close_held()), two_disposals),
        replay("J2", capped(1, vec![unreachable]), request_fails),
    ]
}

fn capped(cap: u32, mut rules: Vec<Rule>) -> Setup {
    if !rules.iter().any(|rule| rule.is_for(REQUEST)) {
        rules.push(Rule::delay(REQUEST, ASKED_AFTER_MS).always());
    }
    Setup { cap, rules, supports_cap_eviction: true, ..described() }
}

impl Stage {
    /// Makes sessions, and what is seen counts from now on.
    async fn begin(&self, ids: &[&'static str]) {
        self.make(ids).await;
        self.run(ids[0], |_| async move { begin() }).await;
    }

    async fn evict(&self, id: &'static str) {
        self.run(id, |session| async move { request_cap_eviction(session).await.expect("it is disposed") }).await;
    }

    async fn release(&self) {
        self.0.handle().release(HELD);
        rt::sleep_ms(60).await;
    }
}

async fn oldest_is_evicted(world: Rc<World>) {
    let stage = Stage(world);
    let (a, b, c) = ("session-cap-a", "session-cap-b", "session-cap-c");
    stage.begin(&[a, b, c]).await;
    stage.init(a).await;
    stage.step(1, "sessionA.init").await;
    stage.init(b).await;
    stage.step(2, "sessionB.init").await;
    stage
        .run(a, move |_| async move {
            residency::touch_resident_session(a, EventLoop::current().now_ms() - 10_000);
        })
        .await;
    stage.init(c).await;
    stage.step(3, "sessionC.init").await;
    stage.step(4, "storageC.drainWaitUntil").await;
}

async fn overflow(world: Rc<World>) {
    let stage = Stage(world);
    let (busy, new) = ("session-busy", "session-new");
    stage.connect(busy).await;
    stage.begin(&[busy, new]).await;
    stage.init(busy).await;
    stage.step(1, "sessionBusy.init").await;
    stage.init(new).await;
    stage.step(2, "sessionNew.init").await;
}

async fn restored_after_eviction(world: Rc<World>) {
    let stage = Stage(world);
    let (a, b) = ("session-restore-a", "session-restore-b");
    stage.begin(&[a, b]).await;
    stage.init(a).await;
    stage.step(1, "sessionA.init").await;
    stage.init(b).await;
    stage.step(2, "sessionB.init").await;
    stage.step(3, "storageB.drainWaitUntil").await;
    stage.init(a).await;
    stage.step(4, "sessionA.init").await;
}

async fn asked_twice(world: Rc<World>) {
    let stage = Stage(world);
    let id = "session-double-evict";
    stage.begin(&[id]).await;
    stage.init(id).await;
    stage.step(1, "candidate.init").await;
    stage.evict(id).await;
    stage.step(2, "candidate.requestSelfEviction").await;
    stage.evict(id).await;
    stage.step(3, "candidate.requestSelfEviction").await;
}

async fn reserved_at_admission(world: Rc<World>) {
    let stage = Stage(world);
    let (a, b, c) = ("session-inflight-a", "session-inflight-b", "session-inflight-c");
    stage.begin(&[a]).await;
    stage.init(a).await;
    stage.step(1, "sessionA.init").await;
    stage.make(&[b]).await;
    stage.init(b).await;
    stage.step(2, "promise").await;
    stage.make(&[c]).await;
    stage.init(c).await;
    stage.step(3, "sessionC.init").await;
    stage.step(4, "storageC.drainWaitUntil").await;
    stage.release().await;
    stage.step(5, "initB").await;
}

async fn returned_by_failure(world: Rc<World>) {
    let stage = Stage(world);
    let (a, b, c) = ("session-inflight-fail-a", "session-inflight-fail-b", "session-inflight-fail-c");
    stage.begin(&[a]).await;
    stage.init(a).await;
    stage.step(1, "sessionA.init").await;
    stage.make(&[b]).await;
    stage
        .run(b, move |session| async move {
            let failed = init_of(session, b).await.expect_err("the build fails");
            assert_eq!(&*failed.message, "cold build boundary failure");
        })
        .await;
    stage.step(2, "sessionFailing.init").await;
    stage.make(&[c]).await;
    stage.init(c).await;
    stage.step(3, "sessionC.init").await;
    stage.step(4, "storageC.drainWaitUntil").await;
}

async fn returned_by_interrupt(world: Rc<World>) {
    let stage = Stage(world);
    let (a, b, c) = ("session-interrupt-a", "session-interrupt-b", "session-interrupt-c");
    stage.begin(&[a]).await;
    stage.init(a).await;
    stage.step(1, "sessionA.init").await;
    stage.make(&[b]).await;
    stage
        .run(b, move |session| async move {
            let interrupted = init_of(session, b).await.expect_err("it is interrupted");
            assert_eq!(&*interrupted.message, INTERRUPTED);
        })
        .await;
    stage.step(2, "promise").await;
    stage.run(b, |session| async move { abort(session.init_abort.borrow().as_ref()) }).await;
    stage.step(3, "promise").await;
    stage.make(&[c]).await;
    stage.init(c).await;
    stage.step(4, "sessionC.init").await;
    stage.step(5, "storageC.drainWaitUntil").await;
}

/// What the abort handle of a root effect does.
fn abort(fiber: Option<&Fiber>) {
    fiber.expect("it runs").interrupt();
}

async fn init_meets_disposal(world: Rc<World>) {
    let stage = Stage(world);
    let id = "session-mid-disposal";
    stage.begin(&[id]).await;
    stage.init(id).await;
    stage.step(1, "session.init").await;
    stage.evict(id).await;
    stage.step(2, "promise").await;
    stage.init(id).await;
    stage.step(3, "promise").await;
    stage.step(4, "promise").await;
    stage.release().await;
    stage.step(5, "disposal").await;
    stage.step(6, "rebuild").await;
}

async fn disposal_interrupted(world: Rc<World>) {
    let stage = Stage(world);
    let id = "session-interrupted-disposal";
    stage.begin(&[id]).await;
    stage.init(id).await;
    stage.step(1, "session.init").await;
    // What becomes of the disposal itself is left open.
    stage.run(id, |session| async move { drop(request_cap_eviction(session).await) }).await;
    stage.step(2, "promise").await;
    stage.init(id).await;
    stage.run(id, |session| async move { abort(session.dispose_abort.borrow().as_ref()) }).await;
    stage.step(3, "promise").await;
    stage.release().await;
    stage.step(5, "rebuild").await;
}

async fn two_disposals(world: Rc<World>) {
    let stage = Stage(world);
    let id = "session-concurrent-dispose";
    stage.begin(&[id]).await;
    stage.init(id).await;
    stage.step(1, "session.init").await;
    stage.run(id, |session| async move { both(session).await }).await;
    stage.release().await;
    stage.step(2, "promise").await;
}

/// Two requests at once.
async fn both(session: Rc<SessionObject>) {
    let asked = [call(request_cap_eviction(Rc::clone(&session))), call(request_cap_eviction(session))];
    for asked in asked {
        asked.wait_hops(0).await.expect("it is disposed");
    }
}

async fn request_fails(world: Rc<World>) {
    let stage = Stage(world);
    let (failing, b) = ("session-failing", "session-b-after-failure");
    stage.begin(&[failing, b]).await;
    stage.init(failing).await;
    stage.step(1, "sessionFailing.init").await;
    stage.init(b).await;
    stage.step(2, "sessionB.init").await;
    stage.step(3, "storageB.drainWaitUntil").await;
    stage
        .run(b, move |_| async move {
            let next = residency::pick_eviction_candidate(EventLoop::current().now_ms());
            assert!(next.is_some_and(|next| &*next.id != failing));
        })
        .await;
}
