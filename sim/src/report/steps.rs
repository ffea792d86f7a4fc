//! The steps of a plan that clients had begun by some time, as they began.

use scenarios::plan::{Action, Plan};
use scenarios::trace::{Stream, Trace};
use std::collections::BTreeMap;

/// The most steps that are shown before a violation.
const STEP_COUNT_MAX: usize = 8;

/// One step of a client, as it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// When it began, in virtual ms.
    pub at_ms: u64,
    /// The client.
    pub client: String,
    /// What it did.
    pub text: String,
}

/// The last steps that began at `at_ms` or before, of one client if one is named, in the order in which they began.
pub fn before(plan: &Plan, trace: &Trace, at_ms: u64, client: Option<&str>) -> Vec<StepLine> {
    let begun = begun_ms(trace);
    let mut lines = Vec::new();
    for each in plan.clients.iter().filter(|each| client.is_none_or(|client| each.name == client)) {
        for (step, index) in each.steps.iter().zip(0u64..) {
            // What makes no request shows in no history, and begins when it was planned or later.
            let is_silent = matches!(
                step.action,
                Action::EndStream {} | Action::Adopt { .. } | Action::Stall { .. } | Action::Present { .. }
            );
            let planned = is_silent.then_some(step.at_ms);
            if let Some(began) = begun.get(&(each.name.as_str(), index)).copied().or(planned)
                && began <= at_ms
            {
                lines.push(StepLine { at_ms: began, client: each.name.clone(), text: words(&step.action).to_owned() });
            }
        }
    }
    lines.sort_by_key(|line| line.at_ms);
    lines.split_off(lines.len().saturating_sub(STEP_COUNT_MAX))
}

/// When the first request of each step began, by client and index of the step.
fn begun_ms(trace: &Trace) -> BTreeMap<(&str, u64), u64> {
    let mut begun = BTreeMap::new();
    for event in trace.named(Stream::History, "request.begin") {
        if let (Some(client), Some(step)) = (event.who(), event.number("step")) {
            begun.entry((client, step)).or_insert(event.at_ms);
        }
    }
    begun
}

fn words(action: &Action) -> &'static str {
    match action {
        Action::Call { .. } => "call execute",
        Action::Post { copies: 2.., .. } => "call execute several times",
        Action::Post { cut: Some(_), .. } => "call execute and leave",
        Action::Post { .. } => "call execute",
        Action::Listen {} => "stream beside",
        Action::EndStream {} => "end stream",
        Action::Present { token } => token.words(),
        other => other.name(),
    }
}
