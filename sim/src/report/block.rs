//! The block of a finding: what is wrong, when, what was open, and what led to it.

use super::steps::StepLine;
use super::{fault_line, kind_word, steps};
use crate::capture::Caught;
use crate::run::{FaultRow, Finding};
use scenarios::invariants::{Kind, Violation};
use scenarios::plan::{Plan, client_of};
use scenarios::story::{self, Line};
use scenarios::trace::Trace;

/// One finding, as it is shown.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it is filed under: the name of an invariant, `crash`, `fault-not-delivered`, `harness-error`.
    pub name: String,
    /// Kind of the claim, or what kind of failure it is.
    pub kind: &'static str,
    /// The claim, or what it means, in one sentence.
    pub claim: String,
    /// What happened, in one sentence.
    pub what: String,
    /// When, in virtual ms.
    pub at_ms: Option<u64>,
    /// The event that shows it, counted from 1.
    pub event: Option<u64>,
    /// The obligation that is open.
    pub pending: Option<String>,
    /// Source file and line of a panic.
    pub place: Option<String>,
    /// Further violations of the same claim, shortly.
    pub also: Vec<String>,
    /// What the clients did before it.
    pub steps: Vec<StepLine>,
    /// The story that leads to it.
    pub around: Vec<Line>,
}

/// Lines of story before a violation.
const AROUND_COUNT: usize = 8;
/// Further violations that are shown of one claim.
const ALSO_COUNT: usize = 5;

/// What is shown of a finding.
pub(super) fn block_of(finding: &Finding, plan: &Plan, trace: &Trace) -> Block {
    match finding {
        Finding::Violation { kind, invariant, claim, violations } => {
            violation_block(*kind, invariant, claim, violations, plan, trace)
        }
        Finding::Crash(caught) => Block {
            claim: "the modelled system does not panic and comes to rest".to_owned(),
            ..panic_block("crash", "crash", caught, plan, trace)
        },
        Finding::Unmet(row) => unmet_block(row, plan),
        Finding::Harness { what, panic: Some(caught) } => {
            Block { claim: what.clone(), ..panic_block("harness-error", "harness", caught, plan, trace) }
        }
        Finding::Harness { what, panic: None } => Block {
            claim: "nothing is known about the modelled system".to_owned(),
            ..bare_block("harness-error", "harness", what)
        },
    }
}

fn bare_block(name: &str, kind: &'static str, what: &str) -> Block {
    Block {
        name: name.to_owned(),
        kind,
        claim: String::new(),
        what: what.to_owned(),
        at_ms: None,
        event: None,
        pending: None,
        place: None,
        also: Vec::new(),
        steps: Vec::new(),
        around: Vec::new(),
    }
}

fn violation_block(kind: Kind, name: &str, claim: &str, violations: &[Violation], plan: &Plan, trace: &Trace) -> Block {
    let Some((first, more)) = violations.split_first() else {
        return bare_block(name, kind_word(kind), "violated, and nobody said where");
    };
    let session = first.session.as_deref();
    let mut also: Vec<String> =
        more.iter().take(ALSO_COUNT).map(|each| format!("{} ms  {}", each.at_ms, each.what)).collect();
    if more.len() > ALSO_COUNT {
        also.push(format!("and {} more", more.len() - ALSO_COUNT));
    }
    Block {
        claim: claim.to_owned(),
        at_ms: Some(first.at_ms),
        event: Some(u64::from(first.ordinal) + 1),
        pending: first.pending.clone(),
        also,
        steps: steps::before(plan, trace, first.at_ms, session.map(client_of)),
        around: story::around(trace, first.ordinal, session, AROUND_COUNT),
        ..bare_block(name, kind_word(kind), &first.what)
    }
}

fn panic_block(name: &str, kind: &'static str, caught: &Caught, plan: &Plan, trace: &Trace) -> Block {
    let last = trace.events.last().map_or(0, |event| event.ordinal);
    let place = if caught.file.is_empty() { None } else { Some(format!("{}:{}", caught.file, caught.line)) };
    Block {
        at_ms: Some(caught.at_ms),
        event: trace.events.last().map(|event| u64::from(event.ordinal) + 1),
        place,
        steps: steps::before(plan, trace, caught.at_ms, None),
        around: story::around(trace, last, None, AROUND_COUNT),
        ..bare_block(name, kind, &caught.message)
    }
}

fn unmet_block(row: &FaultRow, plan: &Plan) -> Block {
    let fault = fault_line(row, plan).what;
    let FaultRow { requested, armed, delivered, .. } = row;
    Block {
        claim: "every fault that the plan asks for is delivered".to_owned(),
        pending: Some(format!("requested {requested}, armed {armed}, delivered {delivered}")),
        ..bare_block("fault-not-delivered", "reach", &format!("faults[{}] never happened: {fault}", row.fault))
    }
}
