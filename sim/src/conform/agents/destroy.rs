//! The end of an agent: at once, and a second after it was condemned (platform facts 184-187).

use super::super::front::{Answer, Peer, if_ok, sleep, told};
use super::super::probe::Probe as Entry;
use super::super::probe::{Drawn, front};
use super::AGENT;
use super::behaviours::pick;
use super::caller::{ask, attempt, fresh, get_agent, put_for, rounded, snap};
use serde_json::{Value, json};

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("AG13", destroyed()),
    front!("AG14", condemned()),
    front!("AG14b", condemned_and_armed_otherwise()).drawing(&[Drawn {
        suite: "agents",
        what: "alarm.late",
        value: 5,
        why: "the recorded alarm, set to now, came after the call that looked at it",
    }]),
];

async fn destroyed() -> Answer {
    let key = fresh(AGENT);
    let agent = get_agent(key.clone()).await?;
    let first = ask(&agent, "ping", Value::Null).await?;
    ask(&agent, "setAlarm", 60_000).await?;
    let caller = attempt(agent.rpc("destroy", Value::Null)).await;
    sleep(150).await;
    let after = attempt(Peer::of(key).rpc("snap", Value::Null)).await;
    let after = if_ok(
        after,
        |seen| json!({ "alarm": seen["alarmInSec"], "keys": seen["keys"], "newInstance": seen["instance"] != first }),
    );
    let old = if_ok(attempt(agent.rpc("ping", Value::Null)).await, |_| json!("works"));
    Ok(json!({ "caller": caller, "after": after, "oldStub": old }))
}

async fn condemned() -> Answer {
    let key = fresh(AGENT);
    let agent = get_agent(key.clone()).await?;
    let first = ask(&agent, "ping", Value::Null).await?;
    ask(&agent, "put", json!(["user", 1])).await?;
    ask(&agent, "scheduleDestroy", Value::Null).await?;
    let during = snap(&agent).await?;
    sleep(1_700).await;
    let after = attempt(Peer::of(key.clone()).rpc("snap", Value::Null)).await;
    let after = if_ok(
        after,
        |seen| json!({ "keys": seen["keys"], "alarm": seen["alarmInSec"], "newInstance": seen["instance"] != first }),
    );
    let is_near = during["alarmInSec"].as_f64().is_some_and(|seconds| seconds > 0.5 && seconds <= 1.0);
    let alarm = if is_near { json!("about 1 s") } else { during["alarmInSec"].clone() };
    let answer = json!({ "during": { "keys": during["keys"], "alarmIn": alarm }, "after": after });
    Ok(put_for(&answer, &key.name, "<name>"))
}

async fn condemned_and_armed_otherwise() -> Answer {
    let key = fresh(AGENT);
    let agent = get_agent(key.clone()).await?;
    ask(&agent, "scheduleDestroy", Value::Null).await?;
    ask(&agent, "setAlarm", 300_000).await?;
    sleep(1_800).await;
    let seen = snap(&agent).await?;
    let kept = attempt(agent.rpc("keepAlive", Value::Null)).await;
    let due = match snap(&agent).await {
        Err(error) => told(Err(error)),
        Ok(seen) => {
            let is_due = seen["alarmInSec"].as_f64().is_some_and(|seconds| seconds <= 0.1);
            json!({ "alarmDue": is_due })
        }
    };
    sleep(500).await;
    let end = attempt(Peer::of(key).rpc("snap", Value::Null)).await;
    let end = if_ok(end, |seen| pick(seen, &[("keys", "keys"), ("alarm", "alarmInSec")]));
    let after = json!({ "keys": seen["keys"], "alarm": rounded(&seen["alarmInSec"], 1.0) });
    Ok(json!({ "after1_8s": after, "thenKeepAlive": kept, "afterKeepAlive": due, "end": end }))
}
