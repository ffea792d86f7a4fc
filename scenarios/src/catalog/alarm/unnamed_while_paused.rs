//! An alarm of a session that does not know its name while it waits for a person.
//!
//! Goal: the lease is told by the id that storage knows and is extended, up to its ceiling and no further. Method:
//! objects whose id never had a name, with a record and executions that wait for a person, short timeouts and ceilings,
//! responses at some time or never; and sessions of clients whose code asks and whose object is reset meanwhile. Or
//! objects whose runtimes a bare `init` built, so that they are resident and still do not know their names.

use super::recorded;
use crate::catalog::Scenario;
use crate::catalog::draft::asking::response;
use crate::catalog::draft::direct::{call, call_first, props, respond};
use crate::catalog::draft::{ClientDraft, Draft};
use crate::plan::{PausedPlan, Plan, RuntimeBuild};
use crate::seed::Seed;
use serde_json::{Value as Json, json};

/// Nameless alarms of paused sessions.
pub const SCENARIO: Scenario = Scenario {
    id: ID,
    story: "an alarm comes to a session that does not know its name and waits for a person: it is kept up to its ceiling",
    weight: 3,
    sometimes: &["alarm/name-from-storage", "alarm/extend-paused"],
    plan,
};

const ID: &str = "alarm/unnamed-while-paused";

fn plan(seed: Seed) -> Plan {
    let mut draft = Draft::new(ID, seed);
    draft.timeout(draft.rng("timeout").between(1_000, 20_000));
    if draft.rng("build").chance(4, 5) {
        draft.world().runtime_build = RuntimeBuild::May2026;
    }
    if draft.rng("bare").chance(1, 4) {
        return resident_without_name(draft);
    }
    let mut rng = draft.rng("paused");
    for number in 1..=rng.between(1, 2) {
        let session = format!("old{number}");
        let mut object = recorded(&session, 7, rng.between(1, 2_000));
        for execution in 1..=rng.between(1, 2) {
            let code = "return answer".to_owned();
            object.paused.push(PausedPlan { execution: format!("exec-{number}-{execution}"), code });
        }
        draft.stored(object);
        if rng.chance(1, 2) {
            let at_ms = 4_000 + rng.below(300_000);
            let arguments = respond(7, &format!("exec-{number}-1"), "accept");
            draft.call(&format!("person-{number}"), call(at_ms, &session, "resumeExecutionForModel", arguments));
        }
    }
    if rng.chance(1, 2) {
        let mut client = ClientDraft::new(1, rng.below(500));
        client.open();
        client.rest(200 + draft.latency_ms());
        client.ask_often(&mut rng, 1);
        let at_ms = client.now_ms() + draft.latency_ms() + rng.below(draft.timeout_ms());
        draft.reset(at_ms, client.name());
        client.until(at_ms + rng.below(2 * draft.timeout_ms()));
        client.resume(response(&mut rng), None);
        draft.client(client);
    }
    draft.quiet(700_000)
}

/// Objects whose runtimes are there before they ever asked for their names: no request of a client, which would name them,
/// came before the `init`. Their first alarm finds the name, sometimes; the run ends before the ceiling of their pauses or
/// after it.
fn resident_without_name(mut draft: Draft) -> Plan {
    let mut rng = draft.rng("resident");
    for number in 1..=rng.between(1, 2) {
        let (session, built_ms) = (format!("old{number}"), rng.between(1, 2_000));
        let mut object = recorded(&session, 7, 0);
        object.alarm_at_ms = None;
        for execution in 1..=rng.between(1, 2) {
            let code = "return answer".to_owned();
            object.paused.push(PausedPlan { execution: format!("exec-{number}-{execution}"), code });
        }
        draft.stored(object);
        let props = json!({"props": props(7, false)});
        draft.call(&format!("builder-{number}"), call_first(built_ms, &session, "updateProps", props));
        draft.call(&format!("builder-{number}"), call(built_ms + 1, &session, "init", Json::Null));
    }
    let quiet_ms = if rng.chance(1, 2) { 3 * draft.timeout_ms() } else { 700_000 };
    draft.quiet(quiet_ms)
}
