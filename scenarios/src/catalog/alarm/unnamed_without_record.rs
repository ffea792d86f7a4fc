//! An alarm of an object that has no name anywhere: it is cleaned up, and the alarm ends.
//!
//! Goal: nothing is resident afterwards, no alarm is armed and nothing is retried. Method: objects whose id never had a
//! name and whose storage has none, empty, with parts of a session or with a runtime, whose alarms are due at any time;
//! some are used by other workers while they are cleaned up; sessions of clients beside them.

use crate::catalog::Scenario;
use crate::catalog::draft::direct::{call, call_first, props, stored};
use crate::catalog::draft::{ClientDraft, Draft, fail, operation};
use crate::plan::{Edge, Effect, ErrorKind, PausedPlan, Plan};
use crate::seed::Seed;
use serde_json::{Value as Json, json};

/// Nameless alarms that nothing tells the name of.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an alarm wakes an object that has no name anywhere: it is cleaned up, and no alarm is left",
    weight: 3,
    sometimes: &["alarm/unaddressable"],
    plan,
};

const ID: &str = "alarm/unnamed-without-record";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    let mut rng = draft.rng("objects");
    for number in 1..=rng.between(1, 3) {
        let session = format!("lost{number}");
        let values = match rng.below(3) {
            0 => json!({}),
            1 => json!({"last-activity-ms": 1_000}),
            _ => json!({"__ps_name": "", "last-activity-ms": 1_000, "cf_agents_destroy_pending": false}),
        };
        let mut object = stored(&session, values);
        object.named = false;
        let is_built = rng.chance(2, 3);
        object.alarm_at_ms = (!is_built || rng.chance(1, 3)).then(|| rng.between(1, 10_000));
        if is_built && draft.rng(&format!("kept.{number}")).chance(1, 3) {
            // Somebody was asked before the run, and the clean-up drops the question.
            object.paused.push(PausedPlan { execution: format!("exec-{number}"), code: "return answer".to_owned() });
        }
        draft.stored(object);
        if is_built {
            let at_ms = rng.between(1, 2_000);
            draft.call("builder", call_first(at_ms, &session, "updateProps", json!({"props": props(7, true)})));
            draft.call("builder", call(at_ms + 1, &session, "init", Json::Null));
        }
        if rng.chance(1, 3) {
            let at_ms = rng.below(2 * draft.timeout_ms());
            draft.call(&format!("late-{session}"), call(at_ms, &session, "markActivity", Json::Null));
        }
        let step = *rng.pick(&[
            "teardown · server.close",
            "alarm.nameless · teardown",
            "alarm.nameless · storage.deleteAlarm",
            "alarm.nameless · storage.delete last-activity-ms",
        ]);
        match rng.below(4) {
            0 => draft.fault_by_chance(operation(step, Edge::Begin, 1, &session), fail(ErrorKind::Unknown)),
            1 => {
                let held = Effect::Delay { ms: rng.between(1, 2_000) };
                draft.fault_by_chance(operation(step, Edge::Begin, 1, &session), held);
            }
            _ => {}
        }
    }
    if draft.rng("cap").chance(1, 3) {
        asked_by_the_cap(&mut draft);
    }
    if rng.chance(1, 2) {
        let mut client = ClientDraft::new(1, rng.below(500));
        client.open();
        client.call(&mut rng, 0);
        client.rest(draft.disposed_after_ms());
        client.call(&mut rng, 0);
        draft.client(client);
    }
    draft.until_idle()
}

/// A client whose session has no place beside those that are built: one of them is asked for its runtime.
fn asked_by_the_cap(draft: &mut Draft) {
    let mut rng = draft.rng("asker");
    draft.cap(1);
    let mut client = ClientDraft::new(2, rng.between(2_000, 4_000));
    client.open();
    client.call(&mut rng, 0);
    draft.client(client);
}
