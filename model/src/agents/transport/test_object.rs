//! The session object of the tests: transport and server without a product, and tools that echo, take time or break.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::testing::{Method, counted};
use super::{Related, RequestExtra, Transport, Unhandled};
use crate::agents::event_store::EventStore;
use crate::agents::mcp_server::{McpServer, Tools};
use crate::js::{call, js, timer};
use crate::mcp::Frame;
use crate::net::testkit::log;
use crate::operation::{Kind, Operation};
use crate::platform::{
    AlarmInfo, DurableObject, FetchRequest, FetchResponse, JsError, ListRange, LocalFuture, ObjectContext, Socket,
};

static LIST: Operation = Operation { name: "test · list", kind: Kind::Storage, hops: 3, assumed: false, waits_on: "" };

/// The object.
pub(super) struct Session {
    ctx: ObjectContext,
    method: Option<Method>,
    transport: RefCell<Rc<Transport>>,
    server: RefCell<Rc<McpServer>>,
    connected: Cell<bool>,
}

fn new_server() -> Rc<McpServer> {
    let server = McpServer::new("test", "1.0.0", Rc::new(TestTools));
    server.set_on_initialized(Rc::new(|| log("initialized")));
    server
}

impl Session {
    pub(super) fn new(ctx: ObjectContext, method: Option<Method>) -> Self {
        let transport = RefCell::new(Transport::new(ctx.clone(), Rc::default()));
        Session { ctx, method, transport, server: RefCell::new(new_server()), connected: Cell::new(false) }
    }

    async fn start(&self) -> Result<(), JsError> {
        if self.connected.replace(true) {
            return Ok(());
        }
        let (server, transport) = (self.server.borrow().clone(), self.transport.borrow().clone());
        server.connect(transport).await
    }

    /// What a restore does: a new server on a new transport.
    async fn renew(&self) -> Result<(), JsError> {
        *self.transport.borrow_mut() = Transport::new(self.ctx.clone(), Rc::default());
        *self.server.borrow_mut() = new_server();
        self.connected.set(false);
        self.start().await
    }

    async fn rows(&self) -> Result<Value, JsError> {
        let rows = self.ctx.storage().list(&LIST, ListRange::prefix("__mcp_")).await?;
        let rows: Vec<String> = rows.iter().map(|(key, value)| format!("{}={value}", &key[6..])).collect();
        Ok(Value::from(format!("[{}]", rows.join(","))))
    }

    async fn connect_again(&self) -> Result<Value, JsError> {
        self.start().await?;
        let (server, transport) = (self.server.borrow().clone(), self.transport.borrow().clone());
        server.connect(transport).await.map(|()| Value::Null)
    }

    async fn close_twice(&self) -> Result<Value, JsError> {
        self.start().await?;
        let (first, second) = (self.server.borrow().clone(), self.server.borrow().clone());
        let first = counted(async move { first.close().await.expect("its own context") }).await;
        let second = counted(async move { second.close().await.expect("its own context") }).await;
        Ok(json!([first, second]))
    }

    async fn store(&self, arguments: Value) -> Result<Value, JsError> {
        let events = EventStore::new(self.ctx.clone(), Rc::default());
        let (stream, times) = (arguments["stream"].as_str().unwrap_or("c1"), arguments["times"].as_u64().unwrap_or(1));
        for _ in 0..times {
            js(events.store(stream, Arc::new(arguments["message"].clone()))).await?;
        }
        Ok(Value::Null)
    }
}

impl DurableObject for Session {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Result<Value, JsError>> {
        Box::pin(async move {
            let transport = self.transport.borrow().clone();
            let server = self.server.borrow().clone();
            match method {
                "rows" => self.rows().await,
                "renew" => self.renew().await.map(|()| Value::Null),
                "close" => server.close().await.map(|()| Value::Null),
                "close-twice" => self.close_twice().await,
                "connect-again" => self.connect_again().await,
                "capabilities" => Ok(server.client_capabilities()),
                "send" => transport.send(arguments, Related::default()).await.map(|()| Value::Null),
                "feed" => self.start().await.map(|()| transport.feed(arguments)).map(|()| Value::Null),
                "store" => self.store(arguments).await,
                _ => Ok((self.method.expect("the test brings its method"))(self.ctx.clone()).await),
            }
        })
    }

    fn fetch(self: Rc<Self>, request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        Box::pin(async move {
            self.start().await?;
            let socket = self.ctx.accept_web_socket(&request, request.header("method").unwrap_or("GET"))?;
            let number = socket.number();
            let transport = self.transport.borrow().clone();
            let messages = request.header("message").map(|text| serde_json::from_str(text).expect("JSON"));
            let cursor = request.header("cursor").map(str::to_owned);
            drop(call(async move {
                let handled = match messages {
                    Some(Value::Array(messages)) => transport.handle_post(socket, messages).await,
                    Some(message) => transport.handle_post(socket, vec![message]).await,
                    None => transport.handle_get(socket, cursor).await.map_err(Unhandled::from),
                };
                if let Err(Unhandled { error, .. }) = handled {
                    log(format_args!("rejected {error}"));
                }
            }));
            Ok(FetchResponse { status: 101, body: String::new(), socket: Some(number) })
        })
    }

    fn alarm(self: Rc<Self>, _: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        None
    }

    fn socket_message(self: Rc<Self>, _: Socket, text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        let transport = self.transport.borrow().clone();
        Box::pin(async move {
            match Frame::parse(&text) {
                Some(Frame::DeliveryAck { stream_id, .. }) => transport.acknowledge(&stream_id).await,
                _ => Ok(()),
            }
        })
    }

    fn socket_close(self: Rc<Self>, _: Socket, _: u16) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// `echo` gives its arguments back, `slow` after so many ms, `break` has a defect.
struct TestTools;

impl Tools for TestTools {
    fn list(&self) -> Value {
        json!(["echo", "slow", "break"])
    }

    fn call(
        self: Rc<Self>,
        name: &str,
        arguments: Value,
        _: RequestExtra,
    ) -> Option<LocalFuture<Result<Value, JsError>>> {
        match name {
            "echo" => Some(Box::pin(std::future::ready(Ok(arguments)))),
            "slow" => Some(Box::pin(async move {
                timer(arguments["ms"].as_u64().unwrap_or(0)).wait().await;
                log("slow tool ends");
                Ok(arguments)
            })),
            "break" => Some(Box::pin(std::future::ready(Err(JsError::new("a secret"))))),
            _ => None,
        }
    }
}
