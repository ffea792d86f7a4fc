//! The MCP server object: the protocol between a transport and the tools of a session.
//!
//! A request's handler is not awaited by anyone; it answers through the transport that was attached when the request
//! came. Closing closes the transport and aborts what is in flight: a handler that is still running goes on to its end,
//! and its response goes nowhere.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use serde_json::{Value, json};

use super::transport::{Related, RequestExtra, Transport};
use crate::fx::{Cause, within};
use crate::js::{Promise, call, hops};
use crate::mcp;
use crate::operation::Operation;
use crate::platform::{JsError, LocalFuture, io, micro, operate};
use crate::rt;
use crate::telemetry::console_error;

crate::operations! {
    SERVER_CONNECT = "body · server.connect", Micro, 3; "the transport's start, no I/O"
    SERVER_CLOSE = "teardown · server.close", Micro, 3; "server, protocol, transport, which closes sockets synchronously; without transport two trips"
    MCP_HANDLER = "mcp · handler", Io, 0, assumed; "the protocol's own promise chain, then the tool's effect run"
    MCP_NOTIFICATION = "mcp · notification", Micro, 1, assumed; "a settled value"
}

/// Trips of a close without transport, and of a refused connect.
const SHORT_HOPS: u32 = 2;

/// The tools of a server.
pub trait Tools {
    /// Their descriptions, an array.
    fn list(&self) -> Value;

    /// Calls one; none for an unknown name. An error is a defect: the caller learns a correlation id only.
    fn call(
        self: Rc<Self>,
        name: &str,
        arguments: Value,
        extra: RequestExtra,
    ) -> Option<LocalFuture<Result<Value, JsError>>>;
}

/// A server object as the framework and the class that made it use it.
pub trait Server: Any {
    /// Attaches a transport.
    ///
    /// # Errors
    /// When one is attached: a server object serves one transport in its life.
    fn connect(self: Rc<Self>, transport: Rc<Transport>) -> LocalFuture<Result<(), JsError>>;

    /// Closes the transport with all its connections, aborts what is in flight, and detaches. Again is a no-op.
    ///
    /// # Errors
    /// When a connection cannot be closed; the server stays attached then.
    fn close(self: Rc<Self>) -> LocalFuture<Result<(), JsError>>;

    /// What the client said in its initialize request that it can do; null before one came.
    fn client_capabilities(&self) -> Value;

    /// Asks the client `method` with `params`, on the stream of the request that `extra` comes with.
    ///
    /// # Errors
    /// When there is no transport, the request cannot be sent, the client answers with an error or not in time, or the
    /// server closes.
    fn ask(
        self: Rc<Self>,
        operation: &'static Operation,
        question: (&'static str, Value),
        extra: RequestExtra,
        within_ms: u64,
    ) -> LocalFuture<Result<Value, JsError>>;
}

impl Server for McpServer {
    fn connect(self: Rc<Self>, transport: Rc<Transport>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(McpServer::connect(self, transport))
    }

    fn close(self: Rc<Self>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(async move { McpServer::close(&self).await })
    }

    fn client_capabilities(&self) -> Value {
        McpServer::client_capabilities(self)
    }

    fn ask(
        self: Rc<Self>,
        operation: &'static Operation,
        question: (&'static str, Value),
        extra: RequestExtra,
        within_ms: u64,
    ) -> LocalFuture<Result<Value, JsError>> {
        Box::pin(async move { McpServer::ask(&self, operation, question, &extra, within_ms).await })
    }
}

/// An answer of the client to a request of the server.
type Asked = Promise<Result<Value, JsError>>;

/// A request in flight: its answer is dropped once this is set.
type Aborted = Rc<Cell<bool>>;

/// The server object.
pub struct McpServer {
    info: Value,
    /// What it can do beside tools, by name.
    declared: RefCell<BTreeMap<String, Value>>,
    tools: Rc<dyn Tools>,
    /// Weak, as the transport holds the server: its owner keeps it until after the close.
    transport: RefCell<Option<Weak<Transport>>>,
    in_flight: RefCell<BTreeMap<String, Aborted>>,
    client_capabilities: RefCell<Value>,
    /// Requests of this server that the client has not answered, by id.
    asked: RefCell<BTreeMap<u64, Asked>>,
    asked_count: Cell<u64>,
    on_initialized: RefCell<Option<Rc<dyn Fn()>>>,
}

impl McpServer {
    /// A server that is attached to nothing.
    pub fn new(name: &str, version: &str, tools: Rc<dyn Tools>) -> Rc<Self> {
        Rc::new(McpServer {
            info: json!({"name": name, "version": version}),
            declared: RefCell::default(),
            tools,
            transport: RefCell::new(None),
            in_flight: RefCell::default(),
            client_capabilities: RefCell::default(),
            asked: RefCell::default(),
            asked_count: Cell::new(0),
            on_initialized: RefCell::default(),
        })
    }

    /// Attaches a transport.
    ///
    /// # Errors
    /// When one is attached: a server object serves one transport in its life.
    pub async fn connect(self: Rc<Self>, transport: Rc<Transport>) -> Result<(), JsError> {
        operate::begin(&SERVER_CONNECT).await?;
        if self.transport.borrow().is_some() {
            hops(SHORT_HOPS).await;
            return Err(JsError::new(
                "Already connected to a transport. Call close() before connecting to a new transport, or use a separate \
                 Protocol instance per connection.",
            ));
        }
        *self.transport.borrow_mut() = Some(Rc::downgrade(&transport));
        let server = Rc::clone(&self);
        transport.set_handler(Rc::new(move |message, extra| server.receive(message, extra)));
        hops(SERVER_CONNECT.hops).await;
        operate::end(&SERVER_CONNECT).await
    }

    /// Closes the transport with all its connections, aborts what is in flight, and detaches. Again is a no-op.
    ///
    /// # Errors
    /// When a connection cannot be closed; the server stays attached then.
    pub async fn close(&self) -> Result<(), JsError> {
        operate::begin(&SERVER_CLOSE).await?;
        let attached = self.transport.borrow().as_ref().map(Weak::upgrade);
        let hop_count = if attached.is_some() { SERVER_CLOSE.hops } else { SHORT_HOPS };
        let closed = attached.flatten().map_or(Ok(()), |transport| transport.close());
        if closed.is_ok() {
            self.detach();
        }
        hops(hop_count).await;
        operate::end(&SERVER_CLOSE).await?;
        closed
    }

    /// What the client said in its initialize request that it can do; null before one came.
    pub fn client_capabilities(&self) -> Value {
        self.client_capabilities.borrow().clone()
    }

    /// Sets what runs when the client says that it is initialized. It must not own the server.
    pub fn set_on_initialized(&self, hook: Rc<dyn Fn()>) {
        *self.on_initialized.borrow_mut() = Some(hook);
    }

    /// Declares a capability beside that of tools.
    pub fn declare(&self, capability: &str, what: Value) {
        self.declared.borrow_mut().insert(capability.to_owned(), what);
    }

    /// Sends a notification that belongs to no request.
    ///
    /// # Errors
    /// When there is no transport, or it cannot send.
    pub async fn notify(&self, method: &str, params: Value) -> Result<(), JsError> {
        let transport = self.transport.borrow().as_ref().and_then(Weak::upgrade);
        let transport = transport.ok_or_else(|| JsError::new("Not connected"))?;
        transport.send(json!({"jsonrpc": "2.0", "method": method, "params": params}), Related::default()).await
    }

    fn detach(&self) {
        for aborted in std::mem::take(&mut *self.in_flight.borrow_mut()).into_values() {
            aborted.set(true);
        }
        *self.transport.borrow_mut() = None;
        // Whoever asked goes on nested, and looks into the map.
        let asked = std::mem::take(&mut *self.asked.borrow_mut());
        asked.into_values().for_each(|asked| asked.settle(Err(connection_closed())));
    }

    /// Asks the client, on the stream of the request that `extra` comes with.
    ///
    /// # Errors
    /// When there is no transport, the request cannot be sent, the client answers with an error or not in time, or the
    /// server closes.
    pub async fn ask(
        &self,
        operation: &'static Operation,
        question: (&str, Value),
        extra: &RequestExtra,
        within_ms: u64,
    ) -> Result<Value, JsError> {
        let transport = self.transport.borrow().as_ref().and_then(Weak::upgrade);
        let transport = transport.ok_or_else(|| JsError::new("Not connected"))?;
        let id = self.asked_count.get();
        self.asked_count.set(id + 1);
        let asked = Asked::new();
        self.asked.borrow_mut().insert(id, asked.clone());
        let (method, params) = question;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let related = Related { request: Some(extra.request_id.clone()), connection: extra.connection };
        let unsent = asked.clone();
        drop(call(async move {
            if let Err(error) = transport.send(request, related).await {
                unsent.settle(Err(error));
            }
        }));
        let answered = within(within_ms, |fiber| async move { fiber.or_die(io(operation, || asked)).await }).await;
        self.asked.borrow_mut().remove(&id);
        answered.map_err(Cause::into_error)?.ok_or_else(|| mcp_error(&"-32001", "Request timed out"))
    }

    /// An answer of the client; one to a question that nobody waits for is ignored.
    fn answered(&self, response: &Value) {
        let asked = response["id"].as_u64().and_then(|id| self.asked.borrow_mut().remove(&id));
        let Some(asked) = asked else { return };
        let error = &response["error"];
        asked.settle(if error.is_object() {
            let text = error["message"].as_str().unwrap_or_default();
            Err(mcp_error(&error["code"], text))
        } else {
            Ok(response["result"].clone())
        });
    }

    /// A message from the transport.
    fn receive(self: &Rc<Self>, message: Value, extra: RequestExtra) {
        if mcp::is_request(&message) {
            self.start_request(message, extra);
        } else if mcp::is_response(&message) {
            self.answered(&message);
        } else if matches!(message["method"].as_str(), Some("notifications/initialized" | "notifications/cancelled")) {
            let server = Rc::clone(self);
            drop(call(async move {
                if micro(&MCP_NOTIFICATION).await.is_ok() {
                    server.notified(&message);
                }
            }));
        }
    }

    fn start_request(self: &Rc<Self>, request: Value, extra: RequestExtra) {
        let transport = self.transport.borrow().as_ref().and_then(Weak::upgrade);
        let related = Related { request: None, connection: extra.connection };
        let Some(handler) = self.handler(&request, extra) else {
            let refusal = mcp::error_response(&request["id"], mcp::METHOD_NOT_FOUND, "Method not found");
            if let Some(transport) = transport {
                drop(call(transport.send(refusal, related)));
            }
            return;
        };
        let key = request["id"].to_string();
        let aborted = Aborted::default();
        self.in_flight.borrow_mut().insert(key.clone(), Rc::clone(&aborted));
        let server = Rc::clone(self);
        drop(call(async move {
            let handled = io(&MCP_HANDLER, || call(handler)).await;
            if !aborted.get() {
                let response = response(&request["id"], handled);
                if let Some(transport) = transport {
                    // A failure to send is told to nobody: the client waits.
                    drop(transport.send(response, related).await);
                }
            }
            server.forget(&key, &aborted);
        }));
    }

    /// The handler of a request's method, not yet started.
    fn handler(self: &Rc<Self>, request: &Value, extra: RequestExtra) -> Option<LocalFuture<Result<Value, JsError>>> {
        let params = request["params"].clone();
        let server = Rc::clone(self);
        match request["method"].as_str()? {
            "initialize" => Some(Box::pin(async move { Ok(server.initialize(&params)) })),
            "ping" => Some(Box::pin(async { Ok(json!({})) })),
            "tools/list" => Some(Box::pin(async move { Ok(json!({"tools": server.tools.list()})) })),
            "tools/call" => Some(Box::pin(async move { Ok(server.call_tool(&params, extra).await) })),
            _ => None,
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        *self.client_capabilities.borrow_mut() = params["capabilities"].clone();
        let mut capabilities = json!({"tools": {"listChanged": true}});
        for (capability, what) in &*self.declared.borrow() {
            capabilities[capability] = what.clone();
        }
        json!({
            "protocolVersion": mcp::negotiated_version(params["protocolVersion"].as_str()),
            "capabilities": capabilities,
            "serverInfo": self.info,
        })
    }

    async fn call_tool(&self, params: &Value, extra: RequestExtra) -> Value {
        let name = params["name"].as_str().unwrap_or_default();
        let who = Arc::clone(&extra.session_id);
        let Some(running) = Rc::clone(&self.tools).call(name, params["arguments"].clone(), extra) else {
            return tool_error(&format!("MCP error {}: Tool {name} not found", mcp::INVALID_PARAMS));
        };
        running.await.unwrap_or_else(|defect| defect_result(&who, &defect))
    }

    fn notified(&self, notification: &Value) {
        if notification["method"] == "notifications/initialized" {
            let hook = self.on_initialized.borrow().clone();
            hook.iter().for_each(|hook| hook());
            return;
        }
        let id = &notification["params"]["requestId"];
        // The described code tests the id for truth: 0 and the empty text cannot be cancelled.
        if id.is_null() || *id == json!(0) || *id == json!("") {
            return;
        }
        if let Some(aborted) = self.in_flight.borrow().get(&id.to_string()) {
            aborted.set(true);
        }
    }

    /// Forgets a request that has ended, unless a later one has its id.
    fn forget(&self, key: &str, ended: &Aborted) {
        let mut in_flight = self.in_flight.borrow_mut();
        if in_flight.get(key).is_some_and(|aborted| Rc::ptr_eq(aborted, ended)) {
            in_flight.remove(key);
        }
    }
}

fn connection_closed() -> JsError {
    mcp_error(&mcp::TRANSPORT_ERROR, "Connection closed")
}

fn response(id: &Value, handled: Result<Value, JsError>) -> Value {
    match handled {
        Ok(result) => mcp::result_response(id, result),
        Err(error) => mcp::error_response(id, mcp::INTERNAL_ERROR, &error.message),
    }
}

/// The result of a call that did not reach its tool.
pub fn tool_error(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// What the client of a defect gets: an id to tell us, nothing of the failure.
fn defect_result(who: &Arc<str>, defect: &JsError) -> Value {
    let correlation_id = format!("{:08x}", rt::decide(who, "correlation-id", 1 << 32));
    console_error(who, &format!("[executor:mcp] execute defect correlation_id={correlation_id}"), defect);
    let text = format!("Internal tool error [{correlation_id}]");
    json!({
        "content": [{"type": "text", "text": format!("Error: {text}")}],
        "structuredContent": {"status": "error", "error": text},
        "isError": true,
    })
}

/// The protocol library's error class.
fn mcp_error(code: &dyn std::fmt::Display, text: &str) -> JsError {
    JsError { name: "McpError", ..JsError::new(format!("MCP error {code}: {text}")) }
}
