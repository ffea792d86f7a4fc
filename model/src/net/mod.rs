//! HTTP/1.1 and server-sent events over the simulated network, or over real sockets.
//!
//! [`sim_io`] is the one adapter between hyper and a TCP stream, [`link`] the latency and, later, the faults in it.
//! [`server`] hands requests to the edge worker, [`http_client`] sends them, [`sse`] reads event streams,
//! [`tap`] hears what clients send and get, [`stalls`] knows who reads nothing for a while.

pub mod http_client;
pub mod labels;
pub mod link;
mod reply;
mod request_body;
pub mod server;
pub mod sim_io;
pub mod sse;
pub mod stalls;
pub mod tap;
pub mod timer;

use std::borrow::Cow;

pub use reply::{CutShort, Reply};
pub use request_body::{BodyError, REQUEST_BODY_MAX};

/// Bytes as text, what is no UTF-8 replaced. Mostly all of it is, and finding that out is quick.
fn lossy_text(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

#[cfg(test)]
pub(crate) mod testkit;
#[cfg(test)]
mod tests;
