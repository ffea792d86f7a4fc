//! Turns and commits: what of an object's writes survives its end (platform facts 41-50).

use super::front::{Answer, Peer, attempt, attempt_for, if_ok, sleep, undefined};
use super::memory;
use super::object::{DELETE_ALL, PUT, Probe};
use super::probe::Probe as Entry;
use super::probe::front;
use model::js;
use model::platform::JsError;
use serde_json::{Value, json};
use std::future::Future;
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("S5", put_then_throw()),
    front!("S6", put_await_throw()),
    front!("S7", put_abort()),
    front!("S8", put_await_abort()),
    front!("S8b", put_twice_abort()),
    front!("S9", put_sync_abort()),
    front!("S10", put_timer_abort(20)),
    front!("S10b", put_timer_abort(0)),
    front!("S11", put_transaction_abort()),
    front!("S12", delete_all_abort()),
    front!("S13", aborted_by_another_call()),
];

/// What the caller of `code` saw, and what is left of the object's storage.
async fn survivors<F>(code: impl FnOnce(Rc<Probe>) -> F + 'static) -> Answer
where
    F: Future<Output = Answer> + 'static,
{
    let peer = Peer::fresh();
    let saw = attempt(peer.run(code)).await;
    let next = peer.again();
    let keys = attempt(next.list_all()).await;
    let alarm = attempt(next.get_alarm()).await;
    attempt(next.delete_alarm()).await;
    let alarm = if_ok(alarm, |at| if at.is_null() { Value::Null } else { json!("set") });
    Ok(json!({ "callerSaw": saw, "keysAfter": keys, "alarmAfter": alarm }))
}

async fn put_then_throw() -> Answer {
    survivors(|o| async move {
        drop((o.put("a", json!(1)), o.put("b", json!(2))));
        Err(JsError::new("after puts"))
    })
    .await
}

async fn put_await_throw() -> Answer {
    survivors(|o| async move {
        o.put("a", json!(1)).await?;
        sleep(30).await;
        drop(o.put("b", json!(2)));
        Err(JsError::new("after puts"))
    })
    .await
}

async fn put_abort() -> Answer {
    survivors(|o| async move {
        drop((o.put("a", json!(1)), o.set_alarm_after(600_000)));
        o.abort("abort after put").await
    })
    .await
}

async fn put_await_abort() -> Answer {
    survivors(|o| async move {
        o.put("a", json!(1)).await?;
        o.abort("abort after awaited put").await
    })
    .await
}

async fn put_twice_abort() -> Answer {
    survivors(|o| async move {
        o.put("a", json!(1)).await?;
        o.put("b", json!(2)).await?;
        o.abort("abort after 2 awaited puts").await
    })
    .await
}

async fn put_sync_abort() -> Answer {
    survivors(|o| async move {
        o.put("a", json!(1)).await?;
        o.sync().await?;
        o.abort("abort after sync").await
    })
    .await
}

async fn put_timer_abort(ms: u64) -> Answer {
    survivors(move |o| async move {
        o.put("a", json!(1)).await?;
        sleep(ms).await;
        o.abort(if ms == 0 { "abort after 0 ms timer" } else { "abort after timer" }).await
    })
    .await
}

async fn put_transaction_abort() -> Answer {
    survivors(|o| async move {
        o.transaction(|t| async move { t.put(&PUT, "a", json!(1)).await.map(|()| undefined()) }).await?;
        o.abort("abort after transaction").await
    })
    .await
}

async fn delete_all_abort() -> Answer {
    let peer = Peer::fresh();
    peer.run(|o| async move { o.put("old", json!(1)).await.map(|()| undefined()) }).wait().await?;
    sleep(20).await;
    let saw = attempt(peer.run(|o| async move {
        o.storage().delete_all(&DELETE_ALL).await?;
        o.abort("abort after deleteAll").await
    }));
    let saw = saw.await;
    Ok(json!({ "callerSaw": saw, "keysAfter": peer.again().list_all().wait().await? }))
}

async fn aborted_by_another_call() -> Answer {
    let peer = Peer::fresh();
    let from = memory::log_len();
    let long = js::call(attempt_for(4_000, peer.run(|o| async move { super::resets::long_put(&o, 200).await })));
    sleep(60).await;
    let aborter = attempt(peer.abort("killed")).await;
    let inflight = long.wait().await;
    sleep(300).await;
    let trace: Vec<&str> = memory::trace(from).into_iter().filter(|tag| *tag != "ctor").collect();
    let keys = peer.again().list_all().wait().await?;
    Ok(json!({ "aborter": aborter, "inflight": inflight, "trace": trace, "keys": keys }))
}
