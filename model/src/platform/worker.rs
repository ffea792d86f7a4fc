//! A stateless worker: the same kind of loop without objects, a context for each request.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use super::cluster::Cluster;
use super::isolate::{Isolate, IsolateId};
use super::object::LocalFuture;
use crate::js::{Ctx, EventLoop, Inbox, IoContext, Lane, Letter, Owner, SectionId};
use crate::rt::{self, Node};

/// A stateless worker on a node of its own. Clones of its inbox reach it from anywhere.
pub struct Worker {
    node: Node,
    inbox: Arc<Inbox>,
}

/// Reaches a worker from other threads and tasks.
#[derive(Clone)]
pub struct WorkerHandle(Arc<Inbox>);

type Start = Box<dyn FnOnce() -> LocalFuture<()> + Send>;
type Job = Box<dyn FnOnce(&Rc<EventLoop>) + Send>;

impl Worker {
    /// Starts a worker that calls objects of `cluster`.
    pub fn start(cluster: &Cluster, name: &str, address: IpAddr) -> Worker {
        let node = Node::create(name, address);
        let inbox = Inbox::new();
        cluster.add_worker(Arc::clone(&inbox));
        let (cluster, name, mail) = (cluster.clone(), Arc::<str>::from(name), Arc::clone(&inbox));
        node.run(move || {
            let event_loop = EventLoop::new(name, mail, cluster.habits().jams_timers);
            event_loop.set_host(Isolate::new(IsolateId(0), cluster));
            event_loop.run()
        });
        Worker { node, inbox }
    }

    /// The worker's machine.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// A handle for others.
    pub fn handle(&self) -> WorkerHandle {
        WorkerHandle(Arc::clone(&self.inbox))
    }

    /// Ends it.
    pub fn stop(&self) {
        self.inbox.close();
        self.node.kill();
    }
}

impl WorkerHandle {
    /// A request comes in by the connection `lane`: `start` runs in a context of its own, labelled `label`, in the
    /// next millisecond.
    pub fn request(&self, label: Arc<str>, lane: &Lane, start: Start) -> bool {
        self.post(lane, Box::new(RequestLetter { label, start }))
    }

    /// Something the worker's own platform has to do in the loop, in order with the requests of a connection.
    pub fn job(&self, lane: &Lane, job: Job) -> bool {
        self.post(lane, Box::new(JobLetter(job)))
    }

    /// Due in the next millisecond: what comes from the network within one is ordered there, by lane.
    fn post(&self, lane: &Lane, letter: Box<dyn Letter>) -> bool {
        self.0.post(rt::now_ms() + 1, lane.clone(), letter)
    }
}

struct RequestLetter {
    label: Arc<str>,
    start: Start,
}

impl Letter for RequestLetter {
    fn context(&self, _: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        None
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        // Fact: 115. Events of one object share a context; each stateless request has its own. [S:io/io-context.h,
        // R:X1, R:X10]
        let context = event_loop.new_context(Owner::Request, self.label);
        let ctx = Ctx { context, section: 0, root: "request" };
        let task = event_loop.with_ctx(ctx.clone(), self.start);
        event_loop.start_in(ctx, task);
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}
}

struct JobLetter(Job);

impl Letter for JobLetter {
    fn context(&self, _: &EventLoop) -> Option<(Rc<IoContext>, SectionId)> {
        None
    }

    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>) {
        (self.0)(event_loop);
    }

    fn bounce(self: Box<Self>, _: &Rc<EventLoop>) {}
}
