//! The class of the probes' objects: it runs what it is told to run, and writes down what its alarm was told.

use super::alarm_handler;
use super::front::Answer;
use super::memory::{self, Entry};
use model::js::{self, EventLoop};
use model::platform::{
    AlarmInfo, DurableObject, FetchRequest, FetchResponse, JsError, ListRange, LocalFuture, ObjectContext, Socket,
    Storage, StorageCall, Transaction, module_scope,
};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

model::operations! {
    GET = "probe · storage.get", Storage, 3; "storage"
    PUT = "probe · storage.put", Storage, 3; "storage"
    DELETE = "probe · storage.delete", Storage, 3; "storage"
    LIST = "probe · storage.list", Storage, 3; "storage"
    DELETE_ALL = "probe · storage.deleteAll", Storage, 3; "storage"
    SET_ALARM = "probe · storage.setAlarm", Storage, 3; "storage"
    GET_ALARM = "probe · storage.getAlarm", Storage, 3; "storage"
    DELETE_ALARM = "probe · storage.deleteAlarm", Storage, 3; "storage"
    SYNC = "probe · storage.sync", Section, 1; "storage"
    SECTION = "probe · blockConcurrencyWhile", Section, 1; "its callback"
    TRANSACTION = "probe · storage.transaction", Section, 1; "its callback"
}

/// How many incarnations the isolate has seen.
#[derive(Default)]
struct Constructed(Cell<u64>);

/// One incarnation.
pub struct Probe {
    /// What the platform gave it.
    pub ctx: ObjectContext,
    /// Its number in the isolate.
    pub instance: u64,
    /// How often it was pinged.
    pub count: Cell<u64>,
    /// `ctx.id.name` in the constructor.
    pub constructor_name: Option<Arc<str>>,
    /// How often its alarm ran.
    pub alarm_runs: Cell<u64>,
    has_alarm: bool,
}

impl Probe {
    /// The constructor.
    pub fn construct(ctx: ObjectContext, has_alarm: bool) -> Rc<Probe> {
        let constructed = module_scope::<Constructed>();
        constructed.0.set(constructed.0.get() + 1);
        let constructor_name = ctx.id_name();
        let probe = Rc::new(Probe {
            instance: constructed.0.get(),
            count: Cell::new(0),
            alarm_runs: Cell::new(0),
            constructor_name,
            has_alarm,
            ctx,
        });
        probe.log_with("ctor", json!({ "name": probe.constructor_name.as_deref() }));
        super::sections::construct(&probe);
        probe
    }

    /// Writes a line of the log.
    pub fn log(&self, tag: &'static str) {
        self.log_with(tag, Value::Null);
    }

    /// The same, telling something besides.
    pub fn log_with(&self, tag: &'static str, what: Value) {
        memory::log(Entry { tag, who: self.ctx.key().name.to_string(), what });
    }

    /// `ctx.storage`.
    pub fn storage(&self) -> Storage {
        self.ctx.storage()
    }

    /// `get(key)`; `None` is `undefined`.
    pub fn get(&self, key: &str) -> StorageCall<Option<Arc<Value>>> {
        self.storage().get(&GET, key)
    }

    /// `put(key, value)`.
    pub fn put(&self, key: &str, value: Value) -> StorageCall<()> {
        self.storage().put(&PUT, key, value)
    }

    /// `getAlarm()`.
    pub fn get_alarm(&self) -> StorageCall<Option<u64>> {
        self.storage().get_alarm(&GET_ALARM)
    }

    /// `setAlarm(Date.now() + ms)`.
    pub fn set_alarm_after(&self, ms: i64) -> StorageCall<()> {
        self.storage().set_alarm(&SET_ALARM, self.after(ms))
    }

    /// The same, awaited; answers the time.
    pub async fn set_alarm_in(&self, ms: i64) -> Answer {
        let at = self.after(ms);
        self.storage().set_alarm(&SET_ALARM, at).await?;
        Ok(json!(at))
    }

    fn after(&self, ms: i64) -> i64 {
        i64::try_from(EventLoop::current().now_ms()).unwrap_or(i64::MAX) + ms
    }

    /// `deleteAlarm()`.
    pub fn delete_alarm(&self) -> StorageCall<()> {
        self.storage().delete_alarm(&DELETE_ALARM)
    }

    /// `sync()`.
    pub fn sync(&self) -> StorageCall<()> {
        self.storage().sync(&SYNC)
    }

    /// `list()` as an object.
    pub async fn list_all(&self) -> Answer {
        let rows = self.storage().list(&LIST, ListRange::default()).await?;
        Ok(Value::Object(rows.iter().map(|(key, value)| (key.to_string(), (**value).clone())).collect::<Map<_, _>>()))
    }

    /// `transaction(closure)`.
    ///
    /// # Errors
    /// What the closure throws.
    pub async fn transaction<F>(&self, closure: impl FnOnce(Transaction) -> F + 'static) -> Answer
    where
        F: Future<Output = Answer> + 'static,
    {
        self.storage().transaction(&TRANSACTION, closure).await
    }

    /// `await blockConcurrencyWhile(callback)`: nobody survives a throw of the callback.
    ///
    /// # Errors
    /// None of the callback.
    pub async fn section<F>(&self, callback: impl FnOnce() -> F + 'static) -> Answer
    where
        F: Future<Output = Answer> + 'static,
    {
        match self.ctx.block_concurrency_while(&SECTION, callback).await? {
            Ok(value) => Ok(value),
            Err(error) => {
                self.ctx.reset_by_section(error);
                std::future::pending().await
            }
        }
    }

    /// `ctx.abort(reason)`: nothing follows.
    pub async fn abort(&self, reason: &str) -> Answer {
        self.ctx.abort(reason)?;
        std::future::pending().await
    }

    /// Runs the code that the caller left, or answers as any class does that lacks the method.
    async fn run(self: Rc<Self>, number: &Value) -> Answer {
        let code = number.as_u64().and_then(memory::take_code).expect("whoever calls leaves code");
        code(self).await
    }
}

impl DurableObject for Probe {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Answer> {
        match method {
            "run" => Box::pin(async move { self.run(&arguments).await }),
            "seen" => {
                self.log_with("seen", arguments.clone());
                Box::pin(async { Ok(arguments) })
            }
            _ => Box::pin(async move { Err(JsError::no_such_method(method)) }),
        }
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        let ok = |body: Value| FetchResponse { status: 200, body: body.to_string(), socket: None };
        if let Some(number) = request.path.strip_prefix("/run/") {
            let number: Value = number.parse::<u64>().map_or(Value::Null, |number| json!(number));
            return Box::pin(async move { self.run(&number).await.map(ok) });
        }
        if let Some(seen) = request.path.strip_prefix("/seen/") {
            self.log_with("seen", json!(seen.parse::<u64>().unwrap_or(u64::MAX)));
        }
        match request.path.as_str() {
            "/throw" => Box::pin(async { Err(JsError::type_error("fetch boom")) }),
            "/ws" => super::sockets::upgrade(&self, &request),
            _ => Box::pin(async move { Ok(ok(json!(self.instance))) }),
        }
    }

    fn alarm(self: Rc<Self>, info: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        Some(Box::pin(alarm_handler::alarm(self, info)))
    }

    fn socket_message(self: Rc<Self>, socket: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        super::sockets::message(&self, &socket, &text)
    }

    fn socket_close(self: Rc<Self>, _: Socket, code: u16) -> LocalFuture<Result<(), JsError>> {
        self.log_with("ws-close", json!({ "tag": "ws-close", "code": code, "instance": self.instance }));
        Box::pin(async { Ok(()) })
    }

    fn has_alarm(&self) -> bool {
        self.has_alarm
    }
}

/// A server elsewhere, as the probes' loopback server is: `/slow/<ms>` answers after that time, `/ws` takes a socket.
pub struct Server(pub ObjectContext);

impl DurableObject for Server {
    fn rpc(self: Rc<Self>, method: &'static str, _: Value) -> LocalFuture<Answer> {
        Box::pin(async move { Err(JsError::no_such_method(method)) })
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        if request.path == "/ws" {
            let accepted = self.0.accept_web_socket(&request, "server").map(|socket| Some(socket.number()));
            return Box::pin(async {
                accepted.map(|socket| FetchResponse { status: 101, body: String::new(), socket })
            });
        }
        Box::pin(async move {
            let ms = request.path.strip_prefix("/slow/").and_then(|ms| ms.parse().ok());
            if let Some(ms) = ms {
                js::timer(ms).wait().await;
            }
            Ok(FetchResponse { status: 200, ..FetchResponse::default() })
        })
    }

    fn alarm(self: Rc<Self>, _: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        None
    }

    fn socket_message(self: Rc<Self>, _: Socket, _: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async { Ok(()) })
    }

    fn socket_close(self: Rc<Self>, _: Socket, _: u16) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async { Ok(()) })
    }

    fn has_alarm(&self) -> bool {
        false
    }
}
