//! The registry of sessions that an isolate could ask for their runtime: who, how old its use is, who was asked lately.
//!
//! Pure data: no clock, no I/O. One stands in each isolate's module scope, see `residency`.

use std::sync::Arc;

use crate::config::HostConfig;
use crate::defect::defect;

/// A session that was asked to give its runtime back is not asked again for so long, in milliseconds.
pub const EVICTION_REQUEST_GRACE_MS: u64 = 15_000;

/// What the registry asks of a registered session.
pub trait Resident: Clone {
    /// The filter of candidates: conservative, and free of I/O.
    ///
    /// # Errors
    /// Why it may not be asked.
    fn can_evict(&self) -> Result<(), &'static str>;

    /// The host's configuration.
    fn config(&self) -> &HostConfig;
}

#[derive(Clone)]
struct Entry<R> {
    resident: R,
    last_activity_ms: u64,
    eviction_requested_at_ms: Option<u64>,
}

/// Registered sessions by id, in the order of first registration.
#[derive(Clone)]
pub struct Registry<R>(Vec<(Arc<str>, Entry<R>)>);

impl<R> Default for Registry<R> {
    fn default() -> Self {
        Registry(Vec::new())
    }
}

impl<R: Resident> Registry<R> {
    /// `registerResidentSession`: a replaced entry keeps its place in the order and nothing else; who stood there is given
    /// back.
    pub fn register(&mut self, id: &Arc<str>, resident: R, now_ms: u64) -> Option<R> {
        let entry = Entry { resident, last_activity_ms: now_ms, eviction_requested_at_ms: None };
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == id) {
            return Some(std::mem::replace(known, entry).resident);
        }
        self.0.push((Arc::clone(id), entry));
        None
    }

    /// `releaseResidentSession`: idempotent; who stood there is given back.
    pub fn release(&mut self, id: &str) -> Option<R> {
        let index = self.0.iter().position(|(known, _)| &**known == id)?;
        Some(self.0.remove(index).1.resident)
    }

    /// `touchResidentSession`: nothing when it has no entry.
    pub fn touch(&mut self, id: &str, now_ms: u64) {
        self.entry(id).into_iter().for_each(|entry| entry.last_activity_ms = now_ms);
    }

    /// `markEvictionRequested`: nothing when it has no entry.
    pub fn mark_eviction_requested(&mut self, id: &str, now_ms: u64) {
        let Some(entry) = self.entry(id) else { return };
        let config = entry.resident.config();
        if !defect!(config, EvictionNotMarked) {
            entry.eviction_requested_at_ms = Some(now_ms);
        }
    }

    fn entry(&mut self, id: &str) -> Option<&mut Entry<R>> {
        self.0.iter_mut().find(|(known, _)| &**known == id).map(|(_, entry)| entry)
    }

    /// `pickEvictionCandidate`: the entry that was used least recently, the first of equals. Those that are live or were
    /// asked within the grace are passed over, and told with the reason. Changes nothing.
    pub fn pick_eviction_candidate(
        &self,
        now_ms: u64,
        mut passed_over: impl FnMut(&R, &'static str),
    ) -> Option<(Arc<str>, R)> {
        let mut picked: Option<&(Arc<str>, Entry<R>)> = None;
        for each in &self.0 {
            let (_, entry) = each;
            if let Err(reason) = entry.may_be_asked(now_ms) {
                passed_over(&entry.resident, reason);
                continue;
            }
            if picked.is_none_or(|(_, best)| entry.comes_before(best)) {
                picked = Some(each);
            }
        }
        picked.map(|(id, entry)| (Arc::clone(id), entry.resident.clone()))
    }

    /// Ids, last uses and when each was asked, in order.
    pub fn times(&self) -> impl Iterator<Item = (Arc<str>, u64, Option<u64>)> {
        self.0.iter().map(|(id, entry)| (Arc::clone(id), entry.last_activity_ms, entry.eviction_requested_at_ms))
    }

    /// Ids and sessions, in order.
    pub fn all(&self) -> impl Iterator<Item = (&Arc<str>, &R)> {
        self.0.iter().map(|(id, entry)| (id, &entry.resident))
    }
}

impl<R: Resident> Entry<R> {
    /// Why it is passed over, if it is.
    fn may_be_asked(&self, now_ms: u64) -> Result<(), &'static str> {
        self.resident.can_evict()?;
        let Some(asked_at_ms) = self.eviction_requested_at_ms else { return Ok(()) };
        let is_over = now_ms - asked_at_ms >= EVICTION_REQUEST_GRACE_MS;
        let config = self.resident.config();
        if is_over && !defect!(config, GraceWithoutEnd) { Ok(()) } else { Err("requested") }
    }

    fn comes_before(&self, best: &Self) -> bool {
        let config = self.resident.config();
        if defect!(config, MostRecentEvicted) {
            return self.last_activity_ms > best.last_activity_ms;
        }
        self.last_activity_ms < best.last_activity_ms
    }
}
