//! A machine of the world: what runs on it ends with it.

use std::future::Future;
use std::net::IpAddr;

/// A node with an address; its tasks end when it is killed.
pub struct Node {
    #[cfg(madsim)]
    id: madsim::task::NodeId,
    #[cfg(not(madsim))]
    tasks: std::cell::RefCell<Vec<tokio::task::JoinHandle<()>>>,
    address: IpAddr,
}

impl Node {
    /// Creates a node. On real tokio a node is only a group of tasks and `address` is ignored.
    pub fn create(name: &str, address: IpAddr) -> Node {
        #[cfg(madsim)]
        let id = madsim::runtime::Handle::current().create_node().name(name).ip(address).build().id();
        #[cfg(not(madsim))]
        let _ = name;
        Node {
            #[cfg(madsim)]
            id,
            #[cfg(not(madsim))]
            tasks: std::cell::RefCell::default(),
            address,
        }
    }

    /// The node's address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Runs on the node what `make` returns. `make` crosses to the node, so it captures only `Send` data.
    pub fn run<F, Fut>(&self, make: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        #[cfg(madsim)]
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        {
            // Asked for anew: a handle from before a restart starts only cancelled tasks.
            let node =
                madsim::runtime::Handle::current().get_node(self.id).expect("the node was created in this world");
            drop(node.spawn(async move {
                drop(tokio::task::spawn_local(make()));
            }));
        }
        #[cfg(not(madsim))]
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        self.tasks.borrow_mut().push(tokio::task::spawn_local(make()));
    }

    /// Ends the node: its tasks are dropped at their next scheduling, no code of theirs runs.
    pub fn kill(&self) {
        #[cfg(madsim)]
        madsim::runtime::Handle::current().kill(self.id);
        #[cfg(not(madsim))]
        for task in self.tasks.borrow_mut().drain(..) {
            task.abort();
        }
    }

    /// Starts the machine again after [`Node::kill`], empty.
    pub fn restart(&self) {
        #[cfg(madsim)]
        madsim::runtime::Handle::current().restart(self.id);
    }
}
