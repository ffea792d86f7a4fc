//! Scripted trouble for the tests: rules at operations, and a count of the trips through the queue.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::js::{call, hops};
use crate::operation::{Disturbance, Edge, Intervention, OperationPoint};
use crate::platform::JsError;
use crate::rt::Director;

thread_local! {
    /// What the platform does by itself in this test.
    static STRAYS: RefCell<Vec<(&'static str, u64)>> = const { RefCell::new(Vec::new()) };
}

/// From now on the platform strays so much in one thing.
pub(crate) fn stray(what: &'static str, value: u64) {
    STRAYS.with_borrow_mut(|strays| strays.push((what, value)));
}

/// What happens at one edge of the n-th operation of a name.
pub(crate) struct Rule {
    operation: &'static str,
    edge: Edge,
    /// Which time, counted from 1; every time when absent.
    nth: Option<u32>,
    wanted: Intervention,
}

impl Rule {
    /// The operation fails at its begin, the first time.
    pub fn fail(operation: &'static str, error: JsError) -> Rule {
        Self::at(operation, Edge::Begin, Intervention { disturbance: Disturbance::Fail(error), ..Intervention::NONE })
    }

    /// The operation is held at its begin until `number` is released, the first time.
    pub fn hold(operation: &'static str, number: u64) -> Rule {
        Self::at(operation, Edge::Begin, Intervention { disturbance: Disturbance::Hold(number), ..Intervention::NONE })
    }

    /// The operation takes so much longer at its begin, the first time.
    pub fn delay(operation: &'static str, ms: u64) -> Rule {
        Self::at(operation, Edge::Begin, Intervention { disturbance: Disturbance::Delay(ms), ..Intervention::NONE })
    }

    /// A root fiber is interrupted at the begin of the operation, the first time.
    pub fn interrupt(operation: &'static str, what: &'static str) -> Rule {
        Self::at(operation, Edge::Begin, Intervention { interrupt: Some(what), ..Intervention::NONE })
    }

    /// Whether it is about an operation.
    pub fn is_for(&self, operation: &str) -> bool {
        self.operation == operation
    }

    /// The same for the n-th time instead, counted from 1.
    pub fn nth(self, nth: u32) -> Rule {
        Rule { nth: Some(nth), ..self }
    }

    /// The same every time.
    pub fn always(self) -> Rule {
        Rule { nth: None, ..self }
    }

    fn at(operation: &'static str, edge: Edge, wanted: Intervention) -> Rule {
        Rule { operation, edge, nth: Some(1), wanted }
    }
}

/// Which operations have a gate.
type IsGated = fn(&OperationPoint<'_>) -> bool;

/// More trips than any turn here has.
const TICKS_MAX: u64 = 1_000;

thread_local! {
    /// Trips counted since the ticker started; none while it does not run.
    static TICKS: Cell<Option<u64>> = const { Cell::new(None) };
    /// The ticker starts when this operation begins.
    static START_AT: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// Which operations are held at their begin, each under a number of its own, and those that are held.
    static GATED: Cell<Option<IsGated>> = const { Cell::new(None) };
    static GATES: RefCell<Vec<Gate>> = const { RefCell::new(Vec::new()) };
    /// Called at the end of every operation, with its name.
    static AT_END: Cell<Option<fn(&'static str)>> = const { Cell::new(None) };
    static BEGUN: RefCell<Vec<(&'static str, u64)>> = const { RefCell::new(Vec::new()) };
}

/// Starts counting trips now. The turn lasts until [`stop_ticking`], so nothing else may be waited for in between.
///
/// The count goes up before everything else of the same trip.
pub(crate) fn start_ticking() {
    TICKS.set(Some(0));
    drop(call(async {
        loop {
            hops(1).await;
            let Some(ticks) = TICKS.get() else { return };
            assert!(ticks < TICKS_MAX, "something was waited for that needs the turn to end");
            TICKS.set(Some(ticks + 1));
        }
    }));
}

/// Starts counting when an operation of this name begins.
pub(crate) fn start_ticking_at(operation: &'static str) {
    START_AT.set(Some(operation));
}

/// An operation that is held at its begin until its number is released or made to fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    /// In the order in which they came, from 0.
    pub number: u64,
    /// Name of the operation.
    pub operation: &'static str,
    /// Label of the context that waits.
    pub who: String,
}

/// Holds each operation that `is_gated` from now on.
pub(crate) fn hold_each(is_gated: IsGated) {
    GATED.set(Some(is_gated));
}

/// Every gate so far, also those that were opened.
pub(crate) fn gates() -> Vec<Gate> {
    GATES.with_borrow(Clone::clone)
}

/// The hold of one more gate, if the operation is to have one.
fn gate(point: &OperationPoint<'_>) -> Option<Intervention> {
    let is_gated = GATED.get()?;
    if point.edge != Edge::Begin || !is_gated(point) {
        return None;
    }
    let number = GATES.with_borrow_mut(|gates| {
        let number = gates.len() as u64;
        gates.push(Gate { number, operation: point.operation.name, who: point.who.to_owned() });
        number
    });
    Some(Intervention { disturbance: Disturbance::Hold(number), ..Intervention::NONE })
}

/// Has `look` called at the end of every operation, with its name.
pub(crate) fn look_at_ends(look: fn(&'static str)) {
    AT_END.set(Some(look));
}

/// Trips so far.
pub(crate) fn ticks() -> u64 {
    TICKS.get().expect("the ticker runs")
}

/// Lets the turn end; gives the operations that began meanwhile with their trips.
pub(crate) fn stop_ticking() -> Vec<(&'static str, u64)> {
    TICKS.set(None);
    BEGUN.take()
}

/// The director of a test's world.
pub(crate) struct Script {
    rules: RefCell<Vec<(Rule, u32)>>,
}

impl Script {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        TICKS.set(None);
        START_AT.set(None);
        AT_END.set(None);
        GATED.set(None);
        GATES.take();
        crate::platform::GATELESS.set(false);
        BEGUN.take();
        Script { rules: RefCell::new(rules.into_iter().map(|rule| (rule, 0)).collect()) }
    }
}

impl Director for Script {
    fn decide(&self, _: &str, _: &str, _: u64) -> u64 {
        0
    }

    fn delay_ms(&self, _: &str, _: &str) -> u64 {
        0
    }

    fn stray(&self, _: &str, what: &str) -> u64 {
        STRAYS
            .with_borrow(|strays| strays.iter().find(|(question, _)| *question == what).map_or(0, |(_, value)| *value))
    }

    fn round_up_ms(&self, at_ms: u64) -> u64 {
        at_ms
    }

    fn at_operation(&self, point: &OperationPoint<'_>) -> Option<Box<Intervention>> {
        let name = point.operation.name;
        if point.edge == Edge::Begin {
            if START_AT.get() == Some(name) {
                START_AT.set(None);
                start_ticking();
            }
            if let Some(ticks) = TICKS.get() {
                BEGUN.with_borrow_mut(|begun| begun.push((name, ticks)));
            }
        }
        if let Some(look) = AT_END.get().filter(|_| point.edge == Edge::End) {
            look(name);
        }
        let mut wanted = gate(point).unwrap_or(Intervention::NONE);
        for (rule, seen) in self.rules.borrow_mut().iter_mut() {
            if rule.operation == name && rule.edge == point.edge {
                *seen += 1;
                if rule.nth.is_none_or(|nth| *seen == nth) {
                    wanted = rule.wanted.clone();
                }
            }
        }
        wanted.said()
    }
}

/// A value that is shown once it is there.
pub(crate) fn shared<T: Default>() -> Rc<RefCell<T>> {
    Rc::default()
}
