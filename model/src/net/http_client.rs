//! The client's side of HTTP: one connection, one request at a time, bodies read chunk by chunk.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use tokio::net::TcpStream;

use super::link::Lane;
use super::sim_io::{Closer, Drive, adapt};
use super::tap::{ExchangeTap, Tap};
use super::{labels, lossy_text, stalls};
use crate::rt;

/// A request with its whole body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, ….
    pub method: &'static str,
    /// Path and query.
    pub target: String,
    /// Sent in this order; `host` and `content-length` are added.
    pub headers: Vec<(String, String)>,
    /// Empty for none.
    pub body: Bytes,
}

/// The head of an answer, and its body to be read.
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: BodyStream,
}

impl Response {
    /// The first header of that name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why a request got no head of an answer.
#[derive(Debug)]
pub struct SendError {
    /// False when no byte of the request was given to the connection: it may be sent again elsewhere.
    pub written: bool,
    /// What the connection said.
    pub text: String,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for SendError {}

/// A connection to a server; dropping it closes it, also in the middle of an answer.
pub struct HttpConnection {
    host: String,
    requests: SendRequest<Whole>,
    closer: Closer,
    tap: Option<Tap>,
    label: Arc<str>,
}

impl HttpConnection {
    /// Connects as `label`. `lane` names the connection within the client and its decisions.
    ///
    /// Takes three milliseconds on the simulated network. Errors are those of the socket.
    pub async fn connect(label: &Arc<str>, lane: &str, addr: SocketAddr) -> io::Result<HttpConnection> {
        let tap = Tap::connect(label);
        #[expect(clippy::disallowed_methods, reason = "this is the one place that connects")]
        let socket = TcpStream::connect(addr).await?;
        labels::register(socket.local_addr()?, label, lane);
        let (io, pump, closer) = adapt(socket, Some(Lane::new(label, lane)));
        let (requests, connection) = http1::handshake(io).await.map_err(io::Error::other)?;
        rt::spawn("net.client", Drive::new(connection, pump));
        Ok(HttpConnection { host: addr.to_string(), requests, closer, tap, label: Arc::clone(label) })
    }

    /// True while the connection could take a request now.
    pub fn is_ready(&self) -> bool {
        self.requests.is_ready()
    }

    /// True once the connection is known to be closed.
    pub fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    /// Ends the connection from elsewhere, as dropping it does.
    pub fn closer(&self) -> Closer {
        self.closer.clone()
    }

    /// Sends a request and waits for the head of its answer; before the next one its body has to be read.
    pub async fn send(&mut self, request: Request) -> Result<Response, SendError> {
        let unwritten = |error: hyper::Error| SendError { written: false, text: error_text(&error) };
        self.requests.ready().await.map_err(unwritten)?;
        let tap = self.tap.map(|tap| tap.sent(&request));
        let response = self.requests.try_send_request(self.to_http(request)).await.map_err(|mut failed| {
            let written = failed.take_message().is_none();
            SendError { written, text: error_text(failed.error()) }
        })?;
        let (head, body) = response.into_parts();
        let text = |value: &hyper::header::HeaderValue| lossy_text(value.as_bytes()).into_owned();
        let status = head.status.as_u16();
        let headers: Vec<_> =
            head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        if let Some(tap) = tap {
            tap.head(status, &headers);
        }
        Ok(Response { status, headers, body: BodyStream { incoming: body, tap, label: Arc::clone(&self.label) } })
    }

    fn to_http(&self, request: Request) -> hyper::Request<Whole> {
        let mut http =
            hyper::Request::builder().method(request.method).uri(request.target).header("host", self.host.as_str());
        for (name, value) in request.headers {
            http = http.header(name, value);
        }
        match http.body(Whole { bytes: Some(request.body).filter(|bytes| !bytes.is_empty()) }) {
            Ok(http) => http,
            Err(error) => panic!("the client made a request that is not HTTP: {error}"),
        }
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        self.closer.close();
        if let Some(tap) = self.tap {
            tap.closed();
        }
    }
}

/// The body of an answer. Readable only while its [`HttpConnection`] lives.
pub struct BodyStream {
    incoming: Incoming,
    tap: Option<ExchangeTap>,
    label: Arc<str>,
}

impl BodyStream {
    /// The next bytes; `None` at the end. An error means that the body was cut.
    pub async fn next(&mut self) -> Option<Result<Bytes, String>> {
        while let Some(until_ms) = stalls::until(&self.label) {
            rt::sleep_until_ms(until_ms).await;
        }
        let piece = self.next_piece().await;
        if let Some(tap) = self.tap {
            match &piece {
                Some(Ok(bytes)) => tap.piece(bytes.len()),
                Some(Err(_)) | None => tap.ended(),
            }
        }
        piece
    }

    async fn next_piece(&mut self) -> Option<Result<Bytes, String>> {
        loop {
            let frame = poll_fn(|cx| Pin::new(&mut self.incoming).poll_frame(cx)).await?;
            match frame.map(Frame::into_data) {
                Ok(Ok(bytes)) => return Some(Ok(bytes)),
                Ok(Err(_trailers)) => {}
                Err(error) => return Some(Err(error_text(&error))),
            }
        }
    }
}

/// hyper's words with those of what lies beneath.
fn error_text(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// A request body in one piece.
struct Whole {
    bytes: Option<Bytes>,
}

impl Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
