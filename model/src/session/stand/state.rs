//! Name, storage and background work of a session on a stand: each storage call takes effect when its gate is released.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::gates::{Shared, next};
use super::{SessionSetup, absolute, relative};
use crate::js::call;
use crate::platform::{JsError, ListAnswer, ListRange, LocalFuture, ObjectState, StorageAnswer};
use crate::session::clock::LAST_ACTIVITY_KEY;

/// What a session stands on.
pub(super) struct StandState {
    pub shared: Rc<Shared>,
    pub index: usize,
    name: Arc<str>,
    pub named: Cell<bool>,
    pub values: Rc<RefCell<BTreeMap<Arc<str>, Arc<Value>>>>,
    pub alarm: Rc<Cell<Option<i64>>>,
    /// Live connections, the oldest first.
    pub connections: RefCell<Vec<u64>>,
}

impl StandState {
    pub fn new(shared: &Rc<Shared>, index: usize, name: Arc<str>, setup: &SessionSetup) -> Self {
        let stored = setup.storage.data.iter().map(|(key, value)| (key.as_str().into(), Arc::new(taken(key, value))));
        StandState {
            shared: Rc::clone(shared),
            index,
            name,
            named: Cell::new(setup.named),
            values: Rc::new(RefCell::new(stored.collect())),
            alarm: Rc::new(Cell::new(setup.storage.alarm.map(absolute))),
            connections: RefCell::default(),
        }
    }

    fn gate<T: Clone + 'static>(
        &self,
        name: &'static str,
        argument: Value,
        effect: impl FnOnce() -> T + 'static,
    ) -> StorageAnswer<T> {
        self.shared.gate(self.index, name, argument, move |_| effect())
    }
}

/// A stored value as it is told: the idle clock is a time.
pub(super) fn shown(key: &str, value: &Value) -> Value {
    match value.as_u64() {
        Some(at_ms) if key == LAST_ACTIVITY_KEY => json!(relative(at_ms)),
        _ => value.clone(),
    }
}

fn taken(key: &str, value: &Value) -> Value {
    match value.as_i64() {
        Some(at_ms) if key == LAST_ACTIVITY_KEY => json!(absolute(at_ms)),
        _ => value.clone(),
    }
}

impl ObjectState for StandState {
    fn id_name(&self) -> Option<Arc<str>> {
        self.named.get().then(|| Arc::clone(&self.name))
    }

    fn get(&self, key: Arc<str>) -> StorageAnswer<Option<Arc<Value>>> {
        let (values, argument) = (Rc::clone(&self.values), json!(&*key));
        self.gate("get", argument, move || values.borrow().get(&key).cloned())
    }

    fn put(&self, key: Arc<str>, value: Arc<Value>) -> StorageAnswer<()> {
        let (values, argument) = (Rc::clone(&self.values), json!([&*key, shown(&key, &value)]));
        self.gate("put", argument, move || drop(values.borrow_mut().insert(key, value)))
    }

    fn delete(&self, key: Arc<str>) -> StorageAnswer<bool> {
        let (values, argument) = (Rc::clone(&self.values), json!(&*key));
        self.gate("delete", argument, move || values.borrow_mut().remove(&key).is_some())
    }

    fn list(&self, range: ListRange) -> StorageAnswer<Rc<ListAnswer>> {
        let (values, argument) = (Rc::clone(&self.values), json!(&*range.prefix));
        self.gate("list", argument, move || Rc::new(range.take(&values.borrow())))
    }

    fn delete_all(&self) -> StorageAnswer<()> {
        let values = Rc::clone(&self.values);
        self.gate("deleteAll", Value::Null, move || values.borrow_mut().clear())
    }

    fn get_alarm(&self) -> StorageAnswer<Option<u64>> {
        let alarm = Rc::clone(&self.alarm);
        self.gate("getAlarm", Value::Null, move || alarm.get().and_then(|at_ms| u64::try_from(at_ms).ok()))
    }

    fn set_alarm(&self, at_ms: i64) -> StorageAnswer<()> {
        let alarm = Rc::clone(&self.alarm);
        let argument = json!(at_ms - absolute(0));
        self.gate("setAlarm", argument, move || alarm.set(Some(at_ms)))
    }

    fn delete_alarm(&self) -> StorageAnswer<()> {
        let alarm = Rc::clone(&self.alarm);
        self.gate("deleteAlarm", Value::Null, move || alarm.set(None))
    }

    fn wait_until(&self, work: LocalFuture<Result<(), JsError>>) {
        let number = next(&self.shared.background);
        (self.shared.tell)(json!(["waitUntil", self.index, number]));
        let shared = Rc::clone(&self.shared);
        drop(call(async move {
            let told = work.await.map_or_else(|error| format!("err: {}", settled(&error)), |()| "ok".to_owned());
            (shared.tell)(json!(["waited", number, told]));
        }));
    }
}

/// The text of an error as what it settles is told with: its message, after its name unless that is the usual one.
pub(super) fn settled(error: &JsError) -> String {
    if error.name == "Error" { error.message.to_string() } else { error.to_string() }
}
