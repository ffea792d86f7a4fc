//! Agents that leave memory and are woken by their alarm (platform facts 165, 171, 180, 181).

use super::super::front::Answer;
use super::super::probe::Probe as Entry;
use super::super::probe::driver;
use super::super::world::World;
use super::AGENT;
use super::caller::told_of;
use model::platform::ObjectKey;
use model::rt;
use serde_json::{Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] =
    &[driver!("EV", woken_once_started), driver!("EV2", woken_never_started), driver!("EV3", kept)];

async fn woken(world: Rc<World>, name: &str, starts: bool) -> Answer {
    world.call_agent(ObjectKey::named(AGENT, name), starts, "setAlarm", json!(12_000)).await?;
    rt::sleep_ms(13_500).await;
    Ok(json!({ "a": told_of("alarm", 0) }))
}

async fn woken_once_started(world: Rc<World>) -> Answer {
    woken(world, "ev", true).await
}

async fn woken_never_started(world: Rc<World>) -> Answer {
    woken(world, "ev2", false).await
}

async fn kept(world: Rc<World>) -> Answer {
    let key = ObjectKey::named(AGENT, "ev3");
    world.call_agent(key.clone(), true, "keepAlive", Value::Null).await?;
    let first = world.call_agent(key.clone(), false, "ping", Value::Null).await?;
    rt::sleep_ms(12_500).await;
    let seen = world.call_agent(key, false, "snap", Value::Null).await?;
    let alarm = if seen["alarmInSec"].is_null() { Value::Null } else { json!("still armed") };
    Ok(json!({ "newInstance": seen["instance"] != first, "refs": seen["refs"], "alarm": alarm }))
}
