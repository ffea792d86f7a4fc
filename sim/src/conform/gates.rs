//! Gates and order: what comes in while an object waits (platform facts 27-29, 38-40).

use super::front::{Answer, Peer, sleep};
use super::memory;
use super::object::Probe;
use super::probe::Probe as Entry;
use super::probe::front;
use model::js;
use model::platform::ObjectKey;
use serde_json::json;
use std::future::Future;
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("G1", interleave(|o| wait_storage(o, 300), 0)),
    front!("G1b", interleave(|o| wait_sync(o, 50), 0)),
    front!("G2", interleave(|o| wait_fetch(o, 300), 60)),
    front!("G3", interleave(|o| wait_timer(o, 300), 60)),
    front!("G4", interleave(|o| wait_stub(o, 300), 60)),
    front!("G10", order_of_delivery()),
];

async fn wait_storage(o: Rc<Probe>, times: u32) -> Answer {
    o.log("A-start");
    for n in 0..times {
        let key = format!("k{n}");
        o.put(&key, json!(n)).await?;
        o.get(&key).await?;
    }
    o.log("A-end");
    Ok(json!("done"))
}

async fn wait_sync(o: Rc<Probe>, times: u32) -> Answer {
    o.log("A-start");
    for n in 0..times {
        o.put(&format!("k{n}"), json!(n)).await?;
        o.sync().await?;
    }
    o.log("A-end");
    Ok(json!("done"))
}

/// Fetches from the server elsewhere, which answers after `ms`.
pub(super) async fn slow_fetch(ms: u64) -> Answer {
    let server = Peer::of(ObjectKey::named("Server", "server"));
    server.status(format!("/slow/{ms}")).wait().await
}

pub(super) async fn wait_fetch(o: Rc<Probe>, ms: u64) -> Answer {
    o.log("A-start");
    slow_fetch(ms).await?;
    o.log("A-end");
    Ok(json!("done"))
}

pub(super) async fn wait_timer(o: Rc<Probe>, ms: u64) -> Answer {
    o.log("A-start");
    sleep(ms).await;
    o.log("A-end");
    Ok(json!("done"))
}

async fn wait_stub(o: Rc<Probe>, ms: u64) -> Answer {
    o.log("A-start");
    let quiet = Peer::fresh().run(move |_| async move {
        sleep(ms).await;
        Ok(json!("slept"))
    });
    quiet.wait().await?;
    o.log("A-end");
    Ok(json!("done"))
}

/// `a` and, `gap_ms` later, a `mark` on the same stub.
pub(super) async fn interleave<F>(a: impl FnOnce(Rc<Probe>) -> F + 'static, gap_ms: u64) -> Answer
where
    F: Future<Output = Answer> + 'static,
{
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    let first = s.run(a);
    sleep(gap_ms).await;
    js::try_all(vec![first, s.mark()]).wait().await?;
    Ok(json!({ "order": memory::trace(from) }))
}

async fn order_of_delivery() -> Answer {
    let mut in_order = serde_json::Map::new();
    for mode in ["rpc", "fetch", "mixed", "stubs4"] {
        let s = Peer::fresh();
        s.ping().wait().await?;
        let from = memory::log_len();
        let mut calls = Vec::new();
        for n in 0..40_u64 {
            let stub = if mode == "stubs4" { s.again() } else { s.clone() };
            let is_fetch = mode == "fetch" || (mode == "mixed" && n % 2 == 1);
            calls.push(if is_fetch { stub.status(format!("/seen/{n}")) } else { stub.rpc("seen", json!(n)) });
        }
        js::try_all(calls).wait().await?;
        let seen = memory::log_from(from).into_iter().filter(|entry| entry.tag == "seen");
        let seen: Vec<u64> = seen.filter_map(|entry| entry.what.as_u64()).collect();
        in_order.insert(mode.to_owned(), json!(seen.is_sorted()));
    }
    Ok(json!({ "inOrder": in_order }))
}
