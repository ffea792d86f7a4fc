//! Eviction: who stays in memory, who leaves, and how the next event finds it (platform facts 6, 13-19).

use super::front::{Answer, Peer};
use super::memory;
use super::probe::Probe as Entry;
use super::probe::driver;
use super::world::World;
use model::js::{self, EventLoop};
use model::platform::{JsError, ObjectKey};
use model::rt;
use serde_json::{Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    driver!("EV1", idle),
    driver!("EV2", pending_work),
    driver!("EV3", request_in_progress),
    driver!("EV4", woken_by_its_alarm),
    driver!("EV5", woken_after_long_idleness),
    driver!("CL1", client_goes_away),
];

fn word(first: &Value, now: &Value) -> &'static str {
    if first == now { "same" } else { "new" }
}

async fn idle(world: Rc<World>) -> Answer {
    let (first_a, first_b) = (world.ping("a").await?, world.ping("b").await?);
    world.call("a", |o| async move { o.put("x", json!(1)).await.map(|()| json!("put")) }).await?;
    rt::sleep_ms(9_000).await;
    let second_b = world.ping("b").await?;
    rt::sleep_ms(2_500).await;
    let second_a = world.ping("a").await?;
    let stored =
        world.call("a", |o| async move { Ok(o.get("x").await?.map_or(Value::Null, |value| (*value).clone())) });
    let stored = stored.await?;
    let name = world.call("a", |o| async move { Ok(json!(o.ctx.id_name().as_deref())) }).await?;
    Ok(json!({
        "at9s": word(&first_b, &second_b), "at11_5s": word(&first_a, &second_a), "storage": stored, "name": name,
    }))
}

async fn pending_work(world: Rc<World>) -> Answer {
    let timer = world.call("t", |o| async move {
        let instance = o.instance;
        EventLoop::current().set_timer(14_000, Box::new(move || o.log("long-timer-fired")));
        Ok(json!(instance))
    });
    let timer = timer.await?;
    let until = world.call("u", |o| async move {
        let background = Rc::clone(&o);
        let work = js::call(async move {
            js::timer(14_000).wait().await;
            background.log("long-waitUntil-done");
        });
        o.ctx.wait_until(work);
        Ok(json!(o.instance))
    });
    let until = until.await?;
    rt::sleep_ms(16_000).await;
    let log = memory::trace(0);
    let (timer_now, until_now) = (world.ping("t").await?, world.ping("u").await?);
    Ok(json!({
        "timerFired": log.contains(&"long-timer-fired"), "waitUntilDone": log.contains(&"long-waitUntil-done"),
        "timerInstance": word(&timer, &timer_now), "waitUntilInstance": word(&until, &until_now),
    }))
}

async fn request_in_progress(world: Rc<World>) -> Answer {
    let first = world.ping("a").await?;
    let answer = world.call("a", |o| super::gates::wait_timer(o, 14_000)).await;
    let now = world.ping("a").await?;
    Ok(json!({ "request": super::front::told(answer), "instance": word(&first, &now) }))
}

async fn woken_by_its_alarm(world: Rc<World>) -> Answer {
    const AHEAD_MS: i64 = 13_000;
    let unique = ObjectKey::unique("Probe", format!("{:064x}", 7));
    let id = unique.clone();
    world.set_alarm("n", AHEAD_MS, "record").await?;
    let set = world.request(move || Box::pin(async move { Peer::of(id).by_id().set_alarm_in(AHEAD_MS).wait().await }));
    set.await?;
    let set = world.request(|| Box::pin(async { Peer::named("hexed").by_id().set_alarm_in(AHEAD_MS).wait().await }));
    set.await?;
    rt::sleep_ms(14_500).await;
    let found = |name: &str| -> Vec<Value> {
        let told = |alarm: &Value| {
            let is_first = alarm["instance"].as_u64().is_some_and(|instance| instance <= 3);
            json!({ "name": alarm["name"], "instanceIsFirst": is_first, "retryCount": alarm["retryCount"] })
        };
        memory::alarms_of(name).iter().map(told).collect()
    };
    let after = world.call("n", |o| async move {
        let name = o.ctx.id_name();
        let kind = if name.is_some() { "string" } else { "undefined" };
        Ok(json!({ "name": name.as_deref(), "nameType": kind, "ctorName": o.constructor_name.as_deref() }))
    });
    let after = after.await?;
    Ok(json!({
        "byName": found("n"), "unique": found(&unique.name), "hexOfNamed": found("hexed"), "afterAlarmByName": after,
    }))
}

async fn woken_after_long_idleness(world: Rc<World>) -> Answer {
    world.set_alarm("n", 150_000, "record").await?;
    rt::sleep_ms(153_000).await;
    let told = |alarm: &Value| json!({ "name": alarm["name"], "retryCount": alarm["retryCount"] });
    Ok(json!({ "alarms": memory::alarms_of("n").iter().map(told).collect::<Vec<_>>() }))
}

/// The context of the request ends with its client, while the object still works for it.
async fn client_goes_away(world: Rc<World>) -> Answer {
    world.post(|| {
        Box::pin(async {
            let waiting = Peer::named("c").fetch_running(|o| super::gates::wait_timer(o, 1_500));
            let event_loop = EventLoop::current();
            let context = event_loop.ctx().context;
            event_loop
                .set_timer(300, Box::new(move || EventLoop::current().kill(&context, JsError::connection_lost())));
            drop(waiting.wait().await);
            memory::log(memory::Entry { tag: "client-was-answered", who: String::new(), what: Value::Null });
        })
    });
    rt::sleep_ms(2_300).await;
    Ok(json!({ "log": memory::trace(0) }))
}
