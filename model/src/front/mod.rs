//! The edge worker: HTTP in, owner check, the SDK's bridge to the session's object, server-sent events out.

mod answers;
mod auth;
mod bridge;
mod caller;
mod console;
mod edge;
mod exchange;
mod pump;
mod serve;
mod sse_writer;
#[cfg(all(test, madsim))]
mod tests;

use std::sync::Arc;

use bytes::Bytes;

use crate::config::HostConfig;
use crate::js::Lane;
use crate::net::server::{ExchangeId, Inlet, RequestHead};
use crate::net::{BodyError, Reply};
use crate::platform::{LocalFuture, WorkerHandle};

pub use caller::Caller;
pub use edge::operations;
use exchange::{Exchange, Lanes, with_exchange};
pub use serve::serve;

/// Carries what the HTTP server sees into the edge worker's loop.
pub struct EdgeInlet {
    worker: WorkerHandle,
    config: Arc<HostConfig>,
    lanes: Lanes,
    entry: Entry,
}

/// Whose code a request comes to.
#[derive(Clone)]
enum Entry {
    /// The product's edge.
    Edge,
    /// The SDK's worker by itself.
    Served(serve::Served),
}

impl EdgeInlet {
    /// An inlet of a worker, which is configured like the sessions.
    pub fn new(worker: WorkerHandle, config: Arc<HostConfig>) -> Arc<Self> {
        Self::with(worker, config, Entry::Edge)
    }

    fn with(worker: WorkerHandle, config: Arc<HostConfig>, entry: Entry) -> Arc<Self> {
        Arc::new(EdgeInlet { worker, config, lanes: Lanes::default(), entry })
    }

    /// Mail for an exchange that is in progress; none for one that is over.
    fn mail(&self, id: ExchangeId, lane: Option<Lane>, open: impl FnOnce(&Exchange) + Send + 'static) {
        if let Some(lane) = lane {
            self.worker
                .job(&lane, Box::new(move |event_loop| with_exchange(event_loop, id, |exchange| open(exchange))));
        }
    }
}

impl Inlet for EdgeInlet {
    fn request(&self, id: ExchangeId, head: RequestHead, reply: Reply) {
        let peer = Arc::clone(&head.peer);
        let lane = Lane::named(&peer, &format!("http.{}", head.lane), 0);
        self.lanes.add(id, lane.clone());
        let (lanes, config, entry) = (self.lanes.clone(), Arc::clone(&self.config), self.entry.clone());
        let start = move || -> LocalFuture<()> {
            let exchange = Exchange::begin(id, head, reply, lanes, config);
            match entry {
                Entry::Edge => Box::pin(edge::handle(exchange)),
                Entry::Served(served) => Box::pin(serve::handle(exchange, served)),
            }
        };
        self.worker.request(peer, &lane, Box::new(start));
    }

    fn body(&self, id: ExchangeId, body: Result<Bytes, BodyError>) {
        self.mail(id, self.lanes.of(id), move |exchange| exchange.body_came(body));
    }

    fn drained(&self, id: ExchangeId, written: u64) {
        self.mail(id, self.lanes.of(id), move |exchange| exchange.drained(written));
    }

    fn gone(&self, id: ExchangeId) {
        self.mail(id, self.lanes.remove(id), Exchange::client_left);
    }
}
