//! One alarm for everything: an own alarm beside schedule rows and the framework's own alarm (platform facts 174-179, 183).

use super::super::front::{Answer, Peer, sleep};
use super::super::memory;
use super::super::probe::Probe as Entry;
use super::super::probe::{Drawn, front};
use super::AGENT;
use super::caller::{ask, fresh, get_agent, rounded, snap, told_of};
use model::rt;
use serde_json::{Value, json};

/// Name of the drawn time at which a probe begins: ms after the full second.
const BEGINS: &str = "probe.begins";

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("AG2", row_and_cancel()).drawing(&[Drawn {
        suite: "agents-0.17.3+executor-patch",
        what: BEGINS,
        value: 700,
        why: "a row is due at a full second: 120 s ahead are 119.3 when the second has begun 700 ms ago",
    }]),
    front!("AG6", own_alarm_fires()),
    front!("AG7", armed_before_the_frameworks()),
    front!("AG7b", armed_without_the_frameworks()),
    front!("AG8", row_behind_an_own_alarm()),
    front!("AG12", callback_throws()),
];

async fn alarm_of(peer: &Peer) -> Answer {
    Ok(snap(peer).await?["alarmInSec"].clone())
}

async fn row_and_cancel() -> Answer {
    sleep(rt::stray("probe", BEGINS)).await;
    let agent = get_agent(fresh(AGENT)).await?;
    ask(&agent, "setAlarm", 60_000).await?;
    let id = ask(&agent, "schedule", json!([120, "tick"])).await?;
    let scheduled = alarm_of(&agent).await?;
    let cancelled = ask(&agent, "cancel", id).await?;
    let after_cancel = alarm_of(&agent).await?;
    ask(&agent, "setAlarm", 60_000).await?;
    let missing = ask(&agent, "cancel", "no-such-id").await?;
    Ok(json!({
        "afterSchedule": rounded(&scheduled, 1.0), "cancelled": cancelled, "afterCancel": after_cancel,
        "cancelMissing": missing, "afterCancelMissing": alarm_of(&agent).await?,
    }))
}

async fn own_alarm_fires() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    ask(&agent, "setAlarm", 100).await?;
    sleep(400).await;
    let last = told_of("alarm", 0).pop();
    let log: Vec<Value> = last.into_iter().map(|seen| json!({ "alarmAfter": seen["alarmAfter"] })).collect();
    Ok(json!({ "log": log, "after": alarm_of(&agent).await? }))
}

async fn armed_before_the_frameworks() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    ask(&agent, "put", json!(["alarm-pre", 60_000])).await?;
    ask(&agent, "setAlarm", 100).await?;
    sleep(400).await;
    Ok(json!({ "after": alarm_of(&agent).await? }))
}

async fn armed_without_the_frameworks() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    ask(&agent, "put", json!(["alarm-pre", 60_000])).await?;
    ask(&agent, "put", json!(["skip-super", 1])).await?;
    ask(&agent, "setAlarm", 100).await?;
    sleep(400).await;
    Ok(json!({ "after": rounded(&alarm_of(&agent).await?, 1.0) }))
}

async fn row_behind_an_own_alarm() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    ask(&agent, "schedule", json!([1, "tick"])).await?;
    ask(&agent, "setAlarm", 300_000).await?;
    let alarm = alarm_of(&agent).await?;
    sleep(2_500).await;
    let rows = snap(&agent).await?["schedules"].clone();
    let runs = told_of("tick", 0).len();
    Ok(json!({ "ownAlarmHidesSchedule": rounded(&alarm, 1.0), "scheduleRowStillThere": rows, "ran": runs }))
}

async fn callback_throws() -> Answer {
    let agent = get_agent(fresh(AGENT)).await?;
    let from = memory::log_len();
    ask(&agent, "schedule", json!([1, "boom"])).await?;
    sleep(6_000).await;
    let seen = snap(&agent).await?;
    let alarms: Vec<Value> =
        told_of("alarm", from).iter().map(|seen| json!({ "superThrew": seen["superThrew"] })).collect();
    let calls = told_of("boom", from).len();
    Ok(json!({ "calls": calls, "alarms": alarms, "rows": seen["schedules"], "alarm": seen["alarmInSec"] }))
}
