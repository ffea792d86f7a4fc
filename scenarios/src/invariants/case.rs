//! What the invariants judge: a plan and its trace, with what several of them ask of these, worked out once.

use super::doubled::Doubled;
use super::faults::FaultLog;
use super::requests::{self, Request};
use super::timeline::Timeline;
use crate::plan::Plan;
use crate::trace::Trace;
use std::cell::OnceCell;

/// A plan and the trace of its run.
pub struct Case<'t> {
    /// What was run.
    pub plan: &'t Plan,
    /// What happened.
    pub trace: &'t Trace,
    requests: OnceCell<Vec<Request<'t>>>,
    timeline: OnceCell<Timeline>,
    faults: OnceCell<FaultLog<'t>>,
    doubled: OnceCell<Doubled<'t>>,
}

impl<'t> Case<'t> {
    /// The case of a run.
    pub fn new(plan: &'t Plan, trace: &'t Trace) -> Self {
        Self {
            plan,
            trace,
            requests: OnceCell::new(),
            timeline: OnceCell::new(),
            faults: OnceCell::new(),
            doubled: OnceCell::new(),
        }
    }

    /// All requests of the history, by begin.
    pub(super) fn requests(&self) -> &[Request<'t>] {
        self.requests.get_or_init(|| requests::requests(self.trace))
    }

    /// The faults that reached the run.
    pub(super) fn faults(&self) -> &FaultLog<'t> {
        self.faults.get_or_init(|| FaultLog::of(self.plan, self.trace))
    }

    /// The sessions whose object was two for a while.
    pub(super) fn doubled(&self) -> &Doubled<'t> {
        self.doubled.get_or_init(|| Doubled::of(self))
    }

    /// Whether that is the alias of a session, and not of an isolate.
    pub(super) fn is_session(&self, who: &str) -> bool {
        self.timeline().session(who, usize::MAX).is_some()
    }

    /// What was so in each session, from event to event.
    pub(crate) fn timeline(&self) -> &Timeline {
        self.timeline.get_or_init(|| Timeline::of(self.trace))
    }
}
