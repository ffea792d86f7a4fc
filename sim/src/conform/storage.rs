//! Storage: its calls, lists and transactions (platform facts 51-64).

use super::front::{Answer, Peer, told, undefined};
use super::object::{DELETE, DELETE_ALL, GET, LIST, PUT, Probe};
use super::probe::Probe as Entry;
use super::probe::front;
use super::verdict::LeftOut;
use model::js;
use model::platform::{JsError, ListRange};
use serde_json::{Map, Value, json};
use std::rc::Rc;
use std::sync::Arc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("S1", basics("Probe")),
    front!("S1kv", basics("ProbeKv")),
    front!("S2", list()),
    front!("S3", transactions()),
    front!("S4", delete_all()),
];

const NO_SQL: &str = "the host uses no SQL: the model has none";
const NO_FUNCTIONS: &str = "a value of the model is JSON and cannot be a function or undefined";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut { id: "S1", path: "sqlGetter", why: NO_SQL },
    LeftOut { id: "S1", path: "sqlRows", why: NO_SQL },
    LeftOut { id: "S1", path: "kvTableVisible", why: NO_SQL },
    LeftOut { id: "S1", path: "syncKvApi", why: "the host does not use the synchronous API: the model has none" },
    LeftOut { id: "S1", path: "putFunction", why: NO_FUNCTIONS },
    LeftOut { id: "S1", path: "putUndefined", why: NO_FUNCTIONS },
    LeftOut { id: "S1kv", path: "sqlGetter", why: NO_SQL },
    LeftOut { id: "S1kv", path: "sqlRows", why: NO_SQL },
    LeftOut { id: "S1kv", path: "kvTableVisible", why: NO_SQL },
    LeftOut { id: "S1kv", path: "syncKvApi", why: "the host does not use the synchronous API: the model has none" },
    LeftOut { id: "S1kv", path: "putFunction", why: NO_FUNCTIONS },
    LeftOut { id: "S1kv", path: "putUndefined", why: NO_FUNCTIONS },
    LeftOut { id: "S2", path: "returns", why: "the class of the answer: a list of pairs stands for a Map here" },
    LeftOut { id: "S3", path: "syncRollback", why: NO_SQL },
    LeftOut { id: "S3", path: "tableAfterSyncRollback", why: NO_SQL },
    LeftOut { id: "S4", path: "sqlTables", why: NO_SQL },
];

async fn basics(class: &'static str) -> Answer {
    Peer::fresh_of(class).run(basic_calls).wait().await
}

async fn basic_calls(o: Rc<Probe>) -> Answer {
    let s = o.storage();
    let word = |is_there: bool| if is_there { json!("object") } else { undefined() };
    let mut out = Map::new();
    let mut say = |what: &str, value: Value| drop(out.insert(what.to_owned(), value));
    say("getMissing", word(o.get("nope").await?.is_some()));
    o.put("a", json!({"n": 1})).await?;
    say("putReturns", undefined());
    let mut copy = (*o.get("a").await?.ok_or_else(missing)?).clone();
    copy["n"] = json!(99);
    say("mutatedCopyNotStored", o.get("a").await?.ok_or_else(missing)?["n"].clone());
    say("deleteExisting", json!(s.delete(&DELETE, "a").await?));
    say("deleteMissing", json!(s.delete(&DELETE, "a").await?));
    for (key, value) in [("x", 1), ("y", 2), ("z", 3)] {
        o.put(key, json!(value)).await?;
    }
    say("deleteManyCount", json!(s.delete_many(&DELETE, keys(["x", "y", "absent"])).await?));
    let many = s.get_many(&GET, keys(["z", "absent"])).await?;
    say("getMany", many.iter().map(|(key, value)| json!([**key, **value])).collect());
    for (key, value) in [("c", 3), ("a", 1), ("b", 2)] {
        o.put(key, json!(value)).await?;
    }
    let many = s.get_many(&GET, keys(["c", "a", "b"])).await?;
    say("getManyOrder", many.iter().map(|(key, _)| json!(**key)).collect());
    let numbered: Vec<Arc<str>> = (0..129).map(|n| format!("k{n}").into()).collect();
    let puts = numbered.iter().map(|key| s.put(&PUT, Arc::clone(key), json!(0)).promise()).collect();
    let put = js::try_all::<_, JsError>(puts).wait().await;
    say("put129", told(put.map(|_| undefined())));
    say("delete129", told(s.delete_many(&DELETE, numbered.clone()).await.map(|count| json!(count))));
    say("get129", told(s.get_many(&GET, numbered).await.map(|found| json!(found.len()))));
    say("bigKey", put_said(&o, &"k".repeat(2_049), json!(1)).await);
    say("value129KiB", put_said(&o, "v", json!("v".repeat(129 * 1_024))).await);
    say("value3MiB", put_said(&o, "v", json!("v".repeat(3 * 1_024 * 1_024))).await);
    o.put("", json!(1)).await?;
    say("emptyKey", told(Ok((*o.get("").await?.ok_or_else(missing)?).clone())));
    drop(o.put("ryw", json!(7)));
    say("readYourUnawaitedWrite", (*o.get("ryw").await?.ok_or_else(missing)?).clone());
    drop((o.put("lw", json!(1)), o.put("lw", json!(2)), s.delete(&DELETE, "lw"), o.put("lw", json!(3))));
    say("lastWriteWins", (*o.get("lw").await?.ok_or_else(missing)?).clone());
    Ok(Value::Object(out))
}

fn keys<const N: usize>(keys: [&str; N]) -> Vec<Arc<str>> {
    keys.into_iter().map(Arc::from).collect()
}

fn missing() -> JsError {
    JsError::type_error("Cannot read properties of undefined")
}

async fn put_said(o: &Probe, key: &str, value: Value) -> Value {
    told(o.put(key, value).await.map(|()| undefined()))
}

async fn list() -> Answer {
    Peer::fresh().run(lists).wait().await
}

async fn lists(o: Rc<Probe>) -> Answer {
    let names = ["b", "a", "ab", "aa", "B", "é", "z", "10", "9", "\u{FFFD}", "😀"];
    for (name, value) in names.into_iter().zip(1..) {
        o.put(name, json!(value)).await?;
    }
    let some = |key: &str| Some(Arc::<str>::from(key));
    let all = ListRange::default;
    let rows = [
        ("all", all()),
        ("reverse", ListRange { reverse: true, ..all() }),
        ("prefixA", ListRange::prefix("a")),
        ("limit2", all().limit(2)),
        ("reverseLimit2", ListRange { reverse: true, ..all().limit(2) }),
        ("startInclusive", ListRange { start: some("a"), end: some("b"), ..all() }),
        ("startAfter", ListRange { start_after: some("a"), end: some("z"), ..all() }),
        ("prefixAndStart", ListRange { start: some("aa"), ..ListRange::prefix("a") }),
    ];
    let mut out = Map::new();
    for (what, range) in rows {
        let found = o.storage().list(&LIST, range).await?;
        out.insert(what.to_owned(), found.iter().map(|(key, _)| json!(**key)).collect());
    }
    let refused = [
        ("startAndStartAfter", ListRange { start: some("a"), start_after: some("b"), ..all() }),
        ("limit0", all().limit(0)),
        ("limitNeg", ListRange { limit: Some(-1), ..all() }),
    ];
    for (what, range) in refused {
        let answer = o.storage().list(&LIST, range).await;
        out.insert(what.to_owned(), told(answer.map(|found| json!(found.len()))));
    }
    let count = o.storage().list(&LIST, ListRange::prefix("")).await?.len();
    out.insert("emptyPrefix".to_owned(), json!(count));
    Ok(Value::Object(out))
}

async fn transactions() -> Answer {
    Peer::fresh().run(transact).wait().await
}

async fn transact(o: Rc<Probe>) -> Answer {
    let value = |found: Option<Arc<Value>>| found.map_or(Value::Null, |value| (*value).clone());
    let mut out = Map::new();
    let mut say = |what: &str, value: Value| drop(out.insert(what.to_owned(), value));
    o.put("a", json!(0)).await?;
    let inside = Rc::clone(&o);
    let thrown = o.transaction(|t| async move {
        t.put(&PUT, "a", json!(1)).await?;
        inside.put("b", json!(1)).await?;
        Err(JsError::new("roll me back"))
    });
    say("thrown", told(thrown.await));
    say("afterThrow", o.list_all().await?);
    let rolled = o.transaction(|t| async move {
        t.put(&PUT, "a", json!(2)).await?;
        t.rollback()?;
        Ok(json!("rb"))
    });
    say("rollback", told(rolled.await));
    say("afterRollback", value(o.get("a").await?));
    let used = o.transaction(|t| async move {
        t.rollback()?;
        t.put(&PUT, "a", json!(3)).await.map(|()| undefined())
    });
    say("useAfterRollback", told(used.await));
    let committed = o.transaction(move |t| async move {
        t.put(&PUT, "a", json!(4)).await?;
        Ok(value(t.get(&GET, "a").await?))
    });
    say("commit", told(committed.await));
    say("afterCommit", value(o.get("a").await?));
    let wiped = o.transaction(|t| async move { t.delete_all(&DELETE_ALL).await.map(|()| undefined()) });
    say("deleteAllInTxn", told(wiped.await));
    let inside = Rc::clone(&o);
    let wiped = o.transaction(|_| async move { inside.storage().delete_all(&DELETE_ALL).await.map(|()| undefined()) });
    say("storageDeleteAllInTxn", told(wiped.await));
    let inside = Rc::clone(&o);
    let nested = o.transaction(move |t| async move {
        t.put(&PUT, "n", json!(1)).await?;
        let inner = inside.transaction(|u| async move {
            u.put(&PUT, "n", json!(2)).await?;
            u.rollback().map(|()| undefined())
        });
        inner.await?;
        Ok(value(t.get(&GET, "n").await?))
    });
    say("nested", told(nested.await));
    let at = i64::try_from(js::EventLoop::current().now_ms()).unwrap_or(0) + 60_000;
    let armed = o.transaction(move |t| async move {
        t.set_alarm(&super::object::SET_ALARM, at).await?;
        Err(JsError::new("x"))
    });
    say("alarmRolledBack", told(armed.await));
    say("alarmAfterRollback", json!(o.get_alarm().await?));
    let leaked = Rc::new(std::cell::RefCell::new(None));
    let leak = Rc::clone(&leaked);
    o.transaction(|t| async move {
        *leak.borrow_mut() = Some(t);
        Ok(undefined())
    })
    .await?;
    let leaked = leaked.take().ok_or_else(missing)?;
    say("leakedTxn", told(leaked.put(&PUT, "late", json!(1)).await.map(|()| undefined())));
    Ok(Value::Object(out))
}

async fn delete_all() -> Answer {
    let peer = Peer::fresh();
    peer.run(|o| async move {
        o.put("a", json!(1)).await?;
        o.set_alarm_after(60_000).await?;
        o.storage().delete_all(&DELETE_ALL).await?;
        let keys = o.storage().list(&LIST, ListRange::default()).await?.len();
        let alarm_kept = o.get_alarm().await?.is_some();
        o.put("after", json!(1)).await?;
        let usable = o.get("after").await?.map_or(Value::Null, |value| (*value).clone());
        o.delete_alarm().await?;
        Ok(json!({ "keys": keys, "alarmKept": alarm_kept, "usableAfter": usable }))
    })
    .wait()
    .await
}
