//! What is said about a shrunk plan: how large it was and is, and what does not matter.

use crate::campaign::outcome::Shrunk;
use scenarios::plan::Plan;

/// Steps of clients and calls of callers.
pub(super) fn step_count(plan: &Plan) -> u64 {
    let steps: usize = plan.clients.iter().map(|client| client.steps.len()).sum();
    let calls: usize = plan.callers.iter().map(|caller| caller.calls.len()).sum();
    (steps + calls) as u64
}

/// Clients and stored objects: each is a session of its own.
pub(super) fn session_count(plan: &Plan) -> u64 {
    (plan.clients.len() + plan.storage.len()) as u64
}

/// What there was and what is left; `pin_count` decisions of the plan were not the calm ones.
pub(super) fn sizes(before: &Plan, after: &Plan, pin_count: u64) -> Vec<(&'static str, u64, u64)> {
    let lines = |plan: &Plan| plan.to_json().lines().count() as u64;
    vec![
        ("steps", step_count(before), step_count(after)),
        ("sessions", session_count(before), session_count(after)),
        ("faults", before.faults.len() as u64, after.faults.len() as u64),
        ("decisions", pin_count, after.pins.len() as u64),
        ("lines", lines(before), lines(after)),
    ]
}

/// The row `shrunk` of a failure: `6 steps to 1, 2 sessions to 1`.
pub fn sizes_text(summary: &Shrunk) -> String {
    let changed = summary.sizes.iter().filter(|(_, before, after)| before != after);
    let told: Vec<String> = changed
        .map(|(noun, before, after)| {
            let noun = if *before == 1 { noun.trim_end_matches('s') } else { noun };
            format!("{before} {noun} to {after}")
        })
        .collect();
    let told = if told.is_empty() { "nothing could be taken away".to_owned() } else { told.join(", ") };
    if summary.is_minimal { told } else { format!("{told}, not minimal yet after {} runs", summary.run_count) }
}

/// The rows of a failure that tell of its shrinking: how far it went, then what does not matter.
pub fn lines(summary: &Shrunk) -> Vec<String> {
    std::iter::once(sizes_text(summary)).chain(summary.irrelevant.iter().cloned()).collect()
}
