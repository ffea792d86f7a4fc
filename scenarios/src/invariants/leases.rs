//! Which leases of paused executions are held, by which sessions, at each event of a trace.

use super::Case;
use super::replay::Replay;
use crate::trace::{Event, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A lease that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it.
    pub who: Arc<str>,
    /// Since when, in ms.
    pub at_ms: u64,
    /// When the execution paused: its window counts from about then.
    pub paused_at_ms: u64,
    /// Its execution was resumed: the lease comes back when the code has ended or paused again, however long that takes.
    pub is_resumed: bool,
}

/// Leases and keep-alive references, as of the events applied so far. A session that loses its memory loses both.
#[derive(Default)]
pub struct Leases {
    held: BTreeMap<Arc<str>, Lease>,
    paused: BTreeMap<Arc<str>, u64>,
    refs: BTreeMap<Arc<str>, u64>,
}

impl Leases {
    /// Calls `look` for every event, with what was held just before it, and gives what is held at the end.
    pub fn each<'t>(case: &Case<'t>, mut look: impl FnMut(&Leases, &'t Event)) -> Leases {
        let mut leases = Leases::default();
        Replay::each(case, |replay, event| {
            look(&leases, event);
            leases.apply(replay, event);
        });
        leases
    }

    /// The lease of an execution.
    pub fn of(&self, execution: &str) -> Option<&Lease> {
        self.held.get(execution)
    }

    /// All that are held, with their executions.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Lease)> {
        self.held.iter().map(|(execution, lease)| (&**execution, lease))
    }

    /// Sessions that have told of keep-alive references, with how many are taken.
    pub fn refs(&self) -> impl Iterator<Item = (&str, u64)> {
        self.refs.iter().map(|(who, count)| (&**who, *count))
    }

    fn apply(&mut self, replay: &Replay, event: &Event) {
        let Some(who) = &event.who else { return };
        match (event.stream, &*event.name) {
            (Stream::State, "lease.taken") => {
                if let Some(execution) = event.text("execution") {
                    let paused_at_ms = self.paused.get(execution).copied().unwrap_or(event.at_ms);
                    let (who, at_ms) = (who.clone(), event.at_ms);
                    self.held.insert(execution.into(), Lease { who, at_ms, paused_at_ms, is_resumed: false });
                }
            }
            (Stream::State, "execution.resumed") => {
                if let Some(lease) = self.held.get_mut(event.text("execution").unwrap_or("")) {
                    lease.is_resumed = true;
                }
            }
            (Stream::State, "execution.paused") => {
                self.paused.insert(event.text("execution").unwrap_or("").into(), event.at_ms);
            }
            (Stream::State, "lease.returned") => {
                self.held.remove(event.text("execution").unwrap_or(""));
            }
            (Stream::State, "keep-alive.taken" | "keep-alive.returned") => {
                self.refs.insert(who.clone(), event.number("refs").unwrap_or(0));
            }
            (Stream::Platform, "object.reset" | "object.gone" | "object.constructed") => self.lose(who),
            (Stream::Platform, "isolate.ended") => {
                let ended = event.text("isolate").unwrap_or(who);
                let here = replay.sessions().filter(|(_, session)| session.isolate.as_deref() == Some(ended));
                here.for_each(|(who, _)| self.lose(who));
            }
            _ => {}
        }
    }

    fn lose(&mut self, who: &str) {
        self.held.retain(|_, lease| *lease.who != *who);
        self.refs.remove(who);
    }
}
