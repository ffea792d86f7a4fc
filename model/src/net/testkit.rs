//! What the tests of `net` and `client` share: a world of two machines, a toy edge, and one log of it all.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::server::{ExchangeId, Inlet, RequestHead, Server};
use super::{BodyError, Reply, labels, stalls};
use crate::operation::{Intervention, OperationPoint};
use crate::rt::{self, Director};

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Writes a line of the run's log, with the time in whole milliseconds since its begin.
pub(crate) fn log(text: impl std::fmt::Display) {
    let at_ms = rt::run_ms();
    LOG.with_borrow_mut(|lines| lines.push(format!("{at_ms} {text}")));
}

/// The log's lines without their times, for worlds on real sockets.
pub(crate) fn untimed(lines: &[String]) -> Vec<String> {
    let text = |line: &String| line.split_once(' ').map_or_else(String::new, |(_, text)| text.to_owned());
    lines.iter().map(text).collect()
}

/// Draws delays of 0 to 7 ms from the name and the count of draws under it.
#[derive(Default)]
struct Drawing {
    counts: RefCell<BTreeMap<String, u64>>,
}

impl Director for Drawing {
    fn decide(&self, _who: &str, _what: &str, _below: u64) -> u64 {
        0
    }

    fn delay_ms(&self, who: &str, what: &str) -> u64 {
        let mut counts = self.counts.borrow_mut();
        let name = format!("{who}/{what}");
        let hash = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let count = counts.entry(name).or_insert(0);
        *count += 1;
        (hash.wrapping_add(*count).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 8
    }

    fn round_up_ms(&self, at_ms: u64) -> u64 {
        at_ms
    }

    fn at_operation(&self, _point: &OperationPoint<'_>) -> Option<Box<Intervention>> {
        None
    }
}

/// Whether latencies are drawn in a test world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latency {
    /// The base only.
    Calm,
    /// 0 to 7 ms above it, by name.
    Drawn,
}

/// Runs `story` in a fresh world and gives its log. `seed` is the simulated runtime's own.
pub(crate) fn in_world<F, Fut>(seed: u64, latency: Latency, story: F) -> Vec<String>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    run_on_fresh_thread(seed, move || async move {
        let drawing = (latency == Latency::Drawn).then(|| Rc::new(Drawing::default()) as Rc<dyn Director>);
        rt::begin_run(drawing, u64::MAX);
        labels::reset();
        stalls::reset();
        story().await;
        rt::end_run();
        LOG.take()
    })
}

#[cfg(madsim)]
fn run_on_fresh_thread<T, Fut>(seed: u64, run: impl FnOnce() -> Fut + Send + 'static) -> T
where
    T: Send + 'static,
    Fut: Future<Output = T>,
{
    let mut config = madsim::Config::default();
    let one_ms = std::time::Duration::from_millis(1);
    config.net.send_latency = one_ms..one_ms + std::time::Duration::from_nanos(1);
    #[expect(clippy::disallowed_methods, reason = "a run wants a thread whose thread-locals nobody touched")]
    let thread = std::thread::spawn(move || {
        let mut runtime = madsim::runtime::Runtime::with_seed_and_config(seed, config);
        runtime.set_time_limit(std::time::Duration::from_secs(3600));
        runtime.block_on(run())
    });
    thread.join().expect("the world ends without a panic")
}

#[cfg(not(madsim))]
fn run_on_fresh_thread<T, Fut: Future<Output = T>>(_seed: u64, run: impl FnOnce() -> Fut) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, run())
}

/// A machine at this address; on real sockets only a group of tasks.
pub(crate) fn machine(name: &str, address: [u8; 4]) -> rt::Node {
    rt::Node::create(name, std::net::IpAddr::from(address))
}

/// Runs `story` on `node` and waits until it ends.
pub(crate) async fn on<F, Fut>(node: &rt::Node, story: F)
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let (done, finished) = oneshot::channel();
    node.run(move || async move {
        story().await;
        let _ = done.send(());
    });
    finished.await.expect("the story reaches its end");
}

/// A request with its body, as the toy edge handles it.
pub(crate) struct Toy {
    /// Its head.
    pub(crate) head: RequestHead,
    /// Its body.
    pub(crate) body: Bytes,
    /// Where its answer goes.
    pub(crate) reply: Reply,
}

impl Toy {
    /// The first header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What the toy edge does with a request; runs as a task of its own.
pub(crate) type Behaviour = fn(Toy) -> Pin<Box<dyn Future<Output = ()>>>;

enum Mail {
    Request(ExchangeId, RequestHead, Reply),
    Body(ExchangeId, Result<Bytes, BodyError>),
    Drained(ExchangeId, u64),
    Gone(ExchangeId),
}

struct Post(mpsc::UnboundedSender<Mail>);

impl Inlet for Post {
    fn request(&self, exchange: ExchangeId, head: RequestHead, reply: Reply) {
        let _ = self.0.send(Mail::Request(exchange, head, reply));
    }

    fn body(&self, exchange: ExchangeId, body: Result<Bytes, BodyError>) {
        let _ = self.0.send(Mail::Body(exchange, body));
    }

    fn drained(&self, exchange: ExchangeId, written: u64) {
        let _ = self.0.send(Mail::Drained(exchange, written));
    }

    fn gone(&self, exchange: ExchangeId) {
        let _ = self.0.send(Mail::Gone(exchange));
    }
}

/// Starts a toy edge on `node` and gives its address. It logs requests and departures, and drains if `verbose`.
pub(crate) async fn toy_edge(node: &rt::Node, verbose: bool, behave: Behaviour) -> SocketAddr {
    let port = if cfg!(madsim) { 80 } else { 0 };
    let ip = if cfg!(madsim) { node.address() } else { [127, 0, 0, 1].into() };
    let (bound, address) = oneshot::channel();
    node.run(move || async move {
        let server = Server::bind((ip, port).into()).await.expect("the address is free");
        let _ = bound.send(server.local_addr().expect("an address"));
        let (post, mail) = mpsc::unbounded_channel();
        rt::spawn("toy.edge", toy_loop(mail, verbose, behave));
        let failed = server.run(Arc::new(Post(post))).await;
        panic!("the toy edge ended: {failed:?}");
    });
    address.await.expect("the toy edge starts")
}

async fn toy_loop(mut mail: mpsc::UnboundedReceiver<Mail>, verbose: bool, behave: Behaviour) {
    let mut waiting = BTreeMap::new();
    let mut names = BTreeMap::new();
    while let Some(mail) = mail.recv().await {
        match mail {
            Mail::Request(exchange, head, reply) => {
                let name = format!("{} of {}", head.method, head.peer);
                log(format_args!("edge {name} {}", head.path));
                names.insert(exchange, name);
                waiting.insert(exchange, (head, reply));
            }
            Mail::Body(exchange, Ok(body)) => {
                let Some((head, reply)) = waiting.remove(&exchange) else { continue };
                rt::spawn("toy.request", behave(Toy { head, body, reply }));
            }
            Mail::Body(exchange, Err(error)) => {
                log(format_args!("edge {} body {error:?}", names[&exchange]));
                waiting.remove(&exchange);
            }
            Mail::Drained(exchange, written) if verbose => {
                log(format_args!("edge {} drained {written}", names[&exchange]));
            }
            Mail::Drained(..) => {}
            Mail::Gone(exchange) => log(format_args!("edge {} gone", names[&exchange])),
        }
    }
}
