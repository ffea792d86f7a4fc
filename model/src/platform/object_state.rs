//! What can stand under one object in the platform's place: its name, its storage, its work in the background.
//!
//! The storage of the platform takes effect at the call, behind a gate, and a turn at a time. What is given here does all
//! of that as it likes: the calls of the object wait for its promises, and nothing of them is committed or fires.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::error::JsError;
use super::list_range::{ListAnswer, ListRange};
use super::object::LocalFuture;
use crate::js::Promise;

/// The answer to a storage call, now or later.
pub type StorageAnswer<T> = Promise<Result<T, JsError>>;

/// An object's `ctx` as far as it can be given. Transactions, `sync` and deletes of several keys stay the platform's.
pub trait ObjectState {
    /// `ctx.id.name`, as it is now.
    fn id_name(&self) -> Option<Arc<str>>;
    /// `storage.get(key)`.
    fn get(&self, key: Arc<str>) -> StorageAnswer<Option<Arc<Value>>>;
    /// `storage.put(key, value)`.
    fn put(&self, key: Arc<str>, value: Arc<Value>) -> StorageAnswer<()>;
    /// `storage.delete(key)`: whether it existed.
    fn delete(&self, key: Arc<str>) -> StorageAnswer<bool>;
    /// `storage.list(options)`.
    fn list(&self, range: ListRange) -> StorageAnswer<Rc<ListAnswer>>;
    /// `storage.deleteAll()`.
    fn delete_all(&self) -> StorageAnswer<()>;
    /// `storage.getAlarm()`, epoch milliseconds.
    fn get_alarm(&self) -> StorageAnswer<Option<u64>>;
    /// `storage.setAlarm(at)`, epoch milliseconds.
    fn set_alarm(&self, at_ms: i64) -> StorageAnswer<()>;
    /// `storage.deleteAlarm()`.
    fn delete_alarm(&self) -> StorageAnswer<()>;
    /// `ctx.waitUntil(promise)`; the work has run to its first suspension already.
    fn wait_until(&self, work: LocalFuture<Result<(), JsError>>);
}
