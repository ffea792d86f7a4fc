//! References that keep an agent alive, and what they do to its alarm (platform facts 175-182).

use super::super::front::{Answer, sleep};
use super::super::memory;
use super::super::probe::Probe as Entry;
use super::super::probe::front;
use super::caller::{ask, attempt, fresh, get_agent, rounded, snap, told_of};
use super::{AGENT, FAST};
use serde_json::{Map, Value, json};

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("AG3", own_alarm_and_a_reference()),
    front!("AG4", two_references()),
    front!("AG5", given_back_thrice()),
    front!("AG15", heartbeats()),
    front!("AG16", aborted_under_a_reference()),
    front!("AG17", who_wins()),
];

async fn own_alarm_and_a_reference() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    ask(&agent, "setAlarm", 300_000).await?;
    let kept = agent.rpc("keepAliveWhile", json!(150));
    sleep(50).await;
    let during = snap(&agent).await?["alarmInSec"].clone();
    kept.wait().await?;
    let just_after = snap(&agent).await?["alarmInSec"].clone();
    sleep(100).await;
    let later = snap(&agent).await?["alarmInSec"].clone();
    Ok(json!({ "during": rounded(&during, 1.0), "justAfter": just_after, "later": later }))
}

async fn two_references() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    let (mut refs, mut alarms) = (Vec::new(), Vec::new());
    for (index, method) in ["keepAlive", "keepAlive", "dispose", "dispose"].into_iter().enumerate() {
        if index == 1 {
            ask(&agent, "setAlarm", 300_000).await?;
        }
        refs.push(ask(&agent, method, Value::Null).await?);
        if method == "dispose" {
            sleep(50).await;
        }
        alarms.push(rounded(&snap(&agent).await?["alarmInSec"], 10.0));
    }
    Ok(json!({ "refs": refs, "alarm": alarms }))
}

async fn given_back_thrice() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    Ok(json!({ "refs": ask(&agent, "doubleDispose", Value::Null).await? }))
}

async fn heartbeats() -> Answer {
    let agent = get_agent(fresh(FAST)).await?;
    let from = memory::log_len();
    let first = ask(&agent, "ping", Value::Null).await?;
    ask(&agent, "keepAlive", Value::Null).await?;
    sleep(13_000).await;
    let beats = told_of("alarm", from).len();
    let now = ask(&agent, "ping", Value::Null).await?;
    ask(&agent, "dispose", Value::Null).await?;
    sleep(2_500).await;
    let after = told_of("alarm", from).len() - beats;
    let alarm = snap(&agent).await?["alarmInSec"].clone();
    Ok(json!({
        "alarmsAtLeast11": beats >= 11, "sameInstance": first == now, "alarmsAfterDispose": after, "alarm": alarm,
    }))
}

async fn aborted_under_a_reference() -> Answer {
    let key = fresh(AGENT);
    let agent = get_agent(key.clone()).await?;
    ask(&agent, "keepAlive", Value::Null).await?;
    attempt(agent.rpc("abort", json!("x"))).await;
    let seen = snap(&get_agent(key).await?).await?;
    let is_kept = seen["alarmInSec"].as_f64().is_some_and(|seconds| seconds > 20.0);
    Ok(json!({ "refs": seen["refs"], "alarmKept": is_kept }))
}

async fn who_wins() -> Answer {
    let mut out = Map::new();
    for gap in ["none", "tick", "timer", "inside"] {
        let agent = get_agent(fresh(AGENT)).await?;
        let method = if gap == "inside" { "setThenKaInside" } else { "kaThenSet" };
        ask(&agent, method, gap).await?;
        sleep(80).await;
        out.insert(gap.to_owned(), rounded(&snap(&agent).await?["alarmInSec"], 10.0));
    }
    Ok(Value::Object(out))
}
