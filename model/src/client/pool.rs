//! The connections that a client posts over: one that is kept, and more while requests overlap.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::ClientConfig;
use crate::net::http_client::{HttpConnection, Request, Response, SendError};

/// Connections of one client, idle and in use, numbered from 1.
#[derive(Default)]
pub(super) struct Pool {
    idle: RefCell<BTreeMap<u32, HttpConnection>>,
    used: RefCell<BTreeSet<u32>>,
}

/// A connection in use; dropped before it is given back, it closes.
pub(super) struct Lease {
    pool: Rc<Pool>,
    number: u32,
    connection: Option<HttpConnection>,
    reused: bool,
}

impl Pool {
    /// Sends over the first idle connection, or over a new one.
    ///
    /// A connection that turns out to be closed before anything was written is replaced, once.
    pub(super) async fn send(
        self: &Rc<Self>,
        config: &ClientConfig,
        request: Request,
    ) -> Result<(Lease, Response), SendError> {
        let mut lease = match self.lease_idle() {
            Some(lease) => lease,
            None => self.lease_new(config).await?,
        };
        match lease.send(request.clone()).await {
            Err(error) if !error.written && lease.reused => {}
            result => return result.map(|response| (lease, response)),
        }
        drop(lease);
        let mut fresh = self.lease_new(config).await?;
        let response = fresh.send(request).await?;
        Ok((fresh, response))
    }

    /// Connections idle and in use.
    pub(super) fn len(&self) -> usize {
        self.idle.borrow().len() + self.used.borrow().len()
    }

    fn lease_idle(self: &Rc<Self>) -> Option<Lease> {
        let mut idle = self.idle.borrow_mut();
        idle.retain(|_, connection| !connection.is_closed());
        let (number, connection) = idle.pop_first()?;
        self.used.borrow_mut().insert(number);
        Some(Lease { pool: Rc::clone(self), number, connection: Some(connection), reused: true })
    }

    async fn lease_new(self: &Rc<Self>, config: &ClientConfig) -> Result<Lease, SendError> {
        let number = self.take_number();
        let mut lease = Lease { pool: Rc::clone(self), number, connection: None, reused: false };
        let lane = format!("p{number}");
        let connection = HttpConnection::connect(&config.label, &lane, config.edge).await;
        lease.connection = Some(connection.map_err(|error| SendError { written: false, text: error.to_string() })?);
        Ok(lease)
    }

    fn take_number(&self) -> u32 {
        let (idle, mut used) = (self.idle.borrow(), self.used.borrow_mut());
        let mut number = 1;
        while used.contains(&number) || idle.contains_key(&number) {
            number += 1;
        }
        used.insert(number);
        number
    }
}

impl Lease {
    async fn send(&mut self, request: Request) -> Result<Response, SendError> {
        match &mut self.connection {
            Some(connection) => connection.send(request).await,
            None => Err(SendError { written: false, text: "not connected".to_owned() }),
        }
    }

    /// The body was read to its end: the connection may serve the next request.
    pub(super) fn give_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.idle.borrow_mut().insert(self.number, connection);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.used.borrow_mut().remove(&self.number);
    }
}
