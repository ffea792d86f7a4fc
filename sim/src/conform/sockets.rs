//! WebSockets of objects (platform facts 140-143).

use super::front::{Answer, CALL, Peer, abort_all, attempt, sleep};
use super::memory;
use super::object::Probe;
use super::probe::Probe as Entry;
use super::probe::front;
use super::verdict::LeftOut;
use model::platform::{
    ClientSocket, FetchRequest, FetchResponse, JsError, LocalFuture, ObjectKey, Socket, SocketEvent, Stub,
};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// The probes.
pub const PROBES: &[Entry] = &[
    front!("WS1", idle_and_woken()),
    front!("WS3", aborted_under_a_socket()),
    front!("WS4", reset_while_hibernated()),
];

const CODE_ONLY: &str = "the model's close handler is told the code alone: the host reads no more";
const HIBERNATABLE_ONLY: &str = "the model's objects accept sockets for hibernation only, as the host does";

const NO_ERRORS: &str = "a socket of the model tells its client of frames and its end: no handshake of it can fail";

/// What these probes cannot tell.
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut {
        id: "WS1",
        path: "clientClose",
        why: "the driver looked after it had ended the process: it saw that end",
    },
    LeftOut { id: "WS1", path: "log.*.reason", why: CODE_ONLY },
    LeftOut { id: "WS1", path: "log.*.clean", why: CODE_ONLY },
    LeftOut { id: "WS3", path: "ordinary", why: HIBERNATABLE_ONLY },
    LeftOut { id: "WS3", path: "hibernatable.error", why: NO_ERRORS },
    LeftOut { id: "WS4", path: "error", why: NO_ERRORS },
];

/// `/ws`: accepts a socket that survives hibernation.
pub(super) fn upgrade(o: &Rc<Probe>, request: &FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
    let accepted = o.ctx.accept_web_socket(request, "tag1").map(|socket| {
        socket.set_attachment(json!({ "n": 1 }));
        socket.number()
    });
    Box::pin(async { accepted.map(|number| FetchResponse { status: 101, body: String::new(), socket: Some(number) }) })
}

/// A frame: the answer says which instance took it.
pub(super) fn message(o: &Rc<Probe>, socket: &Socket, text: &str) -> LocalFuture<Result<(), JsError>> {
    let (attachment, open): (Value, usize) = (socket.attachment(), o.ctx.sockets().len());
    let what = json!({ "tag": "ws-message", "m": text, "instance": o.instance, "att": attachment, "n": open });
    o.log_with("ws-message", what);
    let sent = socket.send(format!("hib-echo:{text}:{}", o.instance));
    Box::pin(async { sent })
}

/// A client with a socket to the object of that name: what it got, and how the socket was closed.
struct Client {
    socket: ClientSocket,
    got: Rc<RefCell<(Vec<String>, Value)>>,
}

impl Client {
    async fn open(name: &str) -> Result<Client, JsError> {
        let stub = Stub::new(ObjectKey::named("Probe", name));
        let opened = stub.fetch(&CALL, FetchRequest::new("/ws", Vec::new())).await?;
        let number = opened.socket.ok_or_else(|| JsError::new("the upgrade was refused"))?;
        let (socket, got) = (stub.socket(number), Rc::new(RefCell::new((Vec::new(), Value::Null))));
        let told = Rc::clone(&got);
        socket.listen(move |event| match event {
            SocketEvent::Message(text) => told.borrow_mut().0.push(text.to_string()),
            SocketEvent::Close(code, reason) => told.borrow_mut().1 = json!([code, &*reason]),
        });
        Ok(Client { socket, got })
    }

    fn closed(&self) -> Value {
        self.got.borrow().1.clone()
    }
}

fn sockets_of(name: &str) -> model::js::Promise<Answer> {
    Peer::named(name).run(|o| async move {
        let told = |socket: &Socket| {
            json!({ "state": u8::from(socket.is_open()), "att": socket.attachment(), "tags": [socket.tag()] })
        };
        Ok(o.ctx.sockets().iter().map(told).collect())
    })
}

fn socket_lines() -> Vec<Value> {
    memory::log_from(0).into_iter().filter(|entry| entry.tag.starts_with("ws-")).map(|entry| entry.what).collect()
}

async fn idle_and_woken() -> Answer {
    let client = Client::open("h").await?;
    client.socket.send("one")?;
    sleep(300).await;
    sleep(12_000).await;
    let listed = sockets_of("h").wait().await?;
    client.socket.send("two")?;
    sleep(300).await;
    sleep(12_000).await;
    client.socket.send("three")?;
    sleep(300).await;
    client.socket.close(1_000, "bye")?;
    sleep(500).await;
    let constructed = memory::log_from(0).into_iter().filter(|entry| entry.tag == "ctor");
    let names: Vec<Value> = constructed.map(|entry| entry.what["name"].clone()).collect();
    let echoes = client.got.borrow().0.clone();
    Ok(json!({ "echoes": echoes, "getWebSockets": listed, "log": socket_lines(), "ctorNames": names }))
}

async fn aborted_under_a_socket() -> Answer {
    let client = Client::open("h").await?;
    attempt(Peer::named("h").abort("boom")).await;
    sleep(1_000).await;
    let after = sockets_of("h").wait().await?;
    let lines: Vec<Value> = socket_lines().iter().map(|line| line["tag"].clone()).collect();
    Ok(json!({ "hibernatable": { "close": client.closed() }, "after": after, "log": lines }))
}

async fn reset_while_hibernated() -> Answer {
    let client = Client::open("h").await?;
    sleep(12_000).await;
    abort_all();
    sleep(800).await;
    let after = sockets_of("h").wait().await?;
    Ok(json!({ "close": client.closed(), "after": after }))
}
