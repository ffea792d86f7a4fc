//! The objects of a run by alias: those that a plan stores beforehand, and the sessions that clients open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::deployment::{nameless_key, session_key};
use model::platform::{Control, ObjectKey};
use model::rt;
use scenarios::plan::{Plan, StoredObject};
use scenarios::trace::{Name, Stream, Value};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::recorder;

/// The objects that a plan names.
pub struct Objects {
    stored: BTreeMap<String, ObjectKey>,
    /// Aliases whose storage is told at the end of the run.
    told: BTreeSet<String>,
    control: Control,
}

impl Objects {
    /// Fills the storage that the plan gives, before anything runs.
    pub fn fill(plan: &Plan, control: Control) -> Objects {
        let mut objects = Objects { stored: BTreeMap::new(), told: BTreeSet::new(), control };
        for stored in &plan.storage {
            let key = key_of(stored);
            recorder::name(&key.label(), &stored.session);
            let values = stored.values.iter().map(|(key, value)| (key.as_str().into(), Arc::new(value.clone())));
            let alarm_ms = stored.alarm_at_ms.map(|at_ms| rt::EPOCH_MS + at_ms);
            objects.control.store(&key, values.collect(), alarm_ms);
            objects.stored.insert(stored.session.clone(), key);
            objects.told.insert(stored.session.clone());
        }
        let called = plan.callers.iter().flat_map(|caller| &caller.calls).map(|call| call.session.clone());
        objects.told.extend(called);
        objects
    }

    /// The key behind an alias; none for a session that no client has opened yet.
    pub fn key(&self, alias: &str) -> Option<ObjectKey> {
        let opened = || recorder::session_of(alias).map(|id| session_key(&id));
        self.stored.get(alias).cloned().or_else(opened)
    }

    /// Tells what is durable of every object that the plan stores or calls.
    pub fn tell(&self) {
        for alias in &self.told {
            let Some(key) = self.key(alias) else { continue };
            let (values, alarm_ms) = self.control.stored(&key);
            let values: serde_json::Map<_, _> =
                values.iter().map(|(key, value)| (key.to_string(), (**value).clone())).collect();
            let mut fields: Vec<(Name, Value)> = vec![("values".into(), Value::Json(values.into()))];
            fields.extend(alarm_ms.map(|at_ms| ("alarm_at_ms".into(), Value::Uint(at_ms - rt::EPOCH_MS))));
            recorder::record(Stream::Platform, "storage.told", Some(alias), fields);
        }
    }
}

/// Its key: a name, or 64 hexadecimal digits for an object that has none.
pub fn key_of(stored: &StoredObject) -> ObjectKey {
    if stored.named {
        return session_key(&stored.session);
    }
    let half = |seed| xxh3_128_with_seed(stored.session.as_bytes(), seed);
    nameless_key(&format!("{:032x}{:032x}", half(0), half(1)))
}
