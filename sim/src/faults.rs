//! The fault kernel: when something happens, do something, and keep a ledger of it.
//!
//! A fault that was asked for and never delivered is a failure of the harness, never of the product.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::operation::{Disturbance, Edge, Intervention, OperationPoint};
use model::operations::ROOTS;
use model::platform::{Control, ObjectKey};
use model::rt;
use scenarios::plan::{self, Effect, FaultPlan, Interruptible, When};
use scenarios::trace::{Stream, Value};

use crate::recorder;
use crate::run::FaultRow;

mod errors;

use errors::{error_of, reset_error};

/// The faults of one run.
pub struct FaultKernel {
    faults: Vec<Fault>,
    /// The faults that wait for an operation, or release what they hold at it, by its name and in the plan's order: a run
    /// passes thousands of operations, and few of them concern any.
    by_operation: BTreeMap<String, Vec<usize>>,
    control: RefCell<Option<Control>>,
}

struct Fault {
    plan: FaultPlan,
    /// Operations that matched the trigger, and the release of a hold, so far.
    matches: Cell<u64>,
    release_matches: Cell<u64>,
    delivered: Arc<AtomicU64>,
    is_holding: Cell<bool>,
}

impl FaultKernel {
    /// The faults of a plan.
    pub fn new(plans: &[FaultPlan]) -> Self {
        let fault = |plan: &FaultPlan| Fault {
            plan: plan.clone(),
            matches: Cell::new(0),
            release_matches: Cell::new(0),
            delivered: Arc::default(),
            is_holding: Cell::new(false),
        };
        let mut by_operation: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, plan) in plans.iter().enumerate() {
            for operation in operations(plan) {
                let waiting = by_operation.entry(operation.to_owned()).or_default();
                if waiting.last() != Some(&index) {
                    waiting.push(index);
                }
            }
        }
        FaultKernel { faults: plans.iter().map(fault).collect(), by_operation, control: RefCell::new(None) }
    }

    /// Whether a fault does something at an operation of that name.
    pub fn waits_for(&self, operation: &str) -> bool {
        self.by_operation.contains_key(operation)
    }

    /// Gives the kernel its hands; from now on the faults are armed.
    pub fn connect(&self, control: Control) {
        *self.control.borrow_mut() = Some(control);
        for index in 0..self.faults.len() {
            self.say("fault.armed", index, None);
        }
    }

    /// One row a fault, in the plan's order.
    pub fn ledger(&self) -> Vec<FaultRow> {
        let row = |(fault, state): (usize, &Fault)| FaultRow {
            fault,
            requested: 1,
            armed: u64::from(self.control.borrow().is_some()),
            delivered: state.delivered.load(Ordering::Relaxed),
        };
        self.faults.iter().enumerate().map(row).collect()
    }

    /// The times at which something of the plan happens by itself: fault, and whether it is the release of a hold.
    pub fn timed(&self) -> Vec<(u64, usize, bool)> {
        let mut timed = Vec::new();
        for (index, fault) in self.faults.iter().enumerate() {
            if let When::At { at_ms, .. } = fault.plan.when {
                timed.push((at_ms, index, false));
            }
            if let Effect::Hold { release: Some(When::At { at_ms, .. }), .. } = fault.plan.effect {
                timed.push((at_ms, index, true));
            }
        }
        timed.sort_unstable();
        timed
    }

    /// The time of a timed fault, or of a timed release, has come.
    pub fn at_time(&self, index: usize, is_release: bool, session_key: impl Fn(&str) -> Option<ObjectKey>) {
        if is_release {
            return self.release(index);
        }
        let fault = &self.faults[index];
        let When::At { session: Some(session), .. } = &fault.plan.when else { return };
        let Some(key) = session_key(session) else { return };
        let control = self.control.borrow().clone();
        let Some(control) = control else { return };
        // The order reaches the object in its own time; only then it is known whether there is anything to act on.
        let (delivered, session) = (self.delivery(index), session.clone());
        let found = move || delivered.tell(Some(&session));
        match &fault.plan.effect {
            Effect::Reset { kind } => drop(control.reset(&key, reset_error(*kind), found)),
            Effect::Evict {} => drop(control.evict(&key, found)),
            Effect::Interrupt { what } => drop(control.interrupt(&key, interruptible(*what), found)),
            Effect::Fail { .. } | Effect::Delay { .. } | Effect::Hold { .. } => {}
        }
    }

    /// One edge of one operation of `who`: what the plan wants there.
    pub fn at_operation(&self, point: &OperationPoint<'_>, who: &str) -> Intervention {
        let mut due = Vec::new();
        let waiting = self.by_operation.get(point.operation.name);
        for (index, fault) in waiting.into_iter().flatten().map(|index| (*index, &self.faults[*index])) {
            if let Effect::Hold { release: Some(release), .. } = &fault.plan.effect
                && counts(release, &fault.release_matches, point, who) == Some(true)
            {
                self.release(index);
            }
            let lasting = matches!(fault.plan.effect, Effect::Fail { lasting: true, .. });
            match counts(&fault.plan.when, &fault.matches, point, who) {
                Some(true) => due.push(index),
                Some(false) if lasting && fault.delivered.load(Ordering::Relaxed) > 0 => due.push(index),
                _ => {}
            }
        }
        let mut intervention = Intervention::NONE;
        for index in self.compatible(&due) {
            self.delivery(index).tell(Some(who));
            self.add(&mut intervention, index, &self.faults[index]);
        }
        intervention
    }

    /// Those of the faults due at one edge that can happen: a reset leaves nothing to disturb, of failures and waits the
    /// first excludes the others, and an interrupt needs something that runs. The rest was not delivered.
    fn compatible(&self, due: &[usize]) -> Vec<usize> {
        let effect = |index: usize| &self.faults[index].plan.effect;
        let first = |is: fn(&Effect) -> bool| due.iter().copied().find(|index| is(effect(*index)));
        if let Some(reset) = first(|effect| matches!(effect, Effect::Reset { .. })) {
            return vec![reset];
        }
        let interrupts = |index: &usize| match effect(*index) {
            Effect::Interrupt { what } => Control::can_interrupt_here(interruptible(*what)),
            _ => false,
        };
        let interrupt = due.iter().copied().find(interrupts);
        let disturbance =
            first(|effect| matches!(effect, Effect::Fail { .. } | Effect::Delay { .. } | Effect::Hold { .. }));
        interrupt.into_iter().chain(disturbance).collect()
    }

    fn add(&self, intervention: &mut Intervention, index: usize, fault: &Fault) {
        match &fault.plan.effect {
            Effect::Fail { error, text, flags, .. } => {
                intervention.disturbance = Disturbance::Fail(error_of(*error, text.as_deref(), flags.as_deref()));
            }
            Effect::Delay { ms } => intervention.disturbance = Disturbance::Delay(*ms),
            Effect::Hold { for_ms, fail, .. } => {
                let fail = *fail;
                intervention.disturbance = Disturbance::Hold(index as u64);
                fault.is_holding.set(true);
                if let Some(ms) = *for_ms {
                    let control = self.control.borrow().clone();
                    rt::spawn("fault.release", async move {
                        rt::sleep_ms(ms).await;
                        let fields = vec![("fault".into(), Value::Uint(index as u64))];
                        recorder::record(Stream::Fault, "fault.released", None, fields);
                        control.inspect(|control| end_hold(control, index, fail));
                    });
                }
            }
            // It happens at a time only.
            Effect::Evict {} => {}
            Effect::Interrupt { what } => intervention.interrupt = Some(interruptible(*what)),
            Effect::Reset { kind } => intervention.reset = Some(reset_error(*kind)),
        }
    }

    fn release(&self, index: usize) {
        if !self.faults[index].is_holding.replace(false) {
            return;
        }
        self.say("fault.released", index, None);
        if let Some(control) = self.control.borrow().as_ref() {
            let fail = match &self.faults[index].plan.effect {
                Effect::Hold { fail, .. } => *fail,
                _ => None,
            };
            end_hold(control, index, fail);
        }
    }

    fn delivery(&self, index: usize) -> Delivery {
        let fault = &self.faults[index];
        Delivery { index, what: fault.plan.to_string(), count: Arc::clone(&fault.delivered) }
    }

    fn say(&self, name: &'static str, index: usize, who: Option<&str>) {
        say(name, index, &self.faults[index].plan.to_string(), who);
    }
}

/// Lets what is held go on, or makes it fail.
fn end_hold(control: &Control, index: usize, fail: Option<plan::ErrorKind>) {
    match fail {
        Some(error) => control.fail(index as u64, error_of(error, None, None)),
        None => control.release(index as u64),
    }
}

/// How the delivery of a fault is told and counted, for whoever carries it out.
struct Delivery {
    index: usize,
    what: String,
    count: Arc<AtomicU64>,
}

impl Delivery {
    fn tell(self, who: Option<&str>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        say("fault.delivered", self.index, &self.what, who);
    }
}

fn say(name: &'static str, index: usize, what: &str, who: Option<&str>) {
    let fields = vec![("fault".into(), Value::Uint(index as u64)), ("what".into(), Value::Text(what.into()))];
    recorder::record(Stream::Fault, name, who, fields);
}

/// `Some(true)` when this edge is the n-th match, `Some(false)` when it is a later one.
fn counts(when: &When, matches: &Cell<u64>, point: &OperationPoint<'_>, who: &str) -> Option<bool> {
    let When::Operation { operation, root, edge, n, session } = when else { return None };
    let same_edge = (*edge == plan::Edge::End) == (point.edge == Edge::End);
    if !same_edge
        || operation != point.operation.name
        || root.as_ref().is_some_and(|root| root != point.root)
        || session.as_ref().is_some_and(|session| session != who)
    {
        return None;
    }
    matches.set(matches.get() + 1);
    match matches.get().cmp(&u64::from(*n)) {
        std::cmp::Ordering::Less => None,
        std::cmp::Ordering::Equal => Some(true),
        std::cmp::Ordering::Greater => Some(false),
    }
}

/// The operations at which a fault does something.
fn operations(plan: &FaultPlan) -> impl Iterator<Item = &str> {
    let release = match &plan.effect {
        Effect::Hold { release, .. } => release.as_ref(),
        _ => None,
    };
    [Some(&plan.when), release].into_iter().flatten().filter_map(|when| match when {
        When::Operation { operation, .. } => Some(operation.as_str()),
        When::At { .. } => None,
    })
}

fn interruptible(what: Interruptible) -> &'static str {
    match what {
        Interruptible::Init => "init",
        Interruptible::Disposal => "disposal",
    }
}

/// What a fault names that this host does not have: an operation or a root, with the word for it.
pub fn unknown_name(faults: &[FaultPlan]) -> Option<(&'static str, String)> {
    let operations = model::operations::names();
    let unknown = |when: &When| {
        let When::Operation { operation, root, .. } = when else { return None };
        if !operations.contains(&operation.as_str()) {
            return Some(("operation", operation.clone()));
        }
        let root = root.as_ref().filter(|root| !ROOTS.contains(&root.as_str()))?;
        Some(("root", root.clone()))
    };
    faults.iter().find_map(|fault| {
        let release = match &fault.effect {
            Effect::Hold { release: Some(release), .. } => unknown(release),
            _ => None,
        };
        unknown(&fault.when).or(release)
    })
}
