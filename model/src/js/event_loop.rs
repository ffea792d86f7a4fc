//! One loop for each isolate: the microtask queue, the tasks, and the events between turns.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::context::{Ctx, IoContext, Owner, SectionId};
use super::inbox::{Inbox, Letter};
use crate::platform::JsError;
use crate::rt;

mod by_hand;
mod pick;
mod section;

pub use by_hand::LoopByHand;

/// A future of the loop.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Number of a task; a finished task's slot is used again under another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId {
    index: u32,
    generation: u32,
}

struct Slot {
    generation: u32,
    task: Option<(Task, Ctx)>,
    /// The root is kept apart: it changes while the task is suspended inside a rooted part.
    occupied: bool,
}

enum Micro {
    Poll { task: TaskId, ticket: u64, left: u32 },
    Run { job: Box<dyn FnOnce()>, ctx: Ctx, left: u32 },
}

/// Channel of events that keep their order among themselves. Where two meet, the order of this type decides what no
/// draw does: it must not depend on which loop the simulator happened to run first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// The timers and answers of one context, by due time.
    Local(u64),
    /// One stub's calls, one socket's frames, one object's alarm.
    Named {
        /// Whose it is: a session id, a client, `platform`.
        who: Arc<str>,
        /// What comes by it (`rpc`, `alarm`, `http.p1`): where events meet its priority is drawn by this name.
        what: Arc<str>,
        /// Tells apart lanes of one name.
        number: u64,
    },
}

impl Lane {
    /// A named lane.
    pub fn named(who: &Arc<str>, what: &str, number: u64) -> Lane {
        Lane::Named { who: Arc::clone(who), what: what.into(), number }
    }
}

/// Something that happens between turns.
pub struct Event {
    pub(super) due_ms: u64,
    pub(super) seq: u64,
    pub(super) lane: Lane,
    /// Context and section whose gate it must pass; a letter finds its own.
    pub(super) place: Option<(Rc<IoContext>, SectionId)>,
    pub(super) bypass: bool,
    /// Drawn once, when it first meets events of other lanes.
    pub(super) priority: Cell<Option<u64>>,
    pub(super) what: What,
}

pub(super) enum What {
    Run(Ctx, Box<dyn FnOnce()>),
    Timer(Ctx, Rc<Cell<bool>>, Box<dyn FnOnce()>),
    Letter(Box<dyn Letter>),
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        (self.due_ms, self.seq) == (other.due_ms, other.seq)
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    /// Reversed, so that the heap gives the earliest first.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.due_ms, other.seq).cmp(&(self.due_ms, self.seq))
    }
}

/// A loop that runs: its end, and that of its node, takes it apart (what lives in it holds on to each other).
struct Running(Rc<EventLoop>);

impl Drop for Running {
    fn drop(&mut self) {
        let ended = &self.0;
        let tasks = (ended.slots.take(), ended.micro.take());
        let events = (ended.events.take(), ended.ready.take(), ended.urgent.take());
        let contexts = (ended.starting.take(), ended.doomed.take());
        drop((tasks, events, contexts));
        if let Some(host) = ended.host.take() {
            host.ended();
        }
    }
}

/// More trips through the queue than any turn makes that ends: a livelock must not hang the harness.
const TRIPS_A_TURN_MAX: u32 = 1_000_000;

/// A timer that can be cleared, by code of the context that set it.
#[derive(Clone)]
pub struct TimerHandle {
    /// Cleared, or fired already.
    is_over: Rc<Cell<bool>>,
    context: Rc<IoContext>,
}

impl TimerHandle {
    /// `clearTimeout`: it never fires; again is a no-op. From another context it is ignored (platform fact 122).
    pub fn clear(&self) {
        let event_loop = EventLoop::current();
        if Rc::ptr_eq(&event_loop.ctx().context, &self.context) && !self.is_over.replace(true) {
            self.context.timers.set(self.context.timers.get() - 1);
            self.context.stirred_ms.set(event_loop.now_ms());
        }
    }
}

/// What lives in the loop: told when a turn is over and when a context was buried.
pub trait Host {
    /// No continuation is left: what the turn wrote can be committed, what it sent can go out.
    fn turn_over(&self, event_loop: &Rc<EventLoop>);
    /// A context died; its tasks are dropped already.
    fn buried(&self, event_loop: &Rc<EventLoop>, context: &Rc<IoContext>);
    /// The loop has ended: lets go of what holds on to each other.
    fn ended(&self);
    /// For downcasts by letters.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// The event loop of one isolate.
pub struct EventLoop {
    /// Name of the isolate, for decisions and traces.
    pub name: Arc<str>,
    inbox: Arc<Inbox>,
    host: RefCell<Option<Rc<dyn Host>>>,
    micro: RefCell<VecDeque<Micro>>,
    slots: RefCell<Vec<Slot>>,
    free: RefCell<Vec<u32>>,
    running: RefCell<Option<(Option<TaskId>, Ctx)>>,
    fired: Cell<u64>,
    tickets: Cell<u64>,
    numbers: Cell<u64>,
    now_ms: Cell<u64>,
    /// The world's clock when this poll began; reading it is not free, and it stands still within a poll.
    polled_ms: Cell<u64>,
    seq: Cell<u64>,
    /// Boxed, here and wherever events wait: they are large, and a heap moves what it sorts.
    events: RefCell<BinaryHeap<Box<Event>>>,
    /// What is due, by due time, lane and number.
    #[expect(clippy::vec_box, reason = "events go in and out in the middle")]
    ready: RefCell<Vec<Box<Event>>>,
    urgent: RefCell<VecDeque<Box<Event>>>,
    starting: RefCell<Vec<Rc<IoContext>>>,
    /// Sections that run, with the one around each (0 for none).
    parents: RefCell<BTreeMap<SectionId, SectionId>>,
    /// The same for nested sections that have ended: what was started inside them may go on.
    ended_inside: RefCell<BTreeMap<SectionId, SectionId>>,
    doomed: RefCell<Vec<Rc<IoContext>>>,
    jams_timers: bool,
    waker: Waker,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<EventLoop>>> = const { RefCell::new(None) };
}

/// A waker that must never fire: all waiting inside a loop is on its own promises.
struct ForeignWaker;

impl Wake for ForeignWaker {
    fn wake(self: Arc<Self>) {
        panic!("a future from outside was awaited inside an isolate's loop; send mail instead");
    }
}

impl EventLoop {
    /// A loop. `jams_timers`: a timer from before a section blocks those inside it (platform fact 33, older build).
    pub fn new(name: Arc<str>, inbox: Arc<Inbox>, jams_timers: bool) -> Rc<Self> {
        Self::at(rt::now_ms(), name, inbox, jams_timers)
    }

    fn at(now_ms: u64, name: Arc<str>, inbox: Arc<Inbox>, jams_timers: bool) -> Rc<Self> {
        Rc::new(EventLoop {
            name,
            inbox,
            host: RefCell::new(None),
            micro: RefCell::default(),
            slots: RefCell::default(),
            free: RefCell::default(),
            running: RefCell::new(None),
            fired: Cell::new(0),
            tickets: Cell::new(0),
            numbers: Cell::new(0),
            now_ms: Cell::new(now_ms),
            polled_ms: Cell::new(0),
            seq: Cell::new(0),
            events: RefCell::default(),
            ready: RefCell::default(),
            urgent: RefCell::default(),
            starting: RefCell::default(),
            parents: RefCell::default(),
            ended_inside: RefCell::default(),
            doomed: RefCell::default(),
            jams_timers,
            waker: Waker::from(Arc::new(ForeignWaker)),
        })
    }

    /// The loop whose code runs now.
    ///
    /// # Panics
    /// Outside of a loop: nothing there may call into it.
    pub fn current() -> Rc<EventLoop> {
        CURRENT.with_borrow(|current| current.clone()).expect("called from outside of an isolate's loop")
    }

    /// Runs `f` with the loop whose code runs now; for what is asked at every step.
    ///
    /// # Panics
    /// As [`EventLoop::current`].
    pub(super) fn with_current<T>(f: impl FnOnce(&EventLoop) -> T) -> T {
        CURRENT.with_borrow(|current| f(current.as_ref().expect("called from outside of an isolate's loop")))
    }

    /// Puts the host in; once.
    pub fn set_host(&self, host: Rc<dyn Host>) {
        *self.host.borrow_mut() = Some(host);
    }

    /// The host.
    pub fn host(&self) -> Rc<dyn Host> {
        self.host.borrow().clone().expect("a loop has its host before it runs")
    }

    /// The inbox, for others to post to.
    pub fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.inbox)
    }

    /// The clock that code reads, in epoch milliseconds: the due time of the event of this turn. It stands still
    /// within a turn (platform fact 228).
    pub fn now_ms(&self) -> u64 {
        // Fact: 228. The clock stands still between I/O, and reads 0 at module scope. [fact 137, S:io/worker.c++
        // scheduleAlarm]
        self.now_ms.get()
    }

    /// A new number, unique in this loop.
    pub fn next_number(&self) -> u64 {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get()
    }

    /// A new context.
    pub fn new_context(&self, owner: Owner, label: Arc<str>) -> Rc<IoContext> {
        IoContext::new(self.next_number(), owner, label)
    }

    /// The place where the running code runs.
    pub fn ctx(&self) -> Ctx {
        let running = self.running.borrow();
        running.as_ref().map(|(_, ctx)| ctx.clone()).expect("no code of a context runs now")
    }

    /// The root name of the running code, or "none".
    pub fn root(&self) -> &'static str {
        self.running.borrow().as_ref().map_or("none", |(_, ctx)| ctx.root)
    }

    pub(super) fn swap_root(&self, root: &'static str) -> &'static str {
        match self.running.borrow_mut().as_mut() {
            Some((_, ctx)) => std::mem::replace(&mut ctx.root, root),
            None => root,
        }
    }

    /// Runs `f` as code of `ctx`.
    pub fn with_ctx<T>(&self, ctx: Ctx, f: impl FnOnce() -> T) -> T {
        let outer = self.running.borrow_mut().replace((None, ctx));
        let value = f();
        *self.running.borrow_mut() = outer;
        value
    }

    pub(super) fn running(&self) -> TaskId {
        match self.running.borrow().as_ref() {
            Some((Some(task), _)) => *task,
            _ => panic!("awaited outside of a task of the loop"),
        }
    }

    pub(super) fn fired(&self) -> u64 {
        self.fired.get()
    }

    pub(super) fn next_ticket(&self) -> u64 {
        self.tickets.set(self.tickets.get() + 1);
        self.tickets.get()
    }

    pub(super) fn queue_poll(&self, task: TaskId, ticket: u64, left: u32) {
        self.micro.borrow_mut().push_back(Micro::Poll { task, ticket, left });
    }

    /// Runs `job` as code of the running context after `left` more trips through the queue.
    pub fn queue_job(&self, job: Box<dyn FnOnce()>, left: u32) {
        self.micro.borrow_mut().push_back(Micro::Run { job, ctx: self.ctx(), left });
    }

    /// Starts a task in the running context; it runs to its first suspension now.
    pub fn start(&self, task: Task) {
        self.start_in(self.ctx(), task);
    }

    /// Starts a task in `ctx`; it runs to its first suspension now. A dead context starts nothing.
    pub fn start_in(&self, ctx: Ctx, task: Task) {
        if ctx.context.is_dead() {
            return;
        }
        let context = Rc::clone(&ctx.context);
        let id = self.allocate(task, ctx);
        context.tasks.borrow_mut().push(id);
        context.stirred_ms.set(self.now_ms());
        self.poll_task(id, 0);
    }

    fn allocate(&self, task: Task, ctx: Ctx) -> TaskId {
        let mut slots = self.slots.borrow_mut();
        if let Some(index) = self.free.borrow_mut().pop() {
            let slot = &mut slots[index as usize];
            slot.task = Some((task, ctx));
            slot.occupied = true;
            return TaskId { index, generation: slot.generation };
        }
        let index = u32::try_from(slots.len()).expect("fewer than 2^32 tasks");
        slots.push(Slot { generation: 0, task: Some((task, ctx)), occupied: true });
        TaskId { index, generation: 0 }
    }

    /// Polls a task if it is still there; nested inside the code that runs now, if any.
    pub(super) fn poll_task(&self, id: TaskId, ticket: u64) {
        let taken = self
            .slots
            .borrow_mut()
            .get_mut(id.index as usize)
            .and_then(|slot| if slot.generation == id.generation { slot.task.take() } else { None });
        let Some((mut task, ctx)) = taken else {
            // Being polled further up the stack: its turn comes when that poll has returned.
            if self.is_occupied(id) && ticket != 0 {
                self.queue_poll(id, ticket, 0);
            }
            return;
        };
        if ctx.context.is_dead() {
            return self.release(id, &ctx.context);
        }
        let context = Rc::clone(&ctx.context);
        let outer = self.running.borrow_mut().replace((Some(id), ctx));
        let outer_fired = self.fired.replace(ticket);
        let polled = task.as_mut().poll(&mut Context::from_waker(&self.waker));
        self.fired.set(outer_fired);
        let inner = std::mem::replace(&mut *self.running.borrow_mut(), outer);
        match (polled, inner) {
            (Poll::Pending, Some((_, ctx))) if !context.is_dead() => {
                self.slots.borrow_mut()[id.index as usize].task = Some((task, ctx));
            }
            _ => self.release(id, &context),
        }
    }

    fn is_occupied(&self, id: TaskId) -> bool {
        self.slots.borrow().get(id.index as usize).is_some_and(|s| s.generation == id.generation && s.occupied)
    }

    fn release(&self, id: TaskId, context: &IoContext) {
        let mut slots = self.slots.borrow_mut();
        let slot = &mut slots[id.index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        slot.occupied = false;
        self.free.borrow_mut().push(id.index);
        context.tasks.borrow_mut().retain(|task| *task != id);
        context.stirred_ms.set(self.now_ms());
    }

    /// Wakes a waiter whose promise was settled. From another context it comes as an event of the waiter's own, and
    /// not before its section ends (platform facts 123, 123a).
    pub(super) fn wake(&self, task: TaskId, ticket: u64, hops: u32, waiter: &Ctx) {
        // Fact: 124. Who waits for a promise whose maker is gone may never go on. [S:io/io-own.c++]
        if waiter.context.is_dead() {
            return;
        }
        let here = self.running.borrow().as_ref().map(|(_, ctx)| ctx.context.number);
        if here.is_some_and(|number| number != waiter.context.number) {
            // Fact: 123. Awaiting a promise of another object works and resumes in the waiter's own context. [R:X7,
            // R:X8]
            // Fact: 123a. Inside a section no other object wakes a waiter before the section ends. [probed on both
            // builds 2026-11-30]
            let place = Ctx { section: 0, ..waiter.clone() };
            let due_ms = self.now_ms() + 1;
            self.run_later(due_ms, place, Box::new(move || EventLoop::current().poll_task(task, ticket)));
        } else if hops == 0 {
            self.poll_task(task, ticket);
        } else {
            self.queue_poll(task, ticket, hops - 1);
        }
    }

    /// Runs `f` as an event of `ctx` when `due_ms` has come and the gate lets it in.
    pub fn run_later(&self, due_ms: u64, ctx: Ctx, f: Box<dyn FnOnce()>) {
        let place = Some((Rc::clone(&ctx.context), ctx.section));
        let lane = Lane::Local(ctx.context.number);
        self.push(due_ms, lane, place, false, What::Run(ctx, f));
    }

    /// Like [`EventLoop::run_later`], past a shut gate: the platform's own work.
    pub fn run_past_gate(&self, due_ms: u64, ctx: Ctx, f: Box<dyn FnOnce()>) {
        let place = Some((Rc::clone(&ctx.context), ctx.section));
        let lane = Lane::Local(ctx.context.number);
        self.push(due_ms, lane, place, true, What::Run(ctx, f));
    }

    /// A timer of the running context; due `ms` milliseconds from the clock that code reads.
    pub fn set_timer(&self, ms: u64, f: Box<dyn FnOnce()>) -> TimerHandle {
        let ctx = self.ctx();
        let is_over = Rc::new(Cell::new(false));
        let context = Rc::clone(&ctx.context);
        let place = Some((Rc::clone(&context), ctx.section));
        let lane = Lane::Local(context.number);
        context.timers.set(context.timers.get() + 1);
        context.stirred_ms.set(self.now_ms());
        let what = What::Timer(ctx, Rc::clone(&is_over), f);
        self.push(self.now_ms().saturating_add(ms), lane, place, false, what);
        TimerHandle { is_over, context }
    }

    fn push(&self, due_ms: u64, lane: Lane, place: Option<(Rc<IoContext>, SectionId)>, bypass: bool, what: What) {
        self.seq.set(self.seq.get() + 1);
        let seq = self.seq.get();
        let event = Event { due_ms, seq, lane, place, bypass, priority: Cell::new(None), what };
        self.events.borrow_mut().push(Box::new(event));
    }

    /// Ends a context: none of its code goes on, callers that wait for it get `error`. Its tasks are dropped at the
    /// end of the turn, without running anything of theirs (platform fact 103).
    pub fn kill(&self, context: &Rc<IoContext>, error: JsError) {
        if context.dead.replace(true) {
            return;
        }
        *context.death.borrow_mut() = Some(error);
        self.doomed.borrow_mut().push(Rc::clone(context));
    }

    fn bury_doomed(self: &Rc<Self>) {
        loop {
            let Some(context) = self.doomed.borrow_mut().pop() else { return };
            self.forget_sections(&context);
            let tasks = std::mem::take(&mut *context.tasks.borrow_mut());
            for id in tasks {
                // Fact: 50. A write that its handler got past survives a reset by another call; the rest of the
                // handler never runs. [R:S13]
                let dropped = self
                    .slots
                    .borrow_mut()
                    .get_mut(id.index as usize)
                    .and_then(|slot| if slot.generation == id.generation { slot.task.take() } else { None });
                drop(dropped);
                self.release(id, &context);
            }
            context.sections_waiting.borrow_mut().clear();
            let blocked = std::mem::take(&mut *context.blocked.borrow_mut());
            for event in blocked {
                if let What::Letter(letter) = event.what {
                    letter.bounce(self);
                }
            }
            self.host().buried(self, &context);
        }
    }

    /// Runs until its node ends; then everything in it is let go.
    pub async fn run(self: Rc<Self>) {
        let running = Running(self);
        std::future::poll_fn(|cx| running.0.poll_once(cx)).await;
    }

    fn poll_once(self: &Rc<Self>, cx: &mut Context<'_>) -> Poll<()> {
        const TURNS_A_POLL: u32 = 32;
        if self.inbox.is_closed() {
            return Poll::Ready(());
        }
        let outer = CURRENT.with_borrow_mut(|current| current.replace(Rc::clone(self)));
        self.inbox.set_waker(cx.waker());
        let _held = rt::hold_clock();
        self.polled_ms.set(rt::now_ms());
        let mut turns = 0;
        while self.turn() {
            turns += 1;
            if turns == TURNS_A_POLL {
                cx.waker().wake_by_ref();
                break;
            }
        }
        let is_over = turns < TURNS_A_POLL && self.inbox.is_closed();
        if !is_over {
            self.arm();
        }
        CURRENT.with_borrow_mut(|current| *current = outer);
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Ends the turn that runs and begins the next; false when nothing is due, and when the loop has ended.
    fn turn(self: &Rc<Self>) -> bool {
        loop {
            self.drain_micro();
            self.bury_doomed();
            if self.inbox.is_closed() {
                // Its own code ended the isolate: nothing of this turn becomes durable.
                return false;
            }
            self.host().turn_over(self);
            if self.micro.borrow().is_empty() && self.doomed.borrow().is_empty() {
                break;
            }
        }
        self.take_mail();
        let Some(event) = self.pick() else { return false };
        rt::count_step();
        self.run_event(event);
        true
    }

    fn drain_micro(&self) {
        let mut trips = 0;
        loop {
            let Some(next) = self.micro.borrow_mut().pop_front() else { return };
            trips += 1;
            assert!(trips <= TRIPS_A_TURN_MAX, "a turn of {} does not end", self.name);
            match next {
                Micro::Poll { task, ticket, left: 0 } => self.poll_task(task, ticket),
                Micro::Poll { task, ticket, left } => self.queue_poll(task, ticket, left - 1),
                Micro::Run { ctx, .. } if ctx.context.is_dead() => {}
                Micro::Run { job, ctx, left: 0 } => self.with_ctx(ctx, job),
                Micro::Run { job, ctx, left } => {
                    self.micro.borrow_mut().push_back(Micro::Run { job, ctx, left: left - 1 });
                }
            }
        }
    }

    fn take_mail(&self) {
        for posted in self.inbox.take() {
            self.push(posted.due_ms, posted.lane, None, false, What::Letter(posted.letter));
        }
    }

    fn run_event(self: &Rc<Self>, event: Box<Event>) {
        self.now_ms.set(self.now_ms().max(event.due_ms));
        if let What::Letter(letter) = &event.what {
            letter.prepare(self);
            let gate = letter.context(self).filter(|_| !letter.passes_gates());
            if let Some((context, _)) = gate.filter(|(context, section)| self.is_shut(context, *section)) {
                return context.blocked.borrow_mut().push_back(event);
            }
        }
        match event.what {
            // Fact: 105. Timers, background work and other handlers of an aborted instance never go on. [R:W4, R:S13]
            // Fact: 127. Background work ends without a word when its object is aborted. [R:W4]
            What::Run(ctx, _) | What::Timer(ctx, _, _) if ctx.context.is_dead() => {}
            What::Run(ctx, f) => self.with_ctx(ctx, f),
            // It may have been cleared after it fell due, while something else went first or its gate was shut.
            What::Timer(_, is_over, _) if is_over.get() => {}
            What::Timer(ctx, is_over, f) => {
                is_over.set(true);
                ctx.context.timers.set(ctx.context.timers.get() - 1);
                ctx.context.stirred_ms.set(self.now_ms());
                self.with_ctx(ctx, f);
            }
            What::Letter(letter) => letter.open(self),
        }
    }

    /// Comes back for the earliest event. What is armed already for an earlier time stays: timers are never cancelled.
    fn arm(&self) {
        let due_ms = self.events.borrow().peek().map(|event| event.due_ms);
        due_ms.into_iter().for_each(|due_ms| self.inbox.look_at(due_ms));
    }
}
