//! One isolate: a heap shared by the objects placed in it, with module-scope state of its own.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::alarm::AlarmInfo;
use super::cluster::{Cluster, lock};
use super::error::JsError;
use super::fate;
use super::object::{DurableObject, Instance, ObjectContext, ObjectKey};
use super::object_state::ObjectState;
use super::operate::{self, Hold, Outcome};
use super::socket::{ClientSockets, Socket};
use super::storage::{Batch, Store};
use super::stub::SlotTable;
use super::switches::BuildHabits;
use super::switches::Switches;
use crate::fx::Fiber;
use crate::js::{Ctx, EventLoop, Host, IoContext, Owner, Promise};
use crate::operation::Edge;
use crate::rt;

crate::operations! {
    COMMIT = "platform · commit", Io, 0; "the turn's writes become durable"
}

/// Longest name that an alarm brings, in bytes.
const ALARM_NAME_BYTES_MAX: usize = 1_024;
/// Longest commit in milliseconds.
const COMMIT_MAX_MS: u64 = 30_000;

/// Number of an isolate; a new one is never an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IsolateId(pub u32);

impl fmt::Display for IsolateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("edge") } else { write!(f, "i{}", self.0) }
    }
}

/// The inside of one isolate. The edge worker runs in one too, without objects.
pub struct Isolate {
    /// Its number; 0 is the edge worker.
    pub id: IsolateId,
    pub(super) cluster: Cluster,
    pub(super) slots: SlotTable,
    /// What the builds do differently.
    pub(super) habits: BuildHabits,
    pub(super) switches: Switches,
    pub(super) objects: RefCell<BTreeMap<ObjectKey, Rc<Instance>>>,
    pub(super) by_context: RefCell<BTreeMap<u64, Rc<Instance>>>,
    /// Accepted sockets of objects that were evicted.
    pub(super) hibernated: RefCell<BTreeMap<ObjectKey, BTreeMap<u64, Socket>>>,
    /// Names of objects that were evicted lately, with when they are forgotten in epoch milliseconds.
    pub(super) names: RefCell<BTreeMap<ObjectKey, u64>>,
    client_sockets: Rc<ClientSockets>,
    dirty: RefCell<Vec<ObjectKey>>,
    holds: RefCell<BTreeMap<u64, Vec<Hold>>>,
    module_scope: RefCell<BTreeMap<TypeId, Rc<dyn Any>>>,
}

/// Whose event constructs an incarnation: it decides whether the incarnation knows its name (platform facts 2, 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WokenBy {
    /// A caller with its name, or a frame of its socket (fact 140).
    Name,
    /// A caller with the text of its id.
    Id,
    /// Its alarm.
    Alarm,
}

/// Module-scope state of the isolate whose code runs: made at first use, shared by all its objects, gone with it.
pub fn module_scope<T: Default + 'static>() -> Rc<T> {
    Isolate::current(Isolate::module_scope)
}

impl Isolate {
    /// The inside of an isolate.
    pub fn new(id: IsolateId, cluster: Cluster) -> Rc<Self> {
        Rc::new(Isolate {
            id,
            switches: cluster.switches(),
            habits: cluster.habits(),
            cluster,
            slots: SlotTable::default(),
            objects: RefCell::default(),
            by_context: RefCell::default(),
            hibernated: RefCell::default(),
            names: RefCell::default(),
            client_sockets: Rc::default(),
            dirty: RefCell::default(),
            holds: RefCell::default(),
            module_scope: RefCell::default(),
        })
    }

    /// Runs `f` with the isolate whose code runs now.
    pub fn current<T>(f: impl FnOnce(&Isolate) -> T) -> T {
        Self::of(&EventLoop::current(), f)
    }

    /// Runs `f` with the isolate of a loop.
    pub(super) fn of<T>(event_loop: &EventLoop, f: impl FnOnce(&Isolate) -> T) -> T {
        let host = event_loop.host();
        f(host.as_any().downcast_ref::<Isolate>().expect("every loop hosts an isolate"))
    }

    /// Module-scope state of this isolate: made at first use.
    pub fn module_scope<T: Default + 'static>(&self) -> Rc<T> {
        // Fact: 130. Objects in one isolate share module scope and no instance fields. [R:M1, D:in-memory-state]
        // Fact: 132. Module scope outlives a reset of its objects. [R:M1]
        let there = self.module_scope.borrow().get(&TypeId::of::<T>()).cloned();
        let value = there.unwrap_or_else(|| {
            // Made outside of the borrow: its making may use module scope too.
            let made: Rc<dyn Any> = Rc::new(T::default());
            Rc::clone(self.module_scope.borrow_mut().entry(TypeId::of::<T>()).or_insert(made))
        });
        value.downcast::<T>().expect("module scope is keyed by type")
    }

    /// The cluster it belongs to.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(super) fn context_of(&self, key: &ObjectKey) -> Option<Rc<IoContext>> {
        self.objects.borrow().get(key).map(|instance| Rc::clone(&instance.io))
    }

    /// The incarnation of an object; constructs it when there is none.
    pub(super) fn instance(&self, event_loop: &Rc<EventLoop>, key: &ObjectKey, woken_by: WokenBy) -> Rc<Instance> {
        if let Some(instance) = self.objects.borrow().get(key) {
            return Rc::clone(instance);
        }
        // Fact: 2. An instance that a call by name constructed knows its name; one of a unique id does not. [R:I1]
        // Fact: 7. On the older build an alarm that constructs its instance after longer idleness, a restart or a
        // reset finds no name. [R26:EV5, R26:RS1, R26:RS3, R26:A17]
        // Fact: 8. On the newer build that alarm finds the name. [R11:EV5, R11:RS1, R11:RS3, R11:A17,
        // S:server/alarm-scheduler.c++]
        // Fact: 9. Alarms of unique ids and of rows older than the name column never have a name. [R:EV4, R:RS1,
        // S:server/alarm-scheduler.c++]
        // Fact: 6. The alarm of a living instance, or of one evicted within the last 70 s, has the name it had.
        // [R:A25, R:EV4]
        let knows_name = key.named
            && match woken_by {
                WokenBy::Name => true,
                _ if self.remembers_name(event_loop, key) => true,
                WokenBy::Id => false,
                WokenBy::Alarm => self.row_has_name(key) && self.cold_alarm_has_name(key),
            };
        self.names.borrow_mut().remove(key);
        let class = self.cluster.class(key.class);
        self.construct(event_loop, key, knows_name, None, |context| class(context))
    }

    /// Constructs an incarnation of an object, on the platform or on what is given in the platform's place.
    pub(super) fn construct(
        &self,
        event_loop: &Rc<EventLoop>,
        key: &ObjectKey,
        knows_name: bool,
        state: Option<Rc<dyn ObjectState>>,
        class: impl FnOnce(ObjectContext) -> Rc<dyn DurableObject>,
    ) -> Rc<Instance> {
        let io = event_loop.new_context(Owner::Object, key.label());
        io.set_fuse(fate::draw_fuse(&io.label));
        let instance = Rc::new(Instance {
            key: key.clone(),
            knows_name,
            state,
            io: Rc::clone(&io),
            store: Store::load(self.cluster.durable(key)),
            object: RefCell::new(None),
            sockets: RefCell::default(),
            closing: RefCell::default(),
            calls: RefCell::default(),
            outgoing: RefCell::default(),
            alarm_running: std::cell::Cell::new(None),
            idle_since_ms: std::cell::Cell::new(None),
            is_blameless: std::cell::Cell::new(false),
            zombie: RefCell::default(),
            fate: fate::Fate::drawn(&io.label),
        });
        self.objects.borrow_mut().insert(key.clone(), Rc::clone(&instance));
        self.by_context.borrow_mut().insert(io.number, Rc::clone(&instance));
        self.wake_sockets(&instance);
        platform_event!("object.constructed", io.label, isolate = self.id.to_string(), named = knows_name);
        let context = ObjectContext { instance: Rc::clone(&instance) };
        let ctx = Ctx { context: io, section: 0, root: "constructor" };
        let object = event_loop.with_ctx(ctx, || class(context));
        *instance.object.borrow_mut() = Some(object);
        instance
    }

    /// Whether whoever set the alarm knew its own name.
    fn row_has_name(&self, key: &ObjectKey) -> bool {
        lock(&self.cluster.durable(key)).alarm_knows_name
    }

    /// Whether an alarm that constructs its object brings the name.
    fn cold_alarm_has_name(&self, key: &ObjectKey) -> bool {
        // Fact: 11. Production names alarms that were created since spring 2026 only, and never names over 1024 bytes.
        // [RN:AG9, I:cloudflare/partykit#390, I:cloudflare/partykit#378]
        let has_name = self.habits.cold_alarm_has_name;
        // Fact: 214. The alarm that constructs an instance has the name or not, which then holds for its life.
        // [facts 7-11]
        has_name && key.name.len() <= ALARM_NAME_BYTES_MAX && rt::stray(&key.label(), "alarm.nameless") == 0
    }

    pub(super) fn living_instance(&self, key: &ObjectKey) -> Option<Rc<Instance>> {
        self.objects.borrow().get(key).cloned()
    }

    pub(super) fn client_sockets(&self) -> Rc<ClientSockets> {
        Rc::clone(&self.client_sockets)
    }

    pub(super) fn mark_dirty(&self, key: &ObjectKey) {
        self.dirty.borrow_mut().push(key.clone());
    }

    /// The root fiber of that kind which runs in the object of a context.
    pub(super) fn running(&self, context: &Rc<IoContext>, what: &str) -> Option<Fiber> {
        self.object_of(context)?.running(what)
    }

    fn object_of(&self, context: &Rc<IoContext>) -> Option<Rc<dyn DurableObject>> {
        self.by_context.borrow().get(&context.number).and_then(|instance| instance.object.borrow().clone())
    }

    /// Interrupts a root fiber of an object from outside, if object and fiber are there; says so just before.
    pub(super) fn interrupt_object(
        &self,
        event_loop: &EventLoop,
        key: &ObjectKey,
        what: &str,
        found: Box<dyn FnOnce()>,
    ) {
        let Some(context) = self.context_of(key) else { return };
        let Some(fiber) = self.running(&context, what) else { return };
        found();
        let ctx = Ctx { context, section: 0, root: "control" };
        event_loop.with_ctx(ctx, || fiber.interrupt());
    }

    /// Resets an incarnation: nothing of it goes on, whoever waits for it gets `error`.
    pub(super) fn reset(&self, event_loop: &EventLoop, context: &Rc<IoContext>, error: JsError) {
        if !context.is_dead() {
            platform_event!("object.reset", context.label, kind = &*error.message);
            event_loop.kill(context, error);
        }
    }

    /// Resets the incarnation of `key` from outside, or what an evicted one left, if there is either; says so just before.
    pub(super) fn reset_object(
        &self,
        event_loop: &EventLoop,
        key: &ObjectKey,
        error: JsError,
        found: Box<dyn FnOnce()>,
    ) {
        if let Some(context) = self.context_of(key).filter(|context| !context.is_dead()) {
            if self.defers(&context.label, &error) {
                return self.defer_update(event_loop, context, error, found);
            }
            found();
            self.reset_from_outside(event_loop, &context, error);
        } else if self.keeps_sockets_of(key) {
            found();
            self.drop_kept_sockets(event_loop, key);
        }
    }

    pub(super) fn hold(&self, number: u64, hold: Hold) {
        self.holds.borrow_mut().entry(number).or_default().push(hold);
    }

    /// Lets what is held under this number go on or fail, in the order in which it came; false when nothing is.
    pub(super) fn release(&self, event_loop: &EventLoop, number: u64, passed: &Result<(), JsError>) -> bool {
        let held = self.holds.borrow_mut().remove(&number);
        let Some(held) = held else { return false };
        held.into_iter().for_each(|hold| hold.end_at(event_loop, event_loop.now_ms(), passed.clone()));
        true
    }

    /// Sends `message` when everything written before it is durable (output gate, platform fact 46).
    pub(super) fn send(&self, context: &Rc<IoContext>, message: Box<dyn FnOnce()>) {
        // Fact: 46. Nothing leaves an object before the writes that precede it are durable; a failed commit resets
        // it. [S:io/io-gate.h, D:storage-api]
        // Fact: 47. What was answered after a put or a setAlarm survives the end of the process. [R:RS2]
        let instance = self.by_context.borrow().get(&context.number).cloned();
        match instance {
            _ if context.is_dead() => {}
            Some(instance) if instance.store.waits_for() > instance.store.committed.get() => {
                let needs = instance.store.waits_for();
                instance.outgoing.borrow_mut().push_back((needs, message));
            }
            _ => message(),
        }
    }

    fn commit_turn(&self, event_loop: &Rc<EventLoop>) {
        let dirty = std::mem::take(&mut *self.dirty.borrow_mut());
        for key in dirty {
            let instance = self.objects.borrow().get(&key).cloned();
            if let Some(instance) = instance.filter(|i| i.store.dirty.get() && !i.store.in_transaction()) {
                begin_commit(event_loop, &instance);
            }
        }
    }
}

/// The turn is over: its writes are in flight. They are durable by the next turn in a calm world (platform fact 43),
/// after a drawn time in others, and a fault may stop them here.
fn begin_commit(event_loop: &Rc<EventLoop>, instance: &Rc<Instance>) {
    let store = &instance.store;
    store.dirty.set(false);
    // Fact: 42. Awaiting a put does not commit it: the commit comes on a later turn. [R:S8, R:S8b]
    // Fact: 43. A write survives an abort after a sync, a timer or a committed transaction. [R:S9, R:S10b, R:S10,
    // R:S11]
    store.begun.set(store.begun.get() + 1);
    let number = store.begun.get();
    let batch = Batch { number, ..std::mem::take(&mut *store.open.borrow_mut()) };
    store.in_flight.borrow_mut().push_back(batch);
    let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root: "platform" };
    let begin = event_loop.with_ctx(ctx.clone(), || operate::edge_past_gate(&COMMIT, Edge::Begin));
    let committing = Rc::clone(instance);
    if matches!(begin, Outcome::Wait(_)) {
        limit_commit(event_loop, instance, number);
    }
    match begin {
        Outcome::Gone => {}
        Outcome::Go => {
            // Fact: 218. Whether the last writes were durable at a reset, and whether the caller's answer tells.
            // [facts 41-43, 108]
            let ms = rt::decide_delay(&instance.io.label, "commit");
            if ms == 0 {
                return finish_commit(instance, number);
            }
            if ms >= COMMIT_MAX_MS {
                limit_commit(event_loop, instance, number);
            }
            let at = event_loop.now_ms() + ms;
            event_loop.run_past_gate(at, ctx, Box::new(move || finish_commit(&committing, number)));
        }
        Outcome::Fail(error) => Isolate::of(event_loop, |isolate| isolate.reset(event_loop, &instance.io, error)),
        Outcome::Wait(wait) => event_loop.start_in(
            ctx,
            Box::pin(async move {
                match wait.wait_hops(0).await {
                    Ok(()) => finish_commit(&committing, number),
                    Err(error) => {
                        let event_loop = EventLoop::current();
                        Isolate::of(&event_loop, |isolate| isolate.reset(&event_loop, &committing.io, error));
                    }
                }
            }),
        ),
    }
}

/// A commit that takes over 30 s resets the object (platform fact 49).
fn limit_commit(event_loop: &EventLoop, instance: &Rc<Instance>, number: u64) {
    let ctx = Ctx { context: Rc::clone(&instance.io), section: 0, root: "platform" };
    let instance = Rc::clone(instance);
    // Fact: 49. A commit over 30 s resets the object with a text of its own. [S:io/worker.c++ makeTimeoutPromise,
    // D:troubleshooting]
    let watch = Box::new(move || {
        if instance.store.committed.get() < number {
            let event_loop = EventLoop::current();
            Isolate::of(&event_loop, |isolate| isolate.reset(&event_loop, &instance.io, JsError::storage_timeout()));
        }
    });
    event_loop.run_past_gate(event_loop.now_ms() + COMMIT_MAX_MS, ctx, watch);
}

/// One batch is done; what is durable now is every batch up to the oldest that is not, in order.
fn finish_commit(instance: &Rc<Instance>, number: u64) {
    if instance.io.is_dead() {
        return;
    }
    instance.store.in_flight.borrow_mut().iter_mut().filter(|b| b.number == number).for_each(|b| b.done = true);
    while instance.store.in_flight.borrow().front().is_some_and(|batch| batch.done) {
        let Some(batch) = instance.store.in_flight.borrow_mut().pop_front() else { return };
        let number = batch.number;
        apply(instance, batch);
        instance.store.committed.set(number);
    }
    let number = instance.store.committed.get();
    let due: Vec<Promise<()>> = {
        let mut syncs = instance.store.syncs.borrow_mut();
        let (done, rest) = syncs.drain(..).partition(|(needed, _)| *needed <= number);
        *syncs = rest;
        let done: Vec<(u64, Promise<()>)> = done;
        done.into_iter().map(|(_, promise)| promise).collect()
    };
    due.iter().for_each(|promise| promise.settle(()));
    loop {
        let mut outgoing = instance.outgoing.borrow_mut();
        if outgoing.front().is_none_or(|(needs, _)| *needs > number) {
            return;
        }
        let message = outgoing.pop_front().map(|(_, message)| message);
        drop(outgoing);
        message.into_iter().for_each(|message| message());
    }
}

fn apply(instance: &Rc<Instance>, batch: Batch) {
    let label = &instance.io.label;
    let mut durable = lock(&instance.store.durable);
    for (key, value) in batch.changes {
        match value {
            Some(value) => {
                platform_event!("storage.put", label, key = &*key);
                durable.values.insert(key, value);
            }
            None => {
                platform_event!("storage.deleted", label, key = &*key);
                durable.values.remove(&key);
            }
        }
    }
    let Some(change) = batch.alarm else { return };
    let before = std::mem::replace(&mut durable.alarm, change.to);
    durable.touched = true;
    durable.alarm_knows_name = instance.knows_name;
    match change.to {
        Some(due) => {
            platform_event!("alarm.set", label, due_at_ms = due, by = change.by, root = change.root);
        }
        None if before.is_some() => platform_event!("alarm.deleted", label, by = change.by, root = change.root),
        None => {}
    }
    let sooner = change.to.filter(|due| durable.letter_due.is_none_or(|on_its_way| *due < on_its_way));
    let running = durable.running.is_some();
    durable.retry_waits &= change.to.is_some();
    // Fact: 83. Locally an alarm set during a retry wait is run by that retry and counted as one. [R:A9]
    let is_taken = durable.retry_waits && Isolate::current(|isolate| isolate.switches.is_local);
    drop(durable);
    if let Some(due) = sooner.filter(|_| !running && !is_taken) {
        Isolate::current(|isolate| isolate.cluster.post_alarm(&instance.key, AlarmInfo::first(due), due));
    }
}

impl Host for Isolate {
    fn turn_over(&self, event_loop: &Rc<EventLoop>) {
        if !self.dirty.borrow().is_empty() {
            self.commit_turn(event_loop);
        }
        if self.switches.is_local {
            self.watch_idle(event_loop);
        }
    }

    fn buried(&self, event_loop: &Rc<EventLoop>, context: &Rc<IoContext>) {
        self.slots.forget(context);
        let Some(instance) = self.by_context.borrow_mut().remove(&context.number) else { return };
        let error = context.death().unwrap_or_else(JsError::connection_lost);
        // A zombie is gone already for everybody but its own callers.
        let is_zombie = instance.is_zombie();
        if !is_zombie {
            // Fact: 107. An abort loses what had not committed, and keeps what had, and the alarm. [R:S7, R:S8, R:S8b, R:S9,
            // R:S10b, R:S10, R:S11, R:S12, R:S13, RA:AG16]
            self.objects.borrow_mut().remove(&instance.key);
            platform_event!("object.gone", context.label, reason = &*error.message);
            instance.count_reset(&error);
        }
        instance.object.borrow_mut().take();
        instance.outgoing.borrow_mut().clear();
        let calls = std::mem::take(&mut *instance.calls.borrow_mut());
        for (_, caller) in calls {
            caller.reset(event_loop, &error);
        }
        self.drop_sockets(event_loop, &instance);
        if is_zombie {
            return;
        }
        self.alarm_after_reset(&instance, !instance.is_blameless.get());
    }

    fn ended(&self) {
        let instances = self.by_context.take();
        let scope = (self.objects.take(), self.hibernated.take(), self.holds.take(), self.module_scope.take());
        for instance in instances.values() {
            instance.let_go();
        }
        self.slots.clear();
        self.client_sockets.clear();
        drop((scope, instances));
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Isolate {
    /// Every socket of a lost incarnation is closed.
    pub(super) fn drop_sockets(&self, event_loop: &EventLoop, instance: &Instance) {
        let mut sockets = std::mem::take(&mut *instance.sockets.borrow_mut());
        sockets.append(&mut instance.closing.borrow_mut());
        for (_, socket) in sockets {
            socket.drop_by_platform(event_loop);
        }
    }
}

impl Instance {
    /// From now on stubs that were made before are broken.
    pub(super) fn count_reset(&self, error: &JsError) {
        let mut durable = lock(&self.store.durable);
        // Fact: 111. A reset from outside keeps what was committed, breaks old stubs and leaves the isolate's globals.
        // [R:E6, R:M1]
        durable.resets = (durable.resets.0 + 1, Some(error.clone()));
    }

    /// Its isolate has ended: the object and what it was given no longer hold on to each other.
    fn let_go(&self) {
        let object = (self.object.take(), self.outgoing.take(), self.calls.take(), self.sockets.take());
        drop((self.closing.take(), object, self.store.syncs.take()));
        self.io.empty();
    }

    pub(super) fn object(&self) -> Rc<dyn DurableObject> {
        self.object.borrow().clone().expect("an incarnation has its object once it is constructed")
    }
}
