//! What outlives an isolate: durable storage, alarms, placement; and how messages find their isolate.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::alarm::{AlarmInfo, AlarmLetter};
use super::error::JsError;
use super::isolate::{Isolate, IsolateId};
use super::object::{DurableObject, ObjectContext, ObjectKey};
use super::socket::ToClient;
use super::stub::ReplyLetter;
use super::switches::{BuildHabits, Switches};
use crate::js::{EventLoop, Inbox, Lane, Letter};
use crate::rt::{self, Node};

/// Build of the real runtime whose habits are modelled; it decides where two builds differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeBuild {
    /// 2026-05-26, the build that the described host pins.
    May2026,
    /// 2026-11-17.
    November2026,
}

/// A class of objects: how an incarnation is made.
pub type Class = Arc<dyn Fn(ObjectContext) -> std::rc::Rc<dyn DurableObject> + Send + Sync>;

/// How a cluster is made up.
#[derive(Clone)]
pub struct ClusterConfig {
    /// Isolates that objects are placed in.
    pub isolate_count: u32,
    /// Which build's habits.
    pub build: RuntimeBuild,
    /// Classes by name.
    pub classes: BTreeMap<&'static str, Class>,
}

/// Storage and alarm of one object, as they survive everything but `destroy`.
#[derive(Default)]
pub(super) struct Durable {
    pub values: BTreeMap<Arc<str>, Arc<Value>>,
    /// The armed alarm in epoch milliseconds; while a retry waits, the original past time.
    pub alarm: Option<u64>,
    /// Whoever set that alarm knew its own name, and the newer build keeps it beside the time (platform facts 8, 9).
    pub alarm_knows_name: bool,
    /// The delivery that has begun and not ended; it is repeated when its isolate ends (platform fact 70).
    pub running: Option<AlarmInfo>,
    /// An alarm change became durable since that delivery began: the change stands, whatever becomes of the delivery.
    pub touched: bool,
    /// The latest due time for which a letter is on its way.
    pub letter_due: Option<u64>,
    /// That letter is a retry.
    pub retry_waits: bool,
    /// How often an incarnation was reset, and by what the last time: stubs made before are broken.
    pub resets: (u64, Option<JsError>),
}

pub(super) struct State {
    pub config: ClusterConfig,
    switches: Switches,
    nodes: Vec<(IsolateId, Node, Arc<Inbox>)>,
    placement: BTreeMap<ObjectKey, IsolateId>,
    objects: BTreeMap<ObjectKey, Arc<Mutex<Durable>>>,
    /// Calls on their way: (caller's inbox, slot) by number, with the isolate that works on them.
    calls: BTreeMap<u64, (IsolateId, Arc<Inbox>, u64)>,
    next_call: u64,
    next_isolate: u32,
    next_socket: u64,
    /// Open sockets by number, with the isolate that holds the object's end and the inbox of the other end.
    sockets: BTreeMap<u64, (IsolateId, Arc<Inbox>)>,
    workers: Vec<Arc<Inbox>>,
}

/// The platform around the isolates. Clones share it.
#[derive(Clone)]
pub struct Cluster(pub(super) Arc<Mutex<State>>);

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cluster {
    /// Starts the isolates of `config`, each on a node of its own, with the habits of its build.
    pub fn start(config: ClusterConfig) -> Self {
        Self::start_with(config, Switches::default())
    }

    /// The same with other habits.
    pub fn start_with(config: ClusterConfig, switches: Switches) -> Self {
        let count = config.isolate_count;
        let cluster = Cluster(Arc::new(Mutex::new(State {
            config,
            switches,
            nodes: Vec::new(),
            placement: BTreeMap::new(),
            objects: BTreeMap::new(),
            calls: BTreeMap::new(),
            next_call: 0,
            next_isolate: 0,
            next_socket: 0,
            sockets: BTreeMap::new(),
            workers: Vec::new(),
        })));
        for _ in 0..count {
            cluster.start_isolate();
        }
        cluster
    }

    /// Starts one more isolate.
    pub fn start_isolate(&self) -> IsolateId {
        let (id, inbox) = {
            let mut state = lock(&self.0);
            state.next_isolate += 1;
            (IsolateId(state.next_isolate), Inbox::new())
        };
        let octet = u8::try_from(id.0 % 250).unwrap_or(0) + 1;
        let node = Node::create(&id.to_string(), IpAddr::V4(Ipv4Addr::new(10, 2, 0, octet)));
        self.run_loop(&node, id, Arc::clone(&inbox));
        lock(&self.0).nodes.push((id, node, inbox));
        platform_event!("isolate.started", id.to_string(), isolate = id.to_string());
        id
    }

    fn run_loop(&self, node: &Node, id: IsolateId, inbox: Arc<Inbox>) {
        let cluster = self.clone();
        node.run(move || {
            let event_loop = EventLoop::new(id.to_string().into(), inbox, cluster.habits().jams_timers);
            event_loop.set_host(Isolate::new(id, cluster));
            event_loop.run()
        });
    }

    /// Ends an isolate: everything in its memory is gone, calls into it and sockets lose their connection. A new one takes its
    /// place, and alarms that fell due or were running fire again there (platform facts 70, 71).
    pub fn end_isolate(&self, id: IsolateId) {
        let (lost, cut, orphans) = {
            let mut state = lock(&self.0);
            let Some(index) = state.nodes.iter().position(|(node, _, _)| *node == id) else { return };
            let (_, node, inbox) = state.nodes.remove(index);
            inbox.close();
            node.kill();
            let lost: Vec<(Arc<Inbox>, u64)> =
                state.calls.values().filter(|call| call.0 == id).map(|call| (Arc::clone(&call.1), call.2)).collect();
            state.calls.retain(|_, call| call.0 != id);
            let orphans: Vec<ObjectKey> =
                state.placement.iter().filter(|(_, at)| **at == id).map(|(key, _)| key.clone()).collect();
            state.placement.retain(|_, at| *at != id);
            let cut: Vec<(u64, Arc<Inbox>)> =
                state.sockets.iter().filter(|(_, end)| end.0 == id).map(|(n, end)| (*n, Arc::clone(&end.1))).collect();
            state.sockets.retain(|_, end| end.0 != id);
            (lost, cut, orphans)
        };
        platform_event!("isolate.ended", id.to_string(), isolate = id.to_string());
        for (inbox, slot) in lost {
            let letter = ReplyLetter::error(slot, JsError::connection_lost());
            inbox.post(rt::now_ms() + 1, Lane::named(&id.to_string().into(), "reply", slot), Box::new(letter));
        }
        for (number, inbox) in cut {
            let lane = Lane::named(&id.to_string().into(), "frames-out", number);
            inbox.post(rt::now_ms() + 1, lane, Box::new(ToClient::lost(number)));
        }
        self.start_isolate();
        for key in orphans {
            self.revive_alarm(&key);
        }
    }

    fn revive_alarm(&self, key: &ObjectKey) {
        let durable = self.durable(key);
        let due = {
            let mut durable = lock(&durable);
            durable.letter_due = None;
            let untouched = !durable.touched;
            // Fact: 70. Delivery is at least once: an alarm whose process ended inside it runs again as a first try.
            // [D:alarms, R:RS3]
            if let Some(running) = durable.running.take().filter(|_| untouched) {
                durable.alarm = Some(running.scheduled_ms);
            }
            durable.alarm
        };
        if let Some(due_ms) = due {
            // Fact: 71. An alarm that fell due while its process was down fires at the start. [R:RS1]
            // Fact: 79. The count of tries is lost with the scheduler: a retry that waits fires at once as a first
            // try. [R:RS4]
            self.post_alarm(key, AlarmInfo::first(due_ms), due_ms);
        }
    }

    /// The habits that the build does not settle.
    pub(super) fn switches(&self) -> Switches {
        lock(&self.0).switches
    }

    /// What the builds do differently, as it is here.
    pub(super) fn habits(&self) -> BuildHabits {
        let state = lock(&self.0);
        state.switches.habits.unwrap_or_else(|| state.config.build.habits())
    }

    /// Ids of the isolates that run, oldest first.
    pub fn isolates(&self) -> Vec<IsolateId> {
        lock(&self.0).nodes.iter().map(|(id, _, _)| *id).collect()
    }

    /// The isolate an object is placed in now, if any.
    pub fn isolate_of(&self, key: &ObjectKey) -> Option<IsolateId> {
        lock(&self.0).placement.get(key).copied()
    }

    /// The objects that ever wrote or were called, with a class name.
    pub fn find_object(&self, class: &str, label: &str) -> Option<ObjectKey> {
        lock(&self.0).objects.keys().find(|key| key.class == class && &*key.label() == label).cloned()
    }

    /// Every object that was ever written or called, in the order of class and name.
    pub fn objects(&self) -> Vec<ObjectKey> {
        lock(&self.0).objects.keys().cloned().collect()
    }

    pub(super) fn durable(&self, key: &ObjectKey) -> Arc<Mutex<Durable>> {
        Arc::clone(lock(&self.0).objects.entry(key.clone()).or_default())
    }

    /// How often the object was reset, and the last reset's error.
    pub(super) fn resets_of(&self, key: &ObjectKey) -> (u64, Option<JsError>) {
        let durable = lock(&self.0).objects.get(key).cloned();
        durable.map_or((0, None), |durable| lock(&durable).resets.clone())
    }

    /// The error of a reset that came after the first `born` ones.
    pub(super) fn reset_since(&self, key: &ObjectKey, born: u64) -> Option<JsError> {
        let (resets, error) = self.resets_of(key);
        error.filter(|_| resets > born)
    }

    pub(super) fn class(&self, name: &str) -> Class {
        let class = lock(&self.0).config.classes.get(name).cloned();
        class.unwrap_or_else(|| panic!("no class `{name}` is bound in this cluster"))
    }

    /// The inbox of the isolate that holds the object; places it if it is nowhere.
    pub(super) fn route(&self, key: &ObjectKey) -> (IsolateId, Arc<Inbox>) {
        let mut state = lock(&self.0);
        let placed = state.placement.get(key).copied();
        let id = placed.unwrap_or_else(|| {
            // Fact: 131. Which objects share an isolate is the platform's choice. [R:M1, D:in-memory-state]
            let count = u64::try_from(state.nodes.len()).unwrap_or(1);
            // Fact: 222. Any grouping of objects into isolates, anew at every construction. [facts 130-132]
            // Fact: 235. How many objects share an isolate, and for how long. [not reached locally]
            let index = usize::try_from(rt::decide(&key.label(), "placement", count)).unwrap_or(0);
            let id = state.nodes[index].0;
            state.placement.insert(key.clone(), id);
            id
        });
        let inbox = state.nodes.iter().find(|(node, _, _)| *node == id).map(|(_, _, inbox)| Arc::clone(inbox));
        (id, inbox.expect("an object is placed in an isolate that runs"))
    }

    pub(super) fn begin_call(&self, callee: IsolateId, caller: Arc<Inbox>, slot: u64) -> u64 {
        let mut state = lock(&self.0);
        state.next_call += 1;
        let number = state.next_call;
        state.calls.insert(number, (callee, caller, slot));
        number
    }

    pub(super) fn end_call(&self, number: u64) {
        lock(&self.0).calls.remove(&number);
    }

    pub(super) fn open_socket(&self, isolate: IsolateId, peer: Arc<Inbox>) -> u64 {
        let mut state = lock(&self.0);
        state.next_socket += 1;
        let number = state.next_socket;
        state.sockets.insert(number, (isolate, peer));
        number
    }

    pub(super) fn close_socket(&self, number: u64) {
        lock(&self.0).sockets.remove(&number);
    }

    /// A worker calls objects of this cluster.
    pub(super) fn add_worker(&self, inbox: Arc<Inbox>) {
        lock(&self.0).workers.push(inbox);
    }

    /// The inboxes of everything that runs, workers last.
    pub(super) fn inboxes(&self) -> Vec<Arc<Inbox>> {
        let state = lock(&self.0);
        state.nodes.iter().map(|(_, _, inbox)| inbox).chain(&state.workers).map(Arc::clone).collect()
    }

    /// Sends the alarm's wake-up to where the object is, due at `due_ms`.
    pub(super) fn post_alarm(&self, key: &ObjectKey, info: AlarmInfo, due_ms: u64) {
        let durable = self.durable(key);
        {
            let mut durable = lock(&durable);
            durable.letter_due = Some(due_ms);
            durable.retry_waits = info.is_retry();
        }
        let (_, inbox) = self.route(key);
        // Fact: 69. Alarms of several objects due together fire in no fixed order. [R:A23]
        let lane = Lane::named(&key.label(), "alarm", 0);
        inbox.post(due_ms, lane, Box::new(AlarmLetter { key: key.clone(), info, due_ms, late_ms: None }));
    }

    /// Fills the storage of an object that is not in memory, and arms its alarm.
    pub(super) fn store(&self, key: &ObjectKey, values: BTreeMap<Arc<str>, Arc<Value>>, alarm_ms: Option<u64>) {
        let durable = self.durable(key);
        {
            let mut durable = lock(&durable);
            durable.values = values;
            durable.alarm = alarm_ms;
            durable.alarm_knows_name = true;
        }
        if let Some(due_ms) = alarm_ms {
            platform_event!("alarm.set", key.label(), due_at_ms = due_ms, by = "before the run", root = "");
            self.post_alarm(key, AlarmInfo::first(due_ms), due_ms);
        }
    }

    /// Posts mail of the platform's own to an isolate.
    pub(super) fn post_to(&self, id: IsolateId, letter: Box<dyn Letter>) -> bool {
        let state = lock(&self.0);
        let inbox = state.nodes.iter().find(|(node, _, _)| *node == id).map(|(_, _, inbox)| Arc::clone(inbox));
        drop(state);
        inbox.is_some_and(|inbox| inbox.post(rt::now_ms(), Lane::named(&"platform".into(), "order", 0), letter))
    }

    /// Ends everything at the end of a run.
    pub fn stop(&self) {
        let nodes = std::mem::take(&mut lock(&self.0).nodes);
        for (_, node, inbox) in nodes {
            inbox.close();
            node.kill();
        }
        let mut state = lock(&self.0);
        state.calls.clear();
        state.sockets.clear();
        state.workers.clear();
        state.config.classes.clear();
    }
}
