//! MCP sessions over time: idle, in a long call, restarted, deleted (platform facts 194, 200, 201, 203).

use super::super::front::Answer;
use super::super::memory;
use super::super::probe::Probe as Entry;
use super::super::probe::driver;
use super::super::world::World;
use super::tidy::tidy;
use model::rt;
use serde_json::{Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    driver!("MC4", idle_under_a_listener),
    driver!("MC5", long_call),
    driver!("MC5b", long_call_under_a_reference),
    driver!("MC7", deleted),
    driver!("MC9", restarted),
];

async fn idle_under_a_listener(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let mut listener = client.send("GET", None, Some(&session));
    listener.head().await;
    rt::sleep_ms(150).await;
    let first = world.snap(&session).await?["instance"].clone();
    rt::sleep_ms(12_500).await;
    let mut call = client.tool(&session, 4, "echo", json!({ "text": "after" }));
    call.done().await;
    let seen = world.snap(&session).await?;
    client.tool(&session, 5, "notify", json!({})).done().await;
    rt::sleep_ms(200).await;
    let starts = memory::trace(0).into_iter().filter(|tag| ["init", "ctor"].contains(tag)).count();
    let stream = json!({ "ended": listener.seen().ended, "gotNotification": listener.says("hello from")[1] });
    Ok(json!({
        "newInstance": seen["instance"] != first, "inits": starts, "tool": call.says("after from"),
        "getStream": stream, "ws": seen["webSockets"],
    }))
}

async fn long_call(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let first = world.snap(&session).await?["instance"].clone();
    let mut call = client.tool(&session, 6, "slow", json!({ "ms": 14_000 }));
    call.done_within(17_000).await;
    let seen = world.snap(&session).await?;
    let log: Vec<&str> = memory::trace(0).into_iter().filter(|tag| tag.starts_with("slow")).collect();
    let outcome = call.outcome();
    let answer = json!({
        "ended": outcome["ended"], "error": outcome["error"], "gotResult": call.says("slow done")[1],
        "toolLog": log, "newInstance": seen["instance"] != first, "keys": seen["keys"],
    });
    Ok(tidy(&answer, &session))
}

async fn long_call_under_a_reference(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let first = world.snap(&session).await?["instance"].clone();
    let mut call = client.tool(&session, 7, "slowKeep", json!({ "ms": 14_000 }));
    call.done_within(17_000).await;
    let seen = world.snap(&session).await?;
    let answer = json!({
        "ended": call.outcome()["ended"], "gotResult": call.says("kept done")[1],
        "newInstance": seen["instance"] != first, "keys": seen["keys"], "alarm": seen["alarmInSec"],
    });
    Ok(tidy(&answer, &session))
}

async fn deleted(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    let mut delete = client.send("DELETE", None, Some(&session));
    delete.done().await;
    let during = world.snap(&session).await?;
    let mut at_once = client.tool(&session, 10, "echo", json!({ "text": "zombie" }));
    at_once.done().await;
    rt::sleep_ms(1_800).await;
    let mut late = client.tool(&session, 11, "echo", json!({ "text": "late" }));
    late.done().await;
    let mut listener = client.send("GET", None, Some(&session));
    listener.done().await;
    let after = world.snap(&session).await?;
    let is_armed = during["alarmInSec"].as_f64().is_some_and(|seconds| seconds > 0.0 && seconds <= 1.0);
    let told = |call: &super::Call| {
        let seen = call.seen();
        json!([seen.status, seen.text])
    };
    let answer = json!({
        "delete": delete.seen().status, "during": { "keys": during["keys"], "alarm": is_armed },
        "postAtOnce": at_once.says("zombie from"), "postLater": told(&late), "getLater": told(&listener),
        "keysAfterTheLateCalls": after["keys"],
    });
    Ok(tidy(&answer, &session))
}

async fn restarted(world: Rc<World>) -> Answer {
    let client = world.client();
    let (session, _) = client.open().await?;
    world.restart();
    let from = memory::log_len();
    let mut call = client.tool(&session, 12, "echo", json!({ "text": "restored" }));
    call.done().await;
    let line = |entry: memory::Entry| {
        let mut line = entry.what;
        line["tag"] = json!(entry.tag);
        line
    };
    let log: Vec<Value> = memory::log_from(from).into_iter().map(line).collect();
    Ok(tidy(&json!({ "tool": call.says("restored from"), "log": log }), &session))
}
