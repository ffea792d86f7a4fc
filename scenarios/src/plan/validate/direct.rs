//! Checks of what a plan says of stored objects and callers.

use super::{CODE_BYTES_MAX, STEP_COUNT_MAX, Sessions, at_most, is_name, shortened, span, text};
use crate::bad_input::BadInput;
use crate::plan::{Plan, PlanError, StoredObject};
use std::collections::BTreeSet;

/// The most objects that may be stored before a run, and the most callers.
const COUNT_MAX: usize = 10_000;
/// The most values of an object.
const VALUE_COUNT_MAX: usize = 10_000;

impl Plan {
    pub(super) fn validate_storage(&self) -> Result<(), PlanError> {
        at_most("storage", self.storage.len(), COUNT_MAX)?;
        let mut names: BTreeSet<&str> = self.clients.iter().map(|client| client.name.as_str()).collect();
        for (index, stored) in self.storage.iter().enumerate() {
            let place = format!("storage[{index}]");
            name(&format!("{place}.session"), &stored.session)?;
            if !names.insert(&stored.session) {
                return Err(BadInput::new(
                    format!("{place}.session"),
                    format!("two clients or stored objects are called {}", stored.session),
                    "give each its own name",
                ));
            }
            validate_stored(&place, stored)?;
        }
        Ok(())
    }

    pub(super) fn validate_callers(&self, sessions: &Sessions<'_>) -> Result<(), PlanError> {
        at_most("callers", self.callers.len(), COUNT_MAX)?;
        let mut names = BTreeSet::new();
        for (index, caller) in self.callers.iter().enumerate() {
            let place = format!("callers[{index}]");
            name(&format!("{place}.name"), &caller.name)?;
            if !names.insert(&caller.name) {
                return Err(BadInput::new(
                    format!("{place}.name"),
                    format!("two callers are called {}", caller.name),
                    "give each its own name",
                ));
            }
            at_most(&format!("{place}.calls"), caller.calls.len(), STEP_COUNT_MAX)?;
            for (index, call) in caller.calls.iter().enumerate() {
                let place = format!("{place}.calls[{index}]");
                span(&format!("{place}.at_ms"), call.at_ms)?;
                text(&format!("{place}.method"), &call.method)?;
                if !call.arguments.is_null() && !call.arguments.is_object() {
                    return Err(BadInput::new(
                        format!("{place}.arguments"),
                        "arguments are a JSON object",
                        "write them by name, like {\"enabled\": true}",
                    ));
                }
                if !sessions.has(&call.session) {
                    return Err(BadInput::new(
                        format!("{place}.session"),
                        format!("no session is called {:?}", shortened(&call.session)),
                        "name one of `storage`, which may have no values, or one that a client opens",
                    ));
                }
            }
        }
        Ok(())
    }
}

fn validate_stored(place: &str, stored: &StoredObject) -> Result<(), PlanError> {
    at_most(&format!("{place}.values"), stored.values.len(), VALUE_COUNT_MAX)?;
    for key in stored.values.keys() {
        text(&format!("{place}.values"), key)?;
    }
    if let Some(at_ms) = stored.alarm_at_ms {
        span(&format!("{place}.alarm_at_ms"), at_ms)?;
    }
    at_most(&format!("{place}.paused"), stored.paused.len(), VALUE_COUNT_MAX)?;
    for (index, paused) in stored.paused.iter().enumerate() {
        let place = format!("{place}.paused[{index}]");
        text(&format!("{place}.execution"), &paused.execution)?;
        if paused.code.len() > CODE_BYTES_MAX {
            let problem = format!("{} bytes, at most {CODE_BYTES_MAX} are allowed", paused.code.len());
            return Err(BadInput::new(format!("{place}.code"), problem, "shorten the code"));
        }
    }
    Ok(())
}

fn name(place: &str, name: &str) -> Result<(), PlanError> {
    if is_name(name) {
        return Ok(());
    }
    let problem =
        format!("{:?} is not a small letter followed by up to 31 small letters, digits or -", shortened(name));
    Err(BadInput::new(place, problem, "write it like s1"))
}
