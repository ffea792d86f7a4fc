//! Sessions of a swarm that exist before its run, with their names or without, and who calls them.

use crate::catalog::draft::Draft;
use crate::catalog::draft::direct::{call, call_first, identity, known, props, respond};
use crate::plan::{PausedPlan, StoredObject};
use serde_json::{Value as Json, json};

/// One to three of them.
pub fn others(draft: &mut Draft, span_ms: u64) {
    let count = draft.rng("others.count").between(1, 3);
    for number in 1..=count {
        other(draft, number, span_ms);
    }
}

fn other(draft: &mut Draft, number: u64, span_ms: u64) {
    let mut rng = draft.rng(&format!("other.{number}"));
    let (session, account) = (format!("old{number}"), 20 + number);
    let mut object = StoredObject { named: rng.chance(1, 2), ..known(&session, account) };
    object.alarm_at_ms = rng.chance(2, 3).then(|| rng.between(1, span_ms));
    let execution = format!("exec-{number}");
    if rng.chance(1, 2) {
        object.paused.push(PausedPlan { execution: execution.clone(), code: "return answer".to_owned() });
    }
    let worker = format!("worker-{number}");
    // A bare `init` beside a start is what no front door does: nothing else calls such a session, and no alarm comes first.
    if object.alarm_at_ms.is_none() {
        let props = json!({"props": props(account, false)});
        let at_ms = rng.below(span_ms);
        draft.stored(object);
        draft.call(&worker, call_first(at_ms, &session, "updateProps", props));
        draft.call(&worker, call(at_ms + 1, &session, "init", Json::Null));
        return;
    }
    draft.stored(object);
    for step in 0..rng.below(3) {
        let at_ms = rng.below(2 * span_ms);
        let (method, arguments) = match rng.below(3) {
            0 => ("markActivity", Json::Null),
            1 => ("validateMcpSessionOwner", identity(if rng.chance(1, 2) { account } else { account + 1 })),
            _ => ("resumeExecutionForModel", respond(account, &execution, "accept")),
        };
        draft.call(&format!("caller-{number}-{step}"), call(at_ms, &session, method, arguments));
    }
}
