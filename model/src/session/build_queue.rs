//! How many cold builds an isolate runs at a time: a semaphore with a first-come queue and a soft bound on the wait.
//!
//! Module-scope state, so a permit is granted by whoever gives one back: from another session's context. Nothing here
//! hangs on `Drop`: what a reset takes away stays taken (platform fact 132).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use super::{HostConfig, SessionObject, holding};
use crate::defect::defect;
use crate::js::{EventLoop, Promise, TimerHandle};
use crate::platform::{JsError, module_scope, operate};

/// Builds that run at a time.
const MAX_CONCURRENT_BUILDS: usize = 4;
/// Longest wait for a permit, in milliseconds; then the build goes on without one.
const MAX_QUEUE_WAIT_MS: u64 = 10_000;
/// How often a waiter looks whether it was granted a permit, in milliseconds.
const LOOK_EVERY_MS: u64 = 100;

crate::operations! {
    BUILD_PERMIT = "build · permit", Io, 1; "nothing when one is free; else another session's finaliser, or a timer of 10 s"
}

#[derive(Default)]
struct Builds {
    held: RefCell<Vec<Held>>,
    queue: RefCell<VecDeque<Rc<Waiter>>>,
}

/// A permit that is held.
struct Held {
    waiter: Rc<Waiter>,
    since_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not asked for yet.
    New,
    Queued,
    Granted,
    TimedOut,
    Cancelled,
}

struct Waiter {
    state: Cell<State>,
    /// When it came into the queue, in epoch milliseconds.
    queued_ms: Cell<u64>,
    label: Arc<str>,
    config: Rc<HostConfig>,
    /// The one who gives a permit back settles the first; a timer of the waiter's own settles the second.
    granted: Promise<()>,
    noticed: Promise<()>,
    /// The longest wait, and the next look.
    timers: RefCell<[Option<TimerHandle>; 2]>,
    looks: bool,
    /// Whether it is passed over once it has left without a word, and takes back what its predecessor was granted.
    may_be_dead: bool,
}

/// One build's place: asked for once, given back once.
pub(super) struct Permit(Rc<Waiter>);

/// What waiting for a permit came to.
pub(super) struct Turn {
    /// Milliseconds in the queue.
    pub wait_ms: u64,
    /// The wait was too long: the build has no permit.
    pub is_timed_out: bool,
}

impl Permit {
    /// A place that was not asked for yet.
    pub fn new(session: &SessionObject) -> Self {
        Permit(Rc::new(Waiter {
            state: Cell::new(State::New),
            queued_ms: Cell::new(0),
            label: Arc::clone(session.label()),
            config: Rc::clone(&session.config),
            granted: Promise::new(),
            noticed: Promise::new(),
            timers: RefCell::default(),
            looks: !defect!(session.config, PermitGrantLost),
            may_be_dead: !defect!(session.config, DeadWaiterGranted),
        }))
    }

    /// `acquire`: a free permit at once, else one in turn, else none after the longest wait.
    ///
    /// # Errors
    /// None of its own.
    pub async fn acquire(&self) -> Result<Turn, JsError> {
        operate::begin(&BUILD_PERMIT).await?;
        let from_ms = EventLoop::current().now_ms();
        let waiter = &self.0;
        ask(waiter);
        let mut granted = pin!(waiter.granted.wait_hops(BUILD_PERMIT.hops));
        let mut noticed = pin!(waiter.noticed.wait_hops(BUILD_PERMIT.hops));
        poll_fn(|cx| match (granted.as_mut().poll(cx), noticed.as_mut().poll(cx)) {
            (Poll::Pending, Poll::Pending) => Poll::Pending,
            _ => Poll::Ready(()),
        })
        .await;
        let wait_ms = EventLoop::current().now_ms() - from_ms;
        let is_timed_out = waiter.state.get() == State::TimedOut;
        if waiter.timers.borrow()[0].is_some() {
            state_event!("permit.waited", waiter.label, wait_ms = wait_ms, timed_out = is_timed_out);
        }
        operate::end(&BUILD_PERMIT).await?;
        Ok(Turn { wait_ms, is_timed_out })
    }

    /// `cancel`: a granted permit goes back, a waiter leaves the queue; again is a no-op.
    pub fn cancel(&self) {
        let waiter = &self.0;
        waiter.timers.take().iter().flatten().for_each(TimerHandle::clear);
        match waiter.state.replace(State::Cancelled) {
            State::Queued => leave_queue(waiter),
            State::Granted => release(waiter),
            State::New | State::TimedOut | State::Cancelled => {}
        }
    }
}

fn ask(waiter: &Rc<Waiter>) {
    let builds = module_scope::<Builds>();
    take_back_expired(&builds);
    take_back_from_predecessor(&builds, waiter);
    if builds.held.borrow().len() < MAX_CONCURRENT_BUILDS {
        return grant(&builds, waiter);
    }
    waiter.state.set(State::Queued);
    waiter.queued_ms.set(EventLoop::current().now_ms());
    builds.queue.borrow_mut().push_back(Rc::clone(waiter));
    state_event!("permit.queued", waiter.label, isolate = &*EventLoop::current().name);
    let timed = Rc::clone(waiter);
    // Not cleared when a permit is granted: it finds that nobody waits any more.
    let timer = EventLoop::current().set_timer(MAX_QUEUE_WAIT_MS, Box::new(move || time_out(&timed)));
    waiter.timers.borrow_mut()[0] = Some(timer);
    if waiter.looks {
        look_later(waiter);
    }
}

fn grant(builds: &Builds, waiter: &Rc<Waiter>) {
    let isolate = EventLoop::current();
    builds.held.borrow_mut().push(Held { waiter: Rc::clone(waiter), since_ms: isolate.now_ms() });
    waiter.state.set(State::Granted);
    let active = builds.held.borrow().len();
    state_event!("permit.granted", waiter.label, isolate = &*isolate.name, active = active);
    waiter.granted.settle(());
}

/// `release`; nothing if the permit was taken back already.
fn release(waiter: &Rc<Waiter>) {
    give_back(&module_scope::<Builds>(), |held| Rc::ptr_eq(&held.waiter, waiter), false);
}

fn take_back_expired(builds: &Builds) {
    while give_back(builds, |held| holding::is_expired(&held.waiter.config, held.since_ms), true) {}
}

/// A session builds once at a time: what it holds when it asks was granted to an incarnation that is gone, before or after
/// that went.
fn take_back_from_predecessor(builds: &Builds, waiter: &Waiter) {
    while waiter.may_be_dead && give_back(builds, |held| held.waiter.label == waiter.label, true) {}
}

/// Gives back the first permit that is `wanted`, which may be taken from who holds it, false when there is none: the first
/// that still waits gets it, in the context of whoever gave it back.
fn give_back(builds: &Builds, wanted: impl Fn(&Held) -> bool, is_taken_back: bool) -> bool {
    let index = builds.held.borrow().iter().position(wanted);
    let Some(index) = index else { return false };
    let held = builds.held.borrow_mut().remove(index);
    let isolate = EventLoop::current();
    let active = builds.held.borrow().len();
    state_event!(
        "permit.returned",
        held.waiter.label,
        isolate = &*isolate.name,
        active = active,
        taken_back = is_taken_back.then_some(true)
    );
    if let Some(next) = next_in_turn(builds) {
        grant(builds, &next);
    }
    true
}

/// The first that still waits. Who does not is passed over, and is in the queue no more.
fn next_in_turn(builds: &Builds) -> Option<Rc<Waiter>> {
    loop {
        let next = builds.queue.borrow_mut().pop_front()?;
        if !next.may_be_dead || !has_left(builds, &next) {
            return Some(next);
        }
        state_event!("permit.passed-over", next.label, isolate = &*EventLoop::current().name);
    }
}

/// Found here: an object that is reset while it waits runs no code, so its waiter stays in the queue (platform facts 103,
/// 132), and whatever permit comes to it is lost. Its session has queued again since, or the wait is longer than any.
fn has_left(builds: &Builds, waiter: &Waiter) -> bool {
    let waited_ms = EventLoop::current().now_ms() - waiter.queued_ms.get();
    waited_ms > MAX_QUEUE_WAIT_MS || builds.queue.borrow().iter().any(|later| later.label == waiter.label)
}

fn time_out(waiter: &Rc<Waiter>) {
    if waiter.state.get() == State::Queued {
        waiter.state.set(State::TimedOut);
        leave_queue(waiter);
        waiter.noticed.settle(());
    }
}

fn leave_queue(waiter: &Rc<Waiter>) {
    let builds = module_scope::<Builds>();
    builds.queue.borrow_mut().retain(|queued| !Rc::ptr_eq(queued, waiter));
    state_event!("permit.queue-left", waiter.label, isolate = &*EventLoop::current().name);
}

/// Found here: inside a section nobody is woken by another object (platform fact 123a), so a grant alone would leave the
/// waiter hanging until its section is reset. A timer of its own does fire there.
fn look_later(waiter: &Rc<Waiter>) {
    let looking = Rc::clone(waiter);
    let look = Box::new(move || match looking.state.get() {
        State::Granted => looking.noticed.settle(()),
        State::Queued => look_later(&looking),
        State::New | State::TimedOut | State::Cancelled => {}
    });
    let timer = EventLoop::current().set_timer(LOOK_EVERY_MS, look);
    waiter.timers.borrow_mut()[1] = Some(timer);
}
