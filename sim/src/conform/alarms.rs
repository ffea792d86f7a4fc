//! The alarm: the setting of it, what `alarm()` is told, retries, and who may come in meanwhile (platform facts 65-91).

use super::front::{Answer, Peer, attempt, attempt_for, pluck, sleep, told, undefined};
use super::memory;
use super::object::{Probe, SET_ALARM};
use super::probe::Probe as Entry;
use super::probe::front;
use super::verdict::LeftOut;
use model::js::{self, EventLoop};
use model::platform::{AlarmInfo, JsError};
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("A1", calls()),
    front!("A2", overwritten()),
    front!("A3", in_the_past()),
    front!("A4", set_inside()),
    front!("A5", deleted_inside("deleteSelf", 500)),
    front!("A6", deleted_inside("deleteThenThrow", 4_500)),
    front!("A7", set_then_throws()),
    front!("A8", throws_once()),
    front!("A9", set_in_retry_wait()),
    front!("A10", deleted_in_retry_wait()),
    front!("A11", due_while_a_request_waits()),
    front!("A12", due_in_a_section()),
    front!("A13", requests_meanwhile()),
    front!("A14", sets_for_now()),
    front!("A15", set_by_a_request_meanwhile()),
    front!("A16", deleted_by_a_request_meanwhile()),
    front!("A17", aborts_inside()),
    front!("A17b", aborts_inside_watched()),
    front!("A18", section_throws_inside()),
    front!("A19", puts_then_throws()),
    front!("A20", deletes_all_inside()),
    front!("A21", class_without_alarm()),
    front!("A22", set_in_the_constructor()),
    front!("A23", twenty_at_once()),
    front!("A24", forty_in_turn()),
    front!("A26", for_the_time_that_runs()),
    front!("A27", reset_from_outside_inside()),
    front!("A28", second_set_meanwhile()),
    front!("AL1", always_throws()),
];

const NO_DATES: &str = "the model's setAlarm takes a number: what is none does not compile";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[LeftOut { id: "A1", path: "undef", why: NO_DATES }];

/// `alarm(info)` of the class: writes down what it is told, then does what `alarm-beh` says.
pub(super) async fn alarm(o: Rc<Probe>, info: AlarmInfo) -> Result<(), JsError> {
    o.alarm_runs.set(o.alarm_runs.get() + 1);
    let todo = o.get("alarm-beh").await?;
    let shown = o.get_alarm().await?;
    let name = o.ctx.id_name();
    let record = json!({
        "t": EventLoop::current().now_ms(), "name": name.as_deref(), "instance": o.instance, "getAlarm": shown,
        "retryCount": info.retry_count, "isRetry": info.is_retry(), "scheduledTime": info.scheduled_ms,
    });
    memory::record_alarm(&o.ctx.key().name, record);
    o.log("alarm-start");
    let todo = todo.as_ref().and_then(|value| value.as_str()).unwrap_or("record").to_owned();
    act(&o, &todo, info).await?;
    o.log("alarm-end");
    Ok(())
}

async fn act(o: &Rc<Probe>, todo: &str, info: AlarmInfo) -> Result<(), JsError> {
    let runs = o.alarm_runs.get();
    let is_first = |what: &str| memory::count(&format!("{what}:{}", o.ctx.key().name)) == 0;
    match todo {
        "throwAlways" => return Err(JsError::new("alarm boom")),
        "throwAfterSet" => {
            o.set_alarm_after(400).await?;
            if runs < 3 {
                return Err(JsError::new("alarm boom after setAlarm"));
            }
            o.delete_alarm().await?;
        }
        "deleteThenThrow" => {
            o.delete_alarm().await?;
            return Err(JsError::new("alarm boom after deleteAlarm"));
        }
        "setSelf" => {
            let before = o.get_alarm().await?;
            if runs < 2 {
                o.set_alarm_after(300).await?;
                let after = if o.get_alarm().await?.is_some() { "number" } else { "object" };
                o.log_with("inAlarm", json!({"before": before, "after": after}));
            } else {
                o.log_with("inAlarm", json!({"before": before}));
            }
        }
        "deleteSelf" => o.delete_alarm().await?,
        "sameTime" if runs == 1 => {
            let is_same = EventLoop::current().now_ms() == info.scheduled_ms;
            memory::note(format!("same:{}", o.ctx.key().name), is_same);
            let at = i64::try_from(info.scheduled_ms).unwrap_or(i64::MAX);
            o.storage().set_alarm(&SET_ALARM, at).await?;
        }
        "slow" => sleep(600).await,
        "slowSetNow" => {
            if runs < 2 {
                o.set_alarm_after(0).await?;
            }
            sleep(400).await;
        }
        "putThenThrow" => {
            let so_far = o.get("from-alarm").await?.and_then(|value| value.as_u64()).unwrap_or(0);
            o.put("from-alarm", json!(so_far + 1)).await?;
            return Err(JsError::new("alarm boom after put"));
        }
        "abortOnce" if is_first("abortOnce") => drop(o.abort("abort in alarm").await),
        "throwOnce" if is_first("once") => return Err(JsError::new("once")),
        "bcwThrow" if is_first("bcwT") => {
            o.section(|| async { Err(JsError::new("bcw in alarm")) }).await?;
        }
        "deleteAllIn" => {
            o.storage().delete_all(&super::object::DELETE_ALL).await?;
            let after = o.get_alarm().await?;
            let keys = o.list_all().await?.as_object().map_or(0, Map::len);
            o.log_with("inAlarm", json!({"after": after, "keys": keys}));
        }
        _ => {}
    }
    Ok(())
}

/// What `inAlarm` lines tell, with their tag, as the recorded probes show them.
fn in_alarm() -> Vec<Value> {
    let lines = memory::log_from(0).into_iter().filter(|entry| entry.tag == "inAlarm");
    lines
        .map(|mut entry| {
            entry.what["tag"] = json!("inAlarm");
            entry.what
        })
        .collect()
}

/// Whole seconds or hundreds of milliseconds between runs.
fn gaps(alarms: &[Value], unit_ms: f64) -> Vec<f64> {
    let at = |record: &Value| record["t"].as_f64().unwrap_or(f64::NAN);
    alarms.windows(2).map(|pair| (at(&pair[1]) - at(&pair[0])) / unit_ms).collect()
}

fn different(alarms: &[Value], field: &str) -> usize {
    let mut values: Vec<String> = pluck(alarms, field).iter().map(Value::to_string).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

/// `original time` where the alarm is still the one that was set.
fn left(alarm: Value, at: &Value, words: &str) -> Value {
    if alarm == *at { json!(words) } else { alarm }
}

async fn calls() -> Answer {
    Peer::fresh().run(api).wait().await
}

async fn api(o: Rc<Probe>) -> Answer {
    let mut out = Map::new();
    let mut say = |what: &str, value: Value| drop(out.insert(what.to_owned(), value));
    let now = i64::try_from(EventLoop::current().now_ms()).unwrap_or(0);
    let at = now + 100_000;
    let shows = |shown: Option<u64>, at: i64| json!(shown.is_some_and(|shown| i64::try_from(shown) == Ok(at)));
    let set = |at: i64| o.storage().set_alarm(&SET_ALARM, at);
    #[expect(clippy::cast_precision_loss, reason = "a date in milliseconds is far below 2^53")]
    let exact = at as f64;
    let set_any = |at: f64| o.storage().set_alarm_at(&SET_ALARM, at);
    say("getNone", json!(o.get_alarm().await?));
    set(at).await?;
    say("setReturns", undefined());
    let shown = o.get_alarm().await?;
    say("getEqualsSet", shows(shown, at));
    say("getType", json!(if shown.is_some() { "number" } else { "object" }));
    set_any(exact + 5.0).await?;
    say("dateAccepted", shows(o.get_alarm().await?, at + 5));
    set(at - 50_000).await?;
    say("overwrites", shows(o.get_alarm().await?, at - 50_000));
    set_any(exact + 0.75).await?;
    let shown = o.get_alarm().await?.and_then(|shown| i64::try_from(shown).ok());
    say("fraction", json!(shown.map(|shown| shown - at)));
    o.delete_alarm().await?;
    say("deleteReturns", undefined());
    say("afterDelete", json!(o.get_alarm().await?));
    say("deleteAgain", told(o.delete_alarm().await.map(|()| undefined())));
    for (what, at) in [("zero", 0.0), ("negative", -5.0), ("nan", f64::NAN), ("infinity", f64::INFINITY)] {
        say(what, told(set_any(at).await.map(|()| undefined())));
    }
    let past = set(1).promise();
    let shown = o.get_alarm().await?;
    past.wait().await?;
    let now = EventLoop::current().now_ms();
    let clamped = match shown {
        None => json!("null"),
        Some(shown) if shown.abs_diff(now) < 20 => json!("now"),
        Some(shown) => json!(shown),
    };
    say("pastClampedWithin", clamped);
    o.delete_alarm().await?;
    say("afterPastDelete", json!(o.get_alarm().await?));
    Ok(Value::Object(out))
}

async fn overwritten() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_in(2_000).wait().await?;
    s.set_alarm_in(200).wait().await?;
    sleep(2_600).await;
    let retry = |record: &Value| json!({"retryCount": record["retryCount"], "isRetry": record["isRetry"]});
    Ok(json!({ "fired": s.alarms().len(), "retry": s.alarms().iter().map(retry).collect::<Vec<_>>() }))
}

async fn in_the_past() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    s.set_alarm_in(-5_000).wait().await?;
    s.run(|o| super::gates::wait_timer(o, 300)).wait().await?;
    sleep(100).await;
    Ok(json!({ "order": memory::trace(from) }))
}

async fn set_inside() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(50, "setSelf").wait().await?;
    sleep(1_300).await;
    let alarms = s.alarms();
    let last = s.get_alarm().wait().await?;
    let inside = in_alarm();
    Ok(json!({
        "runs": alarms.len(), "getAlarmAtStart": pluck(&alarms, "getAlarm"),
        "inAlarm": inside[inside.len() - alarms.len()..], "finalAlarm": last,
    }))
}

async fn deleted_inside(todo: &'static str, wait_ms: u64) -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(50, todo).wait().await?;
    sleep(wait_ms).await;
    Ok(json!({ "runs": s.alarms().len(), "after": s.get_alarm().wait().await? }))
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

async fn due_while_a_request_waits() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    s.set_alarm_in(100).wait().await?;
    s.run(|o| super::gates::wait_timer(o, 400)).wait().await?;
    let timer = memory::trace(from);
    let u = Peer::fresh();
    u.ping().wait().await?;
    let from = memory::log_len();
    u.set_alarm_in(100).wait().await?;
    u.run(|o| super::gates::wait_fetch(o, 400)).wait().await?;
    Ok(json!({ "timer": timer, "fetch": memory::trace(from) }))
}

async fn due_in_a_section() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    s.set_alarm_in(100).wait().await?;
    s.run(|o| super::gates::section_timer(o, 400)).wait().await?;
    sleep(100).await;
    Ok(json!({ "order": memory::trace(from) }))
}

async fn requests_meanwhile() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    s.set_alarm_doing(20, "slow").wait().await?;
    sleep(200).await;
    let shown = s.get_alarm().wait().await?;
    s.mark().wait().await?;
    sleep(700).await;
    Ok(json!({ "order": memory::trace(from), "getAlarmFromRequestDuringAlarm": shown }))
}

async fn sets_for_now() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    s.set_alarm_doing(20, "slowSetNow").wait().await?;
    sleep(1_400).await;
    Ok(json!({ "order": memory::trace(from), "retryCounts": pluck(&s.alarms(), "retryCount") }))
}

async fn set_by_a_request_meanwhile() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "slow").wait().await?;
    sleep(200).await;
    let at = s.set_alarm_in(60_000).wait().await?;
    sleep(800).await;
    let after = s.get_alarm().wait().await?;
    s.delete_alarm().wait().await?;
    Ok(json!({ "runs": s.alarms().len(), "newAlarmKept": after == at }))
}

async fn deleted_by_a_request_meanwhile() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "slow").wait().await?;
    sleep(200).await;
    s.delete_alarm().wait().await?;
    sleep(800).await;
    Ok(json!({ "runs": s.alarms().len(), "ended": ends_of(&s, 0), "after": s.get_alarm().wait().await? }))
}

fn ends_of(s: &Peer, from: usize) -> usize {
    memory::log_from(from).iter().filter(|entry| entry.tag == "alarm-end" && entry.who == *s.key.name).count()
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

async fn deletes_all_inside() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "deleteAllIn").wait().await?;
    sleep(400).await;
    let after = s.get_alarm().wait().await?;
    Ok(json!({ "runs": s.alarms().len(), "in": in_alarm().last().into_iter().collect::<Vec<_>>(), "after": after }))
}

async fn class_without_alarm() -> Answer {
    let s = Peer::fresh_of("NoAlarm");
    s.run(|o| async move { Ok(told(o.set_alarm_after(1_000).await.map(|()| undefined()))) }).wait().await
}

async fn set_in_the_constructor() -> Answer {
    let s = Peer::fresh();
    memory::note(format!("ctorAlarm:{}", s.key.name), 1);
    s.ping().wait().await?;
    sleep(500).await;
    Ok(json!({ "runs": s.alarms().len() }))
}

async fn twenty_at_once() -> Answer {
    let at = EventLoop::current().now_ms() + 500;
    let peers: Vec<Peer> = (0..20).map(|_| Peer::fresh()).collect();
    let ahead = i64::try_from(at - EventLoop::current().now_ms()).unwrap_or(0);
    let set = js::try_all(peers.iter().map(|peer| peer.set_alarm_in(ahead)).collect());
    set.wait().await?;
    sleep(1_200).await;
    Ok(json!({ "eachFiredOnce": peers.iter().all(|peer| peer.alarms().len() == 1) }))
}

async fn forty_in_turn() -> Answer {
    let (mut all_fired, mut never_early) = (true, true);
    for _ in 0..40 {
        let s = Peer::fresh();
        let at = s.set_alarm_in(40).wait().await?;
        let mut waits = 0;
        while s.alarms().is_empty() && waits < 200 {
            sleep(20).await;
            waits += 1;
        }
        all_fired &= !s.alarms().is_empty();
        never_early &= s.alarms().first().is_none_or(|record| record["t"].as_u64() >= at.as_u64());
    }
    Ok(json!({ "allFired": all_fired, "neverEarly": never_early }))
}

async fn for_the_time_that_runs() -> Answer {
    let mut hit = None;
    for _ in 0..12 {
        let s = Peer::fresh();
        let at = s.set_alarm_doing(40, "sameTime").wait().await?;
        sleep(700).await;
        let shown = s.get_alarm().wait().await?;
        let after = left(shown, &at, "still set to the time that has run");
        let is_same = memory::noted(&format!("same:{}", s.key.name)) == Some(json!(true));
        let answer = json!({ "runs": s.alarms().len(), "getAlarmAfter": after });
        s.delete_alarm().wait().await?;
        if is_same {
            hit = hit.or(Some(answer));
        }
    }
    Ok(json!({ "sameMillisecond": hit.unwrap_or_else(|| json!("not hit")) }))
}

async fn reset_from_outside_inside() -> Answer {
    let s = Peer::fresh();
    let at = s.set_alarm_doing(20, "slow").wait().await?;
    sleep(220).await;
    let from = memory::log_len();
    super::front::abort_all();
    sleep(4_500).await;
    let alarms = s.alarms();
    let alarm = s.again().get_alarm().wait().await?;
    Ok(json!({
        "starts": alarms.len(), "ends": ends_of(&s, from), "retryCounts": pluck(&alarms, "retryCount"),
        "names": names(&alarms), "alarmLeft": left(alarm, &at, "original time"),
    }))
}

async fn second_set_meanwhile() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "slow").wait().await?;
    sleep(150).await;
    s.set_alarm_in(100).wait().await?;
    sleep(1_500).await;
    let alarms = s.alarms();
    attempt(s.delete_alarm()).await;
    let overlap = gaps(&alarms, 1.0).first().is_some_and(|gap| *gap < 580.0);
    Ok(json!({ "runs": alarms.len(), "overlap": overlap, "retryCounts": pluck(&alarms, "retryCount") }))
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
