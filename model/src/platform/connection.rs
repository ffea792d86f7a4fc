//! A TCP connection, as a database driver holds one: an I/O object of the context that dialled it.

use std::cell::Cell;
use std::rc::Rc;

use super::error::JsError;
use super::isolate::Isolate;
use super::operate;
use crate::js::{EventLoop, IoContext};

/// A connection. What is done to it from another context does not always throw (platform fact 122).
pub struct Connection {
    owner: Rc<IoContext>,
    is_open: Cell<bool>,
}

impl Connection {
    /// Dials; the connection belongs to the context that runs.
    pub fn dial() -> Self {
        Connection { owner: EventLoop::current().ctx().context, is_open: Cell::new(true) }
    }

    /// Whether the peer still sees it.
    pub fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Writes.
    ///
    /// # Errors
    /// From another context on the newer build; on the older one that write hangs.
    pub async fn write(&self) -> Result<(), JsError> {
        // Fact: 122. Not every misuse throws: a foreign close seems to work, a foreign write hangs or throws, a
        // foreign timer goes on. [R:X4, R:X9]
        // Fact: 229. Misuse across contexts throws, hangs or does nothing, by kind of object. [facts 116-124]
        let written = operate::owned_by(&self.owner, "Writable");
        if written.is_err() && Isolate::current(|isolate| isolate.habits.hangs_on_foreign_write) {
            std::future::pending::<()>().await;
        }
        written
    }

    /// Closes it. From another context that looks as if it were closed, and the peer sees nothing.
    pub fn close(&self) {
        if operate::owned_by(&self.owner, "Writable").is_ok() {
            self.is_open.set(false);
        }
    }
}
