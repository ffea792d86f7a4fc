//! The server's side of HTTP: accepts connections and hands each request to the edge worker as mail.
//!
//! A connection is a task of its own; the worker is an event loop that can only be reached by messages. So the
//! seam is [`Inlet`] one way and [`Reply`] the other, and neither ever waits.

use std::cell::{Cell, OnceCell};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::labels::{self, Peer};
use super::lossy_text;
use super::reply::{CutShort, Departure, Reply, ReplyBody, ReplyFrame, reply};
use super::request_body::{BodyError, Collecting};
use super::sim_io::{Closer, Drive, adapt};
use crate::rt;

/// Accepts that always wait. The simulated network takes a millisecond before each accept; with some in advance,
/// clients that connect in the same millisecond are not lined up by the scheduler.
const ACCEPTS_IN_ADVANCE: usize = if cfg!(madsim) { 8 } else { 1 };
/// Accepts that wait once the others were all taken within one millisecond. A connection accepted one millisecond
/// late is not late for its first bytes; with more than this many at once the order is the scheduler's.
const ACCEPTS_IN_A_RUSH: usize = if cfg!(madsim) { 256 } else { 0 };

/// One request and its answer; unique within one server. Not for the record: the order of two requests of the
/// same millisecond is the scheduler's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExchangeId(pub u64);

/// A request without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// `GET`, `POST`, ….
    pub method: String,
    /// Path of the target, without the query.
    pub path: String,
    /// Query of the target, empty if there is none.
    pub query: String,
    /// Names in lower case, in the order sent.
    pub headers: Vec<(String, String)>,
    /// Label of the connecting client, or its address.
    pub peer: Arc<str>,
    /// Which of the client's connections it came by.
    pub lane: Arc<str>,
}

/// Where the edge worker takes its mail. Called from connection tasks, also while a machine dies: an
/// implementation only puts things into a queue.
pub trait Inlet: Send + Sync {
    /// A request came; its body follows by [`Inlet::body`], its answer goes to `reply`.
    fn request(&self, exchange: ExchangeId, head: RequestHead, reply: Reply);
    /// The whole body of a request, empty if it has none; at most once.
    fn body(&self, exchange: ExchangeId, body: Result<Bytes, BodyError>);
    /// The connection took one more chunk of the answer; `written` chunks so far.
    fn drained(&self, exchange: ExchangeId, written: u64);
    /// The client left before the answer was fully taken; at most once, and the last word.
    fn gone(&self, exchange: ExchangeId);
}

/// A bound server that does not accept yet.
pub struct Server {
    listener: TcpListener,
}

impl Server {
    /// Binds `addr`. Errors are those of the socket: address in use, not ours.
    pub async fn bind(addr: SocketAddr) -> io::Result<Server> {
        Ok(Server { listener: TcpListener::bind(addr).await? })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts and serves until accepting fails. Ends with its machine, not when this future is dropped.
    pub async fn run(self, inlet: Arc<dyn Inlet>) -> io::Result<Infallible> {
        let (failures, mut failed) = mpsc::unbounded_channel();
        let door = Rc::new(Door {
            listener: self.listener,
            inlet,
            failures,
            exchanges: Rc::new(Cell::new(0)),
            waiting: Cell::new(0),
            taken: Cell::new((0, 0)),
        });
        for _ in 0..ACCEPTS_IN_ADVANCE {
            rt::spawn("net.accept", Rc::clone(&door).accept_on());
        }
        drop(door);
        Err(failed.recv().await.unwrap_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

/// A listener with several accepts under way, each a task: an accept must not be polled while it waits.
struct Door {
    listener: TcpListener,
    inlet: Arc<dyn Inlet>,
    failures: UnboundedSender<io::Error>,
    exchanges: Rc<Cell<u64>>,
    waiting: Cell<usize>,
    /// The millisecond of the last accept, and how many there were in it.
    taken: Cell<(u64, usize)>,
}

impl Door {
    async fn accept_on(self: Rc<Self>) {
        while self.accept().await {
            self.widen_in_a_rush();
        }
    }

    async fn accept_once(self: Rc<Self>) {
        self.accept().await;
    }

    /// Accepts one connection and serves it beside; false if that failed.
    async fn accept(&self) -> bool {
        self.waiting.set(self.waiting.get() + 1);
        let accepted = self.listener.accept().await;
        self.waiting.set(self.waiting.get() - 1);
        match accepted {
            Ok((socket, peer)) => {
                serve_connection(socket, peer, Arc::clone(&self.inlet), Rc::clone(&self.exchanges));
                true
            }
            Err(error) => {
                let _ = self.failures.send(error);
                false
            }
        }
    }

    fn widen_in_a_rush(self: &Rc<Self>) {
        let now_ms = rt::now_ms();
        let (in_ms, count) = self.taken.get();
        let count = if in_ms == now_ms { count + 1 } else { 1 };
        self.taken.set((now_ms, count));
        if count >= ACCEPTS_IN_ADVANCE {
            for _ in self.waiting.get()..ACCEPTS_IN_A_RUSH {
                rt::spawn("net.accept", Rc::clone(self).accept_once());
            }
        }
    }
}

/// Binds `addr` and serves every connection there; ends only with an error of the socket.
pub async fn serve(addr: SocketAddr, inlet: Arc<dyn Inlet>) -> io::Result<Infallible> {
    Server::bind(addr).await?.run(inlet).await
}

fn serve_connection(socket: TcpStream, peer: SocketAddr, inlet: Arc<dyn Inlet>, exchanges: Rc<Cell<u64>>) {
    let (io, pump, connection) = adapt(socket, None);
    let service = Service { inlet, exchanges, peer, label: OnceCell::new(), connection };
    // hyper's clock for the Date header is a cache of the thread, older than the run.
    let connection = http1::Builder::new().auto_date_header(false).serve_connection(io, service);
    rt::spawn("net.connection", Drive::new(connection, pump));
}

/// What hyper calls for each request of one connection.
struct Service {
    inlet: Arc<dyn Inlet>,
    exchanges: Rc<Cell<u64>>,
    peer: SocketAddr,
    label: OnceCell<Peer>,
    connection: Closer,
}

type Answer = Result<hyper::Response<ReplyBody>, CutShort>;

impl hyper::service::Service<hyper::Request<Incoming>> for Service {
    type Response = hyper::Response<ReplyBody>;
    type Error = CutShort;
    type Future = Pin<Box<dyn Future<Output = Answer>>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let exchange = ExchangeId(self.exchanges.get());
        self.exchanges.set(exchange.0 + 1);
        // Asked at the first request: by then the client has surely said who it is.
        let label = self.label.get_or_init(|| {
            let peer = labels::of(self.peer);
            self.connection.set_peer(Arc::clone(&peer.label));
            peer
        });
        let head = request_head(&request, label.clone());
        Box::pin(answer(Arc::clone(&self.inlet), exchange, head, request.into_body()))
    }
}

fn request_head(request: &hyper::Request<Incoming>, peer: Peer) -> RequestHead {
    let text = |value: &hyper::header::HeaderValue| lossy_text(value.as_bytes()).into_owned();
    RequestHead {
        method: request.method().as_str().to_owned(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        headers: request.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect(),
        peer: peer.label,
        lane: peer.lane,
    }
}

async fn answer(inlet: Arc<dyn Inlet>, exchange: ExchangeId, head: RequestHead, body: Incoming) -> Answer {
    let bodiless = head.method == "HEAD";
    let (reply, mut frames) = reply();
    let mut departure = Departure::watch(Arc::clone(&inlet), exchange);
    inlet.request(exchange, head, reply);
    let first = collect_until_answered(&inlet, exchange, body, &mut frames).await;
    let Some(ReplyFrame::Head(status, headers)) = first else {
        departure.over();
        return Err(CutShort);
    };
    let bodiless = bodiless || status == 204 || status == 304;
    let length = if bodiless { Some(0) } else { declared_length(&headers) };
    let mut response = hyper::Response::builder().status(status);
    for (name, value) in &headers {
        response = response.header(name, value);
    }
    match response.body(ReplyBody::new(frames, departure, length)) {
        Ok(response) => Ok(response),
        Err(error) => panic!("the worker answered with a head that is not HTTP: {error}"),
    }
}

/// Collects the request's body until the answer begins; what is missing then is collected beside it.
async fn collect_until_answered(
    inlet: &Arc<dyn Inlet>,
    exchange: ExchangeId,
    body: Incoming,
    frames: &mut UnboundedReceiver<ReplyFrame>,
) -> Option<ReplyFrame> {
    let mut collecting = Some(Collecting::new(body));
    let first = std::future::poll_fn(|cx| {
        if let Some(rest) = &mut collecting
            && let Poll::Ready(whole) = Pin::new(rest).poll(cx)
        {
            collecting = None;
            inlet.body(exchange, whole);
        }
        frames.poll_recv(cx)
    })
    .await;
    if let Some(rest) = collecting {
        let inlet = Arc::clone(inlet);
        rt::spawn("net.request-body", async move { inlet.body(exchange, rest.await) });
    }
    first
}

fn declared_length(headers: &[(String, String)]) -> Option<u64> {
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
    length.1.parse().ok()
}
