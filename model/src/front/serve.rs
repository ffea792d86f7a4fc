//! The SDK's worker by itself, `McpAgent.serve(path)`: the bridge to a class, with nothing of the product's edge before it.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::bridge::{self, Binding};
use super::exchange::Exchange;
use super::{EdgeInlet, Entry};
use crate::config::HostConfig;
use crate::js::rooted;
use crate::mcp;
use crate::platform::WorkerHandle;

/// What is served to whoever asks.
#[derive(Clone)]
pub(super) struct Served {
    class: &'static str,
    props: Value,
}

/// An inlet of a worker that serves the agents of `class`; each connect carries `props`.
pub fn serve(worker: WorkerHandle, config: Arc<HostConfig>, class: &'static str, props: Value) -> Arc<EdgeInlet> {
    EdgeInlet::with(worker, config, Entry::Served(Served { class, props }))
}

/// Handles one request. What nobody recognises is a bare 500.
pub(super) async fn handle(exchange: Rc<Exchange>, served: Served) {
    let session_id = exchange.header(mcp::SESSION_ID_HEADER).map(str::to_owned);
    let binding = Binding { class: served.class, deleted: 204 };
    if rooted("edge", bridge::handle(&exchange, binding, session_id, served.props)).await.is_err() {
        exchange.fail();
    }
}
