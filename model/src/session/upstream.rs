//! The database and the other services a host calls: they answer, each after a drawn time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::js::{EventLoop, Promise};
use crate::operation::Operation;
use crate::platform::{self, Connection, JsError, module_scope};
use crate::rt;

crate::operations! {
    DB_END_IDLE = "teardown · db.end", Micro, 13; "pool close of a handle that was never dialled or is idle for over 5 s"
    DB_END_DIALLED = "teardown · db.end dialled", Io, 1; "pool close of a handle in use: a 0 ms timer"
}

/// A pooled connection is dropped after so long without a query.
const POOL_IDLE_MS: u64 = 5_000;

/// Handles that were opened in this isolate, to number them in traces.
#[derive(Default)]
struct Opened(Cell<u64>);

/// A long-lived database handle; making it does no I/O, the first query dials.
pub struct DbHandle {
    /// Whose it is, and its number in traces.
    label: Arc<str>,
    number: u64,
    connection: RefCell<Option<Rc<Connection>>>,
    last_query_ms: Cell<Option<u64>>,
}

impl DbHandle {
    /// A handle of the session `label`.
    pub fn open(label: &Arc<str>) -> Rc<Self> {
        let opened = module_scope::<Opened>();
        opened.0.set(opened.0.get() + 1);
        let number = opened.0.get();
        state_event!("handle.opened", label, handle = number);
        Rc::new(DbHandle {
            label: Arc::clone(label),
            number,
            connection: RefCell::default(),
            last_query_ms: Cell::new(None),
        })
    }

    /// `end()`.
    pub async fn end(&self) -> Result<(), JsError> {
        state_event!("handle.ended", self.label, handle = self.number);
        let connection = self.connection.borrow().clone();
        if let Some(connection) = connection {
            connection.close();
        }
        let now_ms = EventLoop::current().now_ms();
        let dialled = self.last_query_ms.get().is_some_and(|at| now_ms - at <= POOL_IDLE_MS);
        if dialled { platform::sleep(&DB_END_DIALLED, 0).await } else { platform::micro(&DB_END_IDLE).await }
    }

    /// Whether the database still sees a connection of it.
    #[cfg(test)]
    pub fn is_connected(&self) -> bool {
        self.connection.borrow().as_ref().is_some_and(|connection| connection.is_open())
    }

    /// A query that answers nothing of interest here, after a drawn time.
    pub async fn query(&self, operation: &'static Operation, who: &Arc<str>) -> Result<(), JsError> {
        self.last_query_ms.set(Some(EventLoop::current().now_ms()));
        let connection = self.connection.borrow().clone().filter(|dialled| dialled.is_open());
        let connection = connection.unwrap_or_else(|| Rc::new(Connection::dial()));
        *self.connection.borrow_mut() = Some(Rc::clone(&connection));
        connection.write().await?;
        answer_after(operation, who, "latency.db").await?;
        self.last_query_ms.set(Some(EventLoop::current().now_ms()));
        Ok(())
    }
}

/// The name of an organisation.
pub async fn organization_name(operation: &'static Operation, who: &Arc<str>, id: &str) -> Result<Arc<str>, JsError> {
    answer_after(operation, who, "latency.db").await?;
    Ok(format!("Organization {id}").into())
}

/// Something that takes a drawn time of at least a millisecond.
pub async fn answer_after(operation: &'static Operation, who: &str, what: &str) -> Result<(), JsError> {
    let ms = 1 + rt::decide_delay(who, what);
    platform::io(operation, || {
        let answered = Promise::new();
        let settled = answered.clone();
        let event_loop = EventLoop::current();
        // An answer is no timer: one from before a section does not block it (platform fact 33).
        event_loop.run_later(event_loop.now_ms() + ms, event_loop.ctx(), Box::new(move || settled.settle(Ok(()))));
        answered
    })
    .await
}
