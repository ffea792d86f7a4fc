//! The alarm: the setting of it, what `alarm()` is told, retries, and who may come in meanwhile (platform facts 65-91).

use super::front::{Answer, Peer, attempt, pluck, sleep, told, undefined};
use super::memory;
use super::object::{Probe, SET_ALARM};
use super::probe::Probe as Entry;
use super::probe::{Drawn, front};
use super::verdict::LeftOut;
use model::js::{self, EventLoop};
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("A1", calls()),
    front!("A2", overwritten()),
    front!("A3", in_the_past()).drawing(&[Drawn {
        suite: "core",
        what: "alarm.late",
        value: 5,
        why: "the recorded alarms were late by more than the two trips between worker and object",
    }]),
    front!("A4", set_inside()),
    front!("A5", deleted_inside("deleteSelf", 500)),
    front!("A6", deleted_inside("deleteThenThrow", 4_500)),
    front!("A11", due_while_a_request_waits()),
    front!("A12", due_in_a_section()),
    front!("A13", requests_meanwhile()),
    front!("A14", sets_for_now()).drawing(&[Drawn {
        suite: "core",
        what: "alarm.late",
        value: 1,
        why: "no alarm of these series was on time to the millisecond; A26 is about those that are",
    }]),
    front!("A15", set_by_a_request_meanwhile()),
    front!("A16", deleted_by_a_request_meanwhile()),
    front!("A20", deletes_all_inside()),
    front!("A21", class_without_alarm()),
    front!("A22", set_in_the_constructor()),
    front!("A23", twenty_at_once()),
    front!("A24", forty_in_turn()),
    front!("A26", for_the_time_that_runs()).drawing(&[Drawn {
        suite: "core/2026-11-17",
        what: "alarm.late",
        value: 1,
        why: "no recorded alarm of this series was on time to the millisecond",
    }]),
    front!("A28", second_set_meanwhile()),
];

const NO_DATES: &str = "the model's setAlarm takes a number: what is none does not compile";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[LeftOut { id: "A1", path: "undef", why: NO_DATES }];

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

/// `original time` where the alarm is still the one that was set.
pub(super) fn left(alarm: Value, at: &Value, words: &str) -> Value {
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
    s.run(|o| super::sections::section_timer(o, 400)).wait().await?;
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

pub(super) fn ends_of(s: &Peer, from: usize) -> usize {
    memory::log_from(from).iter().filter(|entry| entry.tag == "alarm-end" && entry.who == *s.key.name).count()
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

async fn second_set_meanwhile() -> Answer {
    let s = Peer::fresh();
    s.set_alarm_doing(20, "slow").wait().await?;
    sleep(150).await;
    s.set_alarm_in(100).wait().await?;
    sleep(1_500).await;
    let alarms = s.alarms();
    attempt(s.delete_alarm()).await;
    let overlap = super::retries::gaps(&alarms, 1.0).first().is_some_and(|gap| *gap < 580.0);
    Ok(json!({ "runs": alarms.len(), "overlap": overlap, "retryCounts": pluck(&alarms, "retryCount") }))
}
