//! Who is behind an address: the client side of a connection says it, the server side looks it up.
//!
//! One run lives on one OS thread, so the table is a thread-local; a server that finds nothing (real sockets
//! of strangers) uses the address as the label.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// Who is at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Label of the client.
    pub label: Arc<str>,
    /// Which of the client's connections: its name within the client, empty for a stranger's.
    pub lane: Arc<str>,
}

thread_local! {
    static LABELS: RefCell<BTreeMap<SocketAddr, Peer>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets every label; called at the start of a run.
pub fn reset() {
    LABELS.with_borrow_mut(BTreeMap::clear);
}

/// Says that `local`, the client's end of a new connection, is the connection `lane` of `label`.
///
/// Ports are used again, so the newest word counts.
pub fn register(local: SocketAddr, label: &Arc<str>, lane: &str) {
    let peer = Peer { label: Arc::clone(label), lane: lane.into() };
    LABELS.with_borrow_mut(|labels| labels.insert(local, peer));
}

/// Who is at `peer`; a stranger is called by the address.
pub fn of(peer: SocketAddr) -> Peer {
    let known = LABELS.with_borrow(|labels| labels.get(&peer).cloned());
    known.unwrap_or_else(|| Peer { label: Arc::from(peer.to_string()), lane: Arc::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_peer_is_called_by_its_address_and_a_reset_forgets() {
        let address: SocketAddr = "10.0.0.9:4".parse().expect("an address");
        assert_eq!(&*of(address).label, "10.0.0.9:4");
        register(address, &Arc::from("s9"), "p1");
        assert_eq!((&*of(address).label, &*of(address).lane), ("s9", "p1"));
        reset();
        assert_eq!(&*of(address).label, "10.0.0.9:4");
    }
}
