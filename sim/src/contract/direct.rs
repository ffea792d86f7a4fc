//! Rows about pure functions of the host: each is called directly.

use model::config::HostConfig;
use model::registry::{EVICTION_REQUEST_GRACE_MS, Registry, Resident};
use scenarios::contract::Verdict;
use std::fmt::Debug;
use std::sync::Arc;

/// Any time, in ms since the epoch.
const NOW_MS: u64 = 1_700_000_000_000;

/// Checks the row of that id; the registry is that of a host with this configuration.
pub fn check(id: &str, config: &HostConfig) -> Verdict {
    let told = match id {
        "G4" => observed_id_is_total(),
        "J1" => release_is_idempotent(config),
        "J3" => recent_request_is_passed_over(config),
        "J4" => grace_ends(config),
        "J5" => mark_without_entry(config),
        other => return Verdict::CannotTell(format!("{other} is about no function that is called directly")),
    };
    told.map_or_else(Verdict::NotHeld, |()| Verdict::Held)
}

type Told = Result<(), String>;

fn equal<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Told {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, expected {expected:?}")) }
}

/// A session that can always be evicted.
#[derive(Clone)]
struct Idle(HostConfig);

impl Resident for Idle {
    fn can_evict(&self) -> Result<(), &'static str> {
        Ok(())
    }

    fn config(&self) -> &HostConfig {
        &self.0
    }
}

/// A registry with sessions that were used last at these times.
fn registry(config: &HostConfig, used: &[(&str, u64)]) -> Registry<Idle> {
    let mut registry = Registry::default();
    for (id, at_ms) in used {
        registry.register(&Arc::from(*id), Idle(config.clone()), *at_ms);
    }
    registry
}

/// The id that is picked now.
fn picked(registry: &Registry<Idle>) -> Option<Arc<str>> {
    registry.pick_eviction_candidate(NOW_MS, |_, _| ()).map(|(id, _)| id)
}

fn observed_id_is_total() -> Told {
    equal("the id without a name", &*model::telemetry_id(None), "unresolved")
}

fn release_is_idempotent(config: &HostConfig) -> Told {
    let mut registry = registry(config, &[("s", NOW_MS)]);
    equal("whether the first release finds it", registry.release("s").is_some(), true)?;
    equal("whether the second does", registry.release("s").is_some(), false)?;
    equal("the number of entries", registry.all().count(), 0)?;
    equal("the candidate", picked(&registry), None)
}

fn recent_request_is_passed_over(config: &HostConfig) -> Told {
    let mut registry = registry(config, &[("asked", NOW_MS - 10_000), ("other", NOW_MS - 5_000)]);
    registry.mark_eviction_requested("asked", NOW_MS);
    equal("the candidate", picked(&registry).as_deref(), Some("other"))
}

fn grace_ends(config: &HostConfig) -> Told {
    let mut registry = registry(config, &[("asked", NOW_MS - 10_000)]);
    registry.mark_eviction_requested("asked", NOW_MS - EVICTION_REQUEST_GRACE_MS - 1);
    equal("the candidate", picked(&registry).as_deref(), Some("asked"))
}

fn mark_without_entry(config: &HostConfig) -> Told {
    let mut registry = registry(config, &[]);
    registry.mark_eviction_requested("nobody", NOW_MS);
    equal("the number of entries", registry.all().count(), 0)
}
