//! Who is behind an address: the client side of a connection says it, the server side looks it up.
//!
//! One run lives on one OS thread, so the table is a thread-local; a server that finds nothing (real sockets
//! of strangers) uses the address as the label.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

thread_local! {
    static LABELS: RefCell<BTreeMap<SocketAddr, Arc<str>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets every label; called at the start of a run.
pub fn reset() {
    LABELS.with_borrow_mut(BTreeMap::clear);
}

/// Says that `local`, the client's end of a new connection, belongs to `label`.
///
/// Ports are used again, so the newest word counts.
pub fn register(local: SocketAddr, label: &Arc<str>) {
    LABELS.with_borrow_mut(|labels| labels.insert(local, Arc::clone(label)));
}

/// The label of `peer`, or its address as text.
pub fn of(peer: SocketAddr) -> Arc<str> {
    let known = LABELS.with_borrow(|labels| labels.get(&peer).cloned());
    known.unwrap_or_else(|| Arc::from(peer.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_peer_is_called_by_its_address_and_a_reset_forgets() {
        let address: SocketAddr = "10.0.0.9:4".parse().expect("an address");
        assert_eq!(&*of(address), "10.0.0.9:4");
        register(address, &Arc::from("s9"));
        assert_eq!(&*of(address), "s9");
        reset();
        assert_eq!(&*of(address), "10.0.0.9:4");
    }
}
