//! One deployable: the edge worker with its HTTP server, the session class, the isolates it runs in.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use crate::config::HostConfig;
use crate::front::EdgeInlet;
use crate::net::server;
use crate::platform::{
    Class, Cluster, ClusterConfig, Control, DurableObject, ObjectContext, ObjectKey, RuntimeBuild, Switches, Worker,
};
use crate::rt;
use crate::session::owner_object::{OWNER_CLASS, OwnerObject};
use crate::session::{CLASS, NAME_PREFIX, SessionObject};

pub use crate::front::Caller;

/// Where the edge listens.
pub const EDGE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1, 0, 1)), 8787);

/// The key of a session's object.
pub fn session_key(session_id: &str) -> ObjectKey {
    ObjectKey::named(CLASS, format!("{NAME_PREFIX}{session_id}"))
}

/// The key of a session's object whose id, 64 hexadecimal digits, never had a name.
pub fn nameless_key(id: &str) -> ObjectKey {
    ObjectKey::unique(CLASS, id)
}

/// A running deployment.
pub struct Deployment {
    cluster: Cluster,
    worker: Worker,
}

impl Deployment {
    /// Deploys the host on a platform with the habits of that build.
    pub fn start(config: HostConfig, isolate_count: u32, build: RuntimeBuild) -> Deployment {
        Self::start_with(config, isolate_count, build, Switches::default())
    }

    /// The same on one with other habits.
    pub fn start_with(config: HostConfig, isolate_count: u32, build: RuntimeBuild, switches: Switches) -> Deployment {
        let (of_owner, of_edge) = (config.clone(), Arc::new(config.clone()));
        let session: Class = Arc::new(move |ctx: ObjectContext| -> Rc<dyn DurableObject> {
            SessionObject::new(ctx, Rc::new(config.clone()))
        });
        let owner: Class = Arc::new(move |ctx: ObjectContext| -> Rc<dyn DurableObject> {
            OwnerObject::new(ctx, Rc::new(of_owner.clone()))
        });
        let classes = BTreeMap::from([(CLASS, session), (OWNER_CLASS, owner)]);
        let cluster = Cluster::start_with(ClusterConfig { isolate_count, build, classes }, switches);
        let worker = Worker::start(&cluster, "edge", EDGE.ip());
        let inlet = EdgeInlet::new(worker.handle(), of_edge);
        worker.node().run(move || async move {
            let Err(error) = server::serve(EDGE, inlet).await;
            panic!("the edge cannot listen on {EDGE}: {error}");
        });
        Deployment { cluster, worker }
    }

    /// The harness's handle.
    pub fn control(&self) -> Control {
        Control::new(self.cluster.clone())
    }

    /// Another worker that is bound to the sessions' namespace.
    pub fn caller(&self) -> Caller {
        Caller::start(&self.cluster)
    }

    /// Ends the deployment: the edge, then every isolate.
    pub async fn stop(self) {
        self.worker.stop();
        self.cluster.stop();
        rt::sleep_ms(1).await;
    }
}
