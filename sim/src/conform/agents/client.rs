//! The MCP client of the probes: one connection a request, on a machine of its own.

use bytes::Bytes;
use model::net::http_client::{HttpConnection, Request};
use model::net::timer::with_deadline;
use model::platform::{JsError, ObjectKey};
use model::rt::{self, Node};
use serde_json::{Value, json};
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Where it runs.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 4, 0, 1));

/// The client.
pub struct Client {
    node: Node,
    front: SocketAddr,
    sent: Cell<u64>,
}

/// What came of a request so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Status of the answer.
    pub status: Option<u16>,
    /// Its session header.
    pub session: Option<String>,
    /// Its body.
    pub text: String,
    /// `complete` once its body is whole.
    pub ended: Option<&'static str>,
    /// How the connection failed.
    pub error: Option<String>,
}

/// A request that was sent.
pub struct Call {
    seen: Arc<Mutex<Seen>>,
    head: Option<oneshot::Receiver<()>>,
    done: Option<oneshot::Receiver<()>>,
    destroy: Option<oneshot::Sender<()>>,
}

/// The same on the client's machine.
struct Sending {
    front: SocketAddr,
    lane: String,
    request: Request,
    seen: Arc<Mutex<Seen>>,
    head: oneshot::Sender<()>,
    done: oneshot::Sender<()>,
    destroyed: oneshot::Receiver<()>,
}

impl Client {
    /// A client of the worker that listens there.
    pub fn start(front: SocketAddr) -> Client {
        Client { node: Node::create("client", ADDRESS), front, sent: Cell::new(0) }
    }

    /// Ends its machine.
    pub fn stop(&self) {
        self.node.kill();
    }

    /// Sends a request.
    pub fn send(&self, method: &'static str, body: Option<&Value>, session: Option<&str>) -> Call {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![header("accept", "application/json, text/event-stream")];
        headers.extend(body.map(|_| header("content-type", "application/json")));
        headers.extend(session.map(|session| header("mcp-session-id", session)));
        let body = body.map_or_else(Bytes::new, |body| body.to_string().into());
        let request = Request { method, target: "/mcp".to_owned(), headers, body };
        let (head, head_came) = oneshot::channel();
        let (done, done_came) = oneshot::channel();
        let (destroy, destroyed) = oneshot::channel();
        let seen = Arc::<Mutex<Seen>>::default();
        self.sent.set(self.sent.get() + 1);
        let lane = format!("c{}", self.sent.get());
        let sending = Sending { front: self.front, lane, request, seen: Arc::clone(&seen), head, done, destroyed };
        self.node.run(move || sending.run());
        Call { seen, head: Some(head_came), done: Some(done_came), destroy: Some(destroy) }
    }

    /// Opens a session: its id, and the statuses of both requests.
    ///
    /// # Errors
    /// When the answer brings no session.
    pub async fn open(&self) -> Result<(String, [Option<u16>; 2]), JsError> {
        let params = json!({
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "probe", "version": "0" },
        });
        let initialize = json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params });
        let mut opened = self.send("POST", Some(&initialize), None);
        opened.done().await;
        let opened = opened.seen();
        let session = opened.session.ok_or_else(|| JsError::new("the worker gave no session"))?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let mut noted = self.send("POST", Some(&initialized), Some(&session));
        noted.done().await;
        Ok((session, [opened.status, noted.seen().status]))
    }

    /// Calls a tool.
    pub fn tool(&self, session: &str, id: u64, name: &str, arguments: Value) -> Call {
        let params = json!({ "name": name, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.send("POST", Some(&call), Some(session))
    }
}

/// The key of a session's object.
pub fn session_key(session: &str) -> ObjectKey {
    ObjectKey::named(super::MCP, format!("streamable-http:{session}"))
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Call {
    /// What came so far.
    pub fn seen(&self) -> Seen {
        lock(&self.seen).clone()
    }

    /// Waits for the head of the answer.
    pub async fn head(&mut self) {
        if let Some(came) = self.head.take() {
            drop(came.await);
        }
    }

    /// Waits for the end of the answer, however it comes.
    pub async fn done(&mut self) {
        if let Some(came) = self.done.take() {
            drop(came.await);
        }
    }

    /// The same for so long at most.
    pub async fn done_within(&mut self, ms: u64) {
        if let Some(came) = self.done.take() {
            let _ = with_deadline(rt::now_ms() + ms, came).await;
        }
    }

    /// Leaves: the connection is closed.
    pub fn destroy(&mut self) {
        drop(self.destroy.take());
    }
}

impl Sending {
    async fn run(self) {
        let Sending { front, lane, request, seen, head, done, destroyed } = self;
        let label: Arc<str> = "client".into();
        let mut connection = match HttpConnection::connect(&label, &lane, front).await {
            Ok(connection) => connection,
            Err(error) => return lock(&seen).error = Some(error.to_string()),
        };
        let closer = connection.closer();
        rt::spawn("conform.client", async move {
            drop(destroyed.await);
            closer.close();
        });
        match connection.send(request).await {
            Err(error) => lock(&seen).error = Some(error.to_string()),
            Ok(mut response) => {
                lock(&seen).status = Some(response.status);
                lock(&seen).session = response.header("mcp-session-id").map(str::to_owned);
                let _ = head.send(());
                loop {
                    match response.body.next().await {
                        Some(Ok(bytes)) => lock(&seen).text.push_str(&String::from_utf8_lossy(&bytes)),
                        Some(Err(error)) => break lock(&seen).error = Some(error),
                        None => break lock(&seen).ended = Some("complete"),
                    }
                }
            }
        }
        let _ = done.send(());
    }
}
