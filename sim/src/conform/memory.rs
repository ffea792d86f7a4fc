//! What a replay remembers beside its world: the log, and the code that objects are asked to run.
//!
//! The recorded probes kept both in the memory of their one process. All loops of a world run on one thread, and a
//! world has a thread of its own.

use super::front::Answer;
use super::object::Probe;
use model::platform::LocalFuture;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Code that an object runs when it is called.
type Code = Box<dyn FnOnce(Rc<Probe>) -> LocalFuture<Answer>>;

/// One line of the log.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What happened.
    pub tag: &'static str,
    /// Name of the object that wrote it; empty for others.
    pub who: String,
    /// What is told besides.
    pub what: Value,
}

#[derive(Default)]
struct Memory {
    log: Vec<Entry>,
    code: BTreeMap<u64, Code>,
    codes: u64,
    notes: BTreeMap<String, Value>,
    alarms: Vec<(String, Value)>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Writes a line.
pub fn log(entry: Entry) {
    MEMORY.with_borrow_mut(|memory| memory.log.push(entry));
}

/// How many lines there are.
pub fn log_len() -> usize {
    MEMORY.with_borrow(|memory| memory.log.len())
}

/// The lines from there on.
pub fn log_from(from: usize) -> Vec<Entry> {
    MEMORY.with_borrow(|memory| memory.log[from..].to_vec())
}

/// The tags from there on, in their order.
pub fn trace(from: usize) -> Vec<&'static str> {
    log_from(from).into_iter().map(|entry| entry.tag).collect()
}

/// Keeps code until an object asks for it by the number.
pub(super) fn keep_code(code: Code) -> u64 {
    MEMORY.with_borrow_mut(|memory| {
        memory.codes += 1;
        memory.code.insert(memory.codes, code);
        memory.codes
    })
}

/// The code of that number; once.
pub(super) fn take_code(number: u64) -> Option<Code> {
    MEMORY.with_borrow_mut(|memory| memory.code.remove(&number))
}

/// Writes down what a run of `alarm()` was told.
pub(super) fn record_alarm(who: &str, what: Value) {
    MEMORY.with_borrow_mut(|memory| memory.alarms.push((who.to_owned(), what)));
}

/// What the runs of `alarm()` of the object of that name wrote down, in their order.
pub fn alarms_of(who: &str) -> Vec<Value> {
    let of = |(name, what): &(String, Value)| (name == who).then(|| what.clone());
    MEMORY.with_borrow(|memory| memory.alarms.iter().filter_map(of).collect())
}

/// Leaves a note for another part of the same probe.
pub fn note(name: impl Into<String>, value: impl Into<Value>) {
    MEMORY.with_borrow_mut(|memory| drop(memory.notes.insert(name.into(), value.into())));
}

/// The note of that name.
pub fn noted(name: &str) -> Option<Value> {
    MEMORY.with_borrow(|memory| memory.notes.get(name).cloned())
}

/// Takes the note of that name away.
pub fn take_note(name: &str) -> Option<Value> {
    MEMORY.with_borrow_mut(|memory| memory.notes.remove(name))
}

/// Counts how often that was asked, from 0.
pub fn count(name: &str) -> u64 {
    let so_far = noted(name).and_then(|value| value.as_u64()).unwrap_or(0);
    note(name, so_far + 1);
    so_far
}
