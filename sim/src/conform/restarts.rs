//! The process is killed and starts again: what is kept, and which alarms run (platform facts 7-10, 47, 70, 71, 79).

use super::front::{Answer, Peer, pluck};
use super::memory;
use super::probe::Probe as Entry;
use super::probe::driver;
use super::verdict::LeftOut;
use super::world::World;
use model::platform::ObjectKey;
use model::rt;
use serde_json::{Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    driver!("RS1", alarms_over_a_restart),
    driver!("RS2", killed_after_answers),
    driver!("RS3", killed_inside_alarm),
    driver!("RS4", killed_in_a_retry_wait),
    driver!("RS7", named_after_a_cold_alarm),
];

const NO_DOWNTIME: &str = "an isolate that ends is replaced at once: no alarm of the model falls due in between";
const NO_PROCESS: &str = "the model has no process whose exit there is to see";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut { id: "RS1", path: "exit", why: NO_PROCESS },
    LeftOut { id: "RS1", path: "overdue.*.when", why: NO_DOWNTIME },
    LeftOut { id: "RS1", path: "overdue.*.firedAfterStartMs", why: NO_DOWNTIME },
    LeftOut { id: "RS1", path: "overdueUnique.*.when", why: NO_DOWNTIME },
    LeftOut { id: "RS1", path: "overdueUnique.*.firedAfterStartMs", why: NO_DOWNTIME },
];

fn told(alarm: &Value) -> Value {
    json!({ "name": alarm["name"], "retryCount": alarm["retryCount"], "isRetry": alarm["isRetry"] })
}

async fn alarms_over_a_restart(world: Rc<World>) -> Answer {
    let unique = ObjectKey::unique("Probe", format!("{:064x}", 7));
    let id = unique.clone();
    world.set_alarm("n", 1_500, "record").await?;
    world.set_alarm("later", 5_000, "record").await?;
    world.request(move || Box::pin(async move { Peer::of(id).by_id().set_alarm_in(1_500).wait().await })).await?;
    world.restart();
    rt::sleep_ms(7_000).await;
    let later = |alarm: &Value| {
        let late_ms = alarm["t"].as_u64().unwrap_or(0).saturating_sub(alarm["scheduledTime"].as_u64().unwrap_or(0));
        let mut told = told(alarm);
        told["when"] = json!(if late_ms > 500 { "late (overdue at start)" } else { "on time" });
        told
    };
    let all = |name: &str, told: &dyn Fn(&Value) -> Value| memory::alarms_of(name).iter().map(told).collect::<Vec<_>>();
    Ok(json!({
        "overdue": all("n", &told), "overdueUnique": all(&unique.name, &told), "later": all("later", &later),
    }))
}

async fn killed_after_answers(world: Rc<World>) -> Answer {
    for n in 0..20 {
        world.call(&format!("k{n}"), move |o| async move { o.put("v", json!(n)).await.map(|()| json!("put")) }).await?;
    }
    for n in 0..20 {
        world.set_alarm(&format!("k{n}"), 3_600_000, "record").await?;
    }
    world.restart();
    let (mut puts, mut alarms) = (0, 0);
    for n in 0..20 {
        let name = format!("k{n}");
        let value =
            world.call(&name, |o| async move { Ok(o.get("v").await?.map_or(Value::Null, |value| (*value).clone())) });
        puts += u32::from(value.await? == json!(n));
        let alarm = world.call(&name, |o| async move { o.get_alarm().await.map(|at| json!(at)) });
        alarms += u32::from(alarm.await?.is_number());
    }
    Ok(json!({ "putsKept": puts, "alarmsKept": alarms }))
}

async fn killed_inside_alarm(world: Rc<World>) -> Answer {
    world.set_alarm("n", 50, "slow").await?;
    rt::sleep_ms(350).await;
    let before = memory::alarms_of("n").len();
    world.restart();
    rt::sleep_ms(1_500).await;
    let after: Vec<Value> = memory::alarms_of("n")[before..].iter().map(told).collect();
    let alarm = world.call("n", |o| async move { o.get_alarm().await.map(|at| json!(at)) }).await?;
    Ok(json!({ "startedBeforeKill": before, "afterRestart": after, "getAlarm": alarm }))
}

async fn killed_in_a_retry_wait(world: Rc<World>) -> Answer {
    world.set_alarm("n", 50, "throwAlways").await?;
    rt::sleep_ms(3_500).await;
    let before = memory::alarms_of("n");
    let restarted_ms = rt::now_ms();
    world.restart();
    rt::sleep_ms(1_000).await;
    let when = |alarm: &Value| {
        let after_ms = alarm["t"].as_u64().unwrap_or(0).saturating_sub(restarted_ms);
        json!([alarm["retryCount"], if after_ms < 900 { json!("at once") } else { json!(after_ms) }])
    };
    let after: Vec<Value> = memory::alarms_of("n")[before.len()..].iter().map(when).collect();
    Ok(json!({ "before": pluck(&before, "retryCount"), "after": after }))
}

async fn named_after_a_cold_alarm(world: Rc<World>) -> Answer {
    world.set_alarm("n", 800, "record").await?;
    world.restart();
    rt::sleep_ms(1_500).await;
    let saw = pluck(&memory::alarms_of("n"), "name");
    let then = world.call("n", |o| async move { Ok(json!(o.ctx.id_name().as_deref())) });
    Ok(json!({ "alarmSaw": saw, "thenByName": then.await? }))
}
