//! A witness of the platform's events: what must hold of them in any world.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static ARMED: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
    static SEEN: RefCell<BTreeMap<String, u32>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets what an earlier world on this thread did.
pub(super) fn begin() {
    ARMED.take();
    SEEN.take();
}

/// Alarms that were durably set and neither fired, nor were replaced or deleted.
pub(super) fn armed() -> BTreeMap<String, u64> {
    ARMED.with_borrow(Clone::clone)
}

/// How often each kind of event was seen.
pub(super) fn seen() -> BTreeMap<String, u32> {
    SEEN.with_borrow(Clone::clone)
}

/// Listens to the target `platform`.
pub(super) struct Witness;

#[derive(Default)]
struct Fields {
    event: String,
    who: String,
    due_ms: u64,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "due_at_ms" {
            self.due_ms = value;
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "event" => value.clone_into(&mut self.event),
            "who" => value.clone_into(&mut self.who),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Witness {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "platform"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields { event: event.metadata().name().to_owned(), ..Fields::default() };
        event.record(&mut fields);
        let Fields { event, who, due_ms } = fields;
        match event.as_str() {
            "alarm.set" => drop(ARMED.with_borrow_mut(|armed| armed.insert(who, due_ms))),
            "alarm.deleted" => drop(ARMED.with_borrow_mut(|armed| armed.remove(&who))),
            "alarm.fired" => {
                let due = ARMED.with_borrow_mut(|armed| armed.remove(&who));
                assert!(due.is_none_or(|due| due == due_ms), "{who}: fired for {due_ms}, set for {due:?}");
            }
            _ => {}
        }
        SEEN.with_borrow_mut(|seen| *seen.entry(event).or_default() += 1);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
