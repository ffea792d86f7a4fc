//! I/O objects across contexts, and what objects of one isolate share (platform facts 115-124, 130-132).

use super::front::{Answer, Peer, abort_all, attempt, attempt_for, sleep, told, undefined};
use super::memory;
use super::object::{GET_ALARM, Probe};
use super::probe::Probe as Entry;
use super::probe::front;
use super::verdict::LeftOut;
use model::js::{self, EventLoop, Promise, TimerHandle};
use model::platform::{ClientSocket, Connection, FetchRequest, JsError, ObjectKey, Stub, module_scope};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("E7", storage_of_a_predecessor()),
    front!("X2", stubs()),
    front!("X3", client_sockets()),
    front!("X4", connections()),
    front!("X5", storage()),
    front!("X6", abort_of_another()),
    front!("X7", promises()),
    front!("X8", deferred()),
    front!("X9", interval()),
    front!("M1", module_globals()),
];

const NO_SQL: &str = "the host uses no SQL: the model has none";
const NO_STREAMS: &str = "streams and abort signals of the runtime are not modelled: the host's code shares none";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut { id: "E7", path: "sql", why: NO_SQL },
    LeftOut { id: "X5", path: "useSqlExec", why: NO_SQL },
    LeftOut { id: "X9", path: "abort", why: NO_STREAMS },
    LeftOut { id: "X9", path: "write", why: NO_STREAMS },
    LeftOut { id: "X9", path: "read", why: NO_STREAMS },
];

/// What one object leaves in the module scope for another.
#[derive(Default)]
struct Shared {
    object: RefCell<Option<Rc<Probe>>>,
    peer: RefCell<Option<Peer>>,
    socket: RefCell<Option<ClientSocket>>,
    connection: RefCell<Option<Rc<Connection>>>,
    promise: RefCell<Option<Promise<Answer>>>,
    timer: RefCell<Option<TimerHandle>>,
    counter: Cell<u64>,
}

fn shared() -> Rc<Shared> {
    module_scope::<Shared>()
}

fn lent<T: Clone>(slot: &RefCell<Option<T>>) -> Result<T, JsError> {
    slot.borrow().clone().ok_or_else(|| JsError::type_error("Cannot read properties of undefined"))
}

/// Makes an object lend itself to the others.
fn make_self(peer: &Peer) -> Promise<Answer> {
    peer.run(|o| async move {
        let instance = o.instance;
        *shared().object.borrow_mut() = Some(o);
        Ok(json!(instance))
    })
}

/// `make` in one object and then `used` in another, which says what it came to.
async fn cross<M, U>(make: impl FnOnce(Rc<Probe>) -> M + 'static, used: impl FnOnce() -> U + 'static) -> Value
where
    M: Future<Output = Answer> + 'static,
    U: Future<Output = Answer> + 'static,
{
    let (a, b) = (Peer::fresh(), Peer::fresh());
    let made = attempt(a.run(make)).await;
    let used = attempt_for(6_000, b.run(|_| async { Ok(attempt(js::call(used())).await) })).await;
    json!({ "made": made, "used": used })
}

async fn lend_stub() -> Answer {
    *shared().peer.borrow_mut() = Some(Peer::fresh());
    Ok(json!("stored"))
}

async fn stubs() -> Answer {
    let rpc = cross(|_| lend_stub(), || async { lent(&shared().peer)?.ping().wait().await });
    let rpc = rpc.await;
    let fetch = cross(|_| lend_stub(), || async { lent(&shared().peer)?.status("/ping").wait().await });
    let fetch = fetch.await;
    let id = cross(
        |_| lend_stub(),
        || async {
            let id: Value = json!(*lent(&shared().peer)?.key.name);
            Ok(json!(if id.is_string() { "string" } else { "undefined" }))
        },
    );
    Ok(json!({ "rpc": rpc, "fetch": fetch, "id": id.await }))
}

async fn lend_socket() -> Answer {
    let server = Stub::new(ObjectKey::named("Server", "server"));
    let opened = server.fetch(&super::front::CALL, FetchRequest::new("/ws", Vec::new())).await?;
    let socket = server.socket(opened.socket.unwrap_or(0));
    socket.listen(|_| ());
    *shared().socket.borrow_mut() = Some(socket);
    Ok(json!(opened.status))
}

async fn client_sockets() -> Answer {
    let send = cross(|_| lend_socket(), || async { lent(&shared().socket)?.send("hi").map(|()| json!("sent")) });
    let send = send.await;
    let close =
        cross(|_| lend_socket(), || async { lent(&shared().socket)?.close(1_000, "x").map(|()| json!("closed")) });
    Ok(json!({ "send": send, "close": close.await }))
}

async fn lend_connection() -> Answer {
    *shared().connection.borrow_mut() = Some(Rc::new(Connection::dial()));
    Ok(json!("open"))
}

/// What the other end of the lent connection has seen.
fn peer_saw() -> Answer {
    let is_open = lent(&shared().connection)?.is_open();
    Ok(if is_open { json!([["connect"]]) } else { json!([["connect", "end", "close"]]) })
}

async fn connections() -> Answer {
    let close = cross(
        |_| lend_connection(),
        || async {
            lent(&shared().connection)?.close();
            Ok(json!("closed"))
        },
    );
    let close = close.await;
    sleep(300).await;
    let after_close = Peer::fresh().run(|_| async { peer_saw() }).wait().await?;
    let write =
        cross(|_| lend_connection(), || async { lent(&shared().connection)?.write().await.map(|()| json!("wrote")) });
    let write = write.await;
    sleep(300).await;
    let after_write = Peer::fresh().run(|_| async { peer_saw() }).wait().await?;
    Ok(json!({
        "close": close, "peerAfterClose": after_close, "write": write, "peerAfterWrite": after_write,
    }))
}

/// Uses what another object has lent; says what it came to.
async fn use_object(what: &'static str) -> Answer {
    let other = lent(&shared().object)?;
    match what {
        "useStorageGet" => other.get("x").await.map(|value| value.map_or_else(undefined, |value| (*value).clone())),
        "useStoragePut" => other.put("x", json!("cross")).await.map(|()| json!("put")),
        "useStorageSetAlarm" => other.set_alarm_after(60_000).await.map(|()| json!("set")),
        "useStorageGetAlarm" => other.storage().get_alarm(&GET_ALARM).await.map(|at| json!(at)),
        "useWaitUntil" => {
            other.ctx.wait_until(js::timer(1));
            Ok(json!("ok"))
        }
        "useBcw" => other.section(|| async { Ok(json!("ok")) }).await,
        "useId" => Ok(json!(if other.ctx.key().name.is_empty() { "undefined" } else { "string" })),
        _ => Ok(json!(other.count.get())),
    }
}

async fn storage() -> Answer {
    let uses = [
        "useStorageGet",
        "useStoragePut",
        "useStorageSetAlarm",
        "useStorageGetAlarm",
        "useId",
        "useWaitUntil",
        "useBcw",
        "usePlainMethod",
    ];
    let mut out = serde_json::Map::new();
    for what in uses {
        let (a, b) = (Peer::fresh(), Peer::fresh());
        attempt(make_self(&a)).await;
        let used = b.run(move |_| async move { Ok(attempt(js::call(use_object(what))).await) });
        out.insert(what.to_owned(), attempt_for(6_000, used).await);
    }
    Ok(Value::Object(out))
}

async fn storage_of_a_predecessor() -> Answer {
    let s = Peer::fresh();
    make_self(&s).wait().await?;
    attempt(s.abort("bye")).await;
    let next = s.again();
    let mut out = serde_json::Map::new();
    for (field, what) in [
        ("get", "useStorageGet"),
        ("put", "useStoragePut"),
        ("getAlarm", "useStorageGetAlarm"),
        ("memory", "usePlainMethod"),
    ] {
        let used = next.run(move |_| async move { Ok(attempt(js::call(use_object(what))).await) });
        out.insert(field.to_owned(), attempt(used).await);
    }
    Ok(Value::Object(out))
}

async fn abort_of_another() -> Answer {
    let (a, b) = (Peer::fresh(), Peer::fresh());
    let (first_a, first_b) = (a.ping().wait().await?, b.ping().wait().await?);
    make_self(&a).wait().await?;
    let abort = b.run(|_| async {
        lent(&shared().object)?.ctx.abort("abort called through another object's ctx")?;
        std::future::pending().await
    });
    let caller = attempt(abort).await;
    let word = |answer: Value, first: &Value| match answer.get("ok") {
        Some(ok) if ok == first => json!("same instance"),
        Some(_) => json!("new instance"),
        None => answer,
    };
    let (second_a, second_b) = (attempt(a.ping()).await, attempt(b.ping()).await);
    let put = attempt(a.run(|o| async move { o.put("x", json!(1)).await.map(|()| json!("put")) })).await;
    Ok(json!({ "callerOfB": caller, "A": word(second_a, &first_a), "B": word(second_b, &first_b), "AputAfter": put }))
}

async fn promises() -> Answer {
    let await_it = || async { lent(&shared().promise)?.wait().await };
    let lend = |work: Promise<Answer>| {
        *shared().promise.borrow_mut() = Some(work);
        Ok(json!("stored"))
    };
    let timer = cross(
        move |_| async move {
            lend(js::call(async {
                sleep(200).await;
                Ok(json!("from-A"))
            }))
        },
        await_it,
    );
    let timer = timer.await["used"].clone();
    let fetch = cross(move |_| async move { lend(js::call(super::gates::slow_fetch(200))) }, await_it);
    Ok(json!({ "timer": timer, "fetch": fetch.await["used"].clone() }))
}

async fn deferred() -> Answer {
    let (a, b) = (Peer::fresh(), Peer::fresh());
    let make = a.run(|_| async {
        *shared().promise.borrow_mut() = Some(Promise::new());
        Ok(json!("stored"))
    });
    make.wait().await?;
    let waiting = a.run(|o| async move {
        let value = lent(&shared().promise)?.wait().await?;
        o.put("resumed", json!(1)).await?;
        Ok(value)
    });
    let waiting = js::call(attempt_for(3_000, waiting));
    sleep(50).await;
    let resolve = b.run(|_| async {
        lent(&shared().promise)?.settle(Ok(json!(5)));
        Ok(json!("resolved"))
    });
    let resolver = attempt(resolve).await;
    let waiter = waiting.wait().await;
    let stored = a.run(|o| async move { Ok(o.get("resumed").await?.map_or_else(undefined, |value| (*value).clone())) });
    Ok(json!({ "resolver": resolver, "waiter": waiter, "AStored": stored.wait().await? }))
}

/// Writes `interval` every `ms`; the timer that comes next is lent.
fn tick(o: &Rc<Probe>, ms: u64) {
    let again = Rc::clone(o);
    let timer = EventLoop::current().set_timer(
        ms,
        Box::new(move || {
            again.log("interval");
            tick(&again, ms);
        }),
    );
    *shared().timer.borrow_mut() = Some(timer);
}

async fn interval() -> Answer {
    let (a, b) = (Peer::fresh(), Peer::fresh());
    let ticks = || memory::log_from(0).iter().filter(|entry| entry.tag == "interval").count();
    let start = a.run(|o| async move {
        tick(&o, 30);
        Ok(json!("stored"))
    });
    start.wait().await?;
    sleep(100).await;
    let before = ticks();
    let clear = b.run(|_| async {
        lent(&shared().timer)?.clear();
        Ok(told(Ok(json!("cleared"))))
    });
    let cleared = attempt(clear).await;
    sleep(200).await;
    let after = ticks();
    attempt(a.abort("stop interval")).await;
    Ok(json!({ "clearInterval": { "r": cleared, "stillTicking": after > before + 1 } }))
}

async fn module_globals() -> Answer {
    let (a, b, k) = (Peer::fresh(), Peer::fresh(), Peer::fresh_of("ProbeKv"));
    make_self(&a).wait().await?;
    let sees = |peer: &Peer| peer.run(|_| async { Ok(json!(shared().object.borrow().is_some())) });
    let (same, other) = (sees(&b).wait().await?, sees(&k).wait().await?);
    let count = |peer: &Peer| {
        peer.run(|o| async move {
            o.count.set(o.count.get() + 1);
            Ok(json!(o.count.get()))
        })
    };
    let counts = [count(&a).wait().await?, count(&b).wait().await?];
    let set = b.run(|_| async {
        shared().counter.set(7);
        Ok(undefined())
    });
    set.wait().await?;
    let counter = || Peer::fresh().run(|_| async { Ok(json!(shared().counter.get())) });
    attempt(a.abort("x")).await;
    let after_abort = counter().wait().await?;
    abort_all();
    let after_all = counter().wait().await?;
    Ok(json!({
        "globalSharedSameClass": same, "globalSharedOtherClass": other,
        "instanceFieldsSeparate": counts == [json!(1), json!(1)],
        "globalsSurviveAbort": after_abort == json!(7), "globalsSurviveAbortAll": after_all == json!(7),
    }))
}
