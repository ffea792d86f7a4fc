//! What the front worker of a probe can do: reach objects, wait, and put into words what it got.

use super::memory;
use super::object::Probe;
use model::js::{self, Promise};
use model::platform::{FetchRequest, FetchResponse, Isolate, JsError, ObjectKey, Stub};
use serde_json::{Value, json};
use std::future::Future;
use std::rc::Rc;

/// What code comes to: a value, or what it throws.
pub type Answer = Result<Value, JsError>;

/// How long [`attempt`] waits, as the recorded probes did.
const PATIENCE_MS: u64 = 4_000;

model::operations! {
    CALL = "probe · stub.call", Io, 1; "another object"
}

/// An object as its caller has it: one stub. Clones share it.
#[derive(Clone)]
pub struct Peer {
    /// Whose stub it is.
    pub key: ObjectKey,
    stub: Rc<Stub>,
}

impl Peer {
    /// A new stub.
    pub fn of(key: ObjectKey) -> Peer {
        Peer { stub: Rc::new(Stub::new(key.clone())), key }
    }

    /// An object of the probe's class that nobody has called yet.
    pub fn fresh() -> Peer {
        Self::fresh_of("Probe")
    }

    /// The same of another class.
    pub fn fresh_of(class: &'static str) -> Peer {
        Self::of(ObjectKey::named(class, format!("p-{}", memory::count("fresh"))))
    }

    /// The object of that name.
    pub fn named(name: &str) -> Peer {
        Self::of(ObjectKey::named("Probe", name))
    }

    /// Another stub of the same object.
    pub fn again(&self) -> Peer {
        Self::of(self.key.clone())
    }

    /// A stub of the same object by the text of its id, which tells it no name.
    pub fn by_id(&self) -> Peer {
        Peer { stub: Rc::new(Stub::by_id(self.key.clone())), key: self.key.clone() }
    }

    /// Calls the object's method, which runs `code`; the call is made at once.
    pub fn run<F>(&self, code: impl FnOnce(Rc<Probe>) -> F + 'static) -> Promise<Answer>
    where
        F: Future<Output = Answer> + 'static,
    {
        let number = memory::keep_code(Box::new(move |object| Box::pin(code(object))));
        self.rpc("run", json!(number))
    }

    /// Calls a method; the call is made at once.
    pub fn rpc(&self, method: &'static str, arguments: Value) -> Promise<Answer> {
        let stub = Rc::clone(&self.stub);
        js::call(async move { stub.rpc(&CALL, method, arguments).await })
    }

    /// Fetches; the request is made at once.
    pub fn fetch(&self, path: impl Into<String>) -> Promise<Result<FetchResponse, JsError>> {
        let (stub, request) = (Rc::clone(&self.stub), FetchRequest::new(path, Vec::new()));
        js::call(async move { stub.fetch(&CALL, request).await })
    }

    /// The status of a fetch whose handler runs `code`.
    pub fn fetch_running<F>(&self, code: impl FnOnce(Rc<Probe>) -> F + 'static) -> Promise<Answer>
    where
        F: Future<Output = Answer> + 'static,
    {
        let number = memory::keep_code(Box::new(move |object| Box::pin(code(object))));
        self.status(format!("/run/{number}"))
    }

    /// The status of a fetch.
    pub fn status(&self, path: impl Into<String>) -> Promise<Answer> {
        let response = self.fetch(path);
        js::call(async move { response.wait().await.map(|response| json!(response.status)) })
    }

    /// `ping`: number of the instance that answers.
    pub fn ping(&self) -> Promise<Answer> {
        self.run(|o| async move {
            o.count.set(o.count.get() + 1);
            Ok(json!(o.instance))
        })
    }

    /// Every key of its storage with its value.
    pub fn list_all(&self) -> Promise<Answer> {
        self.run(|o| async move { o.list_all().await })
    }

    /// What `getAlarm` answers it.
    pub fn get_alarm(&self) -> Promise<Answer> {
        self.run(|o| async move { o.get_alarm().await.map(|at| json!(at)) })
    }

    /// Makes it set an alarm `ms` ahead; answers the time.
    pub fn set_alarm_in(&self, ms: i64) -> Promise<Answer> {
        self.run(move |o| async move { o.set_alarm_in(ms).await })
    }

    /// The same, and says what `alarm()` is to do.
    pub fn set_alarm_doing(&self, ms: i64, todo: &'static str) -> Promise<Answer> {
        self.run(move |o| async move {
            o.put("alarm-beh", json!(todo)).await?;
            o.set_alarm_in(ms).await
        })
    }

    /// Makes it delete its alarm.
    pub fn delete_alarm(&self) -> Promise<Answer> {
        self.run(|o| async move { o.delete_alarm().await.map(|()| undefined()) })
    }

    /// Makes it call `ctx.abort(reason)`.
    pub fn abort(&self, reason: &'static str) -> Promise<Answer> {
        self.run(move |o| async move { o.abort(reason).await })
    }

    /// Makes it write `mark`.
    pub fn mark(&self) -> Promise<Answer> {
        self.run(|o| async move {
            o.log("mark");
            Ok(json!(o.instance))
        })
    }

    /// What its runs of `alarm()` wrote down, in their order.
    pub fn alarms(&self) -> Vec<Value> {
        memory::alarms_of(&self.key.name)
    }
}

/// One field of each of these records.
pub fn pluck(records: &[Value], field: &str) -> Vec<Value> {
    records.iter().map(|record| record[field].clone()).collect()
}

/// A timer of the running context.
pub async fn sleep(ms: u64) {
    js::timer(ms).wait().await;
}

/// What a promise comes to, in words, unless it takes too long.
pub async fn attempt(promise: Promise<Answer>) -> Value {
    attempt_for(PATIENCE_MS, promise).await
}

/// The same with another patience.
pub async fn attempt_for(ms: u64, promise: Promise<Answer>) -> Value {
    let settled = js::call(async move { Some(promise.wait().await) });
    let late = js::call(async move {
        sleep(ms).await;
        None
    });
    match js::race(vec![settled, late]).wait().await {
        Some(answer) => told(answer),
        None => json!({ "hung": format!("no settlement within {ms} ms") }),
    }
}

/// An answer in words.
pub fn told(answer: Answer) -> Value {
    match answer {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({ "error": described(&error) }),
    }
}

/// An error as the recorded probes describe it: flags are absent rather than false.
pub fn described(error: &JsError) -> Value {
    let flags = [
        ("remote", error.remote),
        ("retryable", error.retryable),
        ("overloaded", error.overloaded),
        ("durableObjectReset", error.durable_object_reset),
    ];
    let flags: serde_json::Map<String, Value> =
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name.to_owned(), json!(true))).collect();
    json!({ "name": error.name, "message": &*error.message, "flags": flags })
}

/// How the recorded probes wrote `undefined`.
pub fn undefined() -> Value {
    json!("undefined")
}

/// `{ ok }` of an attempt as `words` say it, else the attempt as it is.
pub fn if_ok(attempt: Value, words: impl FnOnce(&Value) -> Value) -> Value {
    match attempt.get("ok") {
        Some(ok) => words(ok),
        None => attempt,
    }
}

/// `new instance` where the answer is another one than `first`, else `old`.
pub fn instance_word(attempt: Value, first: &Value, old: &str) -> Value {
    if_ok(attempt, |ok| json!(if ok == first { old } else { "new instance" }))
}

/// `abortAllDurableObjects()`: resets every object of the probe's class from outside.
pub fn abort_all() {
    let cluster = Isolate::current(|isolate| isolate.cluster().clone());
    super::world::abort_all(&cluster);
}
