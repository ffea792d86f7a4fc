//! `alarm()` of the probes' class: what it writes down, and what it can be told to do.

use super::front::sleep;
use super::memory;
use super::object::{DELETE_ALL, Probe, SET_ALARM};
use model::js::EventLoop;
use model::platform::{AlarmInfo, JsError};
use serde_json::{Map, json};
use std::rc::Rc;

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
            o.storage().delete_all(&DELETE_ALL).await?;
            let after = o.get_alarm().await?;
            let keys = o.list_all().await?.as_object().map_or(0, Map::len);
            o.log_with("inAlarm", json!({"after": after, "keys": keys}));
        }
        _ => {}
    }
    Ok(())
}
