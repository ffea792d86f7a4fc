//! Critical sections: `blockConcurrencyWhile`, transactions, and those of constructors (platform facts 26, 30-37).

use super::front::{Answer, Peer, attempt, attempt_for, if_ok, instance_word, sleep};
use super::gates::{interleave, slow_fetch};
use super::memory;
use super::object::{PUT, Probe};
use super::probe::Probe as Entry;
use super::probe::front;
use model::js::{self, EventLoop};
use model::platform::JsError;
use serde_json::{Value, json};
use std::future::Future;
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("G5", interleave(|o| section_timer(o, 300), 60)),
    front!("G5b", interleave(|o| section_fetch(o, 300), 60)),
    front!("G6", timer_before_section()),
    front!("G6b", patiently(timer_then_section_with_fetch)),
    front!("G6c", patiently(later_timer_then_section)),
    front!("G6d", patiently(fetch_then_section)),
    front!("G7", section_throws()),
    front!("G8", section_of_the_constructor()),
    front!("G9", constructor_throws()),
    front!("G11", transaction_waits()),
    front!("GL1", section_waits_for_itself()),
    front!("GL2", section_over_30_s()),
];

/// What the constructor does when a probe asked for it.
pub(super) fn construct(o: &Rc<Probe>) {
    let name = &o.ctx.key().name;
    if memory::take_note(&format!("ctorThrow:{name}")).is_some() {
        o.ctx.reset_by_section(JsError::new("ctor boom"));
    }
    if let Some(ms) = memory::noted(&format!("ctorBcw:{name}")).and_then(|ms| ms.as_u64()) {
        let inside = Rc::clone(o);
        in_constructor(o, move || async move {
            inside.log("ctor-bcw-start");
            sleep(ms).await;
            inside.log("ctor-bcw-end");
            Ok(Value::Null)
        });
    }
    if memory::take_note(&format!("ctorBcwThrow:{name}")).is_some() {
        in_constructor(o, || async {
            sleep(20).await;
            Err(JsError::new("ctor bcw boom"))
        });
    }
    if memory::take_note(&format!("ctorAlarm:{name}")).is_some() {
        drop(o.set_alarm_after(100));
    }
}

/// A section that the constructor does not wait for.
fn in_constructor<F>(o: &Rc<Probe>, callback: impl FnOnce() -> F + 'static)
where
    F: Future<Output = Answer> + 'static,
{
    let o = Rc::clone(o);
    drop(js::call(async move { o.section(callback).await }));
}

pub(super) async fn section_timer(o: Rc<Probe>, ms: u64) -> Answer {
    o.log("A-start");
    let inside = Rc::clone(&o);
    let callback = move || async move {
        inside.log("bcw-start");
        sleep(ms).await;
        inside.log("bcw-end");
        Ok(Value::Null)
    };
    o.section(callback).await?;
    o.log("A-end");
    Ok(json!("done"))
}

async fn section_fetch(o: Rc<Probe>, ms: u64) -> Answer {
    o.log("A-start");
    fetching_section(&o, ms).await?;
    o.log("A-end");
    Ok(json!("done"))
}

async fn fetching_section(o: &Rc<Probe>, ms: u64) -> Answer {
    let inside = Rc::clone(o);
    let callback = move || async move {
        inside.log("bcw-start");
        slow_fetch(ms).await?;
        inside.log("bcw-end");
        Ok(Value::Null)
    };
    o.section(callback).await
}

/// A section of `ms` by a timer that writes its start and end only.
async fn quiet_section(o: &Rc<Probe>, ms: u64) -> Answer {
    let inside = Rc::clone(o);
    let callback = move || async move {
        inside.log("bcw-start");
        sleep(ms).await;
        inside.log("bcw-end");
        Ok(Value::Null)
    };
    o.section(callback).await
}

fn arm_timer(o: &Rc<Probe>, ms: u64) {
    let o = Rc::clone(o);
    EventLoop::current().set_timer(ms, Box::new(move || o.log("timer-fired")));
}

async fn timer_before_section() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    let code = |o: Rc<Probe>| async move {
        arm_timer(&o, 50);
        quiet_section(&o, 300).await?;
        sleep(100).await;
        Ok(json!("done"))
    };
    s.run(code).wait().await?;
    Ok(json!({ "order": memory::trace(from) }))
}

async fn timer_then_section_with_fetch(o: Rc<Probe>) -> Answer {
    arm_timer(&o, 50);
    fetching_section(&o, 300).await?;
    sleep(100).await;
    Ok(json!("done"))
}

async fn later_timer_then_section(o: Rc<Probe>) -> Answer {
    arm_timer(&o, 5_000);
    quiet_section(&o, 100).await?;
    Ok(json!("done"))
}

async fn fetch_then_section(o: Rc<Probe>) -> Answer {
    let fetching = Rc::clone(&o);
    let fetched = js::call(async move {
        slow_fetch(50).await?;
        fetching.log("fetch-resolved");
        Ok::<(), JsError>(())
    });
    quiet_section(&o, 300).await?;
    fetched.wait().await?;
    Ok(json!("done"))
}

/// What `code` comes to within ten seconds, and in which order.
async fn patiently<F>(code: impl FnOnce(Rc<Probe>) -> F + 'static) -> Answer
where
    F: Future<Output = Answer> + 'static,
{
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    let r = attempt_for(10_000, s.run(code)).await;
    Ok(json!({ "r": r, "order": memory::trace(from) }))
}

async fn throwing_section(o: Rc<Probe>) -> Answer {
    o.put("before-bcw", json!(1)).await?;
    let (caught, inside) = (Rc::clone(&o), Rc::clone(&o));
    let callback = move || async move {
        inside.put("inside-bcw", json!(1)).await?;
        sleep(150).await;
        Err(JsError::type_error("bcw boom"))
    };
    if o.section(callback).await.is_err() {
        caught.log("caught-in-handler");
    }
    o.log("after-bcw-throw");
    Ok(json!("survived"))
}

async fn section_throws() -> Answer {
    let s = Peer::fresh();
    let first = s.ping().wait().await?;
    let from = memory::log_len();
    let a = js::call(attempt(s.run(throwing_section)));
    sleep(50).await;
    let b = js::call(attempt(s.ping()));
    let (a, b) = (a.wait().await, b.wait().await);
    let later = attempt(s.ping()).await;
    let other = attempt(s.again().ping()).await;
    let waiting = if_ok(b, |ok| json!({ "ok": if *ok == first { "old instance" } else { "new instance" } }));
    let trace = memory::trace(from);
    Ok(json!({
        "callerSaw": a, "waitingRequestSaw": waiting, "sameStubLater": instance_word(later, &first, "old"),
        "newStubLater": if_ok(other, |_| json!("ok")), "trace": trace, "keys": s.again().list_all().wait().await?,
    }))
}

async fn section_of_the_constructor() -> Answer {
    let s = Peer::fresh();
    let note = format!("ctorBcw:{}", s.key.name);
    memory::note(note.as_str(), 200);
    let from = memory::log_len();
    js::try_all(vec![s.mark(), s.mark()]).wait().await?;
    memory::take_note(&note);
    Ok(json!({ "order": memory::trace(from) }))
}

async fn constructor_throws() -> Answer {
    let word = |answer: Value| if_ok(answer, |_| json!("ok"));
    let s = Peer::fresh();
    memory::note(format!("ctorThrow:{}", s.key.name), 1);
    let (a, again) = (attempt(s.ping()).await, attempt(s.ping()).await);
    let other = attempt(s.again().ping()).await;
    let u = Peer::fresh();
    memory::note(format!("ctorBcwThrow:{}", u.key.name), 1);
    let (b, then) = (attempt(u.ping()).await, attempt(u.ping()).await);
    Ok(json!({
        "ctorThrow": a, "sameStubAgain": word(again), "newStub": word(other), "ctorBcwThrow": b, "then2": word(then),
    }))
}

async fn transaction_waits() -> Answer {
    let s = Peer::fresh();
    s.ping().wait().await?;
    let from = memory::log_len();
    let a = s.run(|o| async move {
        o.log("A-start");
        let inside = Rc::clone(&o);
        o.transaction(|t| async move {
            inside.log("txn-start");
            t.put(&PUT, "x", json!(1)).await?;
            sleep(200).await;
            inside.log("txn-end");
            Ok(Value::Null)
        })
        .await?;
        o.log("A-end");
        Ok(json!("done"))
    });
    sleep(50).await;
    s.mark().wait().await?;
    a.wait().await?;
    Ok(json!({ "order": memory::trace(from) }))
}

async fn section_waits_for_itself() -> Answer {
    let s = Peer::fresh();
    let code = |o: Rc<Probe>| async move {
        let own = o.ctx.key().clone();
        o.section(|| async move { Peer::of(own).ping().wait().await }).await?;
        Ok(json!("no deadlock"))
    };
    Ok(json!({ "r": attempt_for(40_000, s.run(code)).await }))
}

async fn section_over_30_s() -> Answer {
    let s = Peer::fresh();
    let first = s.ping().wait().await?;
    let waiting = s.clone();
    let waiting = js::call(async move {
        sleep(500).await;
        attempt_for(45_000, waiting.ping()).await
    });
    let r = attempt_for(45_000, s.run(|o| section_timer(o, 35_000))).await;
    let waiting = waiting.wait().await;
    let next = attempt(s.again().ping()).await;
    Ok(json!({ "r": r, "waiting": waiting, "newStubNext": instance_word(next, &first, "old") }))
}
