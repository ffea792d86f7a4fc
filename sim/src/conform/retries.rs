//! Alarms that fail: retries, what cancels them, and resets inside `alarm()` (platform facts 76-86).

use super::alarms::{ends_of, left};
use super::front::{Answer, Peer, abort_all, attempt_for, pluck, sleep, undefined};
use super::memory;
use super::probe::Probe as Entry;
use super::probe::front;
use serde_json::{Value, json};

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("A7", set_then_throws()),
    front!("A8", throws_once()),
    front!("A9", set_in_retry_wait()),
    front!("A10", deleted_in_retry_wait()),
    front!("A17", aborts_inside()),
    front!("A17b", aborts_inside_watched()),
    front!("A18", section_throws_inside()),
    front!("A19", puts_then_throws()),
    front!("A27", reset_from_outside_inside()),
    front!("AL1", always_throws()),
];

/// Whole seconds or hundreds of milliseconds between runs.
pub(super) fn gaps(alarms: &[Value], unit_ms: f64) -> Vec<f64> {
    let at = |record: &Value| record["t"].as_f64().unwrap_or(f64::NAN);
    alarms.windows(2).map(|pair| (at(&pair[1]) - at(&pair[0])) / unit_ms).collect()
}

fn different(alarms: &[Value], field: &str) -> usize {
    let mut values: Vec<String> = pluck(alarms, field).iter().map(Value::to_string).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

async fn set_then_throws() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(50, "throwAfterSet").wait().await?;
    sleep(4_500).await;
    let alarms = s.alarms();
    #[expect(clippy::cast_possible_truncation, reason = "a gap of some seconds")]
    let gaps: Vec<i64> = gaps(&alarms, 100.0).into_iter().map(|gap| gap.round() as i64 * 100).collect();
    Ok(json!({
        "runs": alarms.len(), "retryCounts": pluck(&alarms, "retryCount"), "isRetry": pluck(&alarms, "isRetry"),
        "sameScheduledTime": different(&alarms, "scheduledTime"), "gapsMs": gaps,
    }))
}

async fn throws_once() -> Answer {
    let s = Peer::fresh();
    let at = s.set_alarm_doing(50, "throwOnce").wait().await?;
    sleep(700).await;
    let waiting = s.get_alarm().wait().await?;
    sleep(2_600).await;
    let alarms = s.alarms();
    let retry = |record: &Value| json!([record["retryCount"], record["isRetry"], record["scheduledTime"] == at]);
    Ok(json!({
        "runs": alarms.len(),
        "getAlarmWhileWaiting": left(waiting, &at, "the original (past) time"),
        "retry": alarms.iter().map(retry).collect::<Vec<_>>(),
        "sameInstance": different(&alarms, "instance") == 1,
        "after": s.get_alarm().wait().await?,
    }))
}

async fn set_in_retry_wait() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(50, "throwOnce").wait().await?;
    sleep(400).await;
    s.set_alarm_in(100).wait().await?;
    sleep(2_800).await;
    let alarms = s.alarms();
    #[expect(clippy::cast_possible_truncation, reason = "a gap of some seconds")]
    let gaps: Vec<i64> = gaps(&alarms, 1_000.0).into_iter().map(|gap| gap.floor() as i64).collect();
    Ok(json!({ "runs": alarms.len(), "retryCounts": pluck(&alarms, "retryCount"), "gapsSec": gaps }))
}

async fn deleted_in_retry_wait() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(50, "throwOnce").wait().await?;
    sleep(400).await;
    s.delete_alarm().wait().await?;
    sleep(3_000).await;
    Ok(json!({ "runs": s.alarms().len(), "after": s.get_alarm().wait().await? }))
}

fn names(alarms: &[Value]) -> Vec<Value> {
    pluck(alarms, "name").into_iter().map(|name| if name.is_null() { name } else { json!("name") }).collect()
}

async fn aborts_inside() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "abortOnce").wait().await?;
    sleep(3_500).await;
    let alarms = s.alarms();
    Ok(json!({
        "runs": alarms.len(), "retryCounts": pluck(&alarms, "retryCount"), "newInstance": different(&alarms, "instance"),
        "names": names(&alarms), "after": s.again().get_alarm().wait().await?,
    }))
}

async fn aborts_inside_watched() -> Answer {
    let s = Peer::fresh();
    let at = s.set_alarm_doing(20, "abortOnce").wait().await?;
    sleep(3_500).await;
    let n = s.again();
    let mid = n.get_alarm().wait().await?;
    sleep(8_500).await;
    let alarms = s.alarms();
    #[expect(clippy::cast_possible_truncation, reason = "a gap of some seconds")]
    let gaps: Vec<i64> = gaps(&alarms, 1_000.0).into_iter().map(|gap| gap.round() as i64).collect();
    Ok(json!({
        "runs": alarms.len(), "retryCounts": pluck(&alarms, "retryCount"), "getAlarmInside": pluck(&alarms, "getAlarm"),
        "mid": left(mid, &at, "original time"), "end": left(n.get_alarm().wait().await?, &at, "original time"),
        "gaps": gaps,
    }))
}

async fn section_throws_inside() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "bcwThrow").wait().await?;
    sleep(3_500).await;
    let alarms = s.alarms();
    let instances = different(&alarms, "instance");
    Ok(json!({ "runs": alarms.len(), "retryCounts": pluck(&alarms, "retryCount"), "newInstance": instances }))
}

async fn puts_then_throws() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "putThenThrow").wait().await?;
    sleep(300).await;
    let value =
        s.run(|o| async move { Ok(o.get("from-alarm").await?.map_or_else(undefined, |value| (*value).clone())) });
    let value = value.wait().await?;
    s.delete_alarm().wait().await?;
    Ok(json!({ "value": value }))
}

async fn reset_from_outside_inside() -> Answer {
    let s = Peer::fresh();
    let at = s.set_alarm_doing(20, "slow").wait().await?;
    sleep(220).await;
    let from = memory::log_len();
    abort_all();
    sleep(4_500).await;
    let alarms = s.alarms();
    let alarm = s.again().get_alarm().wait().await?;
    Ok(json!({
        "starts": alarms.len(), "ends": ends_of(&s, from), "retryCounts": pluck(&alarms, "retryCount"),
        "names": names(&alarms), "alarmLeft": left(alarm, &at, "original time"),
    }))
}

async fn always_throws() -> Answer {
    let s = Peer::fresh();
    let at = s.set_alarm_doing(50, "throwAlways").wait().await?;
    sleep(200_000).await;
    let alarms = s.alarms();
    let after = attempt_for(4_000, s.get_alarm()).await["ok"].clone();
    let mut shown = pluck(&alarms, "getAlarm");
    shown.dedup();
    Ok(json!({
        "runs": alarms.len(), "retryCounts": pluck(&alarms, "retryCount"), "isRetry": pluck(&alarms, "isRetry"),
        "getAlarmInside": shown, "alarmAfterGivingUp": left(after, &at, "still the original time"),
        "instances": different(&alarms, "instance"),
    }))
}
