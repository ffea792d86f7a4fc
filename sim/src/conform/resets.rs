//! Resets: from inside, by a timer, from outside, and what of the old code goes on (platform facts 103-111).

use super::front::{Answer, Peer, abort_all, attempt, attempt_for, if_ok, instance_word, sleep, told, undefined};
use super::memory;
use super::object::Probe;
use super::probe::Probe as Entry;
use super::probe::{Drawn, front};
use model::js::{self, EventLoop};
use model::platform::JsError;
use serde_json::{Value, json};
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("E2", abort_with_reason()),
    front!("E3", abort_without_reason()),
    front!("E4", code_after_abort()),
    front!("E5", abort_by_timer()),
    front!("E6", reset_from_outside()),
    front!("E9", code_after_a_reset_from_outside()),
    front!("E10", queued_behind_the_abort()).drawing(&[Drawn {
        suite: "core",
        what: "order.rpc",
        value: 1,
        why: "in the recorded runs no fetch overtook the call that aborts",
    }]),
    front!("E11", put_as_it_is_reset()),
];

pub(super) async fn long_put(o: &Rc<Probe>, ms: u64) -> Answer {
    o.put("first", json!(1)).await?;
    o.log("L-first");
    sleep(ms).await;
    o.log("L-resumed");
    o.put("second", json!(1)).await?;
    o.log("L-second");
    Ok(json!("done"))
}

async fn abort_with_reason() -> Answer {
    let s = Peer::fresh();
    let first = s.ping().wait().await?;
    let rpc = js::call(attempt(s.run(|o| super::gates::wait_timer(o, 1_500))));
    let fetch = js::call(attempt(s.fetch_running(|o| super::gates::wait_timer(o, 1_500))));
    sleep(50).await;
    let aborter = attempt(s.abort("my reason")).await;
    let (rpc, fetch) = (rpc.wait().await, fetch.wait().await);
    let same = attempt(s.ping()).await;
    let other = attempt(s.again().ping()).await;
    Ok(json!({
        "aborter": aborter, "inflightRpc": rpc, "inflightFetch": fetch,
        "sameStub": instance_word(same, &first, "old"), "newStub": instance_word(other, &first, "old"),
    }))
}

async fn abort_without_reason() -> Answer {
    Ok(json!({ "aborter": attempt(Peer::fresh().abort("")).await }))
}

async fn code_after_abort() -> Answer {
    let s = Peer::fresh();
    let from = memory::log_len();
    let code = |o: Rc<Probe>| async move {
        let inner = Rc::clone(&o);
        let tried = js::call(async move {
            let _ended = inner.abort("try to catch me").await;
            inner.log("finally-ran");
            Ok::<(), JsError>(())
        });
        if tried.wait().await.is_err() {
            o.log("caught-abort");
        }
        o.log("after-abort");
        Ok(json!("returned"))
    };
    let caller = attempt(s.run(code)).await;
    sleep(50).await;
    Ok(json!({ "caller": caller, "trace": memory::trace(from) }))
}

async fn abort_by_timer() -> Answer {
    let s = Peer::fresh();
    let armed = s.run(|o| async move {
        EventLoop::current().set_timer(50, Box::new(move || drop(o.ctx.abort("aborted by timer"))));
        Ok(json!("armed"))
    });
    armed.wait().await?;
    sleep(200).await;
    Ok(json!({ "nextCall": attempt(s.ping()).await }))
}

/// The tags from there on that begin so.
fn traced(from: usize, prefix: &str) -> Vec<&'static str> {
    memory::trace(from).into_iter().filter(|tag| tag.starts_with(prefix)).collect()
}

async fn reset_from_outside() -> Answer {
    let s = Peer::fresh();
    let first = s.ping().wait().await?;
    let from = memory::log_len();
    let inflight = js::call(attempt(s.run(|o| async move { long_put(&o, 400).await })));
    sleep(100).await;
    abort_all();
    let inflight = inflight.wait().await;
    sleep(500).await;
    let same = attempt(s.ping()).await;
    let other = attempt(s.again().ping()).await;
    let trace = traced(from, "L-");
    let keys = s.again().list_all().wait().await?;
    Ok(json!({
        "inflight": inflight, "trace": trace, "keys": keys,
        "sameStub": instance_word(same, &first, "old"), "newStub": if_ok(other, |_| json!("new instance")),
    }))
}

/// What still works for code whose object was reset under it.
async fn zombie(o: Rc<Probe>) -> Answer {
    o.put("first", json!(1)).await?;
    o.log("Z-first");
    sleep(300).await;
    o.log("Z-resumed");
    let say = |tag: &'static str, r: Value| o.log_with(tag, json!({ "tag": tag, "r": r }));
    say("Z-put", told(o.put("second", json!(1)).await.map(|()| undefined())));
    let got = o.get("first").await;
    say("Z-get", told(got.map(|value| value.map_or_else(undefined, |value| (*value).clone()))));
    say("Z-setAlarm", told(o.set_alarm_after(9_000_000).await.map(|()| undefined())));
    say("Z-fetch", told(super::gates::slow_fetch(0).await));
    let stub = Peer::named("zstub").ping().wait().await;
    say("Z-stub", told(stub.map(|instance| json!(if instance.is_number() { "number" } else { "undefined" }))));
    Ok(json!("done"))
}

async fn code_after_a_reset_from_outside() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    let caller = js::call(attempt_for(8_000, s.run(zombie)));
    sleep(100).await;
    abort_all();
    let caller = caller.wait().await;
    sleep(3_500).await;
    let lines = memory::log_from(from).into_iter().filter(|entry| entry.tag.starts_with("Z-"));
    let lines: Vec<Value> =
        lines.map(|entry| if entry.what.is_null() { json!({ "tag": entry.tag }) } else { entry.what }).collect();
    let keys = s.again().list_all().wait().await?;
    Ok(json!({ "caller": caller, "zombie": lines, "keys": keys, "alarm": s.again().get_alarm().wait().await? }))
}

async fn queued_behind_the_abort() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let first = js::call(attempt(s.abort("first aborts")));
    let rpc = js::call(attempt(s.ping()));
    let fetch = js::call(attempt(s.status("/ping")));
    let other = js::call(attempt(s.again().ping()));
    Ok(json!({
        "first": first.wait().await, "queuedRpc": rpc.wait().await, "queuedFetch": fetch.wait().await,
        "otherStubRpc": other.wait().await,
    }))
}

async fn put_as_it_is_reset() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    let code = |o: Rc<Probe>| async move {
        let put = o.put("k", json!(1));
        let wait = js::timer(30);
        put.await?;
        o.log("N-put-resolved");
        wait.wait().await;
        o.log("N-after");
        Ok(json!("done"))
    };
    let caller = js::call(attempt(s.run(code)));
    abort_all();
    let caller = caller.wait().await;
    sleep(100).await;
    Ok(json!({ "caller": caller, "trace": traced(from, "N-"), "keys": s.again().list_all().wait().await? }))
}
