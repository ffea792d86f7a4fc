//! Directs a world from outside: answers its decisions, counts its operations, lets the plan's faults happen.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use model::operation::{Edge, Intervention, OperationPoint};
use model::platform::Control;
use scenarios::decision::{DecisionSource, PinOutOfRange};
use scenarios::plan::Plan;
use scenarios::trace::Drawn;
use xxhash_rust::xxh3::xxh3_64;

use crate::faults::FaultKernel;
use crate::recorder;
use crate::run::FaultRow;

/// The director of one run.
pub struct Director {
    decisions: RefCell<DecisionSource>,
    faults: FaultKernel,
    operation_count: Cell<u64>,
    operation_hash: Cell<u64>,
    /// Pins that do not fit their decisions, in the order met.
    misfits: RefCell<Vec<PinOutOfRange>>,
}

impl Director {
    /// The director of a plan.
    ///
    /// # Errors
    /// One sentence when the plan's decisions cannot be used.
    pub fn new(plan: &Plan) -> Result<Rc<Self>, String> {
        let decisions = DecisionSource::new(plan).map_err(|error| error.to_string())?;
        Ok(Rc::new(Director {
            decisions: RefCell::new(decisions),
            faults: FaultKernel::new(&plan.faults),
            operation_count: Cell::new(0),
            operation_hash: Cell::new(0),
            misfits: RefCell::default(),
        }))
    }

    /// The plan's faults.
    pub fn faults(&self) -> &FaultKernel {
        &self.faults
    }

    /// Gives the faults their hands.
    pub fn connect(&self, control: Control) {
        self.faults.connect(control);
    }

    /// A client begins a step of its plan; decisions of its session are named by it.
    pub fn begin_step(&self, client: &str, step: u32) {
        self.decisions.borrow_mut().begin_step(client, step);
    }

    /// Operations that began.
    pub fn operation_count(&self) -> u64 {
        self.operation_count.get()
    }

    /// Hash over every edge of every operation in order: which, whose, when.
    pub fn operation_hash(&self) -> u64 {
        self.operation_hash.get()
    }

    /// Why the run is void, if a pin of the plan does not fit.
    pub fn misfit(&self) -> Option<String> {
        self.misfits.borrow().first().map(ToString::to_string)
    }

    /// The names of the pins that did not fit; their decisions were left calm.
    pub fn misfit_names(&self) -> Vec<String> {
        self.misfits.borrow().iter().map(|misfit| misfit.name.to_string()).collect()
    }

    /// What was decided; a pin that does not fit leaves it calm, and voids the run unless pins are optional.
    fn taken(&self, decided: Result<u64, PinOutOfRange>, calm: u64) -> u64 {
        decided.unwrap_or_else(|misfit| {
            self.misfits.borrow_mut().push(misfit);
            calm
        })
    }

    /// At the end of a run: every decision taken, the ledger of the faults, and the pins that nobody asked for.
    pub fn results(&self) -> (Vec<Drawn>, Vec<FaultRow>, Vec<String>) {
        let mut decisions = self.decisions.borrow_mut();
        let unknown = decisions.unused_pins().map(ToString::to_string).collect();
        (decisions.take_record(), self.faults.ledger(), unknown)
    }

    fn digest(&self, point: &OperationPoint<'_>) {
        let edge = u64::from(point.edge == Edge::End);
        let parts =
            [xxh3_64(point.operation.name.as_bytes()), recorder::alias_hash_of(point.who), point.now_ms << 1 | edge];
        let mix = |hash: u64, part: u64| (hash.rotate_left(23) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.operation_hash.set(parts.into_iter().fold(self.operation_hash.get(), mix));
    }
}

impl model::rt::Director for Director {
    fn decide(&self, who: &str, what: &str, below: u64) -> u64 {
        let who = recorder::alias_of(who);
        let decided = self.decisions.borrow_mut().decide(&who, what, below);
        self.taken(decided, 0)
    }

    fn delay_ms(&self, who: &str, what: &str) -> u64 {
        let who = recorder::alias_of(who);
        let decided = self.decisions.borrow_mut().decide_delay(&who, what);
        self.taken(decided, 0)
    }

    fn stray(&self, who: &str, what: &str) -> u64 {
        let who = recorder::alias_of(who);
        let decided = self.decisions.borrow_mut().decide_stray(&who, what);
        self.taken(decided, 0)
    }

    fn round_up_ms(&self, at_ms: u64) -> u64 {
        let grid = self.decisions.borrow_mut().round_up_ms();
        at_ms.next_multiple_of(self.taken(grid, 1))
    }

    fn at_operation(&self, point: &OperationPoint<'_>) -> Option<Box<Intervention>> {
        if point.edge == Edge::Begin {
            self.operation_count.set(self.operation_count.get() + 1);
        }
        self.digest(point);
        if !self.faults.waits_for(point.operation.name) {
            return None;
        }
        self.faults.at_operation(point, &recorder::alias_of(point.who)).said()
    }
}
