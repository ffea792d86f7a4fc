//! A stateless worker that calls methods of sessions through their stubs, as any worker can that is bound to their
//! namespace.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use serde_json::Value;

use crate::js::Lane;
use crate::platform::{Cluster, JsError, ObjectKey, Stub, Worker};

crate::operations! {
    CALL = "caller · stub.call", Io, 0, assumed; "a method of a session's object; may run a whole start"
}

/// Where it runs.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 5, 0, 1));

/// The worker. Every call is a request of its own, with a stub of its own.
pub struct Caller(Worker);

impl Caller {
    /// Starts it beside the isolates of a cluster.
    pub fn start(cluster: &Cluster) -> Caller {
        Caller(Worker::start(cluster, "caller", ADDRESS))
    }

    /// Calls a method in the next millisecond, in order with the other calls of `who`, and tells what came of it.
    pub fn call(
        &self,
        who: &Arc<str>,
        key: ObjectKey,
        method: &'static str,
        arguments: Value,
        ended: impl FnOnce(Result<Value, JsError>) + Send + 'static,
    ) {
        let lane = Lane::named(who, "call", 0);
        let start = move || -> crate::platform::LocalFuture<()> {
            let stub = Stub::new(key);
            Box::pin(async move { ended(stub.rpc(&CALL, method, arguments).await) })
        };
        self.0.handle().request(Arc::clone(who), &lane, Box::new(start));
    }

    /// Ends it: what was called goes on, and nobody waits for it any more.
    pub fn stop(&self) {
        self.0.stop();
    }
}
