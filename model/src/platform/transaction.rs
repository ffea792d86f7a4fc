//! `storage.transaction()`: a section whose writes commit together at its end or not at all (platform facts 31, 58-61).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::error::JsError;
use super::operate;
use super::storage::{Batch, Storage, Store};
use super::storage_call::StorageCall;
use crate::operation::Operation;

/// What storage looked like when a transaction began.
pub(super) struct Savepoint {
    values: BTreeMap<Arc<str>, Arc<Value>>,
    alarm: Option<u64>,
    open: Batch,
    dirty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    RolledBack,
    Over,
}

/// The `txn` of a transaction's closure.
pub struct Transaction {
    storage: Storage,
    depth: usize,
    state: Rc<Cell<State>>,
}

impl Storage {
    /// `transaction(closure)`: other events wait until it has ended, across timers too. A throw of the closure rolls back
    /// whatever was written meanwhile, through `ctx.storage` as well, and rejects; the object is not reset.
    ///
    /// # Errors
    /// What the closure throws; from another context, the text for that (platform fact 116).
    pub async fn transaction<F, T>(
        &self,
        operation: &'static Operation,
        closure: impl FnOnce(Transaction) -> F + 'static,
    ) -> Result<T, JsError>
    where
        F: Future<Output = Result<T, JsError>> + 'static,
        T: Clone + 'static,
    {
        self.check_owner()?;
        self.check_reset()?;
        let storage = self.clone();
        // Fact: 31. A transaction is a section, across timers too. [R:G11, S:api/actor-state.c++]
        operate::section(operation, move || async move {
            let state = Rc::new(Cell::new(State::Open));
            let depth = storage.store().begin_transaction();
            let outcome = closure(Transaction { storage: storage.clone(), depth, state: Rc::clone(&state) }).await;
            if state.replace(State::Over) == State::Open {
                match outcome {
                    Ok(_) => storage.end_transaction(depth),
                    Err(_) => storage.store().roll_back(depth),
                }
            }
            outcome
        })
        .await?
    }
}

impl Transaction {
    /// `txn.get(key)`.
    pub fn get(&self, operation: &'static Operation, key: impl Into<Arc<str>>) -> StorageCall<Option<Arc<Value>>> {
        self.usable("get").map_or_else(StorageCall::rejected, |()| self.storage.get(operation, key))
    }

    /// `txn.put(key, value)`.
    pub fn put(&self, operation: &'static Operation, key: impl Into<Arc<str>>, value: Value) -> StorageCall<()> {
        self.usable("put").map_or_else(StorageCall::rejected, |()| self.storage.put(operation, key, value))
    }

    /// `txn.delete(key)`.
    pub fn delete(&self, operation: &'static Operation, key: impl Into<Arc<str>>) -> StorageCall<bool> {
        self.usable("delete").map_or_else(StorageCall::rejected, |()| self.storage.delete(operation, key))
    }

    /// `txn.setAlarm(at)`.
    pub fn set_alarm(&self, operation: &'static Operation, at_ms: i64) -> StorageCall<()> {
        self.usable("setAlarm").map_or_else(StorageCall::rejected, |()| self.storage.set_alarm(operation, at_ms))
    }

    /// `txn.deleteAll()`: never (platform fact 61).
    pub fn delete_all(&self, operation: &'static Operation) -> StorageCall<()> {
        self.usable("deleteAll").map_or_else(StorageCall::rejected, |()| self.storage.delete_all(operation))
    }

    /// `txn.rollback()`: undoes what was written since it began; the closure may go on and return.
    ///
    /// # Errors
    /// When it is over already.
    pub fn rollback(&self) -> Result<(), JsError> {
        self.usable("rollback")?;
        self.state.set(State::RolledBack);
        self.storage.store().roll_back(self.depth);
        Ok(())
    }

    fn usable(&self, method: &str) -> Result<(), JsError> {
        // Fact: 59. A transaction that was rolled back or is over refuses further use with a text of its own. [R:S3]
        match self.state.get() {
            State::Open => Ok(()),
            State::RolledBack => Err(JsError::new(format!("Cannot {method}() on rolled back transaction"))),
            State::Over => Err(JsError::new(format!(
                "Cannot call {method}() on transaction that has already committed: did you move `txn` outside of the \
                 closure?"
            ))),
        }
    }
}

impl Store {
    /// Begins a transaction inside those that run; gives its depth.
    fn begin_transaction(&self) -> usize {
        let mut savepoints = self.savepoints.borrow_mut();
        savepoints.push(Savepoint {
            values: self.values.borrow().clone(),
            alarm: self.shown_alarm(),
            open: self.open.borrow().clone(),
            dirty: self.dirty.get(),
        });
        savepoints.len() - 1
    }

    /// Undoes the transaction at `depth` and those inside it.
    fn roll_back(&self, depth: usize) {
        // Fact: 58. A transaction that throws rolls back everything written meanwhile and resets nothing. [R:S3]
        // Fact: 60. A nested transaction rolls back by itself, its alarm included. [R:S3]
        let undone: Vec<Savepoint> = {
            let mut savepoints = self.savepoints.borrow_mut();
            let depth = depth.min(savepoints.len());
            savepoints.drain(depth..).collect()
        };
        if let Some(savepoint) = undone.into_iter().next() {
            *self.values.borrow_mut() = savepoint.values;
            *self.open.borrow_mut() = savepoint.open;
            self.show_alarm(savepoint.alarm);
            self.dirty.set(savepoint.dirty);
        }
    }

    /// True while a transaction runs: what is written waits for its end.
    pub fn in_transaction(&self) -> bool {
        !self.savepoints.borrow().is_empty()
    }
}
