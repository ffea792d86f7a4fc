//! Work that goes on after the answer (platform facts 125-128).

use super::front::{Answer, Peer, attempt, sleep};
use super::object::Probe;
use super::probe::Probe as Entry;
use super::probe::front;
use model::js;
use model::platform::JsError;
use serde_json::json;
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("W1", after_the_answer()),
    front!("W2", after_a_throw()),
    front!("W3", rejected()),
    front!("W4", aborted()),
];

/// Starts a put that comes after a timer.
fn start_put(o: &Rc<Probe>, waits_until: bool) {
    let background = Rc::clone(o);
    let work = js::call(async move {
        sleep(300).await;
        background.put("bg", json!(background.instance)).await?;
        background.log("bg-done");
        Ok::<(), JsError>(())
    });
    if waits_until {
        o.ctx.wait_until(work);
    }
}

async fn is_put(peer: &Peer) -> Result<bool, JsError> {
    let put = peer.run(|o| async move { Ok(json!(o.get("bg").await?.is_some())) });
    Ok(put.wait().await? == json!(true))
}

async fn after_the_answer() -> Answer {
    let (a, b) = (Peer::fresh(), Peer::fresh());
    for (peer, waits_until) in [(&a, true), (&b, false)] {
        let start = peer.run(move |o| async move {
            start_put(&o, waits_until);
            Ok(json!("responded"))
        });
        start.wait().await?;
    }
    sleep(600).await;
    Ok(json!({ "withWaitUntil": is_put(&a).await?, "without": is_put(&b).await? }))
}

async fn after_a_throw() -> Answer {
    let (a, b) = (Peer::fresh(), Peer::fresh());
    let mut callers = Vec::new();
    for (peer, waits_until) in [(&a, true), (&b, false)] {
        let start = peer.run(move |o| async move {
            start_put(&o, waits_until);
            Err(JsError::new("thrown after starting background work"))
        });
        callers.push(attempt(start).await);
    }
    sleep(600).await;
    Ok(json!({ "caller": callers[0], "withWaitUntil": is_put(&a).await?, "without": is_put(&b).await? }))
}

async fn rejected() -> Answer {
    let s = Peer::fresh();
    let first = s.ping().wait().await?;
    let start = s.run(|o| async move {
        o.ctx.wait_until(js::call(async {
            sleep(20).await;
            Err::<(), JsError>(JsError::new("rejected in waitUntil"))
        }));
        Ok(json!("responded"))
    });
    start.wait().await?;
    sleep(150).await;
    Ok(json!({ "sameInstance": s.ping().wait().await? == first }))
}

async fn aborted() -> Answer {
    let s = Peer::fresh();
    let start = s.run(|o| async move {
        start_put(&o, true);
        Ok(json!("responded"))
    });
    start.wait().await?;
    attempt(s.abort("x")).await;
    sleep(600).await;
    Ok(json!({ "ran": is_put(&s.again()).await? }))
}
