//! Names and starts of agents (platform facts 163-173, 188).

use super::super::front::{Answer, Peer, told};
use super::super::memory;
use super::super::probe::Probe as Entry;
use super::super::probe::front;
use super::caller::{ask, attempt, fresh, get_agent, getting, put_for, snap};
use super::{AGENT, behaviours};
use model::js;
use model::platform::ObjectKey;
use serde_json::{Value, json};

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("AG1", fresh_by_name()),
    front!("AG1b", fresh_by_a_plain_call()),
    front!("AG9", not_addressed_by_name()),
    front!("AG9b", named_otherwise()),
    front!("AG10", start_throws_once()),
    front!("AG11", five_at_once()),
];

async fn fresh_by_name() -> Answer {
    let key = fresh(AGENT);
    let mut seen = snap(&get_agent(key.clone()).await?).await?;
    seen.as_object_mut().and_then(|seen| seen.remove("instance"));
    Ok(put_for(&seen, &key.name, "<name>"))
}

async fn fresh_by_a_plain_call() -> Answer {
    let key = fresh(AGENT);
    let peer = Peer::of(key.clone());
    let mut seen = snap(&peer).await?;
    seen["onStarts"] = ask(&peer, "onStarts", Value::Null).await?;
    let fields = ["psName", "keys", "onStarts", "name"].map(|field| (field, field));
    Ok(put_for(&behaviours::pick(&seen, &fields), &key.name, "<name>"))
}

async fn not_addressed_by_name() -> Answer {
    let unique = Peer::of(ObjectKey::unique(AGENT, format!("{:064x}", 9)));
    let hex = Peer::of(fresh(AGENT)).by_id();
    let before = snap(&unique).await?;
    let init_on_hex = attempt(hex.rpc("initialise", Value::Null)).await;
    let fetching = hex.fetch("/");
    let fetched = attempt(js::call(async move {
        let response = fetching.wait().await?;
        Ok(json!([response.status, response.body.lines().next().unwrap_or_default()]))
    }));
    let fetch_on_hex = fetched.await;
    let set = attempt(unique.rpc("setName", json!({ "name": "given" }))).await;
    let after = snap(&unique).await?;
    Ok(json!({
        "name": before["name"], "initOnHex": init_on_hex, "fetchOnHex": fetch_on_hex, "setName": set,
        "afterSetName": { "name": after["name"], "psName": after["psName"] },
    }))
}

async fn named_otherwise() -> Answer {
    let peer = Peer::of(ObjectKey::named(AGENT, "fixed-name"));
    Ok(json!({ "r": attempt(peer.rpc("setName", json!({ "name": "other" }))).await }))
}

async fn start_throws_once() -> Answer {
    let key = fresh(AGENT);
    memory::note(format!("failStart:{}", key.name), 1);
    let first = get_agent(key.clone()).await.map(|_| json!("an agent"));
    let second = js::call(async move { ask(&get_agent(key).await?, "onStarts", Value::Null).await });
    Ok(json!({ "first": told(first), "onStartsInSecond": attempt(second).await }))
}

async fn five_at_once() -> Answer {
    let key = fresh(AGENT);
    memory::note(format!("slowStart:{}", key.name), 1);
    let agents: Vec<_> = (0..5).map(|_| getting(key.clone())).collect();
    let mut first = None;
    for agent in agents {
        first.get_or_insert(agent.wait().await?);
    }
    let first = first.expect("there are five");
    Ok(json!({ "onStarts": ask(&first, "onStarts", Value::Null).await? }))
}
