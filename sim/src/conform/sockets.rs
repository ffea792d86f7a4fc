//! WebSockets of objects (platform facts 140-143).

use super::object::Probe;
use model::platform::{FetchRequest, FetchResponse, JsError, LocalFuture, Socket};
use serde_json::{Value, json};
use std::rc::Rc;

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
    o.log_with("ws-message", json!({ "m": text, "instance": o.instance, "att": attachment, "n": open }));
    let sent = socket.send(format!("hib-echo:{text}:{}", o.instance));
    Box::pin(async { sent })
}
