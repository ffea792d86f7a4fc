//! The edge worker: HTTP in, owner check, the SDK's bridge to the session's object, server-sent events out.

mod answers;
mod auth;
mod bridge;
mod edge;
mod exchange;
mod sse_writer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::net::server::{ExchangeId, Inlet, RequestHead};
use crate::net::{BodyError, Reply};
use crate::platform::{LocalFuture, WorkerHandle};

pub use edge::operations;
use exchange::{Exchange, with_exchange};

/// Carries what the HTTP server sees into the edge worker's loop.
pub struct EdgeInlet {
    worker: WorkerHandle,
    peers: Mutex<BTreeMap<ExchangeId, Arc<str>>>,
}

impl EdgeInlet {
    /// An inlet of a worker.
    pub fn new(worker: WorkerHandle) -> Arc<Self> {
        Arc::new(EdgeInlet { worker, peers: Mutex::default() })
    }

    fn peer(&self, exchange: ExchangeId) -> Option<Arc<str>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).get(&exchange).cloned()
    }
}

impl Inlet for EdgeInlet {
    fn request(&self, id: ExchangeId, head: RequestHead, reply: Reply) {
        let peer = Arc::clone(&head.peer);
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&peer));
        let start = move || -> LocalFuture<()> {
            let exchange = Exchange::begin(id, head, reply);
            Box::pin(edge::handle(exchange))
        };
        self.worker.request(peer, Box::new(start));
    }

    fn body(&self, id: ExchangeId, body: Result<Bytes, BodyError>) {
        if let Some(peer) = self.peer(id) {
            self.worker.job(&peer, Box::new(move |event_loop| with_exchange(event_loop, id, |e| e.body_came(body))));
        }
    }

    fn drained(&self, id: ExchangeId, written: u64) {
        if let Some(peer) = self.peer(id) {
            self.worker.job(&peer, Box::new(move |event_loop| with_exchange(event_loop, id, |e| e.drained(written))));
        }
    }

    fn gone(&self, id: ExchangeId) {
        let peer = self.peers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(peer) = peer {
            self.worker.job(&peer, Box::new(move |event_loop| with_exchange(event_loop, id, |e| e.client_left())));
        }
    }
}
