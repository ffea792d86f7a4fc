//! `ctx.storage`: effects at the call, one transaction a turn, and what is durable when.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde_json::Value;
#[cfg(test)]
use serde_json::json;

use super::cluster::{Durable, lock};
use super::error::JsError;
use super::isolate::Isolate;
use super::list_range::{ListAnswer, ListRange};
use super::object::Instance;
use super::operate;
use super::storage_call::{self, SETTLES_AFTER, StorageCall};
use super::transaction::Savepoint;
use crate::js::{EventLoop, Promise};
use crate::operation::Operation;

/// Writes of one turn: they commit together or not at all, alarm changes included (platform fact 41).
#[derive(Clone, Default)]
pub(super) struct Batch {
    pub number: u64,
    pub done: bool,
    pub changes: BTreeMap<Arc<str>, Option<Arc<Value>>>,
    pub alarm: Option<AlarmChange>,
}

/// The last change of the alarm slot in a turn, and who made it.
#[derive(Clone)]
pub(super) struct AlarmChange {
    pub to: Option<u64>,
    pub by: &'static str,
    pub root: &'static str,
}

/// The storage of one incarnation: what its code reads, and what of it is not durable yet.
pub(super) struct Store {
    pub durable: Arc<Mutex<Durable>>,
    pub values: RefCell<BTreeMap<Arc<str>, Arc<Value>>>,
    alarm: Cell<Option<u64>>,
    /// What to go back to, for each transaction that runs, the outermost first.
    pub savepoints: RefCell<Vec<Savepoint>>,
    pub open: RefCell<Batch>,
    pub in_flight: RefCell<VecDeque<Batch>>,
    pub dirty: Cell<bool>,
    /// Number of the last batch that was begun and of the last that is durable.
    pub begun: Cell<u64>,
    pub committed: Cell<u64>,
    pub syncs: RefCell<Vec<(u64, Promise<()>)>>,
}

impl Store {
    pub fn load(durable: Arc<Mutex<Durable>>) -> Self {
        let (values, alarm) = {
            let durable = lock(&durable);
            (durable.values.clone(), durable.alarm)
        };
        Store {
            durable,
            values: RefCell::new(values),
            alarm: Cell::new(alarm),
            savepoints: RefCell::default(),
            open: RefCell::default(),
            in_flight: RefCell::default(),
            dirty: Cell::new(false),
            begun: Cell::new(0),
            committed: Cell::new(0),
            syncs: RefCell::default(),
        }
    }

    /// The slot is empty while its alarm runs (platform fact 73); a retry shows the past time again (fact 77).
    pub fn show_alarm(&self, at: Option<u64>) {
        self.alarm.set(at);
    }

    pub fn shown_alarm(&self) -> Option<u64> {
        self.alarm.get()
    }

    /// True while a change of the alarm is not durable yet.
    pub fn alarm_in_flight(&self) -> bool {
        self.open.borrow().alarm.is_some() || self.in_flight.borrow().iter().any(|batch| batch.alarm.is_some())
    }

    /// What must not leave before batch `n` is durable has this number. Writes of a transaction that still runs hold
    /// nothing back.
    pub fn waits_for(&self) -> u64 {
        if self.dirty.get() && !self.in_transaction() { self.begun.get() + 1 } else { self.begun.get() }
    }
}

/// The storage of an object. Use it from the object's own code only (platform facts 116, 119).
#[derive(Clone)]
pub struct Storage {
    instance: Rc<Instance>,
}

/// The last date that JavaScript knows, in epoch milliseconds.
const DATE_MAX_MS: f64 = 8.64e15;

impl Storage {
    pub(super) fn new(instance: Rc<Instance>) -> Self {
        Storage { instance }
    }

    /// `get(key)`.
    pub fn get(&self, operation: &'static Operation, key: impl Into<Arc<str>>) -> StorageCall<Option<Arc<Value>>> {
        let key = key.into();
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.get(key));
        }
        self.call(operation, move |instance| {
            // Fact: 53. Reads see earlier writes of the turn that nobody awaited; the last write wins. [R:S1]
            let value = instance.store.values.borrow().get(&key).cloned();
            #[cfg(test)]
            observe(instance, operation, "get", json!({"key": &*key, "result": value.as_deref()}));
            Ok(value)
        })
    }

    /// `get([keys])`: what exists of them, sorted by key (platform fact 51).
    pub fn get_many(&self, operation: &'static Operation, keys: Vec<Arc<str>>) -> StorageCall<Rc<ListAnswer>> {
        self.call(operation, move |instance| {
            let values = instance.store.values.borrow();
            let mut found: ListAnswer =
                keys.iter().filter_map(|key| Some((Arc::clone(key), Arc::clone(values.get(key)?)))).collect();
            found.sort_by(|one, other| one.0.cmp(&other.0));
            found.dedup_by(|one, other| one.0 == other.0);
            Ok(Rc::new(found))
        })
    }

    /// `put(key, value)`.
    pub fn put(
        &self,
        operation: &'static Operation,
        key: impl Into<Arc<str>>,
        value: impl Into<Arc<Value>>,
    ) -> StorageCall<()> {
        let (key, value) = (key.into(), value.into());
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.put(key, value));
        }
        self.call(operation, move |instance| {
            check_size(&value)?;
            #[cfg(test)]
            observe(instance, operation, "put", json!({"key": &*key, "value": &*value}));
            instance.store.values.borrow_mut().insert(Arc::clone(&key), Arc::clone(&value));
            instance.write(|batch| drop(batch.changes.insert(key, Some(value))));
            Ok(())
        })
    }

    /// `delete(key)`: whether it existed (platform fact 51).
    pub fn delete(&self, operation: &'static Operation, key: impl Into<Arc<str>>) -> StorageCall<bool> {
        let key = key.into();
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.delete(key));
        }
        self.call(operation, move |instance| {
            #[cfg(test)]
            observe(instance, operation, "delete", json!({"key": &*key}));
            Ok(instance.remove(&key))
        })
    }

    /// `delete([keys])`: how many existed.
    pub fn delete_many(&self, operation: &'static Operation, keys: Vec<Arc<str>>) -> StorageCall<usize> {
        self.call(operation, move |instance| Ok(keys.iter().filter(|key| instance.remove(key)).count()))
    }

    /// `list(options)`: ordered by UTF-8 bytes (platform facts 56, 57).
    pub fn list(&self, operation: &'static Operation, range: ListRange) -> StorageCall<Rc<ListAnswer>> {
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.list(range));
        }
        self.call(operation, move |instance| {
            range.check()?;
            let rows = range.take(&instance.store.values.borrow());
            #[cfg(test)]
            observe(instance, operation, "list", json!({"prefix": &*range.prefix, "result": shown(&rows)}));
            Ok(Rc::new(rows))
        })
    }

    /// `deleteAll()`: acts at once, outside the open transaction (platform fact 44); the alarm stays where no
    /// flag says otherwise (fact 62).
    pub fn delete_all(&self, operation: &'static Operation) -> StorageCall<()> {
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.delete_all());
        }
        self.call(operation, move |instance| {
            let store = &instance.store;
            // Fact: 61. Deleting everything inside a transaction is refused. [R:S3]
            if store.in_transaction() {
                return Err(JsError::new("Cannot call deleteAll() within a transaction"));
            }
            // Fact: 44. Deleting everything acts at once, outside the open transaction. [R:S12]
            store.values.borrow_mut().clear();
            store.open.borrow_mut().changes.clear();
            store.in_flight.borrow_mut().iter_mut().for_each(|batch| batch.changes.clear());
            // Fact: 62. Deleting everything keeps the alarm, unless a newer compatibility date says otherwise. [R:S4,
            // RF:S4, S:io/compatibility-date.capnp]
            lock(&store.durable).values.clear();
            if Isolate::current(|isolate| isolate.switches.wipes_alarm) {
                instance.change_alarm(None, operation.name);
            }
            platform_event!("storage.wiped", instance.io.label);
            if Isolate::current(|isolate| isolate.switches.wipes_alarm) {
                instance.wipe_alarm(operation.name);
            }
            Ok(())
        })
    }

    /// `getAlarm()`: whole epoch milliseconds (platform fact 65). One trip less on the newer runtime build.
    pub fn get_alarm(&self, operation: &'static Operation) -> StorageCall<Option<u64>> {
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.get_alarm());
        }
        let fewer = Isolate::current(|isolate| isolate.habits.get_alarm_is_short);
        let mut call =
            self.call_after(operation, SETTLES_AFTER - u32::from(fewer), |instance| Ok(instance.store.alarm.get()));
        call.hops = operation.hops - SETTLES_AFTER;
        call
    }

    /// `setAlarm(at)` with any number of epoch milliseconds: fractions are cut, what is no date is refused (platform facts
    /// 65, 66).
    pub fn set_alarm_at(&self, operation: &'static Operation, at_ms: f64) -> StorageCall<()> {
        if at_ms.abs() <= DATE_MAX_MS {
            #[expect(clippy::cast_possible_truncation, reason = "a date in milliseconds is far below 2^53")]
            return self.set_alarm(operation, at_ms as i64);
        }
        self.call(operation, |_| {
            Err(JsError::type_error("The value cannot be converted because it is not a valid Date."))
        })
    }

    /// `setAlarm(at)` with `at` in epoch milliseconds; a past time becomes now (platform facts 65-67).
    pub fn set_alarm(&self, operation: &'static Operation, at_ms: i64) -> StorageCall<()> {
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.set_alarm(at_ms));
        }
        self.call(operation, move |instance| {
            // Fact: 66. A time of zero or less, what is no date, and a class without alarm() are refused. [R:A1,
            // R:A21]
            if at_ms <= 0 {
                return Err(JsError::type_error("setAlarm() cannot be called with an alarm time <= 0"));
            }
            // Fact: 89. A constructor can set the alarm. [R:A22]
            if !instance.object.borrow().as_ref().is_none_or(|object| object.has_alarm()) {
                return Err(JsError::type_error(
                    "Your Durable Object class must have an alarm() handler in order to call setAlarm()",
                ));
            }
            // Fact: 67. A past time becomes now and fires soon, also while its setter still waits. [R:A1, R:A3]
            let at = at_ms.unsigned_abs().max(EventLoop::current().now_ms());
            #[cfg(test)]
            observe(instance, operation, "setAlarm", json!({"time": at}));
            instance.change_alarm(Some(at), operation.name);
            Ok(())
        })
    }

    /// `deleteAlarm()`; idempotent.
    pub fn delete_alarm(&self, operation: &'static Operation) -> StorageCall<()> {
        if let Some(state) = &self.instance.state {
            return StorageCall::given(operation, state.delete_alarm());
        }
        self.call(operation, |instance| {
            #[cfg(test)]
            observe(instance, operation, "deleteAlarm", json!({}));
            instance.change_alarm(None, operation.name);
            Ok(())
        })
    }

    /// `sync()`: leaves the turn and settles when everything written so far is durable (platform fact 43).
    pub fn sync(&self, operation: &'static Operation) -> StorageCall<()> {
        let promise = Promise::new();
        let call = StorageCall { promise: promise.clone(), hops: operation.hops.max(1) };
        if let Err(error) = self.check_owner() {
            promise.settle_after(SETTLES_AFTER, Err(error));
            return call;
        }
        storage_call::sync(operation, Rc::clone(&self.instance), promise);
        call
    }

    pub(super) fn check_owner(&self) -> Result<(), JsError> {
        // Fact: 119. A successor of the same object may not use its predecessor's storage either. [R:E7]
        operate::owned_by(&self.instance.io, "ActorCacheInterface")
    }

    /// A reset from outside rejects what its zombie asks of storage.
    pub(super) fn check_reset(&self) -> Result<(), JsError> {
        self.instance.storage_error().map_or(Ok(()), Err)
    }

    /// What its code reads now, key by key, and the alarm slot; not a storage call.
    #[cfg(test)]
    pub fn peek(&self) -> (BTreeMap<Arc<str>, Arc<Value>>, Option<u64>) {
        (self.store().values.borrow().clone(), self.store().alarm.get())
    }

    pub(super) fn store(&self) -> &Store {
        &self.instance.store
    }

    /// Writes or deletes what is kept under a key, at once.
    pub(super) fn write_row(&self, key: Arc<str>, row: Option<Arc<Value>>) -> Result<(), JsError> {
        self.check_owner()?;
        self.check_reset()?;
        match &row {
            Some(row) => drop(self.store().values.borrow_mut().insert(Arc::clone(&key), Arc::clone(row))),
            None => drop(self.store().values.borrow_mut().remove(&key)),
        }
        self.instance.write(|batch| drop(batch.changes.insert(key, row)));
        Ok(())
    }

    /// Ends the transaction at `depth`; the outermost one's writes commit after this turn.
    pub(super) fn end_transaction(&self, depth: usize) {
        let store = self.store();
        store.savepoints.borrow_mut().truncate(depth);
        if store.dirty.get() && !store.in_transaction() {
            Isolate::current(|isolate| isolate.mark_dirty(&self.instance.key));
        }
    }

    fn call<T: Clone + 'static>(
        &self,
        operation: &'static Operation,
        effect: impl FnOnce(&Instance) -> Result<T, JsError> + 'static,
    ) -> StorageCall<T> {
        self.call_after(operation, SETTLES_AFTER, effect)
    }

    fn call_after<T: Clone + 'static>(
        &self,
        operation: &'static Operation,
        settles_after: u32,
        effect: impl FnOnce(&Instance) -> Result<T, JsError> + 'static,
    ) -> StorageCall<T> {
        let promise = Promise::new();
        let call = StorageCall { promise: promise.clone(), hops: operation.hops.saturating_sub(SETTLES_AFTER).max(1) };
        if let Err(error) = self.check_owner() {
            promise.settle_after(settles_after, Err(error));
            return call;
        }
        storage_call::perform(operation, Rc::clone(&self.instance), promise, settles_after, effect);
        call
    }
}

/// Bytes that a value may have on the older build (platform facts 54, 55).
const VALUE_MAX: usize = 2 * 1_024 * 1_024;

/// What a put throws for a value that is too large for its row.
fn check_size(value: &Value) -> Result<(), JsError> {
    // Fact: 55. A value over 2 MB is refused on the older build; the newer one takes 3 MiB. [R26:S1, R11:S1]
    if bytes_of(value) > VALUE_MAX && Isolate::current(|isolate| isolate.habits.limits_values) {
        return Err(JsError::new("string or blob too big: SQLITE_TOOBIG"));
    }
    Ok(())
}

/// About how long a value is; only texts can make it large.
fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_of).sum(),
        Value::Object(fields) => fields.iter().map(|(name, field)| name.len() + bytes_of(field)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
fn observe(instance: &Instance, operation: &Operation, op: &str, what: Value) {
    crate::observed::storage(&instance.key, operation, op, what);
}

#[cfg(test)]
fn shown(rows: &ListAnswer) -> Value {
    rows.iter().map(|(key, value)| json!([&**key, &**value])).collect()
}

impl Instance {
    fn write(self: &Instance, change: impl FnOnce(&mut Batch)) {
        // Fact: 41. The writes of a turn are one transaction, changes of the alarm included. [R:S7,
        // S:io/actor-sqlite.c++ ImplicitTxn]
        change(&mut self.store.open.borrow_mut());
        if !self.store.dirty.replace(true) {
            Isolate::current(|isolate| isolate.mark_dirty(&self.key));
        }
    }

    fn remove(&self, key: &Arc<str>) -> bool {
        // Fact: 51. Missing keys read as nothing; a delete tells whether, or how many, existed. [R:S1]
        let existed = self.store.values.borrow_mut().remove(key).is_some();
        if existed {
            self.write(|batch| drop(batch.changes.insert(Arc::clone(key), None)));
        }
        existed
    }

    /// The alarm goes with everything else, at once.
    fn wipe_alarm(&self, by: &'static str) {
        let store = &self.store;
        store.alarm.set(None);
        store.open.borrow_mut().alarm = None;
        store.in_flight.borrow_mut().iter_mut().for_each(|batch| batch.alarm = None);
        let mut durable = lock(&store.durable);
        durable.touched = true;
        if durable.alarm.take().is_some() {
            platform_event!("alarm.deleted", self.io.label, by = by, root = EventLoop::current().root());
        }
    }

    fn change_alarm(&self, to: Option<u64>, by: &'static str) {
        // Fact: 65. One alarm an object: setting replaces it, deleting is idempotent, times are whole milliseconds.
        // [R:A1, R:A2]
        // Fact: 75. What a request sets during alarm() survives its success; a deletion does not stop it. [R:A15,
        // R:A16]
        self.store.alarm.set(to);
        let root = EventLoop::current().root();
        self.write(|batch| batch.alarm = Some(AlarmChange { to, by, root }));
    }
}
